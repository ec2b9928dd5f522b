// SPDX-License-Identifier: GPL-2.0-only
#include "compare/comparison.h"

#include "compare/advice.h"
#include "compare/environment.h"
#include "compare/sentences.h"
#include "compare/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *documented_text(struct arena *arena, const struct documented *documented)
{
	if (documented->form == FORM_RANGE)
		return arena_printf(arena, "%.10g-%.10g", documented->low, documented->high);
	/* A quotient was computed here; every other figure stands as printed. */
	return arena_printf(arena, "%.*g", documented->form == FORM_RATIO ? 4 : 10,
			    documented->value);
}

/* ---- one side ---- */

static double value_of(const struct dataset *dataset, const struct run *run,
		       const struct result_row *row)
{
	double above, below;

	if (row->metric && group_metric(&dataset->groups[run->group], row->metric))
		return run_value(dataset, run, row->metric);
	if (!row->row || !row->row->ratio_of[0])
		return NAN;
	above = run_value(dataset, run, row->row->ratio_of[0]);
	below = run_value(dataset, run, row->row->ratio_of[1]);
	return below > 0 ? above / below : NAN;
}

/* The metric of a row that says its unit: its own, or the first of its quotient. */
static const struct group_metric *metric_of(const struct result_row *row, const struct group *group)
{
	const struct group_metric *metric = row->metric ? group_metric(group, row->metric) : NULL;

	if (!metric && row->row && row->row->ratio_of[0])
		metric = group_metric(group, row->row->ratio_of[0]);
	return metric;
}

static enum within within_of(const struct result_row *row)
{
	return row->claim ? row->claim->within : WITHIN_MEDIAN;
}

struct side_values {
	double *values; /* of one boot */
	struct stats_pool *pool;
	double inverse_runs; /* sum of 1/runs over boots, for the harmonic mean */
};

static void add_boot(struct comparison *comparison, const struct dataset *dataset,
		     struct result_row *row, struct row_side *side, size_t boot,
		     struct side_values *work, size_t count)
{
	double middle;
	size_t positive = 0;

	if (!count)
		return;
	middle = within_of(row) == WITHIN_MEAN ? stats_mean(work->values, count)
					       : stats_median(work->values, count);
	side->boot_ids[side->boots] = dataset->boots[boot].id;
	side->boot_values[side->boots] = middle;
	side->boot_logs[side->boots++] = log(middle);
	side->runs += count;
	if (!side->runs_low || count < side->runs_low)
		side->runs_low = count;
	if (count > side->runs_high)
		side->runs_high = count;
	work->inverse_runs += 1. / (double)count;
	if (!(middle > 0) && !row->reason)
		row->reason =
			arena_printf(comparison->arena, "no ratio: the %s of boot %.8s of %s is %g",
				     within_of(row) == WITHIN_MEAN ? "mean" : "median",
				     dataset->boots[boot].id, dataset->kernel, middle);
	for (size_t i = 0; i < count; i++) {
		if (work->values[i] > 0)
			work->values[positive++] = log(work->values[i]);
	}
	if (within_of(row) == WITHIN_MEAN)
		stats_pool_add(work->pool, work->values, positive);
	else
		stats_pool_add_robust(work->pool, work->values, positive);
}

/* Runs of a group that went well come boot by boot, since a boot is a file. */
static void build_side(struct comparison *comparison, const struct dataset *dataset,
		       struct result_row *row, struct row_side *side, struct side_values *work)
{
	size_t count = 0, boot = NO_RUN;

	side->boot_values =
		arena_alloc(comparison->arena, dataset->nboots * sizeof(*side->boot_values));
	side->boot_logs = arena_alloc(comparison->arena, dataset->nboots * sizeof(double));
	side->boot_ids = arena_alloc(comparison->arena, dataset->nboots * sizeof(char *));
	work->values = malloc((side->group->count[RUN_OK] + 1) * sizeof(double));
	for (size_t i = side->group->first_run; work->values && i != NO_RUN;
	     i = dataset->runs[i].next) {
		const struct run *run = &dataset->runs[i];
		double value = value_of(dataset, run, row);

		side->count[run->status]++;
		if (run->status != RUN_OK) {
			side->reason = side->reason ? side->reason : run->reason;
			continue;
		}
		if (run->boot != boot) {
			add_boot(comparison, dataset, row, side, boot, work, count);
			boot = run->boot;
			count = 0;
		}
		if (isfinite(value))
			work->values[count++] = value;
	}
	add_boot(comparison, dataset, row, side, boot, work, count);
	free(work->values);
	side->middle = NAN;
	if (!side->boots)
		return;
	if (row->claim && row->claim->across == ACROSS_MEDIAN) {
		double *copy = arena_alloc(comparison->arena, side->boots * sizeof(*copy));

		memcpy(copy, side->boot_values, side->boots * sizeof(*copy));
		side->middle = stats_median(copy, side->boots);
	} else {
		side->middle = stats_mean(side->boot_values, side->boots);
	}
}

/* ---- what a row is held against ---- */

static json_int_t cpus(const struct comparison *comparison)
{
	json_t *match = boot_match(&comparison->before->boots[0]);

	return json_integer_value(json_object_get(match, "cpus"));
}

