/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparator's own error rates, by simulation with a known truth, beside the rules others use
 * on the same data. docs/statistics.md explains the table.
 */
#ifndef COMPARE_TRUST_H
#define COMPARE_TRUST_H

#include <stdio.h>

struct trust_options {
	size_t seed;
	size_t repetitions; /* of the comparator's own rates; the rules take a fifth of them */
};

/* Rows are flushed as they come. Returns 0, or 1 where an error rate is above what is promised. */
int trust_run(const struct trust_options *options, FILE *out);

#endif
