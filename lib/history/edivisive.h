/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * E-divisive: where the distribution of a series changes. Matteson and James, "A Nonparametric
 * Approach for Multiple Change Point Analysis of Multivariate Data", Journal of the American
 * Statistical Association 109 (2014), with alpha = 1 and one dimension. Pure; the same input and
 * seed give the same result.
 */
#ifndef HISTORY_EDIVISIVE_H
#define HISTORY_EDIVISIVE_H

#include <stdbool.h>
#include <stddef.h>

struct edivisive_options {
	size_t least;	     /* values between two changes, at least 1 */
	size_t permutations; /* of each test */
	double level;	     /* a change is kept while its p is at most this */
	unsigned long seed;
};

/* What the history of nights uses; docs/history.md says why. */
extern const struct edivisive_options edivisive_defaults;

/*
 * The series changes between value at - 1 and value at (counted from 0): at is the first value of
 * the new kind. The values up to end (excluded) are what it was told from.
 */
struct edivisive_change {
	size_t at, end;
	double q; /* the statistic, scaled by nm/(n+m) */
	double p; /* of the permutation test; NaN where none was made */
};

/*
 * The most likely single change of a series, with at least `least` values on both sides: false where
 * the series is too short for it or no two of its values differ.
 */
bool edivisive_split(const double *values, size_t count, size_t least,
		     struct edivisive_change *change);

/*
 * All changes, in order of `at`; at most `room` of them. Returns their number. Values are finite.
 * Out of memory: 0.
 */
size_t edivisive(const double *values, size_t count, const struct edivisive_options *options,
		 struct edivisive_change *changes, size_t room);

#endif
