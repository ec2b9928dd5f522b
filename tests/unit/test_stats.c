// SPDX-License-Identifier: GPL-2.0-only
/* The statistics against published worked numbers. */
#include "compare/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("wanted %.10g within %g, found %.10g", want, tolerance, got);
}

static void test_quantile(void **state)
{
	double five[] = {50, 15, 40, 20, 35}, ten[10], one[] = {7};

	(void)state;
	for (int i = 0; i < 10; i++)
		ten[i] = 10 - i;
	close_to(stats_quantile(five, 5, .4), 29, 1e-12);
	close_to(stats_quantile(ten, 10, .01), 1.09, 1e-12);
	close_to(stats_quantile(ten, 10, .25), 3.25, 1e-12);
	close_to(stats_quantile(ten, 10, .95), 9.55, 1e-12);
	close_to(stats_median(one, 1), 7, 0);
	close_to(stats_quantile(one, 1, .99), 7, 0);
	assert_true(isnan(stats_quantile(one, 0, .5)));
}

static void test_t_quantile(void **state)
{
	static const double table[][3] = {{1, 12.7062, 6.3138},
					  {2, 4.3027, 2.9200},
					  {6, 2.4469, 1.9432},
					  {18, 2.1009, 1.7341}};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		close_to(stats_t_quantile(.975, table[i][0]), table[i][1], 5e-5);
		close_to(stats_t_quantile(.95, table[i][0]), table[i][2], 5e-5);
	}
}

/* R's sleep data: t.test(extra ~ group). R's difference is the first group minus the second. */
static void test_welch(void **state)
{
	static const double a[] = {.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2};
	static const double b[] = {1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	struct stats_difference w = stats_welch(b, 10, a, 10, .95);

	(void)state;
	close_to(w.t, -1.860813, 5e-7);
	close_to(w.df, 17.776474, 5e-7);
	close_to(w.p, .0793941, 5e-8);
	close_to(w.low, -3.365483, 5e-7);
	close_to(w.high, .205483, 5e-7);
	assert_true(isnan(stats_welch(a, 1, b, 10, .95).se));
}

static void test_components(void **state)
{
	static const double values[] = {9, 5, 8, 3, 10, 6, 7, 11, 1, 12, 2, 4};
	struct stats_components c = stats_components(values, 3, 4);

	(void)state;
	close_to(c.within, 12.7222, 5e-5);
	close_to(c.means, 3.5625, 1e-12);
	close_to(c.between, .38194, 5e-6);
	/* 4.30265 * sqrt(3.5625 / 3) */
	close_to(c.half_width, 4.68871, 5e-6);
}

static void test_mann_whitney(void **state)
{
	static const double a[] = {19, 22, 16, 29, 24}, b[] = {20, 11, 17, 12};
	static const double ta[] = {1, -1, -1, -1}, tb[] = {-1, 1, 1, 1};
	struct stats_mann_whitney m = stats_mann_whitney(a, 5, b, 4);

	(void)state;
	close_to(m.u, 17, 0);
	close_to(m.p, .111111, 5e-7);
	m = stats_mann_whitney(ta, 4, tb, 4);
	close_to(m.p, .4857142857, 5e-11);
	m = stats_mann_whitney(ta, 0, tb, 4);
	assert_true(isnan(m.p));
}

static void test_permutation(void **state)
{
	static const double a[] = {1, 2, 3, 4}, b[] = {11, 12, 13, 14}, same[] = {5, 5, 5, 5};
	double many[60] = {0};

	(void)state;
	/* The most extreme of the 70 arrangements and its mirror image. */
	close_to(stats_permutation(a, 4, b, 4), 2. / 70, 1e-12);
	close_to(stats_permutation(same, 4, same, 4), 1, 1e-12);
	close_to(stats_permutation(a, 4, a, 4), 1, 1e-12);
	assert_true(isnan(stats_permutation(many, 30, many + 30, 30)));
}

static void test_pooled(void **state)
{
	static const double a[] = {1, 2, 3}, b[] = {4, 6}, equal[] = {7, 7};
	/* SS = 2 + 2, df = 3, s = sqrt(4/3), se = s sqrt(1/3 + 1/2), t(3, .95) = 2.353363 */
	struct stats_difference p = stats_pooled(a, 3, b, 2, 0, .9);

	(void)state;
	close_to(p.d, 3, 1e-12);
	close_to(p.df, 3, 0);
	close_to(p.s, 1.1547005, 5e-8);
	close_to(p.high - p.d, 2.353363 * 1.1547005 * sqrt(5. / 6), 1e-5);
	/* Two boots that agree to the last digit are luck, not certainty. */
	p = stats_pooled(equal, 2, equal, 2, stats_floor(.01, 5, STATS_MEDIAN_EFFICIENCY), .9);
	close_to(p.s_raw, 0, 0);
	close_to(p.s, sqrt(3.14159265358979 / 2 * .01 / 5), 1e-12);
	p = stats_pooled(equal, 2, equal, 2, stats_floor(NAN, 1, STATS_MEDIAN_EFFICIENCY), .9);
	close_to(p.s, 1e-4, 0);
	p = stats_pooled(equal, 1, equal, 1, 0, .9);
	close_to(p.d, 0, 0);
	assert_true(isnan(p.low) && isnan(p.high));
}

/* MAD of {1,2,3,4,100} is 1; a stray value moves the variance and not the robust scale. */
static void robust_scale(void **state)
{
	static const double stray[] = {1, 2, 3, 4, 100}, near[] = {1, 2, 3, 4, 5}, two[] = {1, 3};
	struct stats_pool pool = {0}, other = {0}, pair = {0}, none = {0};

	(void)state;
	stats_pool_add_robust(&pool, stray, 5);
	stats_pool_add_robust(&other, near, 5);
	assert_true(fabs(stats_pool_variance(&pool) - 1.4826 * 1.4826 * 1.206 * 1.206) < 1e-3);
	assert_true(stats_pool_variance(&pool) == stats_pool_variance(&other));
	stats_pool_add_robust(&pair, two, 2);
	assert_true(fabs(stats_pool_variance(&pair) - 1.4826 * 1.4826 * 1.196 * 1.196) < 1e-3);
	stats_pool_add_robust(&none, two, 1);
	assert_true(isnan(stats_pool_variance(&none)));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile),    cmocka_unit_test(robust_scale),
		cmocka_unit_test(test_t_quantile),  cmocka_unit_test(test_welch),
		cmocka_unit_test(test_components),  cmocka_unit_test(test_mann_whitney),
		cmocka_unit_test(test_permutation), cmocka_unit_test(test_pooled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
