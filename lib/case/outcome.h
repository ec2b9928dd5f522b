/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run came to, as a record (docs/formats.md) and as KTAP lines. Nothing here can fail.
 */
#ifndef CASE_OUTCOME_H
#define CASE_OUTCOME_H

#include <jansson.h>
#include <stdint.h>

#include "case/run.h"

struct outcome {
	enum run_end how;
	const char *reason; /* NULL when ok */
	json_t *found;	    /* what the inner process wrote; NULL: it wrote nothing */
	json_t *counters;   /* perf's, of the run and of the empty region; may be NULL */
	json_t *counters_empty;
	json_t *functions; /* of a probe run: calls by function; else NULL */
	json_t *locks;	   /* .. and counts by lock, of a run of --locks; else NULL */
	json_t *backends;  /* .. and of each way to count, "used" or why not */
	const char *invocation, *started; /* id; UTC */
	uint64_t total_ns;
};

/* A run that times its samples counts nothing: its counters are absent, and say where they are. */
void outcome_counted_where(struct outcome *outcome);
/* Adds the declared metrics that perf counts, each a value or absent with its reason. */
void outcome_derive_metrics(struct outcome *outcome);
/* A new object. */
json_t *outcome_record(const struct outcome *outcome);
/* The metrics as diagnostic lines, then the result line, on standard output. */
void outcome_ktap(const struct outcome *outcome);

#endif
