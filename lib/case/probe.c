// SPDX-License-Identifier: GPL-2.0-only
#include "case/probe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/list.h"
#include "sys/breakpoint.h"
#include "sys/io.h"
#include "sys/kprobe.h"
#include "sys/lock_stat.h"
#include "sys/profiler.h"

/* A way in which perf counts a function: as an event of the task and its children. */
struct event_way {
	const char *name; /* as records say it */
	bool (*open)(char *why, size_t size);
	bool (*define)(const char *function, char *event, size_t event_size, char *why,
		       size_t size);
};

/* The first that takes a function counts it. */
static const struct event_way event_ways[] = {
	{"kprobe", kprobe_open, kprobe_define},
	{"hardware breakpoint", breakpoint_open, breakpoint_define},
};
enum { EVENT_WAYS = sizeof(event_ways) / sizeof(event_ways[0]) };
static char closed[EVENT_WAYS][256]; /* why a way takes no function at all; "" where it may */

/* A way without perf: started and stopped around the region. What it counted, NULL: why. */
struct server_way {
	const char *name;
	bool (*open)(char *why, size_t size);
	bool (*define)(const char *function, char *why, size_t size);
	bool (*start)(char *why, size_t size);
	bool (*stop)(char *why, size_t size);
	json_t *(*counted)(const char *function, char *why, size_t size);
};

static json_t *calls(double value, const char *by, const char *scope)
{
	return json_pack("{s:f, s:s, s:s}", "value", value, "by", by, "scope", scope);
}

static json_t *profiler_counted(const char *function, char *why, size_t size)
{
	int64_t value = profiler_calls(function, why, size);

	return value < 0 ? NULL : calls((double)value, "function profiler", "cpus");
}

static json_t *lock_counted(const char *name, char *why, size_t size)
{
	struct lock_counts counts;
	const char *shown;

	if (!lock_stat_of(name, &counts, &shown)) {
		snprintf(why, size, "this kernel shows no such lock");
		return NULL;
	}
	return json_pack("{s:I, s:I, s:f, s:f, s:s}", "acquisitions",
			 (json_int_t)counts.acquisitions, "contentions",
			 (json_int_t)counts.contentions, "held_ns", counts.held_ns, "waited_ns",
			 counts.waited_ns, "shown_as", shown);
}

/* Where perf counts no function. */
static const struct server_way profiler_way = {"function profiler", profiler_open,
					       profiler_define,	    profiler_start,
					       profiler_stop,	    profiler_counted};
/* Of --locks. */
static const struct server_way lock_way = {"lock statistics", lock_stat_open, NULL,
					   lock_stat_start,   lock_stat_stop, lock_counted};

enum { FUNCTIONS_MAX = 64, LIST_MAX = sizeof(((struct perf *)0)->events) };

/* perf's events and the functions behind them. */
static struct {
	char event[160], function[128];
	const char *by;
} events[FUNCTIONS_MAX];
static size_t event_count;

static const struct server_way *server; /* NULL: perf counts */
static bool counted;			/* the region was started and stopped */
static char failed[256];		/* why it could not be */
static int control, ack;

static json_t *absent(const char *reason)
{
	return json_pack("{s:s}", "absent", reason);
}

/* All ways, or the one that is asked for. */
static bool asked_for(const char *way)
{
	const char *only = getenv("BEFORE_AFTER_PROBE_WAY");

	return !only || !*only || !strcmp(only, way);
}

/* Calls `each` for every name of the list that is a tracepoint, or is none. */
static void for_each(const char *list, bool tracepoints,
		     void (*each)(const char *name, struct perf *perf, struct outcome *outcome),
		     struct perf *perf, struct outcome *outcome)
{
	char names[LIST_MAX], *save = NULL, *name;

	snprintf(names, sizeof(names), "%s", list);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save))
		if (!strchr(name, ':') == !tracepoints)
			each(name, perf, outcome);
}

static void add_event(struct perf *perf, const char *event, const char *function, const char *by)
{
	if (event_count == FUNCTIONS_MAX)
		run_broken("--probe: wanted at most %d functions", FUNCTIONS_MAX);
	list_add(perf->events, sizeof(perf->events), ",", "%s", event);
	snprintf(events[event_count].event, sizeof(events[0].event), "%s", event);
	snprintf(events[event_count].function, sizeof(events[0].function), "%s", function);
	events[event_count++].by = by;
}

/* Of a way: that it is used, or why not. The first word stands. */
static void say(struct outcome *outcome, const char *way, const char *what)
{
	if (!json_object_get(outcome->backends, way) || !strcmp(what, "used"))
		json_object_set_new(outcome->backends, way, json_string(what));
}

static void tracepoint(const char *name, struct perf *perf, struct outcome *outcome)
{
	(void)outcome;
	add_event(perf, name, name, "tracepoint");
}

static void unheard(const char *name, struct perf *perf, struct outcome *outcome)
{
	(void)perf;
	json_object_set_new(outcome->functions, name,
			    absent("perf does not run beside another way to count functions"));
}

/* Gives one function to the first way of perf's that takes it. */
static void to_perf(const char *name, struct perf *perf, struct outcome *outcome)
{
	char why[256], all[600] = "", event[160];
	size_t i;

	for (i = 0; i < EVENT_WAYS; i++) {
		const struct event_way *way = &event_ways[i];

		if (*closed[i])
			snprintf(why, sizeof(why), "%.200s", closed[i]);
		else if (way->define(name, event, sizeof(event), why, sizeof(why)))
			break;
		say(outcome, way->name, why);
		list_add(all, sizeof(all), "; ", "%s: %s", way->name, why);
	}
	if (i == EVENT_WAYS) {
		json_object_set_new(outcome->functions, name, absent(all));
		return;
	}
	add_event(perf, event, name, event_ways[i].name);
	json_object_set_new(outcome->functions, name, absent("not counted"));
	say(outcome, event_ways[i].name, "used");
}

