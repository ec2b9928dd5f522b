// SPDX-License-Identifier: GPL-2.0-only
#include "compare/advice.h"

#include "compare/units.h"

#include <math.h>
#include <stdlib.h>

struct span {
	double first, end;
};

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* When a boot's last run was over. */
static void boot_spans(const struct dataset *dataset, struct span *spans)
{
	for (size_t i = 0; i < dataset->nboots; i++)
		spans[i] = (struct span){dataset->boots[i].first, dataset->boots[i].last};
	for (size_t i = 0; i < dataset->nruns; i++) {
		const struct run *run = &dataset->runs[i];
		double cost = isfinite(run->total_ns) ? run->total_ns / 1e9 : 0;

		spans[run->boot].end = fmax(spans[run->boot].end, run->started + cost);
	}
}

/*
 * What a boot costs besides its runs: the median pause between the last run of a boot and the
 * first of the next one. Pauses above an hour are somebody's night, not a boot.
 */
static double boot_overhead(const struct comparison *comparison)
{
	size_t n = comparison->before->nboots + comparison->after->nboots, count = 0;
	struct span *spans = arena_alloc(comparison->arena, n * sizeof(*spans));
	double *pauses = arena_alloc(comparison->arena, n * sizeof(*pauses));

	boot_spans(comparison->before, spans);
	boot_spans(comparison->after, spans + comparison->before->nboots);
	qsort(spans, n, sizeof(*spans), by_start);
	for (size_t i = 1; i < n; i++) {
		double pause = spans[i].first - spans[i - 1].end;

		if (pause > 0 && pause < 3600)
			pauses[count++] = pause * 1e9;
	}
	return stats_median(pauses, count);
}

/* All the runs of a boot, on average over the boots of both kernels. */
static double runs_of_a_boot(const struct comparison *comparison)
{
	const struct dataset *sides[] = {comparison->before, comparison->after};
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i]->nruns; j++) {
			if (isfinite(sides[i]->runs[j].total_ns)) {
				sum += sides[i]->runs[j].total_ns;
				known++;
			}
		}
	}
	return known ? sum / (double)(sides[0]->nboots + sides[1]->nboots) : NAN;
}

struct open_rows {
	size_t boots, runs, have_boots, have_runs;
	bool runs_do;
	const struct result_row *worst; /* the one that needs most boots */
};

static void add_open(struct comparison *comparison, struct open_rows *open,
		     const struct result_row *row)
{
	size_t boots = row->before.boots < row->after.boots ? row->before.boots : row->after.boots;

	if (!row->gates || row->outcome == OUTCOME_FAIL || !row->judged ||
	    (row->verdict != VERDICT_INCONCLUSIVE && row->verdict != VERDICT_DIRECTION) ||
	    (row->verdict == VERDICT_DIRECTION && row->rule.kind == RULE_DIRECTION))
		return;
	comparison->advice.open++;
	if (!isfinite(row->difference.low))
		return;
	if (!row->boots_needed) {
		comparison->advice.beyond = true;
		return;
	}
	if (row->boots_needed > open->boots) {
		open->boots = row->boots_needed;
		open->worst = row;
		open->have_boots = boots;
		open->have_runs = row->before.runs_high;
	}
	open->runs_do = open->runs_do && row->runs_needed;
	if (row->runs_needed > open->runs)
		open->runs = row->runs_needed;
}

/*
 * The runs a boot that give the narrowest interval for a given time: sqrt(C_boot/C_run *
 * V_within/V_between), Kalibera and Jones (ISMM 2013, sec. 9.1), the within variance being that
 * of a boot's middle times its runs.
 */
static size_t best_runs(const struct result_row *row, double boot_ns)
{
	double within = row->efficiency * row->within;
	double best = sqrt(boot_ns / row->run_cost_ns * within / row->between);

	return isfinite(best) && best < ADVICE_RUNS_MAX ? (size_t)fmax(1, round(best)) : 0;
}

