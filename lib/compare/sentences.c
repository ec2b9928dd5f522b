// SPDX-License-Identifier: GPL-2.0-only
#include "compare/sentences.h"

#include <math.h>
#include <string.h>

static const char *number(struct arena *arena, size_t value)
{
	static const char *const words[] = {"no",  "one",   "two",   "three", "four", "five",
					    "six", "seven", "eight", "nine",  "ten"};

	return value <= 10 ? words[value] : arena_printf(arena, "%zu", value);
}

static const char *counted(struct arena *arena, size_t low, size_t high, const char *what)
{
	if (low == high)
		return arena_printf(arena, "%s %s%s", number(arena, low), what,
				    low == 1 ? "" : "s");
	return arena_printf(arena, "%s to %s %ss", number(arena, low), number(arena, high), what);
}

/* Appends ", TEXT" or starts with TEXT. */
static const char *append(struct arena *arena, const char *list, const char *text)
{
	return *list ? arena_printf(arena, "%s, %s", list, text) : text;
}

static const char *percent(struct arena *arena, double share)
{
	return arena_printf(arena,
			    share < .01 || (share > .995 && share < 1) ? "%.2g %%" : "%.0f %%",
			    100 * share);
}

/* The one size of all rows that show something below the documented one, or NAN where they differ. */
static double one_size(const struct comparison *comparison)
{
	double size = 0;

	for (size_t i = 0; i < comparison->nclaims; i++) {
		for (size_t j = 0; j < comparison->claims[i].nrows; j++) {
			const struct result_row *row = comparison->claims[i].rows[j];

			if (!row->gates || !(row->size_share < 1) || !verdict_shows(row->verdict))
				continue;
			if (size > 0 && size != row->size_share)
				return NAN;
			size = row->size_share;
		}
	}
	return size;
}

static const char *not_measured(const struct comparison *comparison)
{
	size_t count = comparison->count[VERDICT_NOT_MEASURED];

	return count ? arena_printf(comparison->arena, "; %zu not measured", count) : "";
}

/* Where no claim row was measured, and rows without a claim are all that is told. */
static const char *not_measured_rows(const struct comparison *comparison)
{
	size_t count = comparison->count[VERDICT_NOT_MEASURED];

	return count ? arena_printf(comparison->arena, "; no claim row of %zu measured", count)
		     : "";
}

static const char *claims_sentence(const struct comparison *comparison)
{
	static const enum verdict order[] = {
		VERDICT_UNCHANGED, VERDICT_PARTLY,  VERDICT_DIRECTION,	 VERDICT_ABSENT,
		VERDICT_OPPOSITE,  VERDICT_CHANGED, VERDICT_INCONCLUSIVE};
	struct arena *arena = comparison->arena;
	const char *text = "";
	size_t total = 0;

	for (int i = 0; i < VERDICT_NOT_MEASURED; i++)
		total += comparison->count[i];
	if (!total)
		return NULL;
	if (comparison->count[VERDICT_REPRODUCED] || !comparison->count[VERDICT_UNCHANGED])
		text = arena_printf(arena, "%zu of %zu claim row%s reproduced",
				    comparison->count[VERDICT_REPRODUCED], total,
				    total == 1 ? "" : "s");
	else
		text = arena_printf(arena, "0 of %zu claim row%s reproduced", total,
				    total == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		size_t count = comparison->count[order[i]];

		if (!count)
			continue;
		text = append(arena, text,
			      arena_printf(arena, "%zu %s%s", count, verdict_name[order[i]],
					   order[i] == VERDICT_UNCHANGED ? " as documented" : ""));
	}
	if (comparison->scaled) {
		double size = one_size(comparison);

		text = arena_printf(arena, "%s (%zu of these at %s of the documented size)", text,
				    comparison->scaled,
				    isfinite(size) ? percent(arena, size) : "a part");
	}
	return arena_printf(arena, "%s%s", text, not_measured(comparison));
}

