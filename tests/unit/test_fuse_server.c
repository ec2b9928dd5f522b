// SPDX-License-Identifier: GPL-2.0-only
/* The FUSE server, mounted: what it answers, what keeps and what drops its pages, how it ends. */
#include "sys/fuse_server.h"

#include <errno.h>
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

#include "sys/cachestat.h"
#include "sys/owned.h"
#include "sys/tmpfs.h"

#define MIB ((uint64_t)1 << 20)
#define SIZE ((uint64_t)1 << 42) /* storage of 4 TiB there is none */

static uint64_t page;
static pid_t server;
static int fd = -1;
static char path[256];

static uint64_t in_cache(uint64_t offset, uint64_t length)
{
	return cachestat_of(fd, offset, length).cached;
}

static int mount_one(void **state)
{
	static int number;
	char name[16];

	(void)state;
	snprintf(name, sizeof(name), "fuse%d", number++);
	server = fuse_server_start(name, SIZE, NULL, NULL);
	fuse_server_file(path, sizeof(path), name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -1 : 0;
}

static int end_one(void **state)
{
	(void)state;
	close(fd);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return 0;
}

static void test_reads_as_zeroes(void **state)
{
	char byte = 1;
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, SIZE);
	assert_int_equal(pread(fd, &byte, 1, (off_t)(SIZE - 1)), 1);
	assert_int_equal(byte, 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)SIZE), 0);
	assert_true(fuse_server_counts(fd).reads > 0);
	assert_int_equal(fuse_server_counts(fd).opens, 1);
}

/* A megabyte and a bit, far into the file, in more than one notification. */
static void test_stored_without_reading(void **state)
{
	const uint64_t at = SIZE / 2, length = MIB + page;
	struct fuse_server_counts counts;
	char buf[16] = "not zero";

	(void)state;
	assert_int_equal(fuse_server_store(fd, at, length, 0), 0);
	assert_int_equal(in_cache(at - MIB, 3 * MIB + page), length / page);
	assert_int_equal(pread(fd, buf, sizeof(buf), (off_t)(at + length - sizeof(buf))),
			 sizeof(buf));
	assert_int_equal(buf[0], 0);
	counts = fuse_server_counts(fd);
	assert_int_equal(counts.reads, 0);
	assert_int_equal(counts.stores, 2);
	assert_int_equal(counts.store_bytes, length);
}

/* The server's own readahead: answered, or refused; either way the pages are there. */
static void test_read_ahead(void **state)
{
	const uint64_t at = SIZE / 2, length = 5 * MIB + page;
	struct fuse_server_counts counts;
	int tries;
	char byte;

	(void)state;
	assert_int_equal(fuse_server_read(fd, at, length, 0), 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
	assert_int_equal(byte, 0);
	assert_int_equal(in_cache(at, length), length / page);
	counts = fuse_server_counts(fd);
	assert_int_equal(counts.opens, 2);
	assert_int_equal(counts.stores, 0);
	for (tries = 0; tries < 500 && counts.read_bytes < length; tries++) {
		usleep(10000);
		counts = fuse_server_counts(fd);
	}
	assert_int_equal(counts.read_bytes, length);

	assert_int_equal(fuse_server_refuse(fd, 0, length, -1), 0);
	assert_int_equal(in_cache(0, length), length / page);
	assert_int_equal(fuse_server_counts(fd).read_bytes, length);
	/* Nothing was filled, so a reader asks again, and is refused as well. */
	assert_int_equal(pread(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(fuse_server_refuse(fd, SIZE, page, -1), EINVAL);
}

static void test_store_outside_refused(void **state)
{
	static const uint64_t outside[][2] = {
		{SIZE, 4096}, {SIZE - 4096, 8192}, {UINT64_MAX - 4095, 8192}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_int_equal(fuse_server_store(fd, outside[i][0], outside[i][1], -1), EINVAL);
	assert_int_equal(fuse_server_counts(fd).stores, 0);
}

static void test_asking_keeps_reopening_drops(void **state)
{
	struct stat st;
	int again;

	(void)state;
	assert_int_equal(fuse_server_store(fd, 0, MIB, -1), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(access(path, R_OK), 0);
	assert_int_equal(in_cache(0, 0), MIB / page);
	again = open(path, O_RDONLY);
	assert_true(again >= 0);
	assert_int_equal(in_cache(0, 0), 0);
	close(again);
}

static void test_truncated(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(fuse_server_store(fd, 0, 2 * MIB, -1), 0);
	assert_int_equal(ftruncate(fd, (off_t)MIB), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, MIB);
	/* The kernel drops what is left of a FUSE file too, when its size changes. */
	assert_in_range(in_cache(0, SIZE), 0, MIB / page);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(in_cache(0, SIZE), 0);
}

/* A mapped read in flight, or one to come, gets an error: nobody waits for a dead server. */
static void test_dying_server_lets_go(void **state)
{
	char byte;
	struct stat st;

	(void)state;
	assert_int_equal(kill(server, SIGSTOP), 0);
	/* Until all its threads have, one may still answer. */
	assert_int_equal(waitpid(server, NULL, WUNTRACED), server);
	if (fork() == 0) {
		usleep(200000);
		kill(server, SIGKILL);
		_exit(0);
	}
	alarm(20);
	assert_int_equal(pread(fd, &byte, 1, 0), -1);
	assert_true(errno == ECONNABORTED || errno == ENOTCONN || errno == EIO);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(fuse_server_store(fd, 0, page, -1), ENOTCONN);
	alarm(0);
	wait(NULL);
}

/* The parent is killed: so is the server, and with it the connection. */
static void test_dies_with_its_parent(void **state)
{
	int said[2];
	pid_t pid, child = 0;
	int tries;

	(void)state;
	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (pid == 0) {
		child = fuse_server_start("orphan", MIB, NULL, NULL);
		if (write(said[1], &child, sizeof(child)) == sizeof(child))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(read(said[0], &child, sizeof(child)), sizeof(child));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (tries = 0; tries < 500 && !kill(child, 0); tries++)
		usleep(10000);
	assert_int_equal(kill(child, 0), -1);
	close(said[0]);
	close(said[1]);
}

static int enter(void **state)
{
	static const char *const avoid[] = {NULL};

	(void)state;
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	scratch_enter(avoid);
	return 0;
}

static int leave(void **state)
{
	char why[256];

	(void)state;
	return owned_release(why, sizeof(why)) ? 0 : -1;
}

#define MOUNTED(test) cmocka_unit_test_setup_teardown(test, mount_one, end_one)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MOUNTED(test_reads_as_zeroes),
		MOUNTED(test_stored_without_reading),
		MOUNTED(test_read_ahead),
		MOUNTED(test_store_outside_refused),
		MOUNTED(test_asking_keeps_reopening_drops),
		MOUNTED(test_truncated),
		MOUNTED(test_dying_server_lets_go),
		cmocka_unit_test(test_dies_with_its_parent),
	};

	if (geteuid() != 0 || access("/dev/fuse", R_OK | W_OK)) {
		printf("skipped: wanted root and /dev/fuse\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, enter, leave);
}
