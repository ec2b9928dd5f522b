// SPDX-License-Identifier: GPL-2.0-only
/* Verdicts: the documented worked numbers, and each zone's borders. */
#include "compare/stats.h"
#include "compare/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const double MARGIN = 0.0198026272961797; /* ln 1.02 */

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("wanted %.10g within %g, found %.10g", want, tolerance, got);
}

static void is(enum verdict got, enum verdict want)
{
	assert_string_equal(verdict_name[got], verdict_name[want]);
}

/* Documented 1163 -> 913 ms, boot medians as given: one a boot, so no floor but the least. */
static struct stats_difference worked(const double *before, const double *after, size_t boots,
				      enum verdict want, size_t *settled)
{
	struct rule rule = {RULE_CHANGE, log(913. / 1163), .75, MARGIN};
	struct stats_difference d;
	double y1[8], y2[8];

	for (size_t i = 0; i < boots; i++) {
		y1[i] = log(before[i]);
		y2[i] = log(after[i]);
	}
	d = stats_pooled(y1, boots, y2, boots, STATS_LEAST_SPREAD, .9);
	is(verdict_of(&rule, d.low, d.high), want);
	*settled = verdict_boots(&rule, d.d, d.s, .9, boots, 100);
	return d;
}

static void test_reproduced(void **state)
{
	size_t settled;
	struct stats_difference d = worked((const double[]){1158, 1168}, (const double[]){908, 918},
					   2, VERDICT_REPRODUCED, &settled);

	(void)state;
	close_to(exp(d.d), .785034, 5e-7);
	close_to(exp(d.low), .76924, 5e-6);
	close_to(exp(d.high), .80116, 5e-6);
	assert_int_equal(settled, 2);
}

static void test_direction(void **state)
{
	size_t settled;

	(void)state;
	worked((const double[]){1100, 1226}, (const double[]){880, 946}, 2, VERDICT_DIRECTION,
	       &settled);
	assert_int_equal(settled - 2, 6);
}

static void test_partly(void **state)
{
	size_t settled;
	struct stats_difference d =
		worked((const double[]){1150, 1170, 1163, 1171},
		       (const double[]){1010, 1030, 1022, 1040}, 4, VERDICT_PARTLY, &settled);

	(void)state;
	close_to(exp(d.d), .88136, 5e-6);
}

static void test_absent(void **state)
{
	size_t settled;
	struct stats_difference d =
		worked((const double[]){1150, 1170, 1163, 1171},
		       (const double[]){1158, 1165, 1149, 1172}, 4, VERDICT_ABSENT, &settled);

	(void)state;
	close_to(exp(d.low), .98639, 5e-6);
	close_to(exp(d.high), 1.00944, 5e-6);
}

