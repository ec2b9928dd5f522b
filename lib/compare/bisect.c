// SPDX-License-Identifier: GPL-2.0-only
#include "compare/bisect.h"

#include "compare/bisection.h"
#include "compare/dataset.h"
#include "compare/json_real.h"
#include "compare/quantity.h"
#include "compare/stats.h"
#include "compare/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * What two boots of one kernel differ by at most under icount, where one boot a kernel may do:
 * docs/kernels.md. Elsewhere boots tell.
 */
static const double ICOUNT_NOISE = 5e-4;
enum { COMMITS_MAX = 20000 };

/* What was done with one commit: what its kernel showed, or why it showed nothing. */
struct entry {
	const char *commit, *skipped;
	size_t index; /* of its commit, BISECTION_NONE for the good end */
	struct dataset dataset;
	const struct group *group;
	struct quantity quantity;
	double value; /* ln, the mean over boots */
	size_t boots, runs;
};

struct bisect {
	struct arena arena;
	struct input in;
	const char *case_name, *metric, *good, *bad;
	json_t *options;
	double threshold;
	struct bisection_commit *commits;
	const char **ids;
	size_t ncommits;
	json_t *index; /* commit to its number */
	struct entry *log;
	size_t nlog;
	const struct entry *ends[2]; /* good and bad, NULL: not done yet */
	struct stats_pool between, within;
	double inverse_runs; /* sum over boots */
	double noise;	     /* of one kernel's value */
	const char *noise_of;
	struct bisection bisection;
};

/* ---- reading ---- */

static int read_commit(struct bisect *bisect, json_t *json, size_t i)
{
	const struct input *in = &bisect->in;
	const char *id = input_string(in, json, "commit", INPUT_REQUIRED);
	json_t *parents = input_array(in, json, "parents", INPUT_REQUIRED), *parent;
	struct bisection_commit *commit = &bisect->commits[i];
	size_t *numbers, at;

	if (!id || !parents || !input_number(in, json, "weight", true, &commit->weight))
		return -1;
	if (!(commit->weight > 0))
		return input_fail(in, "weight", "a number above 0", "0");
	numbers = arena_alloc(&bisect->arena, (json_array_size(parents) + 1) * sizeof(*numbers));
	json_array_foreach (parents, at, parent) {
		const char *name = json_string_value(parent);
		json_t *number = name ? json_object_get(bisect->index, name) : NULL;

		if (number)
			numbers[commit->nparents++] = (size_t)json_integer_value(number);
	}
	commit->parents = numbers;
	bisect->ids[i] = id;
	if (json_object_get(bisect->index, id) || !strcmp(id, bisect->good))
		return input_fail(in, "commits", "each commit once, without the good one", id);
	json_object_set_new(bisect->index, id, json_integer((json_int_t)i));
	return 0;
}

static int read_commits(struct bisect *bisect, json_t *root)
{
	json_t *commits = input_array(&bisect->in, root, "commits", INPUT_REQUIRED), *commit;
	size_t i;

	if (!commits)
		return -1;
	bisect->ncommits = json_array_size(commits);
	if (!bisect->ncommits || bisect->ncommits > COMMITS_MAX)
		return input_failf(&bisect->in, "commits", "1 to 20000 of them", "%zu",
				   bisect->ncommits);
	bisect->commits = arena_alloc(&bisect->arena, bisect->ncommits * sizeof(*bisect->commits));
	bisect->ids = arena_alloc(&bisect->arena, bisect->ncommits * sizeof(char *));
	json_array_foreach (commits, i, commit) {
		if (read_commit(bisect, commit, i) < 0)
			return -1;
	}
	if (strcmp(bisect->ids[bisect->ncommits - 1], bisect->bad) != 0)
		return input_fail(&bisect->in, "commits", "the bad one as the last",
				  bisect->ids[bisect->ncommits - 1]);
	return 0;
}

/*
 * The runs with the figure that went well: one group of them, whose metric is there and positive.
 */
