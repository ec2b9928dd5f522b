// SPDX-License-Identifier: GPL-2.0-only
#include "compare/stats.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

void stats_sort(double *values, size_t count)
{
	gsl_sort(values, 1, count);
}

/*
 * Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50
 * (1996), definition 7: h = (n-1)p, linear between the neighbours. R's and GSL's default.
 */
double stats_quantile_sorted(const double *values, size_t count, double p)
{
	return count ? gsl_stats_quantile_from_sorted_data(values, 1, count, p) : NAN;
}

double stats_quantile(double *values, size_t count, double p)
{
	stats_sort(values, count);
	return stats_quantile_sorted(values, count, p);
}

double stats_median(double *values, size_t count)
{
	return stats_quantile(values, count, .5);
}

double stats_mean(const double *values, size_t count)
{
	return count ? gsl_stats_mean(values, 1, count) : NAN;
}
