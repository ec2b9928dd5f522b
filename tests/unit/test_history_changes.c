// SPDX-License-Identifier: GPL-2.0-only
/* Change points and many tests at once, against worked numbers. */
#include "history/edivisive.h"
#include "history/holm.h"
#include "history/pettitt.h"

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

/* Three levels; the first maximum takes in both upper ones. */
static const double levels[] = {.3,   2.4, 1.5,	  -.9,	 -.5,	99.7,  98.3,
				99.1, 149, 149.7, 149.5, 149.1, 148.8, 150};

/* The annual flow of the Nile at Aswan, 1871 to 1970, 10^8 m^3 (Cobb, Biometrika 65, 1978). */
static const double nile[] = {
	1120, 1160, 963, 1210, 1160, 1160, 813,	 1230, 1370, 1140, 995,	 935,  1110, 994,  1020,
	960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
	874,  694,  940, 833,  701,  916,  692,	 1020, 1050, 969,  831,	 726,  456,  824,  702,
	1120, 1100, 832, 764,  821,  768,  845,	 864,  862,  698,  845,	 744,  796,  1040, 759,
	781,  865,  845, 944,  984,  897,  822,	 1010, 771,  676,  649,	 846,  812,  742,  801,
	1040, 860,  874, 848,  890,  744,  749,	 838,  1050, 918,  986,	 797,  923,  975,  815,
	1020, 906,  901, 1170, 912,  746,  919,	 718,  714,  740};

static void test_first_split(void **state)
{
	struct edivisive_change change;

	(void)state;
	for (size_t least = 1; least <= 5; least++) {
		assert_true(edivisive_split(levels, COUNT(levels), least, &change));
		close_to(change.q, 761.28214, 5e-6);
		assert_int_equal(change.at, 5);
		assert_int_equal(change.end, 14);
	}
	/* 6 on either side: the change at 5 cannot be had. */
	assert_true(edivisive_split(levels, COUNT(levels), 6, &change));
	assert_true(change.at >= 6);
	assert_false(edivisive_split(levels, COUNT(levels), 8, &change));
}

/* By hand: X = {0, 2}, Y = {10}: E = 2 (10 + 8) / 2 - 2 - 0 = 16, Q = 2/3 E. */
static void test_by_hand(void **state)
{
	static const double three[] = {0, 2, 10};
	struct edivisive_change change;

	(void)state;
	assert_true(edivisive_split(three, 3, 1, &change));
	assert_int_equal(change.at, 2);
	assert_int_equal(change.end, 3);
	close_to(change.q, 32. / 3, 1e-12);
}

static void test_all_changes(void **state)
{
	struct edivisive_change changes[4];
	struct edivisive_options options = edivisive_defaults;

	(void)state;
	for (unsigned long seed = 1; seed <= 5; seed++) {
		options.seed = seed;
		assert_int_equal(edivisive(levels, COUNT(levels), &options, changes, 4), 2);
		assert_int_equal(changes[0].at, 5);
		assert_int_equal(changes[1].at, 8);
		close_to(changes[0].q, 761.28214, 5e-6);
		close_to(changes[0].p, 0, .01);
		/* 3 against 6: the two sets of values that lie one way or the other, of 84. */
		close_to(changes[1].p, 2. / 84, .015);
	}
	assert_int_equal(edivisive(levels, COUNT(levels), &options, changes, 1), 1);
	assert_int_equal(changes[0].at, 5);
	assert_int_equal(edivisive(nile, COUNT(nile), &edivisive_defaults, changes, 4), 1);
	assert_int_equal(changes[0].at, 28);
}

/* Nothing to see: constant series, short ones, the empty one, and what is known of few nights. */
static void test_no_change(void **state)
{
	static const double constant[20] = {0}, tiny[20] = {[3] = 1e-300};
	static const double step[] = {1, 1, 1, 2, 2, 2, 2, 2};
	struct edivisive_change changes[4];

	(void)state;
	assert_int_equal(edivisive(constant, 20, &edivisive_defaults, changes, 4), 0);
	assert_false(edivisive_split(constant, 20, 3, &changes[0]));
	edivisive(tiny, 20, &edivisive_defaults, changes, 4);
	assert_int_equal(edivisive(step, 0, &edivisive_defaults, changes, 4), 0);
	/* A clean step 3 + 4 is one of 35 orders, or of 17 with its mirror image: not yet. */
	assert_int_equal(edivisive(step, 7, &edivisive_defaults, changes, 4), 0);
	assert_int_equal(edivisive(step, 8, &edivisive_defaults, changes, 4), 1);
	assert_int_equal(changes[0].at, 3);
}

static void test_pettitt(void **state)
{
	struct pettitt result = pettitt(nile, COUNT(nile));
	static const double five[] = {1, 2, 3, 4, 5};

	(void)state;
	close_to(result.k, 1617, 0);
	assert_int_equal(result.at, 28);
	close_to(result.p, 3.591e-7, 5e-11);
	/* U = -4, -6, -6, -4 */
	result = pettitt(five, 5);
	close_to(result.k, 6, 0);
	assert_int_equal(result.at, 2);
	close_to(result.p, 2 * exp(-6 * 36. / 150), 1e-12);
	assert_true(isnan(pettitt(five, 1).p));
	assert_true(isnan(pettitt(five, 0).p));
}

/* Holm's own arithmetic: 4, 3, 2, 1 times the sorted values, never decreasing. */
static void test_holm(void **state)
{
	double p[] = {.01, .04, .03, .005, NAN}, many[] = {.5, .6};

	(void)state;
	holm(p, COUNT(p), p);
	close_to(p[0], .03, 1e-12);
	close_to(p[1], .06, 1e-12);
	close_to(p[2], .06, 1e-12);
	close_to(p[3], .02, 1e-12);
	assert_true(isnan(p[4]));
	holm(many, 2, many);
	close_to(many[0], 1, 0);
	close_to(many[1], 1, 0);
	holm(NULL, 0, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_split), cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_all_changes), cmocka_unit_test(test_no_change),
		cmocka_unit_test(test_pettitt),	    cmocka_unit_test(test_holm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
