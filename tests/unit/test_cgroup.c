// SPDX-License-Identifier: GPL-2.0-only
/* A memory cgroup of our own: made, charged, reclaimed, limited, removed, and undone after kill -9. */
#include "sys/cgroup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sys/owned.h"

#define MIB (1 << 20)

static char run_dir[] = "/tmp/before-after-test-XXXXXX";
static char why[256];

static char *create(void)
{
	char *memcg = memcg_try_create("test", why, sizeof(why));

	if (!memcg) {
		print_message("skipped: %s\n", why);
		skip();
	}
	return memcg;
}

static void put(int fd, const char *path)
{
	assert_int_equal(write(fd, path, strlen(path) + 1), (ssize_t)strlen(path) + 1);
}

/* A child that joins, charges `bytes`, says so and waits to be killed. */
static pid_t member(const char *memcg, size_t bytes)
{
	int said[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (pid == 0) {
		memcg_join(memcg);
		memset(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0),
		       1, bytes);
		put(said[1], "");
		for (;;)
			pause();
	}
	close(said[1]);
	assert_int_equal(read(said[0], &byte, 1), 1);
	close(said[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_charged_and_removed(void **state)
{
	char *memcg = create();
	pid_t pid = member(memcg, 8 * MIB);

	(void)state;
	assert_in_range(memcg_usage(memcg), 8 * MIB, 16 * MIB);
	assert_in_range(memcg_stat(memcg, memcg_is_v2(memcg) ? "anon" : "rss"), 0, 16 * MIB);
	assert_int_equal(memcg_stat(memcg, "no_such_row"), -1);
	assert_int_equal(memcg_oom_kills(memcg), 0);
	end(pid);
	assert_true(owned_release(why, sizeof(why)));
	assert_int_equal(access(memcg, F_OK), -1);
	free(memcg);
}

/* A file's pages are what can be reclaimed without swap. */
static void test_reclaim(void **state)
{
	char *memcg = create();
	char path[] = "/var/tmp/before-after-test-XXXXXX", *buf = calloc(1, MIB);
	int fd = mkstemp(path), i, status;
	pid_t pid;

	(void)state;
	unlink(path);
	pid = fork();
	if (pid == 0) {
		uint64_t full;

		memcg_join(memcg);
		for (i = 0; i < 32; i++)
			if (write(fd, buf, MIB) != MIB)
				_exit(1);
		fsync(fd);
		full = memcg_usage(memcg);
		memcg_reclaim(memcg, 16 * MIB);
		_exit(full - memcg_usage(memcg) >= 8 * MIB ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	free(buf);
	assert_true(owned_release(why, sizeof(why)));
	free(memcg);
}

static void test_limit_kills(void **state)
{
	char *memcg = create();
	int status;
	pid_t pid;

	(void)state;
	memcg_limit(memcg, 16 * MIB);
	pid = fork();
	if (pid == 0) {
		memcg_join(memcg);
		memset(mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0),
		       1, 64 * MIB);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* With swap on the box it lives. */
	if (WIFSIGNALED(status))
		assert_int_equal(memcg_oom_kills(memcg), 1);
	assert_true(memcg_limit_hits(memcg) > 0);
	memcg_limit(memcg, MEMCG_UNLIMITED);
	assert_true(owned_release(why, sizeof(why)));
	free(memcg);
}

/* What is left below a limit, here that of the cgroup above: file pages take nothing from it. */
static void test_room(void **state)
{
	char *memcg = create(), inner[512], *buf = calloc(1, MIB);
	char path[] = "/var/tmp/before-after-test-XXXXXX";
	int fd = mkstemp(path), i, status;
	uint64_t room = memcg_room();
	pid_t pid;

	(void)state;
	unlink(path);
	memcg_limit(memcg, 64 * MIB);
	snprintf(inner, sizeof(inner), "%s/inner", memcg);
	assert_int_equal(mkdir(inner, 0755), 0);
	pid = fork();
	if (pid == 0) {
		memcg_join(inner);
		if (memcg_room() > 64 * MIB || memcg_room() < 60 * MIB)
			_exit(1);
		memset(mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0),
		       1, 16 * MIB);
		for (i = 0; i < 16; i++)
			if (write(fd, buf, MIB) != MIB)
				_exit(2);
		_exit(memcg_room() > 48 * MIB ? 3 : memcg_room() < 40 * MIB ? 4 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(rmdir(inner), 0);
	/* Out here it limits nobody. */
	assert_true(memcg_room() > room / 2);
	close(fd);
	free(buf);
	assert_true(owned_release(why, sizeof(why)));
	free(memcg);
}

/* The owner dies by kill -9 with a process still inside: the next start empties and removes. */
static void test_recovered(void **state)
{
	char memcg[512] = "";
	int said[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (pid == 0) {
		const char *dir = memcg_try_create("killed", why, sizeof(why));

		if (dir)
			member(dir, MIB);
		put(said[1], dir ? dir : "");
		kill(getpid(), SIGKILL);
	}
	close(said[1]);
	assert_true(read(said[0], memcg, sizeof(memcg)) > 0);
	close(said[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	if (!*memcg)
		skip();
	assert_int_equal(access(memcg, F_OK), 0);
	assert_true(owned_recover() >= 1);
	assert_int_equal(access(memcg, F_OK), -1);
}

static int open_run_dir(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: wanted root\n");
		exit(0);
	}
	if (!mkdtemp(run_dir))
		return -1;
	setenv("BEFORE_AFTER_RUN_DIR", run_dir, 1);
	owned_open();
	return 0;
}

static int remove_run_dir(void **state)
{
	char path[128];

	(void)state;
	owned_path(path, sizeof(path), "journal.jsonl");
	unlink(path);
	owned_path(path, sizeof(path), "lock");
	unlink(path);
	return rmdir(run_dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charged_and_removed), cmocka_unit_test(test_reclaim),
		cmocka_unit_test(test_limit_kills),	    cmocka_unit_test(test_room),
		cmocka_unit_test(test_recovered),
	};

	return cmocka_run_group_tests(tests, open_run_dir, remove_run_dir);
}