void advice_build(struct comparison *comparison)
{
	struct advice *advice = &comparison->advice;
	struct open_rows open = {.runs_do = true};
	double runs_ns = runs_of_a_boot(comparison);
	bool claimed = false;

	*advice = (struct advice){.boots_ns = NAN, .runs_ns = NAN, .boot_ns = NAN};
	for (size_t i = 0; i < comparison->nclaims; i++) {
		for (size_t j = 0; j < comparison->claims[i].nrows; j++) {
			add_open(comparison, &open, comparison->claims[i].rows[j]);
			claimed = claimed || (comparison->claims[i].rows[j]->gates &&
					      comparison->claims[i].rows[j]->judged);
		}
	}
	/* Rows nobody asked for are no reason to boot again beside a claim. */
	for (size_t i = 0; !claimed && i < comparison->nothers; i++)
		add_open(comparison, &open, comparison->others[i]);
	if (!open.worst)
		return;
	advice->boot_ns = boot_overhead(comparison);
	advice->boots = open.boots;
	advice->within_unknown = !isfinite(open.worst->within);
	advice->boots_ns = 2 * (double)open.boots * (advice->boot_ns + runs_ns);
	advice->best_runs = best_runs(open.worst, advice->boot_ns);
	if (!open.runs_do || !open.runs)
		return;
	advice->runs = open.runs;
	advice->runs_ns = 2 * (double)open.have_boots *
			  (advice->boot_ns + runs_ns * (double)open.runs / (double)open.have_runs);
}

const char *advice_text(const struct comparison *comparison)
{
	const struct advice *advice = &comparison->advice;
	struct arena *arena = comparison->arena;
	char boots_cost[40], runs_cost[40];
	const char *text;

	if (!advice->open)
		return NULL;
	if (!advice->boots)
		return advice->beyond
			       ? arena_printf(
					 arena,
					 "An open row lies so near to a border that %d boots of "
					 "each kernel would not settle it.",
					 ADVICE_BOOTS_MAX)
			       : "At least two boots of each kernel are needed for an interval.";
	format_duration(boots_cost, sizeof(boots_cost), advice->boots_ns);
	format_duration(runs_cost, sizeof(runs_cost), advice->runs_ns);
	text = arena_printf(arena, "To settle %s: %zu more boot%s of each kernel",
			    advice->open == 1
				    ? "the open row"
				    : arena_printf(arena, "the %zu open rows", advice->open),
			    advice->boots, advice->boots == 1 ? "" : "s");
	if (isfinite(advice->boots_ns))
		text = arena_printf(arena, "%s (about %s)", text, boots_cost);
	if (advice->within_unknown) {
		text = arena_printf(arena, "%s; the spread within boots is not known", text);
	} else if (comparison->before->nboots < 2 || comparison->after->nboots < 2) {
		text = arena_printf(arena, "%s; of one kernel there is one boot", text);
	} else if (!advice->runs) {
		text = arena_printf(
			arena,
			"%s; more runs a boot would not do, the spread between boots is "
			"too large",
			text);
	} else {
		text = arena_printf(arena, "%s, or a new series with %zu runs a boot", text,
				    advice->runs);
		if (isfinite(advice->runs_ns))
			text = arena_printf(arena, "%s (about %s): %s is cheaper", text, runs_cost,
					    advice->runs_ns < advice->boots_ns ? "the new series"
									       : "more boots");
	}
	if (!isfinite(advice->boots_ns))
		text = arena_printf(arena, "%s; what a boot costs is not recorded", text);
	if (advice->best_runs)
		text = arena_printf(arena, "%s; %zu run%s a boot buy%s most for the time", text,
				    advice->best_runs, advice->best_runs == 1 ? "" : "s",
				    advice->best_runs == 1 ? "s" : "");
	return arena_printf(arena, "%s.%s", text,
			    advice->beyond ? " Another row lies too near to a border to be settled."
					   : "");
}