/* A clock that is virtual, or counts on a machine where nobody else can be interrupted. */
static bool direction_only(const struct comparison *comparison, const char *unit)
{
	bool real = !strcmp(comparison->engine, "native") || !strcmp(comparison->engine, "kvm") ||
		    !strcmp(comparison->engine, "unknown");

	return !real && (unit_is_clock(unit) || cpus(comparison) < 2);
}

static void choose_rule(struct comparison *comparison, struct result_row *row)
{
	const struct claim_row *of = row->row;
	bool instructions = row->quantity.instructions;
	double margin = log(instructions ? CLAIM_MARGIN_ICOUNT : CLAIM_MARGIN);
	double documented, expected;

	row->rule = (struct rule){.kind = RULE_FREE, .margin = margin};
	row->expected = NAN;
	if (!of || of->kind == ROW_DESCRIBE)
		return;
	if (of->kind == ROW_UNCHANGED) {
		double least = instructions ? fmin(of->margin, CLAIM_UNCHANGED_ICOUNT) : of->margin;

		row->rule = (struct rule){.kind = RULE_UNCHANGED, .margin = log1p(least)};
		return;
	}
	documented = of->after.value / of->before.value;
	/* What is expected of the instructions says nothing of a clock that was warped. */
	expected = row->quantity.virtual_time
			   ? NAN
			   : claim_expected(row->claim, comparison->engine, of->id);
	if (expected > 0) {
		row->expected = expected;
		row->expected_engine = true;
	} else if (direction_only(comparison, row->unit)) {
		row->rule = (struct rule){
			.kind = RULE_DIRECTION, .delta = log(documented), .margin = margin};
		return;
	} else {
		row->expected = documented;
	}
	row->rule = (struct rule){.kind = RULE_CHANGE,
				  .delta = log(row->expected),
				  .share = CLAIM_SHARE,
				  .margin = margin};
}

/* -1 where the documented (or better) direction is upwards: then everything is mirrored. */
static double orientation(const struct result_row *row)
{
	if (row->rule.kind == RULE_CHANGE || row->rule.kind == RULE_DIRECTION)
		return row->rule.delta < 0 ? 1 : -1;
	return row->better == BETTER_HIGHER ? -1 : 1;
}

static struct rule oriented_rule(const struct result_row *row)
{
	struct rule rule = row->rule;

	rule.delta = -fabs(rule.delta);
	return rule;
}

/* ---- judging ---- */

static const char *lacking(struct comparison *comparison, const struct result_row *row,
			   const struct row_side *side, const char *kernel, bool *by_design)
{
	const struct group_metric *metric = metric_of(row, side->group);

	*by_design = false;
	if (side->count[RUN_OK]) {
		*by_design = metric && metric->absent;
		return metric && metric->absent
			       ? arena_printf(comparison->arena, "absent: %s", metric->absent)
			       : arena_printf(comparison->arena, "the runs of %s do not hold %s",
					      kernel, row->metric ? row->metric : row->name);
	}
	*by_design = side->count[RUN_SKIP] && !side->count[RUN_FAIL] && !side->count[RUN_BROKEN];
	return arena_printf(comparison->arena, "%s on %s: %s",
			    *by_design		    ? "skipped"
			    : side->count[RUN_FAIL] ? "failed"
						    : "broken",
			    kernel, side->reason ? side->reason : "no reason recorded");
}

/* Nothing to judge: what is missing, and whether that was to be expected. */
static bool incomplete(struct comparison *comparison, struct result_row *row)
{
	bool design[2] = {true, true};
	const char *reason[2] = {NULL, NULL};

	if (!row->before.boots)
		reason[0] = lacking(comparison, row, &row->before, comparison->before->kernel,
				    &design[0]);
	if (!row->after.boots)
		reason[1] = lacking(comparison, row, &row->after, comparison->after->kernel,
				    &design[1]);
	if (!reason[0] && !reason[1])
		return false;
	row->reason = reason[0] ? reason[0] : reason[1];
	row->verdict = reason[0] && reason[1] && design[0] && design[1] ? VERDICT_NOT_MEASURED
									: VERDICT_INCONCLUSIVE;
	return true;
}

static void share_of(struct result_row *row)
{
	row->share = row->share_low = row->share_high = NAN;
	if (row->rule.kind != RULE_CHANGE)
		return;
	row->share = row->difference.d / row->rule.delta;
	row->share_low =
		fmin(row->difference.low / row->rule.delta, row->difference.high / row->rule.delta);
	row->share_high =
		fmax(row->difference.low / row->rule.delta, row->difference.high / row->rule.delta);
}

static double run_cost(const struct dataset *dataset, const struct group *group)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = group->first_run; i != NO_RUN; i = dataset->runs[i].next) {
		if (isfinite(dataset->runs[i].total_ns)) {
			sum += dataset->runs[i].total_ns;
			count++;
		}
	}
	return count ? sum / (double)count : NAN;
}

