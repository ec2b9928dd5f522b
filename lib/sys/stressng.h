/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stress-ng's vm stressor, and the metrics it writes as YAML (read with libyaml; versions 0.15 to
 * 0.22 are known, of which the later ones repeat the keys once an instance).
 */
#ifndef SYS_STRESSNG_H
#define SYS_STRESSNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct stressng_vm {
	unsigned int workers;
	uint64_t bytes;	    /* over all workers */
	const char *method; /* of --vm-method */
	uint64_t seconds;   /* ends by time, or, */
	uint64_t
		ops; /* where this is not 0, when the workers together did so many bogo operations */
};

/* What never differs, for the record: "--vm-keep --vm-madvise normal --no-rand-seed". */
extern const char stressng_fixed[];

struct stressng_result {
	int exit;	       /* 128 + the signal that ended it */
	bool complete;	       /* the metrics below are there; else `why` */
	double bogo_ops;       /* over all workers */
	double bogo_ops_per_s; /* by real time */
	double seconds;	       /* real time, the mean over the workers */
	char why[256];	       /* what was wanted of the metrics and what was found; else empty */
};

/* Runs it in the memcg to its end. Its metrics go through a file in the scratch directory. */
void stressng_vm(const char *memcg, const struct stressng_vm *vm, struct stressng_result *result);

/* Reads the metrics of a stressor; false: result->why says why not. */
bool stressng_parse(FILE *f, const char *stressor, struct stressng_result *result);

/* "0.15.06"; "unknown" where it does not say. */
const char *stressng_version(void);

#endif
