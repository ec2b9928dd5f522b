// SPDX-License-Identifier: GPL-2.0-only
/* stress-ng's YAML of 0.15 to 0.22, whole and not. */
#include "sys/stressng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct stressng_result result;

static bool parse(const char *name)
{
	char path[256];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/fixtures/stress-ng-%s.yaml", name);
	f = fopen(path, "re");
	assert_non_null(f);
	memset(&result, 0, sizeof(result));
	ok = stressng_parse(f, "vm", &result);
	fclose(f);
	assert_int_equal(ok, result.complete);
	assert_int_equal(ok, !*result.why);
	return ok;
}

static void test_versions(void **state)
{
	(void)state;
	assert_true(parse("0.15"));
	assert_float_equal(result.bogo_ops, 8300, 0);
	assert_float_equal(result.bogo_ops_per_s, 3954.973990, 0);
	assert_float_equal(result.seconds, 2.098623, 0);
	/* Another stressor comes first. */
	assert_true(parse("0.17"));
	assert_float_equal(result.bogo_ops, 1694318, 0);
	assert_float_equal(result.bogo_ops_per_s, 28238.63, 0);
	/* The keys come again for each instance, and "stressor: vm" in other lists; 1e+01 numbers. */
	assert_true(parse("0.22"));
	assert_float_equal(result.bogo_ops, 300, 0);
	assert_float_equal(result.bogo_ops_per_s, 30, 0);
	assert_float_equal(result.seconds, 10, 0);
}

static void test_incomplete(void **state)
{
	(void)state;
	assert_false(parse("no-metrics"));
	assert_string_equal(result.why, "wanted metrics of vm, found none");
	assert_false(parse("cut"));
	assert_string_equal(result.why, "wanted YAML to its end, found it cut short");
	assert_false(parse("nan"));
	assert_string_equal(result.why,
			    "wanted a number bogo-ops-per-second-real-time, found -nan");
	assert_false(parse("broken"));
	assert_non_null(strstr(result.why, "wanted YAML, found in line 5: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_incomplete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
