// SPDX-License-Identifier: GPL-2.0-only
#include "case/probe.h"

#include <stdio.h>
#include <string.h>

#include "sys/kprobe.h"

static json_t *absent(const char *reason)
{
	return json_pack("{s:s}", "absent", reason);
}

void probe_open(struct perf *perf, const char *functions)
{
	char wanted[sizeof(perf->events)], why[256], missing[256] = "", *save = NULL, *name;
	bool kprobes = kprobe_open(missing, sizeof(missing));

	snprintf(wanted, sizeof(wanted), "%s", functions);
	perf->events[0] = '\0';
	for (name = strtok_r(wanted, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		bool tracepoint = strchr(name, ':');
		size_t used = strlen(perf->events);

		snprintf(why, sizeof(why), "%s", missing);
		if (!tracepoint && !(kprobes && kprobe_define(name, why, sizeof(why)))) {
			json_object_set_new(perf->dropped, name, absent(why));
			continue;
		}
		snprintf(perf->events + used, sizeof(perf->events) - used, "%s%s%s",
			 used ? "," : "", tracepoint ? "" : KPROBE_GROUP ":", name);
	}
	if (!*perf->path)
		run_skip("probe: no perf in PATH");
	if (!*perf->events)
		run_skip("probe: %s", *missing ? missing : why);
}

void probe_close(struct outcome *outcome)
{
	static const char group[] = KPROBE_GROUP ":";
	json_t *functions = json_object(), *counter, *metric;
	const struct case_metric *m = run.decl->metrics;
	const char *event;

	json_object_foreach (outcome->counters, event, counter) {
		bool kprobe = !strncmp(event, group, sizeof(group) - 1);
		json_t *value = json_object_get(counter, "value");

		json_object_set_new(functions, kprobe ? event + sizeof(group) - 1 : event,
				    value ? json_pack("{s:O, s:s, s:s}", "value", value, "by",
						      kprobe ? "kprobe" : "tracepoint", "scope",
						      "task")
					  : json_incref(counter));
	}
	outcome->functions = functions;
	json_decref(outcome->counters);
	json_decref(outcome->counters_empty);
	outcome->counters = outcome->counters_empty = NULL;
	json_object_del(outcome->found, "samples");
	for (; m && m->name; m++) {
		metric = absent("a probe run is not timed");
		json_object_set_new(json_object_get(outcome->found, "metrics"), m->name,
				    describe_metric(m, metric));
	}
}