static void what_would_settle(struct comparison *comparison, struct result_row *row)
{
	struct rule rule = oriented_rule(row);
	size_t have = row->before.boots < row->after.boots ? row->before.boots : row->after.boots;
	double d = orientation(row) * row->difference.d;
	size_t boots, runs = row->before.runs_high;

	if (verdict_settled(
		    &rule,
		    verdict_of(&rule,
			       orientation(row) > 0 ? row->difference.low : -row->difference.high,
			       orientation(row) > 0 ? row->difference.high : -row->difference.low)))
		return;
	boots = verdict_boots(&rule, d, row->difference.s, comparison->level, have + 1,
			      ADVICE_BOOTS_MAX);
	row->boots_needed = boots > have ? boots - have : 0;
	row->runs_needed = verdict_runs(&rule, d, row->between, row->within, row->efficiency,
					comparison->level, have, runs + 1, ADVICE_RUNS_MAX);
}

static void second_opinions(struct comparison *comparison, struct result_row *row)
{
	const struct row_side *before = &row->before, *after = &row->after;
	struct rule rule = oriented_rule(row);
	double sign = orientation(row);
	enum verdict other;

	row->permutation = NAN;
	row->welch = stats_no_difference;
	if (before->boots < 4 || after->boots < 4)
		return;
	row->welch = stats_welch(before->boot_logs, before->boots, after->boot_logs, after->boots,
				 comparison->level);
	row->permutation =
		stats_permutation(before->boot_logs, before->boots, after->boot_logs, after->boots);
	if (!isfinite(row->welch.low))
		return;
	other = verdict_of(&rule, sign > 0 ? row->welch.low : -row->welch.high,
			   sign > 0 ? row->welch.high : -row->welch.low);
	/* Welch's interval has no floor, which is no opinion on the spread of the kernels. */
	if (row->verdict != VERDICT_DESCRIBED && other != row->verdict &&
	    row->difference.s_raw >= row->floor)
		note_add(&comparison->notes, "second-opinion", row->label,
			 "Welch's interval, which lets the two kernels differ in spread, says "
			 "\"%s\"",
			 verdict_name[other]);
}

static void row_notes(struct comparison *comparison, struct result_row *row)
{
	const struct {
		const struct row_side *side;
		const struct dataset *dataset;
	} sides[] = {{&row->before, comparison->before}, {&row->after, comparison->after}};

	for (size_t i = 0; i < 2; i++) {
		const struct row_side *side = sides[i].side;
		size_t ended =
			side->count[RUN_FAIL] + side->count[RUN_BROKEN] + side->count[RUN_SKIP];

		if (ended && side->boots)
			(side->count[RUN_FAIL] ? note_warn : note_add)(
				&comparison->notes, "not-ok", row->label,
				"on %s %zu run%s failed, %zu broke and %zu were skipped (%s)",
				sides[i].dataset->kernel, side->count[RUN_FAIL],
				side->count[RUN_FAIL] == 1 ? "" : "s", side->count[RUN_BROKEN],
				side->count[RUN_SKIP], side->reason);
		if (side->boots && side->boots < sides[i].dataset->nboots)
			note_add(&comparison->notes, "fewer-boots", row->label,
				 "only %zu of the %zu boots of %s have it", side->boots,
				 sides[i].dataset->nboots, sides[i].dataset->kernel);
	}
	if (row->judged && !isfinite(row->within))
		note_add(
			&comparison->notes, "one-run", NULL,
			"one run a boot: the spread within boots is not known, so chance agreement "
			"of boots is not guarded against");
	if (row->quantity.virtual_time)
		note_add(&comparison->notes, "virtual-time", row->label,
			 "the guest idled while it was timed: this is virtual time, not "
			 "instructions");
	if (isfinite(row->share_low) && row->share_low > 1.5)
		note_add(&comparison->notes, "larger", row->label, "larger than documented");
	else if (row->verdict == VERDICT_REPRODUCED && row->share > 1.5)
		note_add(&comparison->notes, "larger", row->label,
			 "larger than documented, though the interval does not exclude the "
			 "documented size");
	if (row->rule.kind == RULE_DIRECTION && row->judged)
		note_add(&comparison->notes, "direction-only", NULL,
			 "the %s engine measures another quantity than the documented time: it can "
			 "confirm the direction of a change, not its size",
			 comparison->engine);
	if (row->expected_engine && row->judged)
		note_add(&comparison->notes, "expected", row->label,
			 "held against the ratio %.4g that the claim expects of the %s engine",
			 row->expected, comparison->engine);
}

/* All runs of both sides work on equally many pages, to within what would count as a difference. */
static bool pages_differ(const struct result_row *row)
{
	const struct group *before = row->before.group, *after = row->after.group;
	double low = fmin(before->pages_low, after->pages_low);
	double most = row->quantity.instructions ? CLAIM_MARGIN_ICOUNT : 1.01;

	return low > 0 && fmax(before->pages_high, after->pages_high) > most * low;
}

/* One name for two quantities: what each side calls it; NULL: they agree, or a side lacks it. */
static const char *metric_differs(struct comparison *comparison, const struct result_row *row,
				  const char *name)
{
	const struct group_metric *before = group_metric(row->before.group, name);
	const struct group_metric *after = group_metric(row->after.group, name);

	if (!before || !after ||
	    (!strcmp(before->unit, after->unit) && before->better == after->better))
		return NULL;
	return arena_printf(comparison->arena,
			    "not compared: %s is in %s, %s is better, before; in %s, %s is better, "
			    "after",
			    name, before->unit, better_name[before->better], after->unit,
			    better_name[after->better]);
}

