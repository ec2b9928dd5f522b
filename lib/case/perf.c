// SPDX-License-Identifier: GPL-2.0-only
#include "case/perf.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/list.h"
#include "sys/command.h"
#include "sys/vmstat.h"

static json_t *absent(const char *reason)
{
	return json_pack("{s:s}", "absent", reason);
}

/*
 * The next event of a list, which is cut there; NULL: none is left. The commas of a group, {a,b}:D,
 * and of a PMU's terms, cpu/event=0xc0,umask=1/, are their own.
 */
static char *next_event(char **rest)
{
	char *start = *rest, *p;
	bool group = false, terms = false;

	if (!start || !*start)
		return NULL;
	for (p = start; *p && (*p != ',' || group || terms); p++) {
		terms ^= *p == '/';
		group = *p == '{' || (group && *p != '}');
	}
	*rest = *p ? p + 1 : NULL;
	*p = '\0';
	return start;
}

/* Asks perf for `events` and nothing else. 0: it takes them. */
static int try_events(const struct perf *perf, const char *events, char *said, size_t size)
{
	return command_run((const char *const[]){perf->path, "stat", "-j", "-D", "-1", "-o",
						 "/dev/null", "-e", events, "--", "true", NULL},
			   said, size);
}

/* The line of perf's complaint that says most: the first that is not blank. */
static void first_line(char *text)
{
	char *start = text + strspn(text, " \n");

	start[strcspn(start, "\n")] = '\0';
	memmove(text, start, strlen(start) + 1);
}

/* No perf to run: every event is absent for the one reason. */
static void drop_all(struct perf *perf, const char *reason)
{
	char *rest = perf->events, *event;

	while ((event = next_event(&rest)))
		json_object_set_new(perf->dropped, event, absent(reason));
	perf->events[0] = perf->path[0] = '\0';
}

void perf_find(struct perf *perf, const char *events)
{
	perf->dropped = json_object();
	snprintf(perf->events, sizeof(perf->events), "%s", events ? events : PERF_DEFAULT_EVENTS);
	if (!*perf->events || !command_find("perf", perf->path, sizeof(perf->path)))
		drop_all(perf, "no perf in PATH");
}

void perf_probe(struct perf *perf)
{
	char said[512] = "", reason[256], wanted[sizeof(perf->events)], *rest = wanted, *event;
	int rc = try_events(perf, "task-clock", said, sizeof(said));

	if (rc) {
		/* Not an event's fault: a perf for another kernel, an old one, no permission. */
		first_line(said);
		snprintf(reason, sizeof(reason), "perf fails here (exit %d): %.180s", rc, said);
		drop_all(perf, reason);
		return;
	}
	memcpy(wanted, perf->events, sizeof(wanted));
	perf->events[0] = '\0';
	while ((event = next_event(&rest))) {
		if (try_events(perf, event, said, sizeof(said))) {
			first_line(said);
			json_object_set_new(perf->dropped, event, absent(said));
		} else {
			list_add(perf->events, sizeof(perf->events), ",", "%s", event);
		}
	}
	if (!*perf->events)
		perf->path[0] = '\0';
}

size_t perf_command(const struct perf *perf, const char *argv[], size_t max)
{
	static const char control[] = "fd:7,8";
	const char *const words[] = {perf->path,   "stat",	"-j",	      "-D",
				     "-1",	   "--control", control,      "-o",
				     perf->output, "-e",	perf->events, "--"};
	size_t n = sizeof(words) / sizeof(words[0]);

	_Static_assert(PERF_CONTROL_FD == 7 && PERF_ACK_FD == 8, "the words say 7,8");
	if (n > max)
		return 0;
	memcpy(argv, words, sizeof(words));
	return n;
}

bool perf_line(const char *line, json_t *counters)
{
	json_t *row = json_loads(line, 0, NULL);
	const json_t *field = json_object_get(row, "counter-value");
	const char *text = json_string_value(field);
	const char *event = json_string_value(json_object_get(row, "event"));
	const char *unit = json_string_value(json_object_get(row, "unit"));
	json_t *counter;
	char printed[64], *end;
	double value;

	/* A string since 5.13; a number is one all the same. */
	if (json_is_number(field)) {
		snprintf(printed, sizeof(printed), "%.17g", json_number_value(field));
		text = printed;
	}
	if (!text || !event) {
		json_decref(row);
		return false;
	}
	value = strtod(text, &end);
	if (!strcmp(text, "<not supported>"))
		counter = absent("not supported: no PMU");
	else if (!strcmp(text, "<not counted>"))
		counter = absent("not counted");
	else if (*end || end == text || !isfinite(value) || value < 0)
		counter = absent("perf printed no number");
	else
		counter = json_pack("{s:f, s:s, s:f}", "value", value, "unit", unit ? unit : "",
				    "running",
				    json_number_value(json_object_get(row, "pcnt-running")));
	json_object_set_new(counters, event, counter);
	json_decref(row);
	return true;
}

void perf_judge(json_t *counters)
{
	static const char *const hardware[] = {"instructions", "cache-misses", "branch-misses",
					       "cycles"};
	json_t *clock = json_object_get(counters, "task-clock");
	json_t *cycles = json_object_get(json_object_get(counters, "cycles"), "value");
	size_t i;

	/* A task that ran took cycles: where they are 0, so is everything that the PMU counts. */
	if (json_number_value(json_object_get(clock, "value")) <= 0 ||
	    (cycles && json_number_value(cycles) > 0))
		return;
	for (i = 0; i < sizeof(hardware) / sizeof(hardware[0]); i++) {
		json_t *value = json_object_get(json_object_get(counters, hardware[i]), "value");

		if (value && json_number_value(value) == 0 && (cycles || i == 0))
			json_object_set_new(counters, hardware[i],
					    absent("the PMU counted 0 while the task ran"));
	}
}

/* What perf did not print as it was asked for; it may have narrowed it to user space, silently. */
static json_t *not_printed(json_t *counters, const char *event)
{
	char name[512], reason[128] = "perf printed no such row";

	snprintf(name, sizeof(name), "%s:u", event);
	if (!json_object_del(counters, name))
		snprintf(reason, sizeof(reason), "perf_event_paranoid=%d leaves only user space",
			 (int)file_number("/proc/sys/kernel/perf_event_paranoid"));
	return absent(reason);
}

json_t *perf_counters(const struct perf *perf)
{
	json_t *counters = json_deep_copy(perf->dropped);
	char wanted[sizeof(perf->events)], *rest = wanted, *event, *line = NULL;
	size_t cap = 0;
	FILE *f;

	if (!*perf->path)
		return counters;
	f = fopen(perf->output, "re");
	while (f && getline(&line, &cap, f) > 0)
		perf_line(line, counters);
	free(line);
	if (f)
		fclose(f);
	perf_judge(counters);
	snprintf(wanted, sizeof(wanted), "%s", perf->events);
	/* A group's events, and one that is given a name, have rows by other names than theirs here. */
	while ((event = next_event(&rest)))
		if (*event != '{' && !strstr(event, "name=") && !json_object_get(counters, event))
			json_object_set_new(counters, event, not_printed(counters, event));
	return counters;
}
