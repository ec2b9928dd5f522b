// SPDX-License-Identifier: GPL-2.0-only
#include "compare/codepath.h"

#include <math.h>
#include <string.h>

const char *const path_name[PATHS] = {"absent", "before", "after", "neither"};

static bool holds(const struct path_rate *rate, double wanted)
{
	/* A rate of 31/1000 against 0.031 is no difference: leave room for the division. */
	double tolerance = rate->of->tolerance + 1e-9 * (1 + wanted);

	return rate->low >= wanted - tolerance && rate->high <= wanted + tolerance;
}

enum path codepath_classify(const struct path_rate *rates, size_t count)
{
	bool before = true, after = true, any = false;

	for (size_t i = 0; i < count; i++) {
		if (!rates[i].function)
			continue;
		any = true;
		before = before && holds(&rates[i], rates[i].of->before);
		after = after && holds(&rates[i], rates[i].of->after);
	}
	/* Both cannot be: a row's tolerance is below half of what lies between them. */
	return !any ? PATH_ABSENT : before ? PATH_BEFORE : after ? PATH_AFTER : PATH_NEITHER;
}

static bool has_changes(const struct claim *claim)
{
	for (size_t i = 0; i < claim->nrows; i++) {
		if (claim->rows[i].kind == ROW_CHANGE)
			return true;
	}
	return false;
}

bool codepath_applies(const struct claim *claim, const struct claim_row *row)
{
	return claim->nmechanism && (row->kind == ROW_CHANGE || !has_changes(claim));
}

/* The options of a row, replaced by the mechanism's where it names them. */
static bool options_match(const struct probe_run *run, json_t *where, json_t *instead)
{
	const char *key;
	json_t *value;

	json_object_foreach (where, key, value) {
		if (!json_object_get(instead, key) &&
		    !json_equal(json_object_get(run->options, key), value))
			return false;
	}
	json_object_foreach (instead, key, value) {
		if (!json_equal(json_object_get(run->options, key), value))
			return false;
	}
	return true;
}

static bool run_matches(const struct probe_run *run, const struct claim *claim,
			const struct claim_row *row, const struct mechanism *mechanism)
{
	if (run->locks || strcmp(run->case_name, claim->case_name) != 0)
		return false;
	for (size_t i = 0; i < claim->nrows; i++) {
		const struct claim_row *of = &claim->rows[i];

		if ((row ? of == row : codepath_applies(claim, of)) &&
		    options_match(run, of->where, mechanism->where))
			return true;
	}
	return false;
}

/* How many pages, or what else the calls are counted for, the region worked on; NaN: not told. */
static double denominator(struct arena *arena, const struct probe_run *run, const char *per)
{
	size_t name = strlen(per) - strlen(CLAIM_PER_CALL);
	json_t *count;

	if (claim_per_call(per))
		count = json_object_get(
			json_object_get(run->functions,
					arena_printf(arena, "%.*s", (int)name, per)),
			"value");
	else
		count = json_object_get(run->per, per);
	if (json_is_number(count))
		return json_number_value(count) >= 1 ? json_number_value(count) : NAN;
	return !strcmp(per, "page") && run->pages >= 1 ? run->pages : NAN;
}

/* The first alternative that this run counted; else why none was. */
static const char *counted(const struct probe_run *run, const struct mechanism *mechanism,
			   const char **reason)
{
	for (size_t i = 0; i < mechanism->nfunctions; i++) {
		json_t *calls = json_object_get(run->functions, mechanism->functions[i]);
		const char *absent = json_string_value(json_object_get(calls, "absent"));

		if (json_object_get(calls, "value"))
			return mechanism->functions[i];
		if (!*reason)
			*reason = absent ? absent : "not among the functions probed";
	}
	return NULL;
}

/* From a record, for a line of a report: control characters become visible. */
static const char *shown(struct arena *arena, const char *reason)
{
	char text[400];

	printable(text, sizeof(text), reason);
	return arena_strdup(arena, text);
}

