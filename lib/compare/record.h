/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One record: one line of results/KERNEL/BOOT_ID.jsonl, one run. Parsing validates it and reduces
 * its samples to quantiles at once, so that no sample outlives its line. Formats: docs/formats.md.
 */
#ifndef COMPARE_RECORD_H
#define COMPARE_RECORD_H

#include "compare/histogram.h"
#include "compare/input.h"

enum run_status { RUN_OK, RUN_FAIL, RUN_SKIP, RUN_BROKEN, RUN_STATUSES };
enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NEITHER };

extern const char *const run_status_name[RUN_STATUSES];

/* One metric of one run. An absent one has the reason and NaN as its value. */
struct record_metric {
	const char *name, *unit, *absent;
	enum better better;
	double value;
};

enum { RECORD_METRICS_MAX = 64 };

/* All pointers are borrowed from root. */
struct record {
	json_t *root;
	const char *kernel, *boot, *invocation, *case_name, *scale, *reason;
	json_t *options, *params, *identity; /* identity may be NULL */
	json_t *functions; /* of a probe run: calls by kernel function; else NULL */
	json_t *locks;	   /* of a lock run: counts by lock; else NULL */
	json_t *per;	   /* .. and how many of each unit the region did, may be NULL */
	json_int_t run, seq;
	enum run_status status;
	double started;	 /* seconds since the epoch */
	double total_ns; /* what the run cost with all its preparation, or NaN */
	double idle_ns;	 /* idle time inside the region under a virtual clock, or 0 */
	size_t nmetrics;
	struct record_metric metrics[RECORD_METRICS_MAX];
	size_t nsamples;
	struct histogram *histogram; /* NULL: too few samples; freed by record_release() */
};

/* Returns 0, or -1 with the error recorded. Release with record_release() in both cases. */
int record_parse(const struct input *in, const char *line, size_t length, struct record *record);
void record_release(struct record *record);

/* ok, -1: no such name. */
int better_parse(const char *text, enum better *better);
extern const char *const better_name[3];

#endif