static const char *metrics_differ(struct comparison *comparison, const struct result_row *row)
{
	const char *differs = row->metric ? metric_differs(comparison, row, row->metric) : NULL;

	for (size_t i = 0; row->row && i < 2 && !differs; i++)
		if (row->row->ratio_of[i])
			differs = metric_differs(comparison, row, row->row->ratio_of[i]);
	return differs;
}

static void judge(struct comparison *comparison, struct result_row *row)
{
	struct stats_pool pool = {0};
	struct side_values work = {.pool = &pool};
	double sign, runs;
	struct rule rule;

	build_side(comparison, comparison->before, row, &row->before, &work);
	build_side(comparison, comparison->after, row, &row->after, &work);
	row->size_share =
		row->claim ? quantity_size_share(row->before.group, row->claim->params) : NAN;
	choose_rule(comparison, row);
	if (!strcmp(row->before.group->scale, "smoke") && unit_is_clock(row->unit) &&
	    !row->quantity.instructions) {
		row->verdict = VERDICT_NOT_MEASURED;
		row->reason = "smoke runs are never compared by time";
		return;
	}
	if (incomplete(comparison, row))
		return;
	if (!row->reason)
		row->reason = metrics_differ(comparison, row);
	if (!row->reason && pages_differ(row))
		row->reason = arena_printf(
			comparison->arena,
			"not compared: %.15g to %.15g pages before, %.15g to %.15g after",
			row->before.group->pages_low, row->before.group->pages_high,
			row->after.group->pages_low, row->after.group->pages_high);
	if (row->reason) {
		row->verdict = VERDICT_INCONCLUSIVE;
		return;
	}
	row->judged = true;
	row->within = stats_pool_variance(&pool);
	row->efficiency = within_of(row) == WITHIN_MEAN ? 1 : STATS_MEDIAN_EFFICIENCY;
	runs = (double)(row->before.boots + row->after.boots) / work.inverse_runs;
	row->floor = stats_floor(row->within, runs, row->efficiency);
	row->difference =
		stats_pooled(row->before.boot_logs, row->before.boots, row->after.boot_logs,
			     row->after.boots, row->floor, comparison->level);
	row->between = fmax(0, row->difference.s_raw * row->difference.s_raw -
				       row->efficiency * row->within / runs);
	row->run_cost_ns = (run_cost(comparison->before, row->before.group) +
			    run_cost(comparison->after, row->after.group)) /
			   2;
	share_of(row);
	rule = oriented_rule(row);
	sign = orientation(row);
	if (row->row && row->row->kind == ROW_DESCRIBE)
		row->verdict = VERDICT_DESCRIBED;
	else
		row->verdict =
			verdict_of(&rule, sign > 0 ? row->difference.low : -row->difference.high,
				   sign > 0 ? row->difference.high : -row->difference.low);
	if (!isfinite(row->difference.low) && row->verdict == VERDICT_INCONCLUSIVE)
		row->reason = "needs boots: one of each kernel has no interval";
	second_opinions(comparison, row);
	if (row->verdict != VERDICT_DESCRIBED)
		what_would_settle(comparison, row);
	if (row->verdict == VERDICT_INCONCLUSIVE && !row->reason)
		row->reason =
			row->boots_needed
				? arena_printf(comparison->arena, "%zu more boot%s of each kernel",
					       row->boots_needed, row->boots_needed == 1 ? "" : "s")
				: arena_printf(comparison->arena,
					       "too near to a border for %d boots of each "
					       "kernel",
					       ADVICE_BOOTS_MAX);
}

/* ---- which rows there are ---- */

static struct result_row *new_row(struct comparison *comparison, const struct claim *claim,
				  const struct claim_row *of, const char *name, const char *metric)
{
	struct result_row *row = arena_alloc(comparison->arena, sizeof(*row));

	*row = (struct result_row){
		.claim = claim,
		.row = of,
		.name = name,
		.label = claim ? arena_printf(comparison->arena, "%s.%s", claim->name, name) : name,
		.metric = metric,
		.unit = of && of->unit ? of->unit : "",
		.verdict = VERDICT_NOT_MEASURED,
		.gates = of ? of->gate : false,
		.quantity = {.unit = of && of->unit ? of->unit : "", .factor = 1},
		.permutation = NAN,
		.share = NAN,
		.share_low = NAN,
		.share_high = NAN,
		.size_share = NAN,
		.within = NAN,
		.between = NAN,
		.run_cost_ns = NAN,
		.expected = NAN};
	row->before.middle = row->after.middle = NAN;
	row->difference = row->welch = stats_no_difference;
	return row;
}

/* Work a second, whatever the work is. */
static bool is_a_rate(const char *unit)
{
	size_t length = strlen(unit);

	return length > 2 && !strcmp(unit + length - 2, "/s");
}

/* Work that ends by count (option end=ops) says nothing by its rate: the time is another row. */
static bool ends_by_work(const struct group *group)
{
	const char *end = json_string_value(json_object_get(group->options, "end"));

	return end && !strcmp(end, "ops");
}

/* A run that failed says that its kernel does wrong; what the others took does not make up for it. */
static enum gate_outcome outcome_of(struct comparison *comparison, struct result_row *row)
{
	enum gate_outcome outcome = gate_outcome(comparison->gate, row->verdict);
	size_t failed = row->after.count[RUN_FAIL], runs = 0;

