// SPDX-License-Identifier: GPL-2.0-only
#include "case/outcome.h"

#include <stdio.h>
#include <stdlib.h>

#include "case/record.h"
#include "sys/boot.h"

void outcome_counted_where(struct outcome *outcome)
{
	const char *where = json_string_value(json_object_get(outcome->found, "counted_where"));
	const char *event;
	json_t *counter;

	json_object_foreach (outcome->counters, event, counter)
		if (where)
			json_object_set_new(
				outcome->counters, event,
				json_pack("{s:o}", "absent",
					  json_sprintf("counted in a run of its own, %s", where)));
}

void outcome_derive_metrics(struct outcome *outcome)
{
	const struct case_metric *m = run.decl->metrics;
	json_t *pages = json_object_get(outcome->found, "pages"), *metrics;

	metrics = json_object_get(outcome->found, "metrics");
	if (!metrics) {
		metrics = json_object();
		json_object_set_new(outcome->found, "metrics", metrics);
	}
	for (; m && m->name; m++) {
		json_t *counter, *value, *object;

		if (!m->per_page_of)
			continue;
		counter = json_object_get(outcome->counters, m->per_page_of);
		value = json_object_get(counter, "value");
		if (value && json_integer_value(pages) > 0)
			object = json_pack("{s:f}", "value",
					   json_number_value(value) / json_number_value(pages));
		else
			object = json_pack(
				"{s:s}", "absent",
				value	  ? "the run has no pages"
				: counter ? json_string_value(json_object_get(counter, "absent"))
					  : "not among the events");
		json_object_set_new(metrics, m->name, describe_metric(m, object));
	}
}

static json_t *options_json(void)
{
	const struct case_option *o = run.decl->options;
	json_t *object = json_object();
	int i;

	for (i = 0; o[i].name; i++)
		json_object_set_new(object, o[i].name, json_string(run.values[i]));
	return object;
}

static json_t *params_json(const json_t *pages)
{
	const struct case_param *p = run.decl->params;
	json_t *object = json_object();
	int i;

	for (i = 0; p[i].name; i++)
		json_object_set_new(object, p[i].name, json_integer((json_int_t)run.params[i]));
	if (json_integer_value(pages) > 0)
		json_object_set_new(object, "pages", json_integer(json_integer_value(pages)));
	return object;
}

/* A new reference to `value`, or an empty object or array where there is none. */
static json_t *value_or(json_t *value, json_t *empty)
{
	if (!value)
		return empty;
	json_decref(empty);
	return json_incref(value);
}

json_t *outcome_record(const struct outcome *o)
{
	const char *label = getenv("BEFORE_AFTER_LABEL"), *seq = getenv("BEFORE_AFTER_SEQ");
	json_t *found = o->found, *off_cpu = json_object_get(found, "off_cpu_ns");
	json_t *cost = json_pack("{s:i, s:i}", "prepare", 0, "measure", 0), *all;
	json_t *identity = json_deep_copy(run.identity), *probes = json_object();

	json_object_update(cost, json_object_get(found, "cost_ns"));
	json_object_set_new(cost, "total", json_integer((json_int_t)o->total_ns));
	json_object_update(identity, json_object_get(found, "identity"));
	if (off_cpu)
		json_object_set(probes, "off_cpu_ns", off_cpu);
	if (json_object_get(found, "per"))
		json_object_set(probes, "per", json_object_get(found, "per"));
	if (o->functions) {
		json_object_set(probes, "functions", o->functions);
		json_object_set(probes, "backends", o->backends);
		if (o->locks)
			json_object_set(probes, "locks", o->locks);
	}
	all = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s}", "schema", 1, "kernel",
			label && *label ? label : "unlabelled", "boot", boot_id(), "invocation",
			o->invocation, "case", run.decl->name, "variant", run.variant);
	json_object_set_new(all, "options", options_json());
	json_object_set_new(all, "scale", json_string(scale_name()));
	json_object_set_new(all, "params", params_json(json_object_get(found, "pages")));
	json_object_set_new(all, "identity", identity);
	json_object_set_new(all, "run", json_integer(run.number));
	json_object_set_new(all, "seq", json_integer(seq ? atoi(seq) : 1));
	json_object_set_new(all, "status", json_string(end_name(o->how)));
	json_object_set_new(all, "reason", o->reason ? json_string(o->reason) : json_null());
	json_object_set_new(all, "started", json_string(o->started));
	json_object_set_new(all, "cost_ns", cost);
	json_object_set_new(all, "metrics",
			    value_or(json_object_get(found, "metrics"), json_object()));
	json_object_set_new(all, "samples",
			    value_or(json_object_get(found, "samples"), json_array()));
	json_object_set_new(all, "sample_unit", json_string("ns"));
	json_object_set_new(all, "counters", value_or(o->counters, json_object()));
	json_object_set_new(all, "counters_empty", value_or(o->counters_empty, json_object()));
	json_object_set_new(all, "probes", probes);
	json_object_set_new(all, "checks",
			    value_or(json_object_get(found, "checks"), json_object()));
	return all;
}

void outcome_ktap(const struct outcome *o)
{
	static const char *const words[] = {"ok", "not ok", "ok", "not ok"};
	static const char *const directives[] = {"", "", " # SKIP ", " # ERROR "};
	const char *name;
	json_t *m;

	json_object_foreach (json_object_get(o->found, "metrics"), name, m) {
		const json_t *value = json_object_get(m, "value");
		const char *text = json_string_value(json_object_get(m, value ? "unit" : "absent"));

		if (value)
			printf("# %s %.17g %s\n", name, json_number_value(value), text);
		else
			printf("# %s absent: %s\n", name, text);
	}
	json_object_foreach (o->functions, name, m)
		if (json_object_get(m, "value"))
			printf("# %s %.0f calls\n", name,
			       json_number_value(json_object_get(m, "value")));
		else
			printf("# %s absent: %s\n", name,
			       json_string_value(json_object_get(m, "absent")));
	json_object_foreach (o->locks, name, m)
		if (json_object_get(m, "absent"))
			printf("# %s absent: %s\n", name,
			       json_string_value(json_object_get(m, "absent")));
		else
			printf("# %s %" JSON_INTEGER_FORMAT " acquisitions\n", name,
			       json_integer_value(json_object_get(m, "acquisitions")));
	if (o->how == END_FAIL || o->how == END_BROKEN)
		printf("# %s: %s\n", end_name(o->how), o->reason);
	printf("%s 1 %s %s%s%s\n", words[o->how], run.decl->name, run.variant, directives[o->how],
	       *directives[o->how] ? o->reason : "");
}
