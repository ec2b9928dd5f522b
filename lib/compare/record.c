// SPDX-License-Identifier: GPL-2.0-only
#include "compare/record.h"

#include "compare/stats.h"
#include "compare/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const run_status_name[RUN_STATUSES] = {"ok", "fail", "skip", "broken"};
const char *const better_name[3] = {"lower", "higher", "neither"};

int better_parse(const char *text, enum better *better)
{
	for (int i = 0; i < 3; i++) {
		if (!strcmp(text, better_name[i])) {
			*better = (enum better)i;
			return 0;
		}
	}
	return -1;
}

static int parse_status(const struct input *in, struct record *record)
{
	const char *text = input_string(in, record->root, "status", INPUT_REQUIRED);

	if (!text)
		return -1;
	for (int i = 0; i < RUN_STATUSES; i++) {
		if (!strcmp(text, run_status_name[i])) {
			record->status = (enum run_status)i;
			return 0;
		}
	}
	return input_fail_json(in, "status", "ok, fail, skip or broken",
			       json_object_get(record->root, "status"));
}

static int parse_started(const struct input *in, struct record *record)
{
	const char *text = input_string(in, record->root, "started", INPUT_REQUIRED);
	struct tm tm = {0};
	double fraction = 0;
	char *rest;

	if (!text)
		return -1;
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (rest && *rest == '.')
		fraction = strtod(rest, &rest);
	if (!rest || strcmp(rest, "Z") != 0)
		return input_fail_json(in, "started", "a UTC time like 2026-11-30T12:00:00Z",
				       json_object_get(record->root, "started"));
	record->started = (double)timegm(&tm) + fraction;
	return 0;
}

static int parse_cost(const struct input *in, struct record *record)
{
	json_t *cost = input_object(in, record->root, "cost_ns", INPUT_OPTIONAL);

	record->total_ns = NAN;
	if (cost && json_object_get(cost, "total") &&
	    !input_number(in, cost, "total", true, &record->total_ns))
		return -1;
	return input_ok(in) ? 0 : -1;
}

static int parse_metric(const struct input *in, const char *name, json_t *object,
			struct record_metric *metric)
{
	const char *better;

	if (!json_is_object(object))
		return input_fail_json(in, name, "a metric: an object", object);
	metric->name = name;
	metric->unit = input_string(in, object, "unit", INPUT_REQUIRED);
	better = input_string(in, object, "better", INPUT_REQUIRED);
	if (!metric->unit || !better)
		return -1;
	if (better_parse(better, &metric->better) < 0)
		return input_fail_json(in, "better", "lower, higher or neither",
				       json_object_get(object, "better"));
	metric->absent = input_string(in, object, "absent", INPUT_OPTIONAL);
	if (!input_ok(in))
		return -1;
	if (metric->absent) {
		metric->value = NAN;
		if (json_object_get(object, "value"))
			return input_fail(in, name, "a value or the reason of its absence", "both");
		return 0;
	}
	if (!input_number(in, object, "value", unit_is_time(metric->unit), &metric->value)) {
		/* Say which metric: "value" alone does not lead to the place. */
		in->error->text[0] = '\0';
		return input_fail_json(in, name,
				       unit_is_time(metric->unit) ? "a value of at least 0"
								  : "a number as value",
				       json_object_get(object, "value"));
	}
	return 0;
}

static int parse_metrics(const struct input *in, struct record *record)
{
	json_t *metrics = input_object(in, record->root, "metrics",
				       record->status == RUN_OK ? INPUT_REQUIRED : INPUT_OPTIONAL);
	const char *name;
	json_t *object;

	if (!input_ok(in))
		return -1;
	if (record->status == RUN_OK && !json_object_size(metrics))
		return input_fail(in, "metrics", "at least one metric in a run that is ok",
				  "an empty object");
	json_object_foreach (metrics, name, object) {
		/* Three places are kept for what samples are reduced to. */
		if (record->nmetrics == RECORD_METRICS_MAX - 3)
			return input_failf(in, "metrics", "at most 61 metrics", "%zu",
					   json_object_size(metrics));
		if (parse_metric(in, name, object, &record->metrics[record->nmetrics]) < 0)
			return -1;
		record->nmetrics++;
	}
	return 0;
}

