// SPDX-License-Identifier: GPL-2.0-only
/* The function profiler's files, with a directory in the place of tracefs: what is read, put back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/owned.h"
#include "sys/profiler.h"
#include "sys/tracefs.h"
#include "run_dir.h"

static char why[256];

static void put_in(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	put(path, text);
}

static void assert_file(const char *name, const char *want)
{
	char *text = tracefs_read(name);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static int setup(void **state)
{
	char path[128];

	(void)state;
	if (run_dir_make("/tmp/test_profiler.XXXXXX"))
		return -1;
	tracefs_use(dir);
	snprintf(path, sizeof(path), "%s/events", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/trace_stat", dir);
	mkdir(path, 0700);
	put_in("function_profile_enabled", "0\n");
	put_in("current_tracer", "nop\n");
	put_in("set_ftrace_filter", "#### all functions enabled ####\n");
	return 0;
}

static void start(void)
{
	owned_open();
	if (!profiler_open(why, sizeof(why)) ||
	    !profiler_define("filemap_remove_folio", why, sizeof(why)) ||
	    !profiler_define("delete_from_page_cache_batch", why, sizeof(why)) ||
	    !profiler_start(why, sizeof(why)))
		_exit(1);
}

static void start_and_release(void)
{
	start();
	if (!profiler_stop(why, sizeof(why)) || !owned_release(why, sizeof(why)))
		_exit(2);
}

static void recover(void)
{
	owned_open();
	_exit(owned_recover());
}

static void killed_and_restored(void **state)
{
	(void)state;
	put_in("set_ftrace_filter", "schedule\nvfs_read\n");
	assert_int_equal(in_child(start), 0);
	assert_file("function_profile_enabled", "1\n");
	assert_file("set_ftrace_filter", "filemap_remove_folio\ndelete_from_page_cache_batch\n");
	assert_int_equal(in_child(recover), 1);
	assert_file("function_profile_enabled", "0\n");
	assert_file("set_ftrace_filter", "schedule\nvfs_read\n");
}

static void released(void **state)
{
	(void)state;
	assert_int_equal(in_child(start_and_release), 0);
	assert_file("function_profile_enabled", "0\n");
	/* "all functions" is an empty filter. */
	assert_file("set_ftrace_filter", "");
}

static void refused(void)
{
	owned_open();
	_exit(profiler_open(why, sizeof(why)) ? 0 : 1);
}

/* Whoever traces functions here goes on undisturbed. */
static void in_use(void **state)
{
	(void)state;
	put_in("function_profile_enabled", "1\n");
	assert_int_equal(in_child(refused), 1);
	put_in("function_profile_enabled", "0\n");
	put_in("current_tracer", "function\n");
	assert_int_equal(in_child(refused), 1);
	put_in("current_tracer", "nop\n");
	put_in("set_ftrace_filter", "schedule:traceoff:unlimited\n");
	assert_int_equal(in_child(refused), 1);
	assert_file("set_ftrace_filter", "schedule:traceoff:unlimited\n");
	assert_int_equal(in_child(recover), 0);
}

static const char STAT[] =
	"  Function                               Hit    Time            Avg             s^2\n"
	"  --------                               ---    ----            ---             ---\n"
	"  filemap_remove_folio                  4000    812.3 us        0.203 us        0.1 us\n"
	"  truncate_folio_batch_exception           7    1.2 us          0.1 us          0.1 us\n";

static void counts(void **state)
{
	(void)state;
	put_in("trace_stat/function0", STAT);
	/* Static functions of one name. */
	put_in("trace_stat/function1", "  filemap_remove_folio                    90\n"
				       "  filemap_remove_folio                     6\n");
	assert_int_equal(profiler_calls("filemap_remove_folio", why, sizeof(why)), 4096);
	/* Called on no CPU; a longer name than is shown. */
	assert_int_equal(profiler_calls("filemap_remove", why, sizeof(why)), 0);
	assert_int_equal(profiler_calls("truncate_folio_batch_exceptionals", why, sizeof(why)), 7);
}

static void alike(void)
{
	owned_open();
	if (!profiler_open(why, sizeof(why)) ||
	    !profiler_define("truncate_folio_batch_exceptionals", why, sizeof(why)))
		_exit(1);
	_exit(profiler_define("truncate_folio_batch_exceptions", why, sizeof(why)) ? 2 : 0);
}

static void names_alike(void **state)
{
	(void)state;
	assert_int_equal(in_child(alike), 0);
	assert_int_equal(in_child(recover), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, run_dir_remove)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(killed_and_restored), TEST(released), TEST(in_use), TEST(counts),
		TEST(names_alike),
	};

	return cmocka_run_group_tests_name("profiler", tests, NULL, NULL);
}