	if (!row->gates)
		return OUTCOME_PASS;
	if (comparison->gate == GATE_NONE || !failed)
		return outcome;
	for (int i = 0; i < RUN_STATUSES; i++)
		runs += row->after.count[i];
	row->failing = true;
	if (!row->reason)
		row->reason =
			arena_printf(comparison->arena, "%zu of %zu runs failed on %s: %s", failed,
				     runs, comparison->after->kernel,
				     row->after.reason ? row->after.reason : "no reason recorded");
	if (!row->before.count[RUN_FAIL])
		return OUTCOME_FAIL;
	return outcome == OUTCOME_PASS ? OUTCOME_OPEN : outcome;
}

static void fill_row(struct comparison *comparison, struct result_row *row,
		     const struct group *before, const struct group *after)
{
	const struct group_metric *metric;

	row->before.group = before;
	row->after.group = after;
	metric = metric_of(row, before);
	if (!metric)
		metric = metric_of(row, after);
	if (metric) {
		bool quotient = row->row && row->row->ratio_of[0] &&
				!(row->metric && group_metric(before, row->metric));

		row->better = metric->better;
		row->unit = quotient ? (row->row->unit ? row->row->unit : "") : metric->unit;
		/* A patch that makes the work sleep idles on its side alone. */
		row->quantity = quantity_of(after->idle_ns > 0 ? after : before, row->unit,
					    &comparison->before->boots[0]);
	}
	if (row->gates && ends_by_work(before) && is_a_rate(row->unit)) {
		row->gates = false;
		note_add(&comparison->notes, "ends-by-work", row->label,
			 "does not gate: these runs end by work, not by time");
	}
	judge(comparison, row);
	row_notes(comparison, row);
	row->outcome = outcome_of(comparison, row);
}

static void add_claim_row(struct comparison *comparison, struct claim_result *result,
			  struct result_row *row)
{
	*ARENA_PUSH(comparison->arena, result->rows, result->nrows, result->rows_room) = row;
}

/* "size 1 GiB" against "size 2 GiB": what keeps two groups of equal options apart. */
static const char *settings(struct comparison *comparison, const struct group *group)
{
	const char *identity = quantity_identity(comparison->arena, group->identity);

	return arena_printf(comparison->arena, "%s, %s%s%s", group->scale,
			    quantity_params(comparison->arena, group->params),
			    *identity ? ", " : "", identity);
}

/* No pair of equal settings: say what there is instead. */
static void add_unpaired(struct comparison *comparison, struct claim_result *result,
			 const struct claim_row *of, const struct group *before,
			 const struct group *after)
{
	struct result_row *row = new_row(comparison, result->claim, of, of->id, of->metric);

	row->before.group = before;
	row->after.group = after;
	if (!before && !after) {
		row->reason = "no record";
		add_claim_row(comparison, result, row);
		return;
	}
	row->verdict = VERDICT_INCONCLUSIVE;
	if (before && after)
		row->reason =
			arena_printf(comparison->arena, "not compared: before is %s; after is %s",
				     settings(comparison, before), settings(comparison, after));
	else
		row->reason = arena_printf(comparison->arena, "no record of it on %s",
					   before ? comparison->after->kernel
						  : comparison->before->kernel);
	row->outcome = outcome_of(comparison, row);
	add_claim_row(comparison, result, row);
}

/* Rows that share a claim row's id get what sets them apart: the scale, where that does. */
static void name_settings(struct comparison *comparison, struct claim_result *result, size_t first,
			  const struct claim_row *of)
{
	bool scales_differ = true;

	for (size_t i = first; i < result->nrows; i++) {
		for (size_t j = first; j < i; j++)
			scales_differ =
				scales_differ && strcmp(result->rows[i]->before.group->scale,
							result->rows[j]->before.group->scale);
	}
	for (size_t i = first; i < result->nrows; i++) {
		const struct group *group = result->rows[i]->before.group;

		result->rows[i]->name =
			scales_differ
				? arena_printf(comparison->arena, "%s (%s)", of->id, group->scale)
				: arena_printf(comparison->arena, "%s (%s, %s)", of->id,
					       group->variant, settings(comparison, group));
	}
}

static const struct dataset *side_of(const struct comparison *comparison, int side)
{
	return side ? comparison->after : comparison->before;
}

/* Which code ran for this row, and whether the verdict can be true of it. */
static void judge_path(struct comparison *comparison, struct result_row *row)
{
	const char *text;
	bool warning;

	if (!codepath_applies(row->claim, row->row))
		return;
	for (int i = 0; i < 2; i++)
		row->path[i] = codepath_side(comparison->arena, side_of(comparison, i), ALL_BOOTS,
					     row->claim, row->row)
				       .path;
	text = codepath_contradiction(comparison->arena, row->verdict, row->path[0], row->path[1],
				      &warning);
	if (text)
		(warning ? note_warn : note_add)(&comparison->notes, "code-path", row->label, "%s",
						 text);
}