static void to_server(const char *name, struct perf *perf, struct outcome *outcome)
{
	char why[256];

	(void)perf;
	if (!server->define(name, why, sizeof(why))) {
		json_object_set_new(outcome->functions, name, absent(why));
		return;
	}
	json_object_set_new(outcome->functions, name, absent("not counted"));
	say(outcome, server->name, "used");
}

static bool open_perf(struct perf *perf, const char *functions, struct outcome *outcome)
{
	size_t i;

	for (i = 0; i < EVENT_WAYS; i++) {
		const struct event_way *way = &event_ways[i];

		if (!*perf->path || !asked_for(way->name))
			snprintf(closed[i], sizeof(closed[i]), "%s",
				 *perf->path ? "not asked for" : "no perf in PATH");
		else
			way->open(closed[i], sizeof(closed[i]));
	}
	for_each(functions, false, to_perf, perf, outcome);
	for (i = 0; i < EVENT_WAYS; i++)
		say(outcome, event_ways[i].name, "not for these functions");
	return event_count;
}

static bool open_server(const struct server_way *way, char *why, size_t size)
{
	snprintf(why, size, "not asked for");
	if (!asked_for(way->name) || !way->open(why, size))
		return false;
	server = way;
	return true;
}

static bool open_profiler(struct perf *perf, const char *functions, struct outcome *outcome)
{
	char why[256];

	if (open_server(&profiler_way, why, sizeof(why))) {
		for_each(functions, false, to_server, perf, outcome);
		snprintf(why, sizeof(why), "not for these functions");
	}
	say(outcome, profiler_way.name, why);
	if (strcmp(json_string_value(json_object_get(outcome->backends, profiler_way.name)),
		   "used"))
		server = NULL;
	return server;
}

void probe_open(struct perf *perf, const char *functions, struct outcome *outcome)
{
	char all[768] = "";
	const char *way;
	json_t *why;

	perf->events[0] = '\0';
	json_object_clear(perf->dropped);
	if (!open_perf(perf, functions, outcome) && open_profiler(perf, functions, outcome)) {
		perf->path[0] = '\0';
		for_each(functions, true, unheard, perf, outcome);
		return;
	}
	if (*perf->path)
		for_each(functions, true, tracepoint, perf, outcome);
	json_object_foreach (outcome->backends, way, why) {
		list_add(all, sizeof(all), "; ", "%s: %s", way, json_string_value(why));
	}
	if (!event_count)
		run_skip("probe: %s", all);
}

void probe_open_locks(struct perf *perf, struct outcome *outcome)
{
	const char *const *name;
	char why[256];

	perf->path[0] = '\0';
	json_object_clear(perf->dropped);
	if (!open_server(&lock_way, why, sizeof(why)))
		run_skip("locks: %s", why);
	say(outcome, lock_way.name, "used");
	for (name = lock_names; *name; name++)
		json_object_set_new(outcome->locks, *name, absent("not counted"));
}

bool probe_serves(void)
{
	return server;
}

/* perf stat's side of the control protocol: a line in, an acknowledgement out. */
static void *serve(void *unused)
{
	char word[16];
	size_t length = 0;

	(void)unused;
	for (;;) {
		ssize_t got = read(control, word + length, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got != 1)
			return NULL;
		if (word[length] != '\n') {
			length = (length + 1) % sizeof(word);
			continue;
		}
		if (word[0] == 'e')
			server->start(failed, sizeof(failed));
		else
			counted = server->stop(failed, sizeof(failed)) && !*failed;
		length = 0;
		if (!io_write(ack, "ack\n", 5))
			return NULL;
	}
}

void probe_serve(int control_fd, int ack_fd)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	control = control_fd;
	ack = ack_fd;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = pthread_create(&thread, NULL, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		run_broken("%s: the thread that serves it: %s", server->name, strerror(err));
	pthread_detach(thread);
}

/* What perf counted, under the functions' own names. */
static void from_perf(const struct outcome *outcome)
{
	size_t i;

	for (i = 0; i < event_count; i++) {
		json_t *counter = json_object_get(outcome->counters, events[i].event);
		json_t *value = json_object_get(counter, "value");

		json_object_set_new(outcome->functions, events[i].function,
				    value ? calls(json_number_value(value), events[i].by, "task")
				    : counter ? json_incref(counter)
					      : absent("not counted"));
	}
}

static void from_server(json_t *names)
{
	char why[256];
	const char *name;
	json_t *now;
	void *next;

	json_object_foreach_safe (names, next, name, now) {
		json_t *found = NULL;

		/* Not taken, with its own reason. */
		if (strcmp(json_string_value(json_object_get(now, "absent")), "not counted"))
			continue;
		if (counted)
			found = server->counted(name, why, sizeof(why));
		else
			snprintf(why, sizeof(why), "%s", *failed ? failed : "no region");
		json_object_set_new(names, name, found ? found : absent(why));
	}
}

void probe_close(struct outcome *outcome)
{
	const struct case_metric *m = run.decl->metrics;

	if (probe_serves())
		from_server(run.locks ? outcome->locks : outcome->functions);
	else
		from_perf(outcome);
	json_decref(outcome->counters);
	json_decref(outcome->counters_empty);
	outcome->counters = outcome->counters_empty = NULL;
	json_object_del(outcome->found, "samples");
	for (; m && m->name; m++)
		json_object_set_new(json_object_get(outcome->found, "metrics"), m->name,
				    describe_metric(m, absent("a probe run is not timed")));
}