static const char *others_sentence(const struct comparison *comparison)
{
	static const enum verdict order[] = {VERDICT_REGRESSED, VERDICT_IMPROVED,
					     VERDICT_NO_DIFFERENCE, VERDICT_INCONCLUSIVE};
	struct arena *arena = comparison->arena;
	size_t count[VERDICTS] = {0}, total = 0;
	const char *text = "";

	for (size_t i = 0; i < comparison->nothers; i++) {
		const struct result_row *row = comparison->others[i];

		if (row->judged || row->verdict == VERDICT_INCONCLUSIVE) {
			count[row->verdict]++;
			total++;
		}
	}
	if (!total)
		return NULL;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (count[order[i]])
			text = append(arena, text,
				      arena_printf(arena, "%zu %s", count[order[i]],
						   order[i] == VERDICT_NO_DIFFERENCE
							   ? "without a difference"
							   : verdict_name[order[i]]));
	}
	return arena_printf(arena, "of %zu row%s without a claim %s", total, total == 1 ? "" : "s",
			    text);
}

static bool any_judged(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nclaims; i++) {
		for (size_t j = 0; j < comparison->claims[i].nrows; j++) {
			if (comparison->claims[i].rows[j]->judged)
				return true;
		}
	}
	return false;
}

const char *sentence_headline(const struct comparison *comparison)
{
	struct arena *arena = comparison->arena;
	const char *claims = claims_sentence(comparison), *others = others_sentence(comparison);
	const char *text;

	if (!claims && !others && any_judged(comparison))
		text = "no claim row gates here";
	else if (comparison->locks.count && !comparison->before->nruns && !comparison->after->nruns)
		text = "locks counted, nothing timed";
	else if (!claims && !others)
		text = comparison->count[VERDICT_NOT_MEASURED]
			       ? arena_printf(arena, "nothing compared%s", not_measured(comparison))
			       : "nothing compared: before and after share no measured row";
	else if (claims && others)
		text = arena_printf(arena, "%s; %s", claims, others);
	else
		text = claims ? claims
			      : arena_printf(arena, "%s%s", others, not_measured_rows(comparison));
	if (comparison->advice.boots)
		text = arena_printf(arena, "%s: %zu more boot%s of each kernel", text,
				    comparison->advice.boots,
				    comparison->advice.boots == 1 ? "" : "s");
	else if (comparison->advice.open && !comparison->advice.beyond)
		text = arena_printf(arena, "%s: needs boots", text);
	if (comparison->failing)
		text = arena_printf(arena, "%s; runs of %zu row%s failed on %s", text,
				    comparison->failing, comparison->failing == 1 ? "" : "s",
				    comparison->after->kernel);
	return text;
}

struct extent {
	size_t runs_low, runs_high, before_low, before_high, after_low, after_high;
	enum within within;
	enum across across;
	bool any, mixed_within, mixed_across;
};

static void widen(size_t *low, size_t *high, size_t by_low, size_t by_high)
{
	if (!*high || by_low < *low)
		*low = by_low;
	if (by_high > *high)
		*high = by_high;
}

static void add_extent(struct extent *extent, const struct result_row *row)
{
	enum within within = row->claim ? row->claim->within : WITHIN_MEDIAN;
	enum across across = row->claim ? row->claim->across : ACROSS_MEAN;

	if (!row->judged)
		return;
	extent->mixed_within = extent->mixed_within || (extent->any && within != extent->within);
	extent->mixed_across = extent->mixed_across || (extent->any && across != extent->across);
	extent->within = within;
	extent->across = across;
	extent->any = true;
	widen(&extent->runs_low, &extent->runs_high, row->before.runs_low, row->before.runs_high);
	widen(&extent->runs_low, &extent->runs_high, row->after.runs_low, row->after.runs_high);
	widen(&extent->before_low, &extent->before_high, row->before.boots, row->before.boots);
	widen(&extent->after_low, &extent->after_high, row->after.boots, row->after.boots);
}

static const char *place(const struct comparison *comparison)
{
	const struct boot *boot = &comparison->before->boots[0];
	json_int_t cpus = json_integer_value(json_object_get(boot_match(boot), "cpus"));
	json_t *hypervisor = json_object_get(boot_info(boot), "hypervisor");
	const char *name = json_string_value(hypervisor), *engine = comparison->engine;
	bool vm = (name && *name && strcmp(name, "none") != 0) || !strcmp(engine, "kvm");
	struct arena *arena = comparison->arena;

	if (!strcmp(engine, "icount"))
		return arena_printf(arena, "counted under QEMU's icount with %lld vCPU%s",
				    (long long)cpus, cpus == 1 ? "" : "s");
	if (!strcmp(engine, "tcg"))
		return arena_printf(arena, "in a QEMU TCG guest with %lld vCPU%s", (long long)cpus,
				    cpus == 1 ? "" : "s");
	if (!strcmp(engine, "uml"))
		return "in User Mode Linux";
	if (!cpus)
		return "on a machine that is not recorded";
	return vm ? arena_printf(arena, "in a %lld vCPU VM", (long long)cpus)
		  : arena_printf(arena, "on a machine with %lld CPU%s", (long long)cpus,
				 cpus == 1 ? "" : "s");
}

