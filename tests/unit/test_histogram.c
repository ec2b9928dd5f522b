// SPDX-License-Identifier: GPL-2.0-only
#include "compare/histogram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct histogram first, second;
static const struct histogram *const both[] = {&first, &second};
static double samples[10000];
static char drawn[3 * 64 + 1];
static double below, above;

static size_t repeat(size_t at, size_t count, double value)
{
	while (count-- > 0)
		samples[at++] = value;
	return at;
}

/* 64 bins a doubling: 256 is where the bin 512 begins, 512 where the bin 576 does. */
static void bins_are_of_equal_ratio(void **state)
{
	(void)state;
	samples[0] = 256;
	samples[1] = 256 * exp2(0.999 / 64);
	samples[2] = 256 * exp2(1.001 / 64);
	samples[3] = 512;
	histogram_fill(&first, samples, 4);
	assert_int_equal(first.count, 4);
	assert_int_equal(first.bins[512], 2);
	assert_int_equal(first.bins[513], 1);
	assert_int_equal(first.bins[576], 1);
}

static void what_no_bin_covers_is_counted_at_the_ends(void **state)
{
	(void)state;
	samples[0] = 0;
	samples[1] = 0.5;
	samples[2] = 1;
	samples[3] = 1e300;
	histogram_fill(&first, samples, 4);
	assert_int_equal(first.bins[0], 3);
	assert_int_equal(first.bins[HISTOGRAM_BINS - 1], 1);
}

/* Two modes a doubling apart, 70 to 30, with nothing between them. */
static void two_modes_are_two_hills(void **state)
{
	struct histogram_axis axis;
	size_t n = 0;

	(void)state;
	n = repeat(n, 7000, 256);
	n = repeat(n, 3000, 512);
	histogram_fill(&first, samples, n);
	axis = histogram_axis(both, 1, 13);
	assert_int_equal(axis.first, 512);
	assert_int_equal(axis.bins_a_column, 5);
	assert_int_equal(axis.columns, 13);
	assert_float_equal(axis.low, 256, 1e-9);
	assert_float_equal(axis.high, 256 * exp2(65.0 / 64), 1e-9);
	assert_float_equal(axis.ratio, exp2(5.0 / 64), 1e-9);
	assert_string_equal(histogram_draw(&first, &axis, drawn, &below, &above), "█           ▄");
	assert_float_equal(below, 0, 1e-12);
	assert_float_equal(above, 0, 1e-12);
}

static void heights_are_eighths_and_traces_are_dots(void **state)
{
	struct histogram_axis axis;
	size_t n = 0, i;

	(void)state;
	/* A bin each, from the bin 512: 1/8 to 8/8 of 800, then 0.9 % and exactly 1 % of it. */
	for (i = 1; i <= 8; i++)
		n = repeat(n, 100 * i, 256 * exp2(((double)i - .5) / 64));
	n = repeat(n, 7, 256 * exp2(8.5 / 64));
	n = repeat(n, 8, 256 * exp2(9.5 / 64));
	n = repeat(n, 100, 256 * exp2(10.5 / 64));
	histogram_fill(&first, samples, n);
	axis = histogram_axis(both, 1, 64);
	assert_int_equal(axis.bins_a_column, 1);
	assert_string_equal(histogram_draw(&first, &axis, drawn, &below, &above), "▁▂▃▄▅▆▇█·▁▁");
}

/* What lies off the axis is not drawn, and is said. */
static void the_tails_are_shares(void **state)
{
	struct histogram_axis axis;
	size_t n = 0;

	(void)state;
	n = repeat(n, 40, 100);
	n = repeat(n, 9900, 256);
	n = repeat(n, 60, 100000);
	histogram_fill(&first, samples, n);
	axis = histogram_axis(both, 1, 64);
	assert_int_equal(axis.columns, 1);
	assert_string_equal(histogram_draw(&first, &axis, drawn, &below, &above), "█");
	assert_float_equal(below, .004, 1e-12);
	assert_float_equal(above, .006, 1e-12);
}

static void runs_share_an_axis(void **state)
{
	struct histogram_axis axis;

	(void)state;
	histogram_fill(&first, samples, repeat(0, 100, 256 * exp2(.5 / 64)));
	histogram_fill(&second, samples, repeat(0, 100, 256 * exp2(4.5 / 64)));
	axis = histogram_axis(both, 2, 64);
	assert_int_equal(axis.columns, 5);
	assert_string_equal(histogram_draw(&first, &axis, drawn, &below, &above), "█    ");
	assert_string_equal(histogram_draw(&second, &axis, drawn, &below, &above), "    █");
}

static void any_axis_fits_its_width(void **state)
{
	size_t width, n;

	(void)state;
	n = repeat(0, 50, 1);
	n = repeat(n, 50, 1e12);
	histogram_fill(&first, samples, n);
	for (width = 1; width <= 64; width++) {
		struct histogram_axis axis = histogram_axis(both, 1, width);

		assert_true(axis.columns >= 1 && axis.columns <= width);
		histogram_draw(&first, &axis, drawn, &below, &above);
		assert_float_equal(below + above, 0, 1e-12);
	}
}

static void nothing_is_an_empty_column(void **state)
{
	struct histogram_axis axis;

	(void)state;
	histogram_fill(&first, samples, 0);
	axis = histogram_axis(both, 1, 64);
	assert_string_equal(histogram_draw(&first, &axis, drawn, &below, &above), " ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_are_of_equal_ratio),
		cmocka_unit_test(what_no_bin_covers_is_counted_at_the_ends),
		cmocka_unit_test(two_modes_are_two_hills),
		cmocka_unit_test(heights_are_eighths_and_traces_are_dots),
		cmocka_unit_test(the_tails_are_shares),
		cmocka_unit_test(runs_share_an_axis),
		cmocka_unit_test(any_axis_fits_its_width),
		cmocka_unit_test(nothing_is_an_empty_column),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
