/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One side of a comparison: every record of a results/KERNEL directory, reduced to one number a
 * metric and run, grouped by what may be compared with each other at all.
 */
#ifndef COMPARE_DATASET_H
#define COMPARE_DATASET_H

#include "compare/arena.h"
#include "compare/notes.h"
#include "compare/record.h"

struct group_metric {
	const char *name, *unit, *absent; /* absent: the first reason given, or NULL */
	enum better better;
};

/* Runs of one case with equal options, scale, params and identity. */
struct group {
	const char *key;       /* canonical JSON of all of these, without the pages */
	const char *loose_key; /* .. and without what only a run that went well has: identity */
	const char *case_name, *scale, *variant;
	json_t *options, *params, *identity; /* owned references */
	struct group_metric *metrics;
	size_t nmetrics, metrics_room;
	size_t count[RUN_STATUSES];
	double pages_low, pages_high; /* of the runs that went well; 0: not recorded */
	double idle_ns;		      /* the most any run was idle under a virtual clock */
	size_t first_run, last_run;   /* the group's runs, chained by next */
};

#define NO_RUN ((size_t)-1)

struct run {
	size_t group, boot, next;
	const char *invocation, *reason;
	json_int_t run, seq;
	enum run_status status;
	double started, total_ns;
	size_t nvalues;
	double *values;			   /* by the group's metrics; NaN: absent */
	const struct histogram *histogram; /* of the samples, where there are enough; or NULL */
};

/* A run that counted calls of kernel functions, or locks: it is not timed, and stands in no group. */
struct probe_run {
	const char *case_name, *scale, *variant;
	const char *reason;	     /* NULL where it went well */
	json_t *options, *functions; /* owned references */
	json_t *locks, *per;	     /* .. which may be NULL */
	double pages;		     /* NaN: not said */
	size_t boot;
	enum run_status status;
};

struct boot {
	const char *id, *file;
	json_t *env;	    /* owned; NULL: no environment file */
	size_t nruns;	    /* probe runs too */
	double first, last; /* when the first and the last run started, seconds since the epoch */
	const char **invocations;
	size_t ninvocations, invocations_room;
};

struct dataset {
	struct arena arena;
	const char *path, *kernel;
	struct boot *boots; /* by their first run */
	size_t nboots, boots_room;
	struct group *groups; /* by their first record */
	size_t ngroups, groups_room;
	struct run *runs;
	size_t nruns, runs_room;
	struct probe_run *probes;
	size_t nprobes, probes_room;
	struct notes notes;
	json_t *index; /* group keys */
	json_t *loose; /* loose keys, of groups without a run that went well where there is one */
	json_t *seen;  /* runs already read, against a line that stands twice */
};

/* Returns 0, or -1 with the error recorded. dataset_release() in both cases. */
int dataset_read(const char *path, struct dataset *dataset, struct input_error *error);
void dataset_release(struct dataset *dataset);

/* The value of a metric in a run; NaN where it is absent or the run is not ok. */
double run_value(const struct dataset *dataset, const struct run *run, const char *metric);
const struct group_metric *group_metric(const struct group *group, const char *name);
/* The number of a parameter, or NaN. */
double group_param(const struct group *group, const char *name);
/* Options of a group satisfy all of where. */
/*
 * The group that may be compared with this one of another dataset, or NULL: the one of equal key,
 * else one of equal loose key when either has no run that went well and so no identity to differ.
 */
const struct group *dataset_group(const struct dataset *dataset, const struct group *like);
bool group_matches(const struct group *group, const char *case_name, json_t *where);

/* What the match part of a boot says: the engine's name, "unknown" without an environment. */
const char *boot_engine(const struct boot *boot);
json_t *boot_match(const struct boot *boot);
json_t *boot_info(const struct boot *boot);

#endif
