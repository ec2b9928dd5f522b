// SPDX-License-Identifier: GPL-2.0-only
#include "compare/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_combination.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

double stats_variance(const double *values, size_t count)
{
	return count > 1 ? gsl_stats_variance(values, 1, count) : NAN;
}

double stats_t_quantile(double p, double df)
{
	return gsl_cdf_tdist_Pinv(p, df);
}

void stats_pool_add(struct stats_pool *pool, const double *values, size_t count)
{
	if (count < 2)
		return;
	pool->squares += stats_variance(values, count) * (double)(count - 1);
	pool->df += (double)(count - 1);
}

/*
 * The median's own error depends on how dense values lie around it, not on how far a stray one
 * went: one interrupted run of five must not widen the interval of a median that ignores it. So
 * the scale is the median absolute deviation, 1.4826 of which is a normal standard deviation
 * (gsl_stats_mad has the factor), unbiased for small samples by the factors of Croux and Rousseeuw,
 * Computational Statistics 1 (1992), 411-428. Squared it is on average more than the variance.
 */
void stats_pool_add_robust(struct stats_pool *pool, const double *values, size_t count)
{
	static const double factors[] = {1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
	double scale, *work = count < 2 ? NULL : malloc(count * sizeof(*work));

	if (!work)
		return;
	scale = gsl_stats_mad(values, 1, count, work);
	scale *= count < 10 ? factors[count - 2] : (double)count / ((double)count - .8);
	free(work);
	pool->squares += scale * scale * (double)(count - 1);
	pool->df += (double)(count - 1);
}

double stats_pool_variance(const struct stats_pool *pool)
{
	return pool->df > 0 ? pool->squares / pool->df : NAN;
}

/*
 * A boot's median of R runs varies by efficiency * s_w^2 / R even where boots do not differ at
 * all: pi/2 is the asymptotic factor for the median of normal values (Kenney and Keeping,
 * Mathematics of Statistics, part 2, 1951, sec. 7.10), 1 that of the mean. Two boots can agree by
 * chance far better than that; the floor keeps such luck from becoming certainty.
 */
double stats_floor(double within_variance, double runs, double efficiency)
{
	double floor = sqrt(efficiency * within_variance / runs);

	return isfinite(floor) ? fmax(floor, STATS_LEAST_SPREAD) : STATS_LEAST_SPREAD;
}

static void finish(struct stats_difference *difference, double level)
{
	double t = stats_t_quantile(.5 + level / 2, difference->df);

	difference->low = difference->d - t * difference->se;
	difference->high = difference->d + t * difference->se;
	difference->t = difference->d / difference->se;
	difference->p = 2 * gsl_cdf_tdist_Q(fabs(difference->t), difference->df);
}

const struct stats_difference stats_no_difference = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

/* The difference of the means, nothing else being known of it yet. */
static struct stats_difference plain_difference(const double *before, size_t nbefore,
						const double *after, size_t nafter)
{
	struct stats_difference result = stats_no_difference;

	result.d = stats_mean(after, nafter) - stats_mean(before, nbefore);
	return result;
}

/*
 * Student's two-sample interval with the pooled variance (Snedecor and Cochran, Statistical
 * Methods, 8th edition, sec. 6.9): s^2 = (SS1 + SS2) / (n1 + n2 - 2), se = s sqrt(1/n1 + 1/n2).
 */
struct stats_difference stats_pooled(const double *before, size_t nbefore, const double *after,
				     size_t nafter, double floor, double level)
{
	struct stats_difference result = plain_difference(before, nbefore, after, nafter);
	struct stats_pool pool = {0};

	stats_pool_add(&pool, before, nbefore);
	stats_pool_add(&pool, after, nafter);
	if (!nbefore || !nafter || pool.df < 1)
		return result;
	result.df = pool.df;
	result.s_raw = sqrt(stats_pool_variance(&pool));
	result.s = fmax(result.s_raw, floor);
	result.se = result.s * sqrt(1. / (double)nbefore + 1. / (double)nafter);
	finish(&result, level);
	return result;
}

/*
 * B. L. Welch, "The generalization of 'Student's' problem when several different population
 * variances are involved", Biometrika 34 (1947), with the degrees of freedom of Satterthwaite
 * (1946): df = (v1 + v2)^2 / (v1^2/(n1-1) + v2^2/(n2-1)), v = s^2/n.
 */
struct stats_difference stats_welch(const double *before, size_t nbefore, const double *after,
				    size_t nafter, double level)
{
	struct stats_difference result = plain_difference(before, nbefore, after, nafter);
	double v1 = stats_variance(before, nbefore) / (double)nbefore;
	double v2 = stats_variance(after, nafter) / (double)nafter;

	if (!(v1 + v2 > 0))
		return result;
	result.se = sqrt(v1 + v2);
	result.df = (v1 + v2) * (v1 + v2) /
		    (v1 * v1 / (double)(nbefore - 1) + v2 * v2 / (double)(nafter - 1));
	finish(&result, level);
	return result;
}

/*
 * R. A. Fisher, The Design of Experiments (1935), sec. 21: of all ways to call nbefore of the
 * values "before", the share whose difference in means is at least as large as the one seen.
 * With the total fixed the difference is a monotone function of the sum of one side.
 */
double stats_permutation(const double *before, size_t nbefore, const double *after, size_t nafter)
{
	size_t n = nbefore + nafter, extreme = 0, all = 0;
	double total, seen, *values, *sums;
	gsl_combination *choice;
	size_t *last;

	if (!nbefore || !nafter || n > 170 ||
	    gsl_sf_choose((unsigned int)n, (unsigned int)nbefore) > 5e6)
		return NAN;
	values = malloc(n * sizeof(*values));
	sums = calloc(nbefore + 1, sizeof(*sums));
	last = malloc(nbefore * sizeof(*last));
	choice = gsl_combination_calloc(n, nbefore);
	if (!values || !sums || !last || !choice)
		goto out;
	memcpy(values, before, nbefore * sizeof(*values));
	memcpy(values + nbefore, after, nafter * sizeof(*values));
	total = stats_mean(values, n) * (double)nbefore;
	seen = fabs(stats_mean(before, nbefore) * (double)nbefore - total);
	/* No choice has its element 0 there: all is new at first. */
	for (size_t i = 0; i < nbefore; i++)
		last[i] = n;
	do {
		const size_t *chosen = gsl_combination_data(choice);
		size_t changed = 0;

		/* sums[i] is the sum of the first i; the next choice mostly changes the last one. */
		while (changed < nbefore && chosen[changed] == last[changed])
			changed++;
		for (size_t i = changed; i < nbefore; i++) {
			last[i] = chosen[i];
			sums[i + 1] = sums[i] + values[chosen[i]];
		}
		/* Sums of the same numbers in another order differ in the last bits. */
		extreme += fabs(sums[nbefore] - total) >= seen - 1e-12 * (1 + fabs(total));
		all++;
	} while (gsl_combination_next(choice) == GSL_SUCCESS);
out:
	gsl_combination_free(choice);
	free(values);
	free(sums);
	free(last);
	return all ? (double)extreme / (double)all : NAN;
}

struct ranked {
	double value;
	size_t rank2; /* twice the midrank: whole also with ties */
	int first;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/*
 * H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is
 * stochastically larger than the other", Annals of Mathematical Statistics 18 (1947). The exact
 * distribution with midranks counts, for every number of chosen values, the choices by the sum of
 * their doubled ranks; p is twice the smaller tail.
 */
struct stats_mann_whitney stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb)
{
	struct stats_mann_whitney result = {NAN, NAN};
	size_t n = na + nb, seen = 0, highest = n * (n + 1);
	struct ranked *ranked = calloc(n ? n : 1, sizeof(*ranked));
	double *ways = calloc((na + 1) * (highest + 1), sizeof(*ways));
	double below = 0, above = 0, all = 0;

	if (!ranked || !ways || !na || !nb)
		goto out;
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){i < na ? a[i] : b[i - na], 0, i < na};
	qsort(ranked, n, sizeof(*ranked), by_value);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && ranked[j].value == ranked[i].value;)
			j++;
		for (size_t k = i; k < j; k++)
			ranked[k].rank2 = i + 1 + j;
	}
	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		seen += ranked[i].first ? ranked[i].rank2 : 0;
		for (size_t k = na; k > 0; k--) {
			for (size_t sum = highest; sum >= ranked[i].rank2; sum--)
				ways[k * (highest + 1) + sum] +=
					ways[(k - 1) * (highest + 1) + sum - ranked[i].rank2];
		}
	}
	for (size_t sum = 0; sum <= highest; sum++) {
		double count = ways[na * (highest + 1) + sum];

		all += count;
		below += sum <= seen ? count : 0;
		above += sum >= seen ? count : 0;
	}
	result.u = (double)seen / 2 - (double)na * (double)(na + 1) / 2;
	result.p = fmin(1, 2 * fmin(below, above) / all);
out:
	free(ranked);
	free(ways);
	return result;
}

/*
 * T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, secs. 6 and 7,
 * with two levels: S1^2 is the mean variance within a group, S2^2 the variance of the groups'
 * means, T2^2 = S2^2 - S1^2/n1 the unbiased estimate of what the groups alone add.
 */
struct stats_components stats_components(const double *values, size_t groups, size_t runs)
{
	struct stats_components result = {NAN, NAN, NAN, NAN, NAN};
	double *means = malloc((groups ? groups : 1) * sizeof(*means));
	struct stats_pool pool = {0};

	if (means && groups && runs) {
		for (size_t i = 0; i < groups; i++) {
			means[i] = stats_mean(values + i * runs, runs);
			stats_pool_add(&pool, values + i * runs, runs);
		}
		result.mean = stats_mean(means, groups);
		result.within = stats_pool_variance(&pool);
		result.means = stats_variance(means, groups);
		result.between = result.means - result.within / (double)runs;
		if (groups > 1)
			result.half_width = stats_t_quantile(.975, (double)(groups - 1)) *
					    sqrt(result.means / (double)groups);
	}
	free(means);
	return result;
}