static const char *find_group(struct bisect *bisect, struct entry *entry)
{
	const struct group_metric *metric;
	const char *why = NULL;

	for (size_t i = 0; i < entry->dataset.ngroups; i++) {
		const struct group *group = &entry->dataset.groups[i];

		if (!group_matches(group, bisect->case_name, bisect->options))
			continue;
		if (!group->count[RUN_OK]) {
			why = entry->dataset.runs[group->first_run].reason;
			continue;
		}
		if (entry->group)
			return "runs of one variant that do not compare with each other";
		entry->group = group;
	}
	if (!entry->group)
		return why ? why : "no run of the variant";
	metric = group_metric(entry->group, bisect->metric);
	if (!metric)
		return arena_printf(&bisect->arena, "the case has no metric %s", bisect->metric);
	if (metric->absent)
		return arena_printf(&bisect->arena, "%s is absent: %s", bisect->metric,
				    metric->absent);
	entry->quantity = quantity_of(entry->group, metric->unit, &entry->dataset.boots[0]);
	return NULL;
}

/* One number a boot, the median of its runs, and its logarithm; false where that cannot be. */
static bool add_boot(struct bisect *bisect, struct entry *entry, double *values, size_t count,
		     double *logs)
{
	double middle = stats_median(values, count);

	if (!count)
		return true;
	if (!(middle > 0))
		return false;
	logs[entry->boots++] = log(middle);
	entry->runs += count;
	bisect->inverse_runs += 1. / (double)count;
	/* Sorted: the positive ones are the last. */
	while (!(*values > 0)) {
		values++;
		count--;
	}
	for (size_t i = 0; i < count; i++)
		values[i] = log(values[i]);
	stats_pool_add_robust(&bisect->within, values, count);
	return true;
}

static const char *read_values(struct bisect *bisect, struct entry *entry)
{
	const struct dataset *dataset = &entry->dataset;
	double *values = arena_alloc(&bisect->arena, (dataset->nruns + 1) * sizeof(*values));
	double *logs = arena_alloc(&bisect->arena, (dataset->nboots + 1) * sizeof(*logs));
	size_t count = 0, boot = NO_RUN;

	for (size_t i = entry->group->first_run; i != NO_RUN; i = dataset->runs[i].next) {
		double value = run_value(dataset, &dataset->runs[i], bisect->metric);

		if (dataset->runs[i].boot != boot) {
			if (!add_boot(bisect, entry, values, count, logs))
				return "a median that is not above 0";
			boot = dataset->runs[i].boot;
			count = 0;
		}
		if (isfinite(value))
			values[count++] = value;
	}
	if (!add_boot(bisect, entry, values, count, logs))
		return "a median that is not above 0";
	if (!entry->boots)
		return "no value";
	stats_pool_add(&bisect->between, logs, entry->boots);
	entry->value = stats_mean(logs, entry->boots);
	return NULL;
}

/* What makes two kernels' figures comparable at all, as build/compare has it. */
static const char *unlike(struct bisect *bisect, const struct entry *entry)
{
	const struct entry *good = bisect->ends[0];
	const struct group *one, *other = entry->group;

	if (!good || good == entry || good->skipped)
		return NULL;
	one = good->group;
	if (!json_equal(boot_match(&good->dataset.boots[0]), boot_match(&entry->dataset.boots[0])))
		return "another machine or another build of the cases than the good end's";
	if (strcmp(one->scale, other->scale) != 0 || !json_equal(one->identity, other->identity))
		return arena_printf(&bisect->arena, "it ran %s, the good end %s",
				    quantity_identity(&bisect->arena, other->identity),
				    quantity_identity(&bisect->arena, one->identity));
	if (other->pages_high > 1.01 * one->pages_low || one->pages_high > 1.01 * other->pages_low)
		return arena_printf(&bisect->arena,
				    "it worked on %.15g pages, the good end on %.15g",
				    other->pages_high, one->pages_high);
	return NULL;
}