static void test_zones(void **state)
{
	static const struct rule change = {RULE_CHANGE, -.4, .75, .02};
	static const struct rule direction = {RULE_DIRECTION, 0, 0, .02};
	static const struct rule unchanged = {RULE_UNCHANGED, 0, 0, .05};
	static const struct rule free_rule = {RULE_FREE, 0, 0, .02};

	(void)state;
	is(verdict_of(&change, -.5, -.30001), VERDICT_REPRODUCED);
	is(verdict_of(&change, -.5, -.29), VERDICT_DIRECTION);
	is(verdict_of(&change, -.29, -.021), VERDICT_PARTLY);
	is(verdict_of(&change, -.29, -.02), VERDICT_INCONCLUSIVE);
	is(verdict_of(&change, -.02, .02), VERDICT_ABSENT);
	is(verdict_of(&change, -.021, .02), VERDICT_INCONCLUSIVE);
	is(verdict_of(&change, .02, .5), VERDICT_INCONCLUSIVE);
	is(verdict_of(&change, .021, .5), VERDICT_OPPOSITE);
	is(verdict_of(&change, -1, 1), VERDICT_INCONCLUSIVE);
	is(verdict_of(&change, NAN, NAN), VERDICT_INCONCLUSIVE);
	/* However large, this engine can only confirm the direction. */
	is(verdict_of(&direction, -.5, -.4), VERDICT_DIRECTION);
	is(verdict_of(&direction, -.01, .01), VERDICT_ABSENT);
	is(verdict_of(&direction, .03, .04), VERDICT_OPPOSITE);
	is(verdict_of(&direction, -.03, .04), VERDICT_INCONCLUSIVE);
	is(verdict_of(&unchanged, -.05, .05), VERDICT_UNCHANGED);
	is(verdict_of(&unchanged, .051, .06), VERDICT_CHANGED);
	is(verdict_of(&unchanged, -.06, -.051), VERDICT_CHANGED);
	is(verdict_of(&unchanged, -.06, 0), VERDICT_INCONCLUSIVE);
	is(verdict_of(&free_rule, .021, .03), VERDICT_REGRESSED);
	is(verdict_of(&free_rule, -.03, -.021), VERDICT_IMPROVED);
	is(verdict_of(&free_rule, -.02, .02), VERDICT_NO_DIFFERENCE);
	is(verdict_of(&free_rule, -.02, .03), VERDICT_INCONCLUSIVE);
	assert_true(verdict_settled(&direction, VERDICT_DIRECTION));
	assert_false(verdict_settled(&change, VERDICT_DIRECTION));
}

/* A value on a border is never settled, and says so instead of a number. */
static void test_never(void **state)
{
	static const struct rule change = {RULE_CHANGE, -.4, .75, .02};

	(void)state;
	assert_int_equal(verdict_boots(&change, -.3, .05, .9, 2, 1000), 0);
	assert_int_equal(verdict_boots(&change, NAN, .05, .9, 2, 1000), 0);
	assert_int_equal(verdict_boots(&change, -.4, NAN, .9, 2, 1000), 0);
}

/* More runs help against noise within boots, and never against boots that differ. */
static void test_runs(void **state)
{
	static const struct rule change = {RULE_CHANGE, -.4, .75, .02};
	size_t runs = verdict_runs(&change, -.4, 0, .04, 1, .9, 4, 5, 1000);
	double half;

	(void)state;
	assert_in_range(runs, 6, 1000);
	half = stats_t_quantile(.95, 6) * sqrt(.04 / (double)runs) * sqrt(.5);
	assert_true(-.4 + half <= -.3);
	half = stats_t_quantile(.95, 6) * sqrt(.04 / (double)(runs - 1)) * sqrt(.5);
	assert_true(-.4 + half > -.3);
	assert_int_equal(verdict_runs(&change, -.4, .01, .01, 1, .9, 4, 5, 1000), 0);
}

static void test_gate(void **state)
{
	(void)state;
	assert_int_equal(gate_outcome(GATE_DIRECTION, VERDICT_DIRECTION), OUTCOME_PASS);
	assert_int_equal(gate_outcome(GATE_REPRODUCED, VERDICT_DIRECTION), OUTCOME_OPEN);
	assert_int_equal(gate_outcome(GATE_DIRECTION, VERDICT_PARTLY), OUTCOME_PASS);
	assert_int_equal(gate_outcome(GATE_REPRODUCED, VERDICT_PARTLY), OUTCOME_FAIL);
	assert_int_equal(gate_outcome(GATE_DIRECTION, VERDICT_REGRESSED), OUTCOME_FAIL);
	assert_int_equal(gate_outcome(GATE_NONE, VERDICT_OPPOSITE), OUTCOME_PASS);
	assert_int_equal(gate_outcome(GATE_DIRECTION, VERDICT_INCONCLUSIVE), OUTCOME_OPEN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reproduced), cmocka_unit_test(test_direction),
		cmocka_unit_test(test_partly),	   cmocka_unit_test(test_absent),
		cmocka_unit_test(test_zones),	   cmocka_unit_test(test_never),
		cmocka_unit_test(test_runs),	   cmocka_unit_test(test_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
