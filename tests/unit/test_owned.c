// SPDX-License-Identifier: GPL-2.0-only
/* Owned state: undone in reverse, journalled before it is set, replayed after a kill. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/end.h"
#include "sys/kinds.h"
#include "sys/knob.h"
#include "sys/owned.h"
#include "run_dir.h"

static char journal[128], knob[128];
static char undone[64];

static bool remember(const json_t *entry, char *why, size_t size)
{
	const char *name = json_string_value(json_object_get(entry, "name"));

	strncat(undone, name, sizeof(undone) - strlen(undone) - 1);
	snprintf(why, size, "%s does not want to", name);
	return strcmp(name, "bad") != 0;
}

static const struct undo_kind here = {.name = "here", .outlives = false, .undo = remember};

static void assert_content(const char *file, const char *want)
{
	char buf[1024] = "";
	FILE *f = fopen(file, "r");

	assert_non_null(f);
	buf[fread(buf, 1, sizeof(buf) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(buf, want);
}

static int setup(void **state)
{
	(void)state;
	if (run_dir_make("/tmp/test_owned.XXXXXX"))
		return -1;
	snprintf(journal, sizeof(journal), "%s/journal.jsonl", dir);
	snprintf(knob, sizeof(knob), "%s/knob", dir);
	undone[0] = '\0';
	return 0;
}

static void reverse_order(void **state)
{
	char why[128] = "";

	(void)state;
	own(&here, json_pack("{s:s}", "name", "a"));
	own(&here, json_pack("{s:s}", "name", "b"));
	own(&here, json_pack("{s:s}", "name", "c"));
	assert_true(owned_release_last(why, sizeof(why)));
	assert_string_equal(undone, "c");
	assert_true(owned_release(why, sizeof(why)));
	assert_string_equal(undone, "cba");
	assert_true(owned_release(why, sizeof(why)));
}

static void failure_goes_on(void **state)
{
	char why[128] = "";

	(void)state;
	own(&here, json_pack("{s:s}", "name", "a"));
	own(&here, json_pack("{s:s}", "name", "bad"));
	own(&here, json_pack("{s:s}", "name", "c"));
	assert_false(owned_release(why, sizeof(why)));
	assert_string_equal(undone, "cbada");
	assert_string_equal(why, "bad does not want to");
}

static void set_and_die(void)
{
	owned_open();
	knob_set(knob, "set");
}

static void set_release(void)
{
	char why[128];

	owned_open();
	knob_set(knob, "set");
	_exit(owned_release(why, sizeof(why)) ? 0 : 1);
}

static void recover(void)
{
	owned_open();
	_exit(owned_recover());
}

static void journal_outlives_a_kill(void **state)
{
	(void)state;
	put(knob, "old");
	assert_int_equal(in_child(set_and_die), 0);
	assert_content(knob, "set");
	assert_int_equal(in_child(recover), 1);
	assert_content(knob, "old");
	assert_content(journal, "");
	assert_int_equal(in_child(recover), 0);
}

static void release_empties_the_journal(void **state)
{
	(void)state;
	put(knob, "old");
	assert_int_equal(in_child(set_release), 0);
	assert_content(knob, "old");
	assert_content(journal, "");
}

/* A value that somebody else wrote since is theirs; a knob that is gone needs nothing. */
static void only_ours_is_restored(void **state)
{
	(void)state;
	put(knob, "old");
	assert_int_equal(in_child(set_and_die), 0);
	put(knob, "theirs");
	assert_int_equal(in_child(recover), 1);
	assert_content(knob, "theirs");
	put(knob, "old");
	assert_int_equal(in_child(set_and_die), 0);
	unlink(knob);
	assert_int_equal(in_child(recover), 1);
	assert_content(journal, "");
}

/* Killed while writing the journal: what the torn line says was never done. */
static void torn_journal(void **state)
{
	(void)state;
	put(knob, "old");
	assert_int_equal(in_child(set_and_die), 0);
	{
		FILE *f = fopen(journal, "a");

		fputs("{\"kind\":\"knob\",\"path\":\"/pro", f);
		fclose(f);
	}
	assert_int_equal(in_child(recover), 1);
	assert_content(knob, "old");
	assert_content(journal, "");
}