static int read_entry(struct bisect *bisect, json_t *json, struct entry *entry)
{
	const struct input *in = &bisect->in;
	const char *records = input_string(in, json, "records", INPUT_OPTIONAL);
	bool good;

	entry->commit = input_string(in, json, "commit", INPUT_REQUIRED);
	entry->skipped = input_string(in, json, "skipped", INPUT_OPTIONAL);
	entry->index = BISECTION_NONE;
	if (!entry->commit || !input_ok(in))
		return -1;
	if (!records == !entry->skipped)
		return input_fail(in, "log", "records or skipped", records ? "both" : "neither");
	good = !strcmp(entry->commit, bisect->good);
	if (!good) {
		json_t *number = json_object_get(bisect->index, entry->commit);

		if (!number)
			return input_fail(in, "log", "commits of this bisection", entry->commit);
		entry->index = (size_t)json_integer_value(number);
	}
	if (records) {
		if (dataset_read(records, &entry->dataset, in->error) < 0)
			return -1;
		entry->skipped = find_group(bisect, entry);
		if (!entry->skipped)
			entry->skipped = unlike(bisect, entry);
		if (!entry->skipped)
			entry->skipped = read_values(bisect, entry);
	}
	if (good)
		bisect->ends[0] = entry;
	else if (entry->index == bisect->ncommits - 1)
		bisect->ends[1] = entry;
	return 0;
}

static int read_log(struct bisect *bisect, json_t *root)
{
	json_t *log = input_array(&bisect->in, root, "log", INPUT_REQUIRED), *entry;
	size_t i;

	if (!log)
		return -1;
	bisect->log =
		arena_alloc(&bisect->arena, (json_array_size(log) + 1) * sizeof(*bisect->log));
	json_array_foreach (log, i, entry) {
		bisect->nlog++;
		if (read_entry(bisect, entry, &bisect->log[i]) < 0)
			return -1;
	}
	return 0;
}

static int read_all(struct bisect *bisect, json_t *root)
{
	const struct input *in = &bisect->in;

	if (!input_schema(in, root))
		return -1;
	bisect->case_name = input_string(in, root, "case", INPUT_REQUIRED);
	bisect->metric = input_string(in, root, "metric", INPUT_REQUIRED);
	bisect->good = input_string(in, root, "good", INPUT_REQUIRED);
	bisect->bad = input_string(in, root, "bad", INPUT_REQUIRED);
	bisect->options = input_object(in, root, "options", INPUT_REQUIRED);
	if (!input_number(in, root, "threshold", true, &bisect->threshold) || !input_ok(in))
		return -1;
	if (!(bisect->threshold > 0))
		return input_fail(in, "threshold", "a number above 0", "0");
	bisect->threshold = log1p(bisect->threshold);
	return read_commits(bisect, root) < 0 ? -1 : read_log(bisect, root);
}

/* ---- deciding ---- */

/*
 * The spread between boots where a kernel has several; at least what the spread inside them implies
 * (stats_floor()), and at least what one boot cannot show.
 */
static int find_noise(struct bisect *bisect)
{
	const struct entry *good = bisect->ends[0];
	bool icount = !strcmp(boot_engine(&good->dataset.boots[0]), "icount");
	double between = sqrt(stats_pool_variance(&bisect->between)), least;
	size_t boots = SIZE_MAX, all = 0;

	for (size_t i = 0; i < bisect->nlog; i++) {
		if (bisect->log[i].skipped)
			continue;
		all += bisect->log[i].boots;
		if (bisect->log[i].boots < boots)
			boots = bisect->log[i].boots;
	}
	if (!icount && !isfinite(between))
		return input_failf(&bisect->in, "log", "two boots of each kernel or more",
				   "one, under %s", boot_engine(&good->dataset.boots[0]));
	least = stats_floor(stats_pool_variance(&bisect->within),
			    (double)all / bisect->inverse_runs, STATS_MEDIAN_EFFICIENCY);
	bisect->noise_of = "the spread of runs";
	if (isfinite(between) && between > least) {
		least = between;
		bisect->noise_of = "the spread of boots";
	}
	if (icount && least < ICOUNT_NOISE) {
		least = ICOUNT_NOISE;
		bisect->noise_of = "what boots of one kernel differ by under icount";
	}
	bisect->noise = least / sqrt((double)boots);
	return 0;
}

