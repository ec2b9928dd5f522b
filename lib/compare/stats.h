/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pure statistics: numbers in, numbers out, no I/O. NaN in a result means that it cannot be had
 * from this input. GSL supplies the sorting, the quantiles and the distributions.
 */
#ifndef COMPARE_STATS_H
#define COMPARE_STATS_H

#include <stddef.h>

void stats_sort(double *values, size_t count);
/* Quantile p in [0, 1] of sorted values, Hyndman and Fan's type 7. */
double stats_quantile_sorted(const double *values, size_t count, double p);
/* These three sort their input. */
double stats_quantile(double *values, size_t count, double p);
double stats_median(double *values, size_t count);
double stats_mean(const double *values, size_t count);

#endif
