/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf stat around the inner process: its command line, its output, and what each counter that
 * cannot be had is missing for. Counters that no perf delivers are absent with a reason, never 0.
 */
#ifndef CASE_PERF_H
#define CASE_PERF_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define PERF_DEFAULT_EVENTS                                                                        \
	"task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,cache-misses"
/* The inner process finds the two ends of perf's control protocol here. */
#define PERF_CONTROL_FD 7
#define PERF_ACK_FD 8

struct perf {
	char path[4096];   /* empty: there is no perf to run */
	char events[2048]; /* those that perf accepts, as its -e takes them */
	json_t *dropped;   /* event -> {"absent": reason} */
	char output[4096]; /* the file that perf writes */
};

/* Finds perf; `events` may be NULL (the default set) or "" (none). Starts nothing. */
void perf_find(struct perf *perf, const char *events);

/*
 * After perf did not start with these events: asks for them one by one and drops those it does not
 * take, each with its reason. Where it takes none, perf itself is dropped.
 */
void perf_probe(struct perf *perf);

/* The words before the program's own: perf stat -j -D -1 --control fd:7,8 -o ... -e ... -- */
size_t perf_command(const struct perf *perf, const char *argv[], size_t max);

/*
 * The counters of the output file by event name, all of `events` among them but a group's and one
 * with a name of its own that perf did not print:
 * {"task-clock": {"value": 130.9, "unit": "msec", "running": 100}, "cycles": {"absent": "no PMU"}}
 * Lines that are no counter are passed over. Never NULL.
 */
json_t *perf_counters(const struct perf *perf);

/* One line of perf's JSON into counters; for tests and fuzzing. False: no counter in it. */
bool perf_line(const char *line, json_t *counters);
/* Says of counters what only all of them together show: a PMU that counts nothing. */
void perf_judge(json_t *counters);

#endif