/* A run directory on disk outlives a reboot; the names in its journal do not. */
static void other_boot(void **state)
{
	char line[256];

	(void)state;
	put(knob, "set");
	snprintf(line, sizeof(line),
		 "{\"kind\":\"knob\",\"path\":\"%s\",\"old\":\"old\",\"set\":\"set\","
		 "\"boot\":\"another\"}\n",
		 knob);
	put(journal, line);
	assert_int_equal(in_child(recover), 0);
	assert_content(knob, "set");
	assert_content(journal, "");
}

static void forget(void)
{
	char why[128];

	owned_open();
	knob_set(knob, "set");
	owned_forget_last();
	_exit(owned_release(why, sizeof(why)) ? 0 : 1);
}

static void forgotten_is_not_undone(void **state)
{
	(void)state;
	put(knob, "old");
	assert_int_equal(in_child(forget), 0);
	assert_content(knob, "set");
	assert_content(journal, "");
}

static void unknown_entry(void **state)
{
	(void)state;
	chmod(dir, 0700);
	put(journal, "{\"kind\":\"rocket\",\"path\":\"/\"}\n");
	assert_int_equal(in_child(recover), end_exit_code(END_BROKEN));
	/* Kept, for a version that knows it. */
	assert_content(journal, "{\"kind\":\"rocket\",\"path\":\"/\"}\n");
}

static void directory_of_others(void **state)
{
	(void)state;
	chmod(dir, 0777);
	assert_int_equal(in_child(recover), end_exit_code(END_BROKEN));
	chmod(dir, 0700);
}

/* Its lock is there until the last process that inherited it is gone, 0.6 s later. */
static const struct timespec last = {.tv_nsec = 600000000};

static void hold(void)
{
	owned_open();
	put(knob, "held");
	if (fork() == 0)
		nanosleep(&last, NULL);
}

static void hold_alive(void)
{
	owned_open();
	put(knob, "held");
	nanosleep(&last, NULL);
}

static void end_slowly(void)
{
	owned_open();
	owned_ending();
	put(knob, "held");
	nanosleep(&last, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Starts it, and returns when it has the lock. */
static pid_t started(void (*what)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		what();
		_exit(0);
	}
	while (access(knob, F_OK))
		usleep(1000);
	return pid;
}

/* A holder that says that it is ending is waited for; so is one that was killed, whose children last. */
static void one_that_ends_is_waited_for(void **state)
{
	siginfo_t info;
	pid_t pid;

	(void)state;
	pid = started(end_slowly);
	assert_int_equal(in_child(recover), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	unlink(knob);
	/* Dead, and not yet waited for. */
	pid = started(hold);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(in_child(recover), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(in_child(hold), 0);
	assert_int_equal(in_child(recover), 0);
}

/* Any other is answered at once. */
static void one_that_goes_on_is_not(void **state)
{
	double began;
	pid_t pid;

	(void)state;
	pid = started(hold_alive);
	began = now();
	assert_int_equal(in_child(recover), end_exit_code(END_BROKEN));
	assert_true(now() - began < 0.4);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(in_child(recover), 0);
}

static void brackets(void **state)
{
	char value[64];

	(void)state;
	put(knob, "always within_size [advise] never\n");
	assert_true(knob_read(knob, value, sizeof(value)));
	assert_string_equal(value, "advise");
	put(knob, "[always] madvise never\n");
	assert_true(knob_read(knob, value, sizeof(value)));
	assert_string_equal(value, "always");
	put(knob, "0x0007\n");
	assert_true(knob_read(knob, value, sizeof(value)));
	assert_string_equal(value, "0x0007");
	put(knob, "a[0] b\n");
	assert_true(knob_read(knob, value, sizeof(value)));
	assert_string_equal(value, "a[0] b");
	put(knob, "");
	assert_true(knob_read(knob, value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(knob_read("/nowhere/knob", value, sizeof(value)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reverse_order, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(failure_goes_on, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(journal_outlives_a_kill, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(release_empties_the_journal, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(only_ours_is_restored, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(torn_journal, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(other_boot, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(forgotten_is_not_undone, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(unknown_entry, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(directory_of_others, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(one_that_ends_is_waited_for, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(one_that_goes_on_is_not, setup, run_dir_remove),
		cmocka_unit_test_setup_teardown(brackets, setup, run_dir_remove),
	};

	return cmocka_run_group_tests_name("owned", tests, NULL, NULL);
}
