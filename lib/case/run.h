/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside lib/case: one run of one variant, filled in from the command line and, later, from what
 * the inner process found. Owned by main.c; strings live as long as the process.
 */
#ifndef CASE_RUN_H
#define CASE_RUN_H

#include <jansson.h>
#include <stddef.h>

#include "case/case.h"

enum scale { SCALE_SMOKE, SCALE_QUICK, SCALE_DOCUMENTED };

struct run {
	const struct case_decl *decl;
	const char *exe; /* our own resolved path: inside perf /proc/self/exe is perf */
	enum scale scale;
	const char *values[CASE_OPTIONS_MAX]; /* by option */
	char variant[512];		      /* all options in the order declared, "k=v,k=v" */
	uint64_t params[CASE_PARAMS_MAX];     /* by parameter */
	uint64_t pages;			      /* 0: not said */
	unsigned int number;		      /* --run */
	const char *size;		      /* --size as given, or NULL */
	const char *output;		      /* --output, or NULL */
	const char *events;		      /* --events, or NULL */
	const char *probe;		      /* --probe: kernel functions to count, or NULL */
	bool locks;			      /* --locks: count locks */
	json_t *identity;
};

extern struct run run;

/* options.c: 0, or 2 with one line on stderr. */
int options_default(void);
int options_variant(const char *text);
int options_size(const char *text);
int options_scale(const char *text);
void options_finish(void); /* fills run.variant */
/* The declared senseless combination that the variant contains, or NULL. */
const char *options_senseless(void);
unsigned int options_timeout(void);

/* describe.c */
void describe(void);
/* Adds the metric's unit and direction to its value; returns the object. */
json_t *describe_metric(const struct case_metric *metric, json_t *object);

/* needs.c: skips at the first need that is not met. */
void needs_require(void);
/* .. or prints a line a need, and the result line. Returns the exit code, or exits with it. */
int needs_report(void);

/* parent.c: setup, perf, the inner process, record; returns the exit code. */
int parent_run(void);

/* inner.c */
int inner_run(bool empty);
_Noreturn void inner_end(enum run_end how, const char *reason);

/* The variables that carry a run from the parent to the inner process. */
#define RESULT_VARIABLE "BEFORE_AFTER_RESULT_FD"
#define PARENT_VARIABLE "BEFORE_AFTER_PARENT_PID"
#define PERF_VARIABLE "BEFORE_AFTER_PERF"
/* .. and the name under which pass() says that it is a probe run. */
#define PROBE_PASSED "probe"

#endif
