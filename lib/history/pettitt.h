/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pettitt's test of a series for one change: "A Non-Parametric Approach to the Change-Point
 * Problem", Journal of the Royal Statistical Society C 28 (1979). A second opinion by ranks: no
 * value counts for more than its place. Pure.
 */
#ifndef HISTORY_PETTITT_H
#define HISTORY_PETTITT_H

#include <stddef.h>

struct pettitt {
	double k;  /* max |U(t)| */
	size_t at; /* values before the change (the first such t) */
	double p;  /* approximately, two-sided; good where it is below 0.5 */
};

/* Of at least 2 values; otherwise all 0 and p NaN. */
struct pettitt pettitt(const double *values, size_t count);

#endif