static bool has_metric(const struct record *record, const char *name)
{
	for (size_t i = 0; i < record->nmetrics; i++) {
		if (!strcmp(record->metrics[i].name, name))
			return true;
	}
	return false;
}

/* Adds p1, median and p95 of the samples, the form some claims are documented in. */
static void add_quantiles(struct record *record, double *samples, size_t count, const char *unit)
{
	static const struct {
		const char *name;
		double p;
	} derived[] = {{"p1", .01}, {"median", .5}, {"p95", .95}};
	enum better better = BETTER_LOWER;

	for (size_t i = 0; i < record->nmetrics; i++) {
		if (!strcmp(record->metrics[i].unit, unit)) {
			better = record->metrics[i].better;
			break;
		}
	}
	stats_sort(samples, count);
	for (size_t i = 0; i < 3; i++) {
		if (has_metric(record, derived[i].name))
			continue;
		record->metrics[record->nmetrics++] = (struct record_metric){
			.name = derived[i].name,
			.unit = unit,
			.better = better,
			.value = stats_quantile_sorted(samples, count, derived[i].p),
		};
	}
}

static int parse_samples(const struct input *in, struct record *record)
{
	json_t *array = input_array(in, record->root, "samples", INPUT_OPTIONAL), *sample;
	const char *unit;
	double *samples;
	size_t i;

	if (!input_ok(in))
		return -1;
	record->nsamples = json_array_size(array);
	if (!record->nsamples)
		return 0;
	unit = input_string(in, record->root, "sample_unit", INPUT_REQUIRED);
	if (!unit)
		return -1;
	samples = malloc(record->nsamples * sizeof(*samples));
	if (!samples)
		return input_fail(in, "samples", "memory for the samples", "none");
	json_array_foreach (array, i, sample) {
		samples[i] = json_is_number(sample) ? json_number_value(sample) : NAN;
		if (!isfinite(samples[i]) || samples[i] < 0) {
			free(samples);
			return input_fail_json(in, "samples", "numbers of at least 0", sample);
		}
	}
	if (record->nsamples > 1 && record->status == RUN_OK)
		add_quantiles(record, samples, record->nsamples, unit);
	if (record->nsamples >= HISTOGRAM_LEAST)
		record->histogram = malloc(sizeof(*record->histogram));
	if (record->histogram)
		histogram_fill(record->histogram, samples, record->nsamples);
	free(samples);
	return 0;
}

/* The calls of one function in a probe run: a count and where it is from, or why there is none. */
static int parse_calls(const struct input *in, const char *function, json_t *calls)
{
	static const char *const keys[] = {"value", "by", "scope", "absent", NULL};
	double count;
	const char *scope;

	if (!json_is_object(calls))
		return input_fail_json(in, function, "calls: an object", calls);
	if (!input_known_keys(in, calls, function, keys))
		return -1;
	if (input_string(in, calls, "absent", INPUT_OPTIONAL)) {
		if (json_object_get(calls, "value"))
			return input_fail(in, function, "calls or the reason of their absence",
					  "both");
		return 0;
	}
	if (!input_ok(in) || !input_number(in, calls, "value", true, &count) ||
	    !input_string(in, calls, "by", INPUT_REQUIRED))
		return -1;
	scope = input_string(in, calls, "scope", INPUT_REQUIRED);
	if (scope && strcmp(scope, "task") != 0 && strcmp(scope, "cpus") != 0)
		return input_fail_json(in, "scope", "task or cpus",
				       json_object_get(calls, "scope"));
	return scope ? 0 : -1;
}

/* The counts of one lock in a lock run, or why there are none. */
static int parse_lock(const struct input *in, const char *lock, json_t *counts)
{
	static const char *const keys[] = {"acquisitions", "contentions", "held_ns", "waited_ns",
					   "shown_as",	   "absent",	  NULL};
	double number;

	if (!json_is_object(counts))
		return input_fail_json(in, lock, "counts of a lock: an object", counts);
	if (!input_known_keys(in, counts, lock, keys))
		return -1;
	if (input_string(in, counts, "absent", INPUT_OPTIONAL)) {
		if (json_object_size(counts) > 1)
			return input_fail(in, lock, "counts or the reason of their absence",
					  "both");
		return 0;
	}
	for (size_t i = 0; i < 4; i++) {
		if (!input_ok(in) || !input_number(in, counts, keys[i], true, &number))
			return -1;
	}
	return input_string(in, counts, "shown_as", INPUT_REQUIRED) ? 0 : -1;
}

