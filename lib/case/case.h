/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a case is: one constant declaration and up to five callbacks, in one file of cases/.
 *
 *	static const struct case_decl shmem_truncate = { .name = "shmem-truncate", ... };
 *	CASE_MAIN(shmem_truncate)
 *
 * Two processes run it. The parent, never counted, calls setup() and cleanup(): it owns mounts,
 * servers, swap, knobs and the timeout. It starts perf stat, and below perf the inner process,
 * which calls prepare(), measure() and verify() in this order; only what stands between
 * region_begin() and region_end() is counted and timed. Static variables of the parent do not
 * reach the inner process: pass() does.
 *
 * Callbacks return nothing. run_skip(), run_fail() and run_broken() (sys/end.h) end a run from
 * either process; everything that was owned is given back on every way out.
 */
#ifndef CASE_CASE_H
#define CASE_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/end.h"

enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NEITHER };

/* The first value is the default. */
struct case_option {
	const char *name, *summary;
	const char *const *values;
};

/* Sizes by scale. The parameter named "size" is what --size sets. */
struct case_param {
	const char *name, *unit;
	uint64_t smoke, quick, documented;
	uint64_t multiple; /* a value must be a multiple of this; 0: any */
};

struct case_metric {
	const char *name, *unit;
	enum better better;
	/* Not NULL: the perf event that, divided by the run's pages, is this metric. */
	const char *per_page_of;
};

/* Checked in this order, before anything is changed. What is not met is a skip with its reason. */
struct case_needs {
	bool root;
	const char *kernel; /* minimum release, "6.5" */
	/* Bytes of MemAvailable: the parameter's value * permille / 1000 + plus. */
	struct {
		const char *param;
		unsigned int permille;
		uint64_t plus;
	} memory;
	const char *const *commands, *const *devices, *const *kconfig, *const *controllers;
	/* Of what the chosen options and parameters need: skips where it is not, and changes nothing. */
	void (*chosen)(void);
};

#define CASE_OPTIONS_MAX 15
#define CASE_PARAMS_MAX 15

/* Arrays end with an element whose name is NULL, string lists with NULL; all may be empty. */
struct case_decl {
	const char *name, *summary;
	struct case_needs needs;
	struct case_option options[CASE_OPTIONS_MAX + 1];
	const char *const *variants; /* run by default, "op=punch,folio=pmd": the rest as default */
	const char *const *senseless; /* combinations that are no workload: skipped */
	struct case_param params[CASE_PARAMS_MAX + 1];
	const struct case_metric *metrics;
	const char *const *touches;   /* what a run changes on the box, for --dry-run */
	const char *const *functions; /* the kernel functions it is about */
	const char *const *per;	      /* what their calls can be counted per: "page", .. */
	unsigned int timeout_s[3];    /* by scale; 0: 60, 300 and 3600 */
	void (*setup)(void), (*prepare)(void), (*measure)(void), (*verify)(void), (*cleanup)(void);
};

/* time (ns), time_per_page (ns/page), instructions_per_page: for a case of one timed operation. */
extern const struct case_metric case_time_metrics[];
/* p1, median, p95 (ns), clock (ns), instructions_per_page: for a case of many samples. */
extern const struct case_metric case_sample_metrics[];

int case_main(const struct case_decl *decl, int argc, char **argv);

/* A NULL-terminated list of strings. */
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

#define CASE_MAIN(decl)                                                                            \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return case_main(&(decl), argc, argv);                                             \
	}

/* --- both processes ---------------------------------------------------------------------- */

/* The chosen value of an option; asking for one that is not declared is broken. */
const char *opt(const char *name);
bool opt_is(const char *name, const char *value);
/* The chosen value's place among the declared ones, from 0. */
int opt_index(const char *name);
/* The chosen value of a parameter, in its unit. */
uint64_t param(const char *name);
/* "smoke", "quick" or "documented". */
const char *scale_name(void);

/* Hands a string from the parent (in setup) to the inner process. passed(): "" when not passed. */
void pass(const char *name, const char *value);
const char *passed(const char *name);

/* Which backing, swap, method was really used: must agree between before and after. */
void identity(const char *name, const char *value);

/* Registers a server that setup() forked: it is no leak, is killed at the end, and its early death is. */
void owns_server(int pid, const char *name);

/* --- the inner process ------------------------------------------------------------------- */

/* The number of pages the operation works on, the divisor of per-page metrics. */
void pages(uint64_t count);
/*
 * How many of a declared unit the region did, for rates of calls in probe runs and as the amount of
 * work: pages() says it of "page", where the region does one operation on that many. Below 1: not
 * known.
 */
void worked_on(const char *unit, int64_t count);

/*
 * Counting and timing. Between the acknowledged enable and the first clock read, and between the
 * two clock reads, there is no system call but the operation's. Exactly one region a run.
 */
void region_begin(void);
void region_end(void);
/* Nanoseconds between the two clock reads (CLOCK_MONOTONIC_RAW). */
uint64_t region_ns(void);

/*
 * Called before region_begin() by a run of many samples: its region brackets the whole loop, the
 * preparation of every sample too, so nothing is counted there. `where`: the variant that counts.
 */
void region_uncounted(const char *where);

/* One timed operation of many: ns, in the order taken. A run without any has its region as one. */
void sample(uint64_t ns);
/* The same around the operation, timed as the region is. */
void sample_begin(void);
void sample_end(void);
/*
 * Those of case_sample_metrics that are timed: quantiles (type 7) over all samples, none left out,
 * and clock, the median of what a sample reads when nothing stands in it. Without samples they are
 * absent for `reason`.
 */
void metric_samples(const char *reason);

/* The three of case_time_metrics, from the region and the run's pages. */
void metric_times(void);
/* A declared metric's value in its declared unit, or why there is none. */
void metric(const char *name, double value);
void metric_absent(const char *name, const char *reason);
/* The value, or, where `reason` is not empty, that there is none. */
void metric_or(const char *name, double value, const char *reason);

/*
 * After the region: fails the run unless its last call, which returned `returned`, did as wanted: 0
 * for success, else the errno that it must have failed with.
 */
void check_call(const char *what, int returned, int wanted);
/* What was proved. A check that does not hold makes the run a fail, after all checks were made. */
void check_equal(const char *name, int64_t want, int64_t got);
void check_at_least(const char *name, int64_t want, int64_t got);
void check_at_most(const char *name, int64_t want, int64_t got);
/*
 * Since `start`, tmpfs got exactly `pmd_bytes` in PMD-sized folios and, where those are 0, no folio
 * above order 0. Only what this kernel counts is checked.
 */
struct folio_counts;
void check_folio_order(const struct folio_counts *start, uint64_t pmd_bytes);
/*
 * All pages looked at were cached, all or none of them dirty, in folios of order 0, and none was
 * left. Only what this kernel tells is checked; identity "folio" says whether the order was.
 */
struct cached;
void check_cached(const struct cached *found, bool dirty);

#endif
