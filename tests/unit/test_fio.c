// SPDX-License-Identifier: GPL-2.0-only
/* fio's JSON, and the medians over its rounds. */
#include "sys/fio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct fio_result result;
static char why[200];

static bool parse(const char *name)
{
	char path[256];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/fixtures/fio-%s.json", name);
	f = fopen(path, "re");
	assert_non_null(f);
	ok = fio_parse(f, &result, why, sizeof(why));
	fclose(f);
	return ok;
}

static void test_whole(void **state)
{
	static const char *const names[] = {"3.33", "warning"};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_true(parse(names[i]));
		assert_int_equal(result.operations, 588885);
		assert_float_equal(result.per_second, 588296.703297, 1e-6);
		assert_float_equal(result.p50_ns, 410, 0);
		assert_float_equal(result.p99_ns, 3344, 0);
		assert_float_equal(result.p999_ns, 4512, 0);
	}
	/* Percentiles of fewer digits, and fractions of a nanosecond. */
	assert_true(parse("short-keys"));
	assert_float_equal(result.p50_ns, 1.5, 0);
	assert_float_equal(result.p999_ns, 3.5, 0);
}

static void test_not_whole(void **state)
{
	(void)state;
	assert_false(parse("error"));
	assert_string_equal(why,
			    "wanted fio's job to succeed, found error 28: No space left on device");
	assert_false(parse("odd-error"));
	assert_non_null(strstr(why, "found error 4.44444e+10: "));
	assert_false(parse("no-percentile"));
	assert_string_equal(why, "wanted the percentile 50 in fio's JSON, found none");
	/* Figures that cannot be are none. */
	assert_false(parse("negative-percentile"));
	assert_string_equal(why, "wanted the percentile 99.9 in fio's JSON, found others");
	assert_false(parse("huge"));
	assert_string_equal(why,
			    "wanted a number total_ios in fio's JSON, found one that cannot be");
	assert_false(parse("two-jobs"));
	assert_string_equal(why, "wanted one job in fio's JSON, found 2");
	assert_false(parse("none"));
	assert_non_null(strstr(why, "wanted fio's JSON, found: "));
}

static void test_median(void **state)
{
	static const struct fio_result rounds[] = {
		{100, 5, 10, 300, 1000}, {99, 1, 30, 100, 3000}, {101, 3, 20, 200, 2000}};
	struct fio_result all = fio_median(rounds, 3);

	(void)state;
	assert_int_equal(all.operations, 99);
	assert_float_equal(all.per_second, 3, 0);
	assert_float_equal(all.p50_ns, 20, 0);
	assert_float_equal(all.p99_ns, 200, 0);
	assert_float_equal(all.p999_ns, 2000, 0);
	all = fio_median(rounds, 1);
	assert_float_equal(all.p999_ns, 1000, 0);
	all = fio_median(rounds, 2);
	assert_float_equal(all.per_second, 5, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_not_whole),
		cmocka_unit_test(test_median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
