/* SPDX-License-Identifier: GPL-2.0-only */
/* The quantile of a run's samples, without the library that the comparator uses for statistics. */
#ifndef CASE_QUANTILE_H
#define CASE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. */
void quantile_sort(uint64_t *values, size_t count);

/*
 * Quantile p in [0, 1] of sorted values, linear between the two order statistics around
 * (count - 1) * p: type 7 of Hyndman and Fan (1996), as the comparator has it. NaN of no values.
 */
double quantile(const uint64_t *sorted, size_t count, double p);

#endif
