// SPDX-License-Identifier: GPL-2.0-only
/* Rows of /proc/interrupts: any number of CPUs, any width, rows that are missing or cut short. */
#include "sys/interrupts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char why[200];

static bool read_file(const char *name, const char *what, struct interrupt_row *row)
{
	char path[256];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/fixtures/%s", name);
	f = fopen(path, "re");
	assert_non_null(f);
	ok = interrupt_row_parse(f, what, row, why, sizeof(why));
	fclose(f);
	return ok;
}

static bool read_text(const char *text, const char *what, struct interrupt_row *row)
{
	FILE *f = tmpfile();
	bool ok;

	assert_non_null(f);
	fputs(text, f);
	rewind(f);
	ok = interrupt_row_parse(f, what, row, why, sizeof(why));
	fclose(f);
	return ok;
}

static void test_x86(void **state)
{
	struct interrupt_row row;

	(void)state;
	assert_true(read_file("interrupts-x86.txt", INTERRUPTS_CALL, &row));
	assert_int_equal(row.cpus, 2);
	assert_int_equal(row.cpu[0], 0);
	assert_int_equal(row.cpu[1], 1);
	assert_int_equal(row.count[0], 163368);
	assert_int_equal(row.count[1], 135289);
	interrupt_row_free(&row);
}

/* 4294967290 to 10 is 16, over the end of 32 bits; the other CPU adds 100. */
static void test_wraps(void **state)
{
	struct interrupt_row before, after;
	uint64_t sum;

	(void)state;
	assert_true(read_file("interrupts-x86.txt", INTERRUPTS_TLB, &before));
	assert_true(read_file("interrupts-x86-later.txt", INTERRUPTS_TLB, &after));
	assert_true(interrupt_row_difference(&before, &after, &sum, why, sizeof(why)));
	assert_int_equal(sum, 116);
	interrupt_row_free(&before);
	interrupt_row_free(&after);
}

/* The sum is not modulo 2^32: 512 CPUs of 2^31 each are 2^40. */
static void test_512_cpus(void **state)
{
	struct interrupt_row before, after;
	char *text = NULL;
	size_t size;
	uint64_t sum;
	int side, i;

	(void)state;
	for (side = 0; side < 2; side++) {
		FILE *f = open_memstream(&text, &size);

		fputs("         ", f);
		for (i = 0; i < 512; i++)
			fprintf(f, "CPU%-8d", i);
		fputs("\nTLB: ", f);
		for (i = 0; i < 512; i++)
			fprintf(f, "%10u ", (unsigned int)i * 7919u + (side ? 1u << 31 : 0));
		fputs("  TLB shootdowns\n", f);
		fclose(f);
		assert_true(read_text(text, INTERRUPTS_TLB, side ? &after : &before));
		free(text);
	}
	assert_int_equal(before.cpus, 512);
	assert_int_equal(before.cpu[511], 511);
	assert_int_equal(before.count[511], 511u * 7919u);
	assert_true(interrupt_row_difference(&before, &after, &sum, why, sizeof(why)));
	assert_int_equal(sum, UINT64_C(512) << 31);
	interrupt_row_free(&before);
	interrupt_row_free(&after);
}

static void test_arm64(void **state)
{
	struct interrupt_row row;

	(void)state;
	assert_true(read_file("interrupts-arm64.txt", INTERRUPTS_CALL, &row));
	assert_int_equal(row.cpus, 4);
	assert_int_equal(row.count[3], 9304);
	interrupt_row_free(&row);
	assert_false(read_file("interrupts-arm64.txt", INTERRUPTS_TLB, &row));
	assert_string_equal(why, "/proc/interrupts has no row 'TLB shootdowns'");
}

static void test_hotplug(void **state)
{
	struct interrupt_row before, after;
	uint64_t sum;

	(void)state;
	assert_true(read_file("interrupts-hotplug.txt", INTERRUPTS_TLB, &before));
	assert_int_equal(before.cpus, 3);
	assert_int_equal(before.cpu[1], 2);
	assert_true(interrupt_row_difference(&before, &before, &sum, why, sizeof(why)));
	assert_int_equal(sum, 0);
	/* One went. */
	assert_true(read_file("interrupts-x86.txt", INTERRUPTS_TLB, &after));
	assert_false(interrupt_row_difference(&before, &after, &sum, why, sizeof(why)));
	assert_string_equal(why, "CPUs came or went meanwhile: 3 were online, then 2");
	interrupt_row_free(&after);
	/* As many, but others. */
	assert_true(
		read_text("  CPU0 CPU1 CPU2\nTLB: 1 2 3 TLB shootdowns\n", INTERRUPTS_TLB, &after));
	assert_false(interrupt_row_difference(&before, &after, &sum, why, sizeof(why)));
	interrupt_row_free(&after);
	interrupt_row_free(&before);
}

static void test_malformed(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"", "/proc/interrupts: wanted a heading of CPUs, found none"},
		{"\n", "/proc/interrupts: wanted a heading of CPUs, found none"},
		{"TLB: 1 TLB shootdowns\n",
		 "/proc/interrupts: wanted a heading of CPUs, found none"},
		{" CPU0\n", "/proc/interrupts has no row 'TLB shootdowns'"},
		{" CPU0\nTLB: 1", "/proc/interrupts has no row 'TLB shootdowns'"},
		{" CPU0\nTLB: 1 no-TLB shootdowns\n",
		 "/proc/interrupts has no row 'TLB shootdowns'"},
		{" CPU0\nTLB: x TLB shootdowns\n",
		 "/proc/interrupts: wanted 1 counters of 'TLB shootdowns', found 0"},
		{" CPU0 CPU1\nTLB: 1 -2 TLB shootdowns\n",
		 "/proc/interrupts: wanted 2 counters of 'TLB shootdowns', found 1"},
	};
	struct interrupt_row row;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(read_text(cases[i].text, INTERRUPTS_TLB, &row));
		assert_string_equal(why, cases[i].why);
	}
	assert_false(read_file("interrupts-short-row.txt", INTERRUPTS_TLB, &row));
	assert_string_equal(why,
			    "/proc/interrupts: wanted 3 counters of 'TLB shootdowns', found 2");
}

/* Columns that ran into each other would be one number; no column is too wide or too narrow. */
static void test_widths(void **state)
{
	struct interrupt_row row;

	(void)state;
	assert_true(read_text("CPU0 CPU1 CPU1000\nTLB:0 4294967295 18446744073709551615 "
			      "TLB shootdowns",
			      INTERRUPTS_TLB, &row));
	assert_int_equal(row.cpu[2], 1000);
	assert_int_equal(row.count[0], 0);
	assert_int_equal(row.count[1], UINT32_MAX);
	assert_int_equal(row.count[2], UINT32_MAX);
	interrupt_row_free(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),	 cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_512_cpus), cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_hotplug),	 cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