static void decide(struct bisect *bisect)
{
	struct bisection_rule rule = {.threshold = bisect->threshold, .noise = bisect->noise};
	struct bisection_event *events =
		arena_alloc(&bisect->arena, (bisect->nlog + 1) * sizeof(*events));
	size_t count = 0;

	for (size_t i = 0; i < bisect->nlog; i++) {
		const struct entry *entry = &bisect->log[i];

		if (entry != bisect->ends[0] && entry != bisect->ends[1])
			events[count++] = (struct bisection_event){.commit = entry->index,
								   .skipped = entry->skipped,
								   .value = entry->value};
	}
	bisection_decide(&bisect->arena, bisect->commits, bisect->ncommits, bisect->ends[0]->value,
			 bisect->ends[1]->value, &rule, events, count, &bisect->bisection);
}

/* ---- writing ---- */

static const char *id_of(const struct bisect *bisect, size_t commit)
{
	return commit == BISECTION_NONE ? bisect->good : bisect->ids[commit];
}

static double shown(const struct bisect *bisect, double value)
{
	return exp(value) * bisect->ends[0]->quantity.factor;
}

static json_t *difference(const struct bisect *bisect, double from, double to)
{
	return json_pack("{so so so so so}", "from", real(shown(bisect, from)), "to",
			 real(shown(bisect, to)), "ratio", real(exp(to - from)), "percent",
			 real(100 * expm1(to - from)), "times_noise",
			 real(fabs(to - from) / bisect->noise));
}

static json_t *search_json(const struct bisect *bisect, const struct search *search)
{
	json_t *left = json_array();

	for (size_t i = 0; i < bisect->ncommits; i++) {
		if (bisection_left(search, i))
			json_array_append_new(left, json_string(bisect->ids[i]));
	}
	return json_pack("{ss ss ss ss so so so}", "state", search_state_name[search->state],
			 "from", id_of(bisect, search->from), "to", bisect->ids[search->to],
			 "before", id_of(bisect, search->before), "difference",
			 difference(bisect, search->before_value, search->at_value), "left", left,
			 "bits", real(search->bits));
}

static json_t *steps_json(const struct bisect *bisect, bool decided)
{
	json_t *steps = json_array();
	size_t at = 0;

	for (size_t i = 0; i < bisect->nlog; i++) {
		const struct entry *entry = &bisect->log[i];
		bool end = entry == bisect->ends[0] || entry == bisect->ends[1];
		const struct bisection_step *step =
			end || !decided ? NULL : &bisect->bisection.steps[at++];
		const char *side = entry->skipped	      ? "skipped"
				   : entry == bisect->ends[0] ? "good"
				   : end		      ? "bad"
				   : step		      ? side_name[step->side]
							      : NULL;

		json_array_append_new(
			steps,
			json_pack("{ss ss? ss? so so so so}", "commit", entry->commit, "side", side,
				  "reason", entry->skipped, "value",
				  entry->skipped ? json_null() : real(shown(bisect, entry->value)),
				  "position", step ? real(step->position) : json_null(), "boots",
				  json_integer((json_int_t)entry->boots), "runs",
				  json_integer((json_int_t)entry->runs)));
	}
	return steps;
}

/* What the searches say together. */
static const char *verdict(const struct bisection *bisection)
{
	size_t found = 0;

	if (bisection->next != BISECTION_NONE)
		return "open";
	if (bisection->nsearches == 1 && bisection->searches[0].state == SEARCH_SMALL)
		return "no difference";
	for (size_t i = 0; i < bisection->nsearches; i++) {
		if (bisection->searches[i].state == SEARCH_SKIPPED)
			return "not decided";
		found += bisection->searches[i].state == SEARCH_FOUND;
	}
	return bisection->nsearches == 1 ? "found" : found ? "several" : "not decided";
}

