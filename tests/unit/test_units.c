// SPDX-License-Identifier: GPL-2.0-only
/* Units convert only within their kind, and numbers read well. */
#include "compare/table.h"
#include "compare/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_factor(void **state)
{
	(void)state;
	assert_true(fabs(unit_factor("ns", "ms") - 1e-6) < 1e-18);
	assert_true(unit_factor("s", "us") == 1e6);
	assert_true(unit_factor("us/page", "ns/page") == 1e3);
	assert_true(unit_factor("bogo ops/s", "bogo ops/s") == 1);
	assert_true(unit_factor("ns", "ns/page") == 0);
	assert_true(unit_factor("ns", "pages") == 0);
	assert_true(unit_factor("pages", "ns") == 0);
	assert_true(unit_factor("", "ns") == 0);
}

static void test_kinds(void **state)
{
	(void)state;
	assert_true(unit_is_time("ns") && unit_is_time("us/page") && unit_is_time("s"));
	assert_false(unit_is_time("pages") || unit_is_time("") || unit_is_time(NULL));
	assert_false(unit_is_time("sheep") || unit_is_time("ops/s"));
	assert_true(unit_is_clock("bogo ops/s") && unit_is_clock("ms"));
	assert_false(unit_is_clock("instructions/page") || unit_is_clock("/s") ||
		     unit_is_clock(NULL));
}

static void number(double value, const char *digits, const char *count)
{
	char text[40];

	format_digits(text, sizeof(text), value);
	assert_string_equal(text, digits);
	format_number(text, sizeof(text), value);
	assert_string_equal(text, count);
}

static void test_numbers(void **state)
{
	(void)state;
	number(131, "131.0", "131");
	number(0, "0", "0");
	number(999.94, "999.9", "999.9");
	number(999.96, "1000", "1000");
	number(9.9999, "10.00", "10.00");
	number(.51234, "0.5123", "0.5123");
	number(1163, "1163", "1163");
	number(55428953, "55.43M", "55.43M");
	number(9999999, "9999999", "9999999");
	number(-21.5, "-21.50", "-21.50");
	number(NAN, "absent", "absent");
	number(INFINITY, "absent", "absent");
}

static void test_values(void **state)
{
	char text[60];

	(void)state;
	format_value(text, sizeof(text), 1.163e9, "ns", unit_fitting("ns", 1.163e9));
	assert_string_equal(text, "1163 ms");
	format_value(text, sizeof(text), 5.164e10, "ns", unit_fitting("ns", 5.164e10));
	assert_string_equal(text, "51.64 s");
	format_value(text, sizeof(text), 250123, "ns", unit_fitting("ns", 250123));
	assert_string_equal(text, "250.1 µs");
	format_value(text, sizeof(text), 12, "count", "count");
	assert_string_equal(text, "12");
	format_value(text, sizeof(text), NAN, "ns", "ms");
	assert_string_equal(text, "absent");
	format_bytes(text, sizeof(text), 8589934592.);
	assert_string_equal(text, "8 GiB");
	format_percent(text, sizeof(text), .785);
	assert_string_equal(text, "-21.5 %");
	format_percent(text, sizeof(text), .99999);
	assert_string_equal(text, "+0.0 %");
	format_duration(text, sizeof(text), 9e11);
	assert_string_equal(text, "15 min");
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(text_width("µs →"), 4);
	assert_int_equal(text_width(""), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_factor),	cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_values),
		cmocka_unit_test(test_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