const char *sentence_method(const struct comparison *comparison)
{
	struct arena *arena = comparison->arena;
	struct extent extent = {0};
	const char *within, *across, *boots;

	for (size_t i = 0; i < comparison->nclaims; i++) {
		for (size_t j = 0; j < comparison->claims[i].nrows; j++)
			add_extent(&extent, comparison->claims[i].rows[j]);
	}
	for (size_t i = 0; i < comparison->nothers; i++)
		add_extent(&extent, comparison->others[i]);
	if (!extent.any)
		return NULL;
	within = extent.mixed_within		? "median or mean"
		 : extent.within == WITHIN_MEAN ? "mean"
						: "median";
	if (extent.runs_high == 1)
		within = "one run a boot";
	else
		within = arena_printf(arena, "%s of %s", within,
				      counted(arena, extent.runs_low, extent.runs_high, "run"));
	across = extent.mixed_across		  ? "averaged or the median over"
		 : extent.across == ACROSS_MEDIAN ? "the median over"
						  : "averaged over";
	if (extent.before_high == 1 && extent.after_high == 1)
		boots = "in one boot of each kernel";
	else if (extent.before_low == extent.after_low && extent.before_high == extent.after_high)
		boots = arena_printf(arena, "%s %s of each kernel", across,
				     counted(arena, extent.before_low, extent.before_high, "boot"));
	else
		boots = arena_printf(arena, "%s %s of %s and %s of %s", across,
				     counted(arena, extent.before_low, extent.before_high, "boot"),
				     comparison->before->kernel,
				     counted(arena, extent.after_low, extent.after_high, "boot"),
				     comparison->after->kernel);
	return arena_printf(arena, "%s, %s, %s", within, boots, place(comparison));
}

const char *sentence_verdict(struct arena *arena, const struct result_row *row)
{
	const char *text = verdict_name[row->verdict];

	if (isfinite(row->size_share) && row->size_share != 1 && row->judged &&
	    row->verdict != VERDICT_INCONCLUSIVE && row->verdict != VERDICT_DESCRIBED)
		text = arena_printf(arena, "%s at %s of the documented size", text,
				    percent(arena, row->size_share));
	if (row->verdict == VERDICT_DIRECTION && row->boots_needed)
		text = arena_printf(arena, "%s: %zu more boot%s of each kernel", text,
				    row->boots_needed, row->boots_needed == 1 ? "" : "s");
	if (row->reason)
		text = arena_printf(arena, "%s: %s", text, row->reason);
	return text;
}

const char *sentence_warning(const struct comparison *comparison, size_t *at)
{
	const struct note *items = comparison->notes.items;

	for (; *at < comparison->notes.count; (*at)++) {
		const struct note *note = &items[*at];
		const char *rows = "";
		bool told = !note->warning;

		for (size_t i = 0; i < *at && !told; i++)
			told = items[i].warning && !strcmp(items[i].text, note->text);
		if (told)
			continue;
		for (size_t i = *at; i < comparison->notes.count; i++) {
			if (items[i].warning && items[i].subject &&
			    !strcmp(items[i].text, note->text))
				rows = append(comparison->arena, rows, items[i].subject);
		}
		(*at)++;
		return *rows ? arena_printf(comparison->arena, "%s: %s", rows, note->text)
			     : note->text;
	}
	return NULL;
}

const char *sentence_path(const struct comparison *comparison, const struct claim_result *result)
{
	struct arena *arena = comparison->arena;
	const struct path_side *before = &result->path[0], *after = &result->path[1];

	if (!result->recorded || !result->claim->nmechanism)
		return NULL;
	if (before->path == PATH_ABSENT && after->path == PATH_ABSENT &&
	    !strcmp(before->reason, after->reason))
		return arena_printf(arena, "code path: %s", codepath_text(arena, before));
	return arena_printf(arena, "code path: %s %s, %s %s", comparison->before->kernel,
			    codepath_text(arena, before), comparison->after->kernel,
			    codepath_text(arena, after));
}