static void add_run(struct arena *arena, struct path_rate *rate, const struct probe_run *run)
{
	const char *reason = run->reason, *function;
	double per = denominator(arena, run, rate->of->per), calls;
	json_t *found;

	function = run->status == RUN_OK || run->status == RUN_FAIL
			   ? counted(run, rate->of, &reason)
			   : NULL;
	if (function && !(per > 0)) {
		reason = claim_per_call(rate->of->per)
				 ? arena_printf(arena, "no calls of %s", rate->of->per)
				 : arena_printf(arena, "the run does not say how many %ss",
						rate->of->per);
		function = NULL;
	}
	if (!function) {
		rate->reason = rate->reason ? rate->reason : shown(arena, reason);
		return;
	}
	if (run->status == RUN_FAIL)
		rate->failed = shown(arena, run->reason);
	found = json_object_get(run->functions, function);
	calls = json_number_value(json_object_get(found, "value")) / per;
	rate->low = rate->runs ? fmin(rate->low, calls) : calls;
	rate->high = rate->runs ? fmax(rate->high, calls) : calls;
	rate->function = function;
	rate->every_cpu = rate->every_cpu ||
			  !strcmp(json_string_value(json_object_get(found, "scope")), "cpus");
	rate->runs++;
}

/*
 * Runs that failed have run the code too: what was called is known, though the work was not all
 * that was asked for. They count where there is no other.
 */
static void add_runs(struct arena *arena, const struct dataset *dataset, ssize_t boot,
		     const struct claim *claim, const struct claim_row *row, struct path_rate *rate,
		     bool failed)
{
	for (size_t i = 0; i < dataset->nprobes; i++) {
		const struct probe_run *run = &dataset->probes[i];

		if ((boot == ALL_BOOTS || run->boot == (size_t)boot) &&
		    (run->status == RUN_FAIL) == failed && run_matches(run, claim, row, rate->of))
			add_run(arena, rate, run);
	}
}

struct path_side codepath_side(struct arena *arena, const struct dataset *dataset, ssize_t boot,
			       const struct claim *claim, const struct claim_row *row)
{
	struct path_side side = {.nrates = claim->nmechanism};

	side.rates = arena_alloc(arena, (side.nrates + 1) * sizeof(*side.rates));
	for (size_t i = 0; i < side.nrates; i++) {
		struct path_rate *rate = &side.rates[i];

		*rate = (struct path_rate){.of = &claim->mechanism[i], .low = NAN, .high = NAN};
		add_runs(arena, dataset, boot, claim, row, rate, false);
		if (!rate->runs)
			add_runs(arena, dataset, boot, claim, row, rate, true);
		side.reason = side.reason ? side.reason : rate->reason;
		side.runs = rate->runs > side.runs ? rate->runs : side.runs;
	}
	side.path = codepath_classify(side.rates, side.nrates);
	if (side.path != PATH_ABSENT)
		side.reason = NULL;
	else if (!side.reason)
		side.reason = "no probe run";
	return side;
}

const char *codepath_rate(struct arena *arena, double value)
{
	return arena_printf(arena, value > 0 && value < .0005 ? "%.1e" : "%.3f", value);
}

static const char *calls_text(struct arena *arena, double low, double high)
{
	const char *text[] = {codepath_rate(arena, low), codepath_rate(arena, high)};

	return strcmp(text[0], text[1]) ? arena_printf(arena, "%s-%s", text[0], text[1]) : text[0];
}

static const char *a_unit(struct arena *arena, const char *per)
{
	return arena_printf(arena, claim_per_call(per) ? "a call of %s" : "a %s", per);
}

const char *codepath_text(struct arena *arena, const struct path_side *side)
{
	const char *text = "", *per = NULL, *failed = NULL;
	bool every_cpu = false;

	if (side->path == PATH_ABSENT)
		return arena_printf(arena, "absent (%s)", side->reason);
	for (size_t i = 0; i < side->nrates; i++) {
		const struct path_rate *rate = &side->rates[i];

		if (!rate->function)
			continue;
		if (per && strcmp(per, rate->of->per) != 0)
			text = arena_printf(arena, "%s %s", text, a_unit(arena, per));
		per = rate->of->per;
		every_cpu = every_cpu || rate->every_cpu;
		failed = rate->failed ? rate->failed : failed;
		text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "", rate->function,
				    calls_text(arena, rate->low, rate->high));
	}
	return arena_printf(arena, "%s (%s %s%s%s%s)", path_name[side->path], text,
			    a_unit(arena, per), every_cpu ? ", counted on every CPU" : "",
			    failed ? ", in a run that failed: " : "", failed ? failed : "");
}

