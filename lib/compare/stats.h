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
/* Unbiased variance; NaN below two values. */
double stats_variance(const double *values, size_t count);

/* Student's t: the quantile p for df degrees of freedom. */
double stats_t_quantile(double p, double df);

/* Sum of squares around each group's own mean, and its degrees of freedom, collected. */
struct stats_pool {
	double squares;
	double df;
};

void stats_pool_add(struct stats_pool *pool, const double *values, size_t count);
/* The same by a scale that a few stray values do not move: what the error of a median goes by. */
void stats_pool_add_robust(struct stats_pool *pool, const double *values, size_t count);
/* NaN without a degree of freedom. */
double stats_pool_variance(const struct stats_pool *pool);

/* The difference mean(after) - mean(before), and what is known of it. */
struct stats_difference {
	double d, se, df, low, high;
	double s;     /* pooled standard deviation in use */
	double s_raw; /* before the floor */
	double t, p;  /* of a difference of 0, two-sided */
};
/* Of which nothing is known: every member is NaN. */
extern const struct stats_difference stats_no_difference;

/* The least spread between boots that the noise within them implies; see stats.c. */
double stats_floor(double within_variance, double runs, double efficiency);
/* Asymptotic variance of a median of normal values relative to that of their mean: pi/2. */
#define STATS_MEDIAN_EFFICIENCY 1.57079632679489661923
/* Nothing repeats better than this, whatever two boots happened to show. */
#define STATS_LEAST_SPREAD 1e-4

/* Two samples of equal variance, s not below the floor. All NaN but d below 1 df. */
struct stats_difference stats_pooled(const double *before, size_t nbefore, const double *after,
				     size_t nafter, double floor, double level);
/* Two samples of any variances; NaN below two values a side or without any spread. */
struct stats_difference stats_welch(const double *before, size_t nbefore, const double *after,
				    size_t nafter, double level);

/* Two-sided p of the exact permutation test of the difference in means; NaN above five million
 * arrangements. */
double stats_permutation(const double *before, size_t nbefore, const double *after, size_t nafter);

struct stats_mann_whitney {
	double u; /* of the first sample */
	double p; /* two-sided, exact also with ties */
};

struct stats_mann_whitney stats_mann_whitney(const double *a, size_t na, const double *b,
					     size_t nb);

/* Variance within and between groups (boots) of equally many runs. */
struct stats_components {
	double mean;
	double within;	/* S1^2: mean of the groups' variances */
	double means;	/* S2^2: variance of the groups' means */
	double between; /* T2^2 = S2^2 - S1^2/runs: what is due to the groups alone; may be < 0 */
	double half_width; /* of the 95 % interval of the mean */
};

/* values[group * runs + run] */
struct stats_components stats_components(const double *values, size_t groups, size_t runs);

#endif