static json_t *decision_json(struct bisect *bisect, json_t *root)
{
	const struct bisection *bisection = &bisect->bisection;
	json_t *searches = json_array();
	double bits = 0;
	size_t left = 0;

	for (size_t i = 0; i < bisection->nsearches; i++) {
		const struct search *search = &bisection->searches[i];

		json_array_append_new(searches, search_json(bisect, search));
		left += search->state == SEARCH_OPEN ? search->nleft : 0;
		bits += search->bits * (search->state == SEARCH_OPEN);
	}
	json_object_set_new(root, "verdict", json_string(verdict(bisection)));
	json_object_set_new(root, "next",
			    bisection->next == BISECTION_NONE
				    ? json_null()
				    : json_string(bisect->ids[bisection->next]));
	json_object_set_new(root, "left", json_integer((json_int_t)left));
	json_object_set_new(root, "steps_left",
			    json_integer((json_int_t)fmax(ceil(bits), left > 0)));
	json_object_set_new(root, "unit", json_string(bisect->ends[0]->quantity.unit));
	json_object_set_new(
		root, "better",
		json_string(
			better_name[group_metric(bisect->ends[0]->group, bisect->metric)->better]));
	json_object_set_new(root, "ends",
			    difference(bisect, bisect->ends[0]->value, bisect->ends[1]->value));
	json_object_set_new(root, "noise",
			    json_pack("{sf ss sf sf}", "percent", 100 * expm1(bisect->noise), "of",
				      bisect->noise_of, "threshold_percent",
				      100 * expm1(bisect->threshold), "times_wanted",
				      (double)BISECTION_TIMES_NOISE));
	json_object_set_new(root, "searches", searches);
	if (bisection->nsearches == 1 && bisection->searches[0].state == SEARCH_FOUND) {
		struct bisection_event *skips =
			arena_alloc(&bisect->arena, (bisect->nlog + 1) * sizeof(*skips));

		for (size_t i = 0; i < bisect->nlog; i++)
			skips[i] = (struct bisection_event){.commit = bisect->log[i].index,
							    .skipped = bisect->log[i].skipped};
		json_object_set_new(root, "plain_measurements",
				    json_integer((json_int_t)bisection_plain(
					    &bisect->arena, bisect->commits, bisect->ncommits,
					    skips, bisect->nlog, bisection->searches[0].to)));
	}
	return root;
}

static json_t *answer(struct bisect *bisect)
{
	json_t *root = json_pack("{si}", "schema", 1);
	bool decided = false;

	for (size_t i = 0; i < 2; i++) {
		const struct entry *end = bisect->ends[i];

		if (end && !end->skipped)
			continue;
		json_object_set_new(root, "verdict", json_string(end ? "end failed" : "open"));
		json_object_set_new(root, "next",
				    end ? json_null()
					: json_string(i ? bisect->bad : bisect->good));
		goto steps;
	}
	if (find_noise(bisect) < 0) {
		json_decref(root);
		return NULL;
	}
	decide(bisect);
	decided = true;
	decision_json(bisect, root);
steps:
	json_object_set_new(root, "steps", steps_json(bisect, decided));
	return root;
}

int bisect_run(const char *path, FILE *out, struct input_error *error)
{
	struct bisect bisect = {.in = {.file = path, .error = error}, .index = json_object()};
	json_t *root = input_decode_file(&bisect.in), *said = NULL;

	if (root && read_all(&bisect, root) == 0)
		said = answer(&bisect);
	if (said) {
		json_dumpf(said, out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
		fputc('\n', out);
		json_decref(said);
	}
	for (size_t i = 0; i < bisect.nlog; i++)
		dataset_release(&bisect.log[i].dataset);
	json_decref(bisect.index);
	json_decref(root);
	arena_free(&bisect.arena);
	return said ? 0 : -1;
}
