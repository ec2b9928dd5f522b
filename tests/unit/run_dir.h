/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For unit tests of what is owned: a run directory of the test's own, and children that hold its
 * lock and may die as if killed. Include after cmocka.h.
 */
#ifndef TESTS_RUN_DIR_H
#define TESTS_RUN_DIR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

/* Makes it from a template of mkdtemp(3). */
static int run_dir_make(const char *template)
{
	snprintf(dir, sizeof(dir), "%s", template);
	return mkdtemp(dir) ? setenv("BEFORE_AFTER_RUN_DIR", dir, 1) : -1;
}

static int run_dir_remove(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void put(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* In a child, which holds the lock and dies by _exit as if killed: nothing is released. */
static int in_child(void (*what)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		freopen("/dev/null", "w", stderr);
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
