// SPDX-License-Identifier: GPL-2.0-only
/* What the history makes of figures: dates, amounts in words, courses, tests for a loss. */
#include "history/amount.h"
#include "history/index.h"
#include "history/states.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_date(void **state)
{
	static const char *const good[] = {"2026-11-30", "2024-02-29", "2000-02-29", "0001-01-01"};
	static const char *const bad[] = {
		"",	      "2026-11-31", "2026-02-29",     "1900-02-29", "2026-13-01",
		"2026-00-10", "2026-11-3",  "2026-11-30 ",    "26-11-30",   "2026/11/30",
		"2026-11-+3", " 2026-1-30", "2026-11-30.json"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(night_is_date(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(night_is_date(bad[i]));
}

/* A row of two boots a side: after/before and half its interval, ln. */
static struct compared_row row_of(double before, double after, double half)
{
	struct compared_row row = {.label = "claim.row",
				   .id = "row",
				   .unit = "instructions/page",
				   .better = COMPARED_LOWER,
				   .gates = true,
				   .judged = true,
				   .margin = log(1.002),
				   .documented = NAN,
				   .df = 2};

	row.before.value = before;
	row.after.value = after;
	row.d = log(after / before);
	row.low = row.d - half;
	row.high = row.d + half;
	row.se = half / 2.9199856; /* t(2, 0.95) */
	return row;
}

static void test_amount(void **state)
{
	struct arena arena = {0};
	struct compared_row rows[] = {row_of(1549, 1401, 4e-4), row_of(1550, 1400, 4e-4)};
	const struct compared_row *list[] = {&rows[0], &rows[1]};

	(void)state;
	assert_string_equal(amount_unit(&arena, "instructions/page"), "instructions a page");
	assert_string_equal(amount_unit(&arena, "us/page"), "µs a page");
	assert_string_equal(amount_unit(&arena, "bogo ops/s"), "bogo ops/s");
	assert_string_equal(amount_unit(&arena, "ms"), "ms");
	assert_string_equal(amount_unit(&arena, "1"), "");
	assert_string_equal(amount_saved(&arena, list, 1, false),
			    "still saves 148 instructions a page (9.6 %)");
	assert_string_equal(amount_saved(&arena, list, 2, true),
			    "would save 148 to 150 instructions a page (9.6 to 9.7 %)");
	rows[0].better = COMPARED_HIGHER;
	rows[0].unit = "ops/s";
	rows[0].before.value = 1400;
	rows[0].after.value = 1549;
	rows[0].d = log(1549. / 1400);
	/* Another unit and direction than the first: left out. */
	assert_string_equal(amount_saved(&arena, list, 2, false), "still gains 149 ops/s (10.6 %)");
	assert_string_equal(amount_saved(&arena, list, 0, true), "would save nothing");
	assert_string_equal(amount_percent(&arena, log(1.012)), "+1.2 %");
	assert_string_equal(amount_percent(&arena, log(.9994)), "-0.06 %");
	assert_string_equal(amount_percent(&arena, -1e-9), "0.00 %");
	assert_string_equal(amount_percent(&arena, NAN), "-");
	assert_string_equal(amount_change(&arena, &rows[1]), "-9.68 % (-9.71 .. -9.64)");
	rows[1].low = -.2;
	rows[1].high = .3;
	assert_string_equal(amount_change(&arena, &rows[1]), "-9.7 % (-18.1 .. +35.0)");
	rows[1].low = NAN;
	assert_string_equal(amount_change(&arena, &rows[1]), "-9.7 %");
	arena_free(&arena);
}

static struct states states_of(struct arena *arena, struct night *night, struct compared_row *rows,
			       size_t count)
{
	static struct night_kernel anchor = {.ref = "v6.12", .commit = "a"};
	struct states states;

	*night = (struct night){.date = "2026-11-30", .kernel = &anchor, .anchor = &anchor};
	night->ncomparisons = 1;
	night->comparisons = arena_alloc(arena, sizeof(*night->comparisons));
	night->comparisons[0] =
		(struct night_comparison){.kind = KIND_ANCHOR,
					  .name = "anchor",
					  .compared = arena_alloc(arena, sizeof(struct compared))};
	night->comparisons[0].compared->engine = "icount";
	night->comparisons[0].compared->rows = rows;
	night->comparisons[0].compared->nrows = count;
	states_build(arena, night, NULL, &states);
	return states;
}

/*
 * t = (ln 1.01 - ln 1.002) / se with 2 degrees of freedom, where P(T > t) = 1/2 - t / (2 sqrt(2 +
 * t^2)). A loss below the margin is none, however sure; more is better turns it around.
 */
static void test_loss(void **state)
{
	struct arena arena = {0};
	struct compared_row rows[] = {row_of(1000, 1010, 4e-4), row_of(1000, 1001, 1e-5),
				      row_of(1000, 1010, 4e-4)};
	struct night night;
	struct states states;
	double t = (log(1.01) - log(1.002)) / rows[0].se;

	(void)state;
	rows[1].label = "small";
	rows[2].label = "higher";
	rows[2].better = COMPARED_HIGHER;
	states = states_of(&arena, &night, rows, 3);
	assert_int_equal(states.tested, 3);
	assert_int_equal(states.nalarms, 1);
	assert_string_equal(states.alarms[0].row->label, "claim.row");
	assert_true(fabs(states.alarms[0].p - (.5 - t / (2 * sqrt(2 + t * t)))) < 1e-6);
	assert_true(fabs(states.alarms[0].p_holm - 3 * states.alarms[0].p) < 1e-9);
	assert_int_equal(states.alarms[0].state, ALARM_SUSPECTED);
	assert_int_equal(states.outcome, OUTCOME_INCONCLUSIVE);
	rows[0].better = COMPARED_NEITHER;
	states = states_of(&arena, &night, rows, 3);
	assert_int_equal(states.tested, 2);
	assert_int_equal(states.outcome, OUTCOME_FINE);
	rows[2].se = NAN;
	states = states_of(&arena, &night, rows + 2, 1);
	assert_int_equal(states.untested, 1);
	assert_int_equal(states.outcome, OUTCOME_INCONCLUSIVE);
	arena_free(&arena);
}

/* The widest of the rows in which no loss was told, towards what is worse for each of them. */
static void test_admitted(void **state)
{
	struct arena arena = {0};
	struct compared_row rows[] = {row_of(1000, 1010, 4e-4), row_of(1000, 1060, .34),
				      row_of(5000, 5000, .36), row_of(1000, 500, 1e-3)};
	struct night night;
	struct states states;

	(void)state;
	states = states_of(&arena, &night, rows, 2);
	assert_int_equal(states.nalarms, 1);
	assert_ptr_equal(states.widest, &rows[1]);
	assert_string_equal(states.widest_in->name, "anchor");
	assert_true(fabs(states_admitted(&rows[1]) - (log(1.06) + .34)) < 1e-12);
	assert_int_equal(states.outcome, OUTCOME_INCONCLUSIVE);
	/* +48.9 % against +43.3 %; where more is better -39.3 %, a factor of 1.65, is the larger. */
	states = states_of(&arena, &night, rows + 1, 2);
	assert_ptr_equal(states.widest, &rows[1]);
	rows[2].better = COMPARED_HIGHER;
	rows[2].low = -.5;
	states = states_of(&arena, &night, rows + 1, 2);
	assert_ptr_equal(states.widest, &rows[2]);
	assert_true(fabs(states_admitted(&rows[2]) + .5) < 1e-12);
	assert_int_equal(states.outcome, OUTCOME_FINE);
	/* A row that gained is not left out: it says that there is no loss. */
	states = states_of(&arena, &night, rows + 3, 1);
	assert_ptr_equal(states.widest, &rows[3]);
	assert_true(compared_most_loss(states.widest) < 0);
	rows[3].high = NAN;
	assert_null(states_of(&arena, &night, rows + 3, 1).widest);
	rows[3].gates = false;
	assert_null(states_of(&arena, &night, rows + 3, 1).widest);
	arena_free(&arena);
}

/* Noise within the margins stays in the middle; a missing night is a dot. */
static void test_sparkline(void **state)
{
	struct arena arena = {0};
	struct compared_row rows[] = {row_of(1000, 1000, 1e-4), row_of(1000, 1000.2, 1e-4),
				      row_of(1000, 1100, 1e-4)};
	struct trend_point points[] = {{0, &rows[0], 1}, {2, &rows[1], 1}, {3, &rows[2], 1}};
	struct trend trend = {.points = points, .npoints = 2};

	(void)state;
	assert_string_equal(trend_sparkline(&arena, &trend, 3), "▄·▅");
	trend.npoints = 3;
	assert_string_equal(trend_sparkline(&arena, &trend, 4), "▁·▁█");
	trend.npoints = 0;
	assert_string_equal(trend_sparkline(&arena, &trend, 2), "··");
	arena_free(&arena);
}

/* 980 us and 1.02 ms are one row; another unit is another one. */
static void test_units(void **state)
{
	struct arena arena = {0};
	struct compared_row rows[] = {row_of(980, 981, 1e-4), row_of(1.02, 1.021, 1e-4),
				      row_of(300, 300, 1e-4)};
	struct night night[3];
	struct states states[3];
	struct nights nights = {.directory = ".", .nights = night, .states = states, .count = 3};
	struct trends trends;

	(void)state;
	rows[0].unit = "us";
	rows[1].unit = "ms";
	for (size_t i = 0; i < 3; i++)
		states[i] = states_of(&arena, &night[i], &rows[i], 1);
	trends_build(&arena, &nights, &trends);
	assert_int_equal(trends.count, 2);
	assert_string_equal(trends.items[0].name, "anchor.claim.row.icount.any");
	assert_int_equal(trends.items[0].npoints, 2);
	assert_string_equal(trends.items[0].unit, "us");
	assert_true(trends.items[0].points[0].factor == 1);
	assert_true(fabs(trends.items[0].points[1].factor - 1000) < 1e-9);
	assert_string_equal(trends.items[1].name, "anchor.claim.row.icount.any.1");
	arena_free(&arena);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_date),  cmocka_unit_test(test_amount),
		cmocka_unit_test(test_loss),  cmocka_unit_test(test_sparkline),
		cmocka_unit_test(test_units), cmocka_unit_test(test_admitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