static void judge_paths(struct comparison *comparison, struct claim_result *result)
{
	for (size_t i = 0; i < result->nrows; i++)
		result->run = result->run || result->rows[i]->before.group ||
			      result->rows[i]->after.group;
	for (int i = 0; i < 2 && result->claim->nmechanism; i++) {
		const struct dataset *side = side_of(comparison, i);
		const char *missing;

		result->path[i] =
			codepath_side(comparison->arena, side, ALL_BOOTS, result->claim, NULL);
		missing = codepath_missing(comparison->arena, &result->path[i]);
		if (missing)
			note_add(&comparison->notes, "code-path-partial", result->claim->name,
				 "code path of %s: %s", side->kernel, missing);
	}
}

static void pair_claim_row(struct comparison *comparison, struct claim_result *result,
			   const struct claim_row *of, bool *claimed)
{
	const struct dataset *before = comparison->before, *after = comparison->after;
	const struct group *only_before = NULL, *only_after = NULL;
	size_t first = result->nrows;

	for (size_t i = 0; i < before->ngroups; i++) {
		const struct group *group = &before->groups[i], *other;
		struct result_row *row;

		if (group->first_run == NO_RUN ||
		    !group_matches(group, result->claim->case_name, of->where))
			continue;
		claimed[i] = true;
		other = dataset_group(after, group);
		if (!other) {
			only_before = group;
			continue;
		}
		row = new_row(comparison, result->claim, of, of->id, of->metric);
		if (result->nrows > first)
			row->label = arena_printf(comparison->arena, "%s#%zu", row->label,
						  result->nrows - first + 1);
		fill_row(comparison, row, group, other);
		judge_path(comparison, row);
		add_claim_row(comparison, result, row);
	}
	for (size_t i = 0; i < after->ngroups; i++) {
		if (group_matches(&after->groups[i], result->claim->case_name, of->where) &&
		    after->groups[i].first_run != NO_RUN &&
		    !dataset_group(before, &after->groups[i]))
			only_after = &after->groups[i];
	}
	if (result->nrows == first) {
		add_unpaired(comparison, result, of, only_before, only_after);
		return;
	}
	if (only_before || only_after)
		note_add(&comparison->notes, "unpaired", result->rows[first]->label,
			 "also measured with other settings on one side only (%s), not compared",
			 settings(comparison, only_before ? only_before : only_after));
	if (result->nrows > first + 1)
		name_settings(comparison, result, first, of);
}

static bool has_case(const struct dataset *dataset, const char *name)
{
	for (size_t i = 0; i < dataset->ngroups; i++) {
		if (!strcmp(dataset->groups[i].case_name, name))
			return true;
	}
	for (size_t i = 0; i < dataset->nprobes; i++) {
		if (!dataset->probes[i].locks && !strcmp(dataset->probes[i].case_name, name))
			return true;
	}
	return false;
}

static void add_claims(struct comparison *comparison, const struct claim *claims, size_t nclaims,
		       bool *claimed)
{
	comparison->claims =
		arena_alloc(comparison->arena, (nclaims + 1) * sizeof(*comparison->claims));
	for (size_t i = 0; i < nclaims; i++) {
		struct claim_result *result = &comparison->claims[comparison->nclaims++];

		result->claim = &claims[i];
		result->recorded = has_case(comparison->before, claims[i].case_name) ||
				   has_case(comparison->after, claims[i].case_name);
		for (size_t j = 0; result->recorded && j < claims[i].nrows; j++)
			pair_claim_row(comparison, result, &claims[i].rows[j], claimed);
		if (result->recorded)
			judge_paths(comparison, result);
	}
}

/* A row of some claim is about this group, and about this metric of it; NULL: about any. */
static bool is_claimed(const struct comparison *comparison, const struct group *group,
		       const char *metric)
{
	for (size_t i = 0; i < comparison->nclaims; i++) {
		const struct claim *claim = comparison->claims[i].claim;

		for (size_t j = 0; j < claim->nrows; j++) {
			const struct claim_row *row = &claim->rows[j];

			if ((!metric || (row->metric && !strcmp(row->metric, metric))) &&
			    group_matches(group, claim->case_name, row->where))
				return true;
		}
	}
	return false;
}

/* Totals depend on how fast the box was; a rate, a time or a share does not gate by accident. */
static bool may_gate(const struct group_metric *metric)
{
	return (unit_is_clock(metric->unit) || strchr(metric->unit, '/')) &&
	       strcmp(metric->name, "p95") != 0;
}

static const struct group *paired(const struct comparison *comparison, const struct group *group)
{
	return dataset_group(comparison->after, group);
}

/* Options whose value all groups compared without a claim share, of one case. */
static const char *common_options(struct comparison *comparison, const struct group *of,
				  const bool *claimed)
{
	const struct dataset *before = comparison->before;
	const char *text = "", *key;
	json_t *value;

	json_object_foreach (of->options, key, value) {
		bool common = true;

		for (size_t i = 0; common && i < before->ngroups; i++) {
			const struct group *group = &before->groups[i];

			if (!claimed[i] && !strcmp(group->case_name, of->case_name) &&
			    paired(comparison, group))
				common = json_equal(json_object_get(group->options, key), value);
		}
		if (common)
			text = arena_printf(comparison->arena, "%s%s%s=%s", text, *text ? "," : "",
					    key, json_string_value(value));
	}
	return text;
}

