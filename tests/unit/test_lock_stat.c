// SPDX-License-Identifier: GPL-2.0-only
/* /proc/lock_stat: rows of locks among its other lines, numbered names, the kernel that gave up. */
#include "sys/lock_stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const char text[] =
	"lock_stat version 0.4\n"
	"-----------------------------------------------------------------------------\n"
	"                              class name    con-bounces    contentions   waittime-min\n"
	"-----------------------------------------------------------------------------\n"
	"\n"
	"                       &xa->xa_lock#4:             3              5           0.10"
	"           2.50           6.40           1.28             12           4096"
	"           0.05          40.25         409.60           0.10\n"
	"                       --------------\n"
	"                       &xa->xa_lock#4              3          [<00000000a1b2c3d4>] "
	"shmem_add_to_page_cache+0x120/0x2f0\n"
	"                       &xa->xa_lock#4              2          [<00000000a1b2c3d4>] "
	"filemap_remove_folio+0x42/0xd0: 1\n"
	".............................................................................\n"
	"                        &xa->xa_lock:             0              0           0.00"
	"           0.00           0.00           0.00              0             17"
	"           0.05           1.00           2.00           0.12\n"
	"            &sb->s_type->i_lock_key:             0              0           0.00"
	"           0.00           0.00           0.00              0              7"
	"           0.05           1.00           1.00           0.14\n"
	"          &sb->s_type->i_lock_key#12:             0              1           1.00"
	"           1.00           1.00           1.00              0           4100"
	"           0.05           1.00         100.00           0.02\n"
	"                      &mm->mmap_lock-W:             0              0           0.00"
	"           0.00           0.00           0.00              0              2"
	"           0.05           1.00           3.00           1.50\n"
	"                      &mm->mmap_lock-R:             1              2           0.50"
	"           0.50           1.00           0.50              0             40"
	"           0.05           1.00           8.00           0.20\n";

static bool sum(const char *file, const char *lock, bool versions, struct lock_counts *counts,
		char *why, size_t size)
{
	FILE *f = fmemopen((void *)(uintptr_t)file, strlen(file), "r");
	bool ok;

	assert_non_null(f);
	ok = lock_stat_sum(f, lock, versions, counts, why, size);
	fclose(f);
	return ok;
}

static void test_sums(void **state)
{
	struct lock_counts counts;
	char why[128];

	(void)state;
	assert_true(sum(text, "&xa->xa_lock#4", false, &counts, why, sizeof(why)));
	assert_int_equal(counts.acquisitions, 4096);
	assert_int_equal(counts.contentions, 5);
	assert_float_equal(counts.held_ns, 409600, 1e-6);
	assert_float_equal(counts.waited_ns, 6400, 1e-6);
	assert_true(sum(text, "&xa->xa_lock", false, &counts, why, sizeof(why)));
	assert_int_equal(counts.acquisitions, 17);
	assert_true(sum(text, "&xa->xa_lock", true, &counts, why, sizeof(why)));
	assert_int_equal(counts.acquisitions, 4113);
	assert_true(sum(text, "&sb->s_type->i_lock_key", true, &counts, why, sizeof(why)));
	assert_int_equal(counts.acquisitions, 4107);
	assert_int_equal(counts.contentions, 1);
	/* Readers and writers. */
	assert_true(sum(text, "&mm->mmap_lock", true, &counts, why, sizeof(why)));
	assert_int_equal(counts.acquisitions, 42);
	assert_true(sum(text, "&mm->mmap", true, &counts, why, sizeof(why)));
	assert_int_equal(counts.acquisitions, 0);
}

static void test_refused(void **state)
{
	struct lock_counts counts;
	char why[128];

	(void)state;
	assert_false(sum("", "x", false, &counts, why, sizeof(why)));
	assert_string_equal(why, "wanted \"lock_stat version 0.x\", found another file");
	assert_false(sum("x: 1 2 3 4 5 6 7 8 9 10 11 12\n", "x", false, &counts, why, sizeof(why)));
	assert_false(sum("*WARNING* lock debugging disabled!! - possibly due to a lockdep warning\n"
			 "lock_stat version 0.4\n",
			 "x", false, &counts, why, sizeof(why)));
	assert_string_equal(why, "the kernel has given up checking its locks: see dmesg");
	/* Rows cut short, and what is no number. */
	assert_true(sum("lock_stat version 0.4\nx: 1 2 3\nx: 1 2 3 4 5 6 7 8 9 10 11 y\n"
			"x: 1 2 3 4 5 6 7 8 9 10 11 12 13\n",
			"x", false, &counts, why, sizeof(why)));
	assert_int_equal(counts.acquisitions, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums),
					   cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