/* Another row counts the same function: for the calls of one that goes by another name elsewhere. */
static bool counted_elsewhere(const struct path_side *side, const struct path_rate *rate)
{
	for (size_t i = 0; i < side->nrates; i++) {
		if (side->rates[i].function &&
		    !strcmp(side->rates[i].of->functions[0], rate->of->functions[0]))
			return true;
	}
	return false;
}

const char *codepath_missing(struct arena *arena, const struct path_side *side)
{
	const char *text = NULL;

	for (size_t i = 0; i < side->nrates && side->path != PATH_ABSENT; i++) {
		const struct path_rate *rate = &side->rates[i];

		if (!rate->function && !counted_elsewhere(side, rate))
			text = arena_printf(arena, "%s%s%s not counted (%s)", text ? text : "",
					    text ? ", " : "", rate->of->functions[0],
					    rate->reason ? rate->reason : "no probe run");
	}
	return text;
}

json_t *codepath_json(const struct path_side *side)
{
	json_t *rates = json_array();

	for (size_t i = 0; i < side->nrates; i++) {
		const struct path_rate *rate = &side->rates[i];
		json_t *json =
			json_pack("{ss? ss ss? sI}", "function", rate->function, "per",
				  rate->of->per, "reason", rate->function ? NULL : rate->reason,
				  "runs", (json_int_t)rate->runs);

		json_object_set_new(json, "low",
				    rate->function ? json_real(rate->low) : json_null());
		json_object_set_new(json, "high",
				    rate->function ? json_real(rate->high) : json_null());
		json_object_set_new(json, "scope",
				    rate->function ? json_string(rate->every_cpu ? "cpus" : "task")
						   : json_null());
		json_object_set_new(json, "failed",
				    rate->failed ? json_string(rate->failed) : json_null());
		json_object_set_new(json, "wanted",
				    json_pack("{sf sf sf}", "before", rate->of->before, "after",
					      rate->of->after, "tolerance", rate->of->tolerance));
		json_array_append_new(rates, json);
	}
	return json_pack("{ss ss? sI so}", "path", path_name[side->path], "reason", side->reason,
			 "runs", (json_int_t)side->runs, "rates", rates);
}

const char *codepath_contradiction(struct arena *arena, enum verdict verdict, enum path before,
				   enum path after, bool *warning)
{
	bool gain = verdict == VERDICT_REPRODUCED || verdict == VERDICT_PARTLY ||
		    verdict == VERDICT_DIRECTION;
	bool known = before != PATH_ABSENT && after != PATH_ABSENT;
	bool same = before == after && before != PATH_NEITHER;
	bool exchanged = before == PATH_AFTER && after == PATH_BEFORE;

	*warning = false;
	if (!known)
		return NULL;
	if (gain && (same || exchanged)) {
		*warning = true;
		return exchanged ? arena_printf(arena,
						"%s, yet the code paths are exchanged: the kernel "
						"before runs the code of after",
						verdict_name[verdict])
				 : arena_printf(arena,
						"%s, yet both sides run the code path of \"%s\": "
						"this change does not come from the claim's code",
						verdict_name[verdict], path_name[before]);
	}
	if (verdict == VERDICT_OPPOSITE && exchanged)
		return "opposite, and the code paths are exchanged: the kernel before runs the "
		       "code of after";
	if (verdict == VERDICT_ABSENT && before == PATH_BEFORE && after == PATH_AFTER)
		return "absent, although the code path changed as the claim says";
	if (verdict == VERDICT_UNCHANGED && same)
		return arena_printf(arena,
				    "unchanged says nothing here: both sides run the code path of "
				    "\"%s\"",
				    path_name[before]);
	return NULL;
}