/* "op=undo,folio=4k", with the case and the metric where they do not go without saying. */
static const char *other_name(struct comparison *comparison, const struct group *group,
			      const char *common, const char *metric, bool several_cases)
{
	const char *variant = variant_without(comparison->arena, group, common);
	bool plain = !strcmp(metric, "time");

	if (!strcmp(variant, "all"))
		variant = group->variant;
	return arena_printf(comparison->arena, "%s%s%s%s%s", several_cases ? group->case_name : "",
			    several_cases ? " " : "", variant, plain ? "" : " ",
			    plain ? "" : metric);
}

static void add_other(struct comparison *comparison, const struct group *group,
		      const struct group_metric *metric, bool claimed, const char *name)
{
	struct result_row *row = new_row(comparison, NULL, NULL, name, metric->name);

	row->label = arena_printf(comparison->arena, "%s.%s.%s", group->case_name, group->variant,
				  metric->name);
	row->gates = !claimed && may_gate(metric);
	fill_row(comparison, row, group, paired(comparison, group));
	/* A metric that cannot be had is one note, not a row for every variant. */
	if (!row->judged && claimed)
		return;
	if (!row->judged && row->before.count[RUN_OK] && row->after.count[RUN_OK] && row->reason) {
		note_add(&comparison->notes, "not-compared", NULL, "%s of %s: %s", metric->name,
			 group->case_name, row->reason);
		return;
	}
	*ARENA_PUSH(comparison->arena, comparison->others, comparison->nothers,
		    comparison->others_room) = row;
}

static bool several_cases(const struct comparison *comparison, const bool *claimed)
{
	const char *first = NULL;

	for (size_t i = 0; i < comparison->before->ngroups; i++) {
		const struct group *group = &comparison->before->groups[i];

		if (claimed[i] || !paired(comparison, group))
			continue;
		if (first && strcmp(first, group->case_name) != 0)
			return true;
		first = group->case_name;
	}
	return false;
}

static const char *how_ended(const struct group *group)
{
	return group->count[RUN_FAIL] ? "failed" : group->count[RUN_BROKEN] ? "broken" : "skipped";
}

/* A variant that never ran well on either side. */
static void note_variant(struct comparison *comparison, const struct group *group,
			 const struct group *other)
{
	const char *before = comparison->before->runs[group->first_run].reason;
	const char *after = comparison->after->runs[other->first_run].reason;

	if (group->count[RUN_OK] || other->count[RUN_OK])
		return;
	if (!strcmp(how_ended(group), how_ended(other)) && !strcmp(before, after))
		note_add(&comparison->notes, "not-ok", NULL, "%s %s: %s on both sides (%s)",
			 group->case_name, group->variant, how_ended(group), before);
	else
		note_add(&comparison->notes, "not-ok", NULL, "%s %s: %s on %s (%s), %s on %s (%s)",
			 group->case_name, group->variant, how_ended(group),
			 comparison->before->kernel, before, how_ended(other),
			 comparison->after->kernel, after);
}

/* What only one side has is counted, with the first of it as an example. */
static void note_one_side(struct comparison *comparison, const struct dataset *side,
			  const struct dataset *other)
{
	const struct group *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < side->ngroups; i++) {
		const struct group *group = &side->groups[i];

		if (group->first_run == NO_RUN || dataset_group(other, group) ||
		    is_claimed(comparison, group, NULL))
			continue;
		first = first ? first : group;
		count++;
	}
	if (count)
		note_add(&comparison->notes, "one-side", NULL,
			 "%zu variant%s without a claim only on %s: %s %s (%s)%s", count,
			 count == 1 ? "" : "s", side->kernel, first->case_name, first->variant,
			 settings(comparison, first), count == 1 ? "" : " and others");
}

static void add_others(struct comparison *comparison, const bool *claimed)
{
	const struct dataset *before = comparison->before;
	bool several = several_cases(comparison, claimed);

	for (size_t i = 0; i < before->ngroups; i++) {
		const struct group *group = &before->groups[i];
		const struct group *other = paired(comparison, group);
		const char *common;

		if (!other || group->first_run == NO_RUN)
			continue;
		if (!claimed[i])
			note_variant(comparison, group, other);
		common = common_options(comparison, group, claimed);
		for (size_t j = 0; j < group->nmetrics; j++) {
			const struct group_metric *metric = &group->metrics[j];

			/* The time of a given work is what it is about, whatever a claim says. */
			bool time = !strcmp(metric->name, "time") && ends_by_work(group) &&
				    !is_claimed(comparison, group, metric->name);

			/* The same ratio as the time's, since the pages are equal. */
			if (!strcmp(metric->name, "time_per_page") && group_metric(group, "time"))
				continue;
			if (metric->better == BETTER_NEITHER ||
			    (claimed[i] && !time &&
			     strcmp(metric->name, "instructions_per_page") != 0))
				continue;
			add_other(comparison, group, metric, claimed[i] && !time,
				  other_name(comparison, group, claimed[i] ? "" : common,
					     metric->name, several));
		}
	}
	note_one_side(comparison, before, comparison->after);
	note_one_side(comparison, comparison->after, before);
}

/* ---- the whole ---- */

