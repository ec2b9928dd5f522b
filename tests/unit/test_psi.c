// SPDX-License-Identifier: GPL-2.0-only
/* Pressure files: whole, of the irq kind (full only), and not. */
#include "sys/psi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static bool parse(const char *text, struct psi *psi)
{
	FILE *f = tmpfile();
	bool ok;

	assert_non_null(f);
	fputs(text, f);
	rewind(f);
	ok = psi_parse(f, psi);
	fclose(f);
	return ok;
}

static void test_parse(void **state)
{
	struct psi psi;

	(void)state;
	assert_true(parse("some avg10=0.00 avg60=1.25 avg300=9.99 total=7657\n"
			  "full avg10=0.00 avg60=0.00 avg300=0.00 total=9223372036854775807\n",
			  &psi));
	assert_int_equal(psi.some_us, 7657);
	assert_true(psi.full_us == INT64_MAX);
	assert_false(parse("full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", &psi));
	assert_int_equal(psi.full_us, 5);
	assert_false(parse("", &psi));
	assert_false(parse("some avg10=0.00\nfull avg10=0.00 total=x\n", &psi));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