static int parse_functions(const struct input *in, json_t *probes, struct record *record)
{
	const char *name;
	json_t *value;

	record->functions = input_object(in, probes, "functions", INPUT_OPTIONAL);
	record->per = input_object(in, probes, "per", INPUT_OPTIONAL);
	record->locks =
		record->functions ? input_object(in, probes, "locks", INPUT_OPTIONAL) : NULL;
	json_object_foreach (record->locks, name, value) {
		if (parse_lock(in, name, value) < 0)
			return -1;
	}
	json_object_foreach (record->functions, name, value) {
		if (parse_calls(in, name, value) < 0)
			return -1;
	}
	json_object_foreach (record->per, name, value) {
		if (!json_is_number(value) || !(json_number_value(value) >= 1))
			return input_fail_json(in, name, "per: a count of at least 1", value);
	}
	return 0;
}

/*
 * How long the measuring thread was off the CPU inside the region. Below a hundredth of the time
 * it is the clock reads themselves and an interrupt, above it a virtual clock was warped.
 */
static int parse_probes(const struct input *in, struct record *record)
{
	json_t *probes = input_object(in, record->root, "probes", INPUT_OPTIONAL);
	double off_cpu = json_number_value(json_object_get(probes, "off_cpu_ns"));

	for (size_t i = 0; i < record->nmetrics; i++) {
		const struct record_metric *metric = &record->metrics[i];

		if (!strcmp(metric->name, "time") &&
		    off_cpu > .01 * metric->value * unit_factor(metric->unit, "ns"))
			record->idle_ns = off_cpu;
	}
	if (parse_functions(in, probes, record) < 0)
		return -1;
	return input_ok(in) ? 0 : -1;
}

static int check_flat(const struct input *in, json_t *object, bool strings_only)
{
	const char *name;
	json_t *value;

	json_object_foreach (object, name, value) {
		bool scalar = json_is_string(value) || json_is_number(value) ||
			      json_is_boolean(value) || json_is_null(value);

		if (strings_only ? !json_is_string(value) : !scalar)
			return input_fail_json(in, name,
					       strings_only ? "an option's value: a string"
							    : "a number, string or boolean",
					       value);
	}
	return 0;
}

int record_parse(const struct input *in, const char *line, size_t length, struct record *record)
{
	*record = (struct record){.root = input_decode(in, line, length)};
	json_t *root = record->root;

	if (!root || !input_schema(in, root))
		return -1;
	record->kernel = input_string(in, root, "kernel", INPUT_REQUIRED);
	record->boot = input_string(in, root, "boot", INPUT_REQUIRED);
	record->invocation = input_string(in, root, "invocation", INPUT_REQUIRED);
	record->case_name = input_string(in, root, "case", INPUT_REQUIRED);
	record->scale = input_string(in, root, "scale", INPUT_REQUIRED);
	record->options = input_object(in, root, "options", INPUT_REQUIRED);
	record->params = input_object(in, root, "params", INPUT_REQUIRED);
	record->identity = input_object(in, root, "identity", INPUT_OPTIONAL);
	if (!input_ok(in) || check_flat(in, record->options, true) < 0 ||
	    check_flat(in, record->params, false) < 0 || parse_status(in, record) < 0)
		return -1;
	record->reason = input_string(in, root, "reason", INPUT_OPTIONAL);
	if (!input_ok(in))
		return -1;
	if (record->status != RUN_OK && !record->reason)
		return input_fail(in, "reason", "a reason where the status is not ok", "nothing");
	if (!input_integer(in, root, "run", 0, &record->run) ||
	    !input_integer(in, root, "seq", 0, &record->seq) || parse_started(in, record) < 0 ||
	    parse_cost(in, record) < 0 || parse_metrics(in, record) < 0 ||
	    parse_samples(in, record) < 0 || parse_probes(in, record) < 0)
		return -1;
	input_object(in, root, "counters", INPUT_OPTIONAL);
	input_object(in, root, "checks", INPUT_OPTIONAL);
	return input_ok(in) ? 0 : -1;
}

void record_release(struct record *record)
{
	json_decref(record->root);
	record->root = NULL;
	free(record->histogram);
	record->histogram = NULL;
}