static int check_sides(struct comparison *comparison, bool force, struct input_error *error)
{
	const struct dataset *before = comparison->before, *after = comparison->after;
	struct input in = {.file = after->path, .error = error};
	const char *list = "";

	for (size_t i = 0; i < before->nboots; i++) {
		for (size_t j = 0; j < after->nboots; j++) {
			if (strcmp(before->boots[i].id, after->boots[j].id) != 0)
				continue;
			return input_failf(&in, NULL, "boots of another kernel than before",
					   "boot %s on both sides", after->boots[j].id);
		}
	}
	environment_compare(comparison);
	if (!comparison->nforced || force)
		return 0;
	for (size_t i = 0; i < comparison->nforced; i++)
		list = arena_printf(comparison->arena, "%s%s%s %s before and %s after", list,
				    i ? "; " : "", comparison->forced[i].what,
				    comparison->forced[i].before, comparison->forced[i].after);
	return input_failf(&in, "match", "equal conditions on both sides (--force compares anyway)",
			   "%s", list);
}

/* Boots of two builds under one label are two kernels, whatever they are called. */
static void note_builds(struct comparison *comparison, const struct dataset *side)
{
	const char *first = NULL;

	for (size_t i = 0; i < side->nboots; i++) {
		const char *version =
			json_string_value(json_object_get(boot_info(&side->boots[i]), "version"));

		if (version && first && strcmp(version, first) != 0) {
			note_warn(&comparison->notes, "several-builds", NULL,
				  "the boots of %s are of different kernel builds (%s and %s)",
				  side->kernel, first, version);
			return;
		}
		first = first ? first : version;
	}
}

static void whole_notes(struct comparison *comparison)
{
	const struct dataset *sides[] = {comparison->before, comparison->after};
	json_t *versions[2];

	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i]->notes.count; j++)
			note_add(&comparison->notes, sides[i]->notes.items[j].code, NULL, "%s",
				 sides[i]->notes.items[j].text);
		note_builds(comparison, sides[i]);
		versions[i] = json_object_get(boot_info(&sides[i]->boots[0]), "version");
	}
	if (versions[0] && json_equal(versions[0], versions[1]))
		note_add(&comparison->notes, "same-kernel", NULL,
			 "before and after name the same kernel build (%s)",
			 json_string_value(versions[0]));
	if (comparison->nforced)
		note_add(&comparison->notes, "forced", NULL,
			 "compared by force although the conditions differ");
	if (comparison->looks > 1)
		note_add(&comparison->notes, "looks", NULL,
			 "%zu looks were planned: each uses a %.4g %% interval", comparison->looks,
			 100 * comparison->level);
	/* Lock boots time nothing of any case. */
	if (comparison->locks.count && !comparison->before->nruns && !comparison->after->nruns)
		return;
	for (size_t i = 0; i < comparison->nclaims; i++) {
		if (!comparison->claims[i].recorded)
			note_add(&comparison->notes, "not-recorded", NULL,
				 "claim %s: no record of its case %s on either side",
				 comparison->claims[i].claim->name,
				 comparison->claims[i].claim->case_name);
	}
}

static void conclude(struct comparison *comparison)
{
	bool failed = false, open = false;
	size_t gating = 0, judged = 0;

	for (size_t i = 0; i < comparison->nclaims; i++) {
		for (size_t j = 0; j < comparison->claims[i].nrows; j++) {
			const struct result_row *row = comparison->claims[i].rows[j];

			judged += row->judged;
			if (!row->gates)
				continue;
			comparison->count[row->verdict]++;
			comparison->scaled += verdict_shows(row->verdict) && row->size_share < 1;
			gating += row->verdict != VERDICT_NOT_MEASURED;
			comparison->failing += row->failing;
			failed = failed || row->outcome == OUTCOME_FAIL;
			open = open || row->outcome == OUTCOME_OPEN;
		}
	}
	for (size_t i = 0; i < comparison->nothers; i++) {
		const struct result_row *row = comparison->others[i];

		judged += row->judged;
		comparison->failing += row->failing;
		failed = failed || row->outcome == OUTCOME_FAIL;
		/* Rows nobody asked for do not hold up a claim that is settled. */
		open = open || (!gating && row->outcome == OUTCOME_OPEN);
	}
	comparison->outcome = failed			      ? OUTCOME_FAIL
			      : open			      ? OUTCOME_OPEN
			      : judged			      ? OUTCOME_PASS
			      : comparison->gate == GATE_NONE ? OUTCOME_PASS
							      : OUTCOME_OPEN;
}

int comparison_build(struct dataset *before, struct dataset *after, const struct claim *claims,
		     size_t nclaims, const struct comparison_options *options,
		     struct comparison *comparison, struct input_error *error)
{
	bool *claimed = arena_alloc(&before->arena, before->ngroups * sizeof(*claimed));

	*comparison = (struct comparison){
		.arena = &before->arena,
		.before = before,
		.after = after,
		.notes = {.arena = &before->arena},
		.gate = options->gate,
		.looks = options->looks,
		.level = 1 - .10 / (double)options->looks,
		.engine = boot_engine(&before->boots[0]),
	};
	if (check_sides(comparison, options->force, error) < 0)
		return -1;
	comparison->locks = lock_table(before, after, ALL_BOOTS);
	add_claims(comparison, claims, nclaims, claimed);
	add_others(comparison, claimed);
	whole_notes(comparison);
	conclude(comparison);
	advice_build(comparison);
	comparison->headline = sentence_headline(comparison);
	comparison->method = sentence_method(comparison);
	return 0;
}
