// SPDX-License-Identifier: GPL-2.0-only
/* System calls that signals end early and that do a part: interrupted for real, by pipes and limits. */
#include "sys/io.h"

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
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BIG (1 << 20)
#define TIMES 3

static volatile int *interrupts; /* shared with the child */
static char dir[32];
static int fds[2];

static void count(int signal)
{
	(void)signal;
	++*interrupts;
}

static int setup(void **state)
{
	const struct sigaction action = {.sa_handler = count}; /* without SA_RESTART */

	(void)state;
	strcpy(dir, "/tmp/test_io.XXXXXX");
	interrupts = mmap(NULL, sizeof(*interrupts), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return interrupts == MAP_FAILED || sigaction(SIGUSR1, &action, NULL) || pipe(fds) ||
			       !mkdtemp(dir) || chdir(dir)
		       ? -1
		       : 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap((void *)(uintptr_t)interrupts, sizeof(*interrupts));
	close(fds[0]);
	close(fds[1]);
	unlink("file");
	return chdir("/") || rmdir(dir);
}

/* In the child: the parent sleeps, which it only does in the call that is tested. */
static void until_it_sleeps(void)
{
	char path[32], line[512] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", getppid());
	for (;; usleep(1000)) {
		fd = open(path, O_RDONLY);
		if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
			_exit(1);
		close(fd);
		if (strstr(line, ") S "))
			return;
	}
}

static void interrupt_parent(void)
{
	const int before = *interrupts;

	until_it_sleeps();
	kill(getppid(), SIGUSR1);
	while (*interrupts == before)
		usleep(1000);
	until_it_sleeps();
}

/* What the child does to a call of the parent's that waits. */
static pid_t child(void (*what)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(60);
		what();
		_exit(0);
	}
	return pid;
}

static void assert_ended(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(*interrupts >= TIMES);
}

static void fill(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
}

static int file(const char *content)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void write_in_parts(void)
{
	static const char *const parts[TIMES] = {"ab", "c", "def"};

	for (int i = 0; i < TIMES; i++) {
		interrupt_parent();
		if (write(fds[1], parts[i], strlen(parts[i])) < 0)
			_exit(1);
	}
}

static void read_goes_on(void **state)
{
	char buf[8] = "";
	pid_t pid = child(write_in_parts);

	(void)state;
	assert_int_equal(io_read(fds[0], buf, 6), 6);
	assert_string_equal(buf, "abcdef");
	assert_ended(pid);
}

static void read_ends(void **state)
{
	char buf[8] = "";
	int fd = file("abcde");

	(void)state;
	assert_int_equal(io_read(fd, buf, 0), 0);
	assert_int_equal(io_read(fd, buf, 3), 3);
	assert_int_equal(io_read(fd, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "dec", 3);
	assert_int_equal(io_read(fd, buf, sizeof(buf)), 0);
	close(fd);
	assert_int_equal(io_read(fd, buf, sizeof(buf)), -1);
	assert_int_equal(errno, EBADF);
}

static void write_big(void)
{
	static unsigned char bytes[BIG];

	close(fds[0]);
	for (int i = 0; i < TIMES; i++)
		interrupt_parent();
	fill(bytes, BIG);
	bytes[BIG / 2] = '\0';
	if (!io_write(fds[1], bytes, BIG))
		_exit(1);
}

static void read_all(void **state)
{
	static unsigned char want[BIG + 1];
	pid_t pid = child(write_big);
	char *text;

	(void)state;
	close(fds[1]);
	text = io_read_all(fds[0]);
	assert_non_null(text);
	fill(want, BIG);
	want[BIG / 2] = '\0';
	assert_memory_equal(text, want, BIG + 1); /* with the NUL behind it */
	free(text);
	assert_ended(pid);
	fds[1] = -1;
}

static void read_all_of_nothing(void **state)
{
	int fd = file("");
	char *text = io_read_all(fd);

	(void)state;
	assert_string_equal(text, "");
	free(text);
	close(fd);
	fd = open(".", O_RDONLY | O_DIRECTORY);
	assert_null(io_read_all(fd));
	assert_int_equal(errno, EISDIR);
	close(fd);
	assert_null(io_read_all(fd));
	assert_int_equal(errno, EBADF);
}

static void pread_wants_all(void **state)
{
	char buf[8] = "";
	int fd = file("abcde");

	(void)state;
	assert_true(io_pread(fd, buf, 3, 2));
	assert_string_equal(buf, "cde");
	assert_false(io_pread(fd, buf, 4, 2));
	assert_int_equal(errno, ENODATA);
	assert_true(io_pread(fd, buf, 0, 100));
	close(fd);
	assert_false(io_pread(fds[0], buf, 1, 0));
	assert_int_equal(errno, ESPIPE);
}

/* A signal ends a write(2) to a full pipe with what went in: a short write. */
static void read_slowly(void)
{
	static unsigned char bytes[BIG], want[BIG];
	size_t got = 0;
	ssize_t n;

	close(fds[1]);
	for (int i = 0; i < TIMES; i++) {
		interrupt_parent();
		n = read(fds[0], bytes + got, 10000);
		if (n <= 0)
			_exit(1);
		got += (size_t)n;
	}
	while ((n = read(fds[0], bytes + got, BIG - got)) > 0)
		got += (size_t)n;
	fill(want, BIG);
	_exit(got == BIG && !memcmp(bytes, want, BIG) ? 0 : 1);
}

static void write_goes_on(void **state)
{
	static unsigned char bytes[BIG];
	pid_t pid;

	(void)state;
	fill(bytes, BIG);
	pid = child(read_slowly);
	assert_true(io_write(fds[1], bytes, BIG));
	close(fds[1]);
	fds[1] = -1;
	assert_ended(pid);
}

static void write_fails(void **state)
{
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_false(io_write(fd, "ab", 2));
	assert_int_equal(errno, ENOSPC);
	assert_true(io_write(fd, "", 0));
	close(fd);
	close(fds[0]);
	assert_false(io_write(fds[1], "ab", 2));
	assert_int_equal(errno, EPIPE);
	assert_false(io_pwrite(fds[1], "ab", 2, 0));
	assert_int_equal(errno, ESPIPE);
	fds[0] = -1;
}

/* A limit gives a short write first, and the error for what is left. */
static void limited(void **state)
{
	const struct rlimit small = {.rlim_cur = 6, .rlim_max = RLIM_INFINITY};
	struct rlimit was;
	struct stat st;
	int fd = file("");

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	if (was.rlim_max != RLIM_INFINITY)
		skip();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_false(io_write(fd, "abcdefgh", 8));
	assert_int_equal(errno, EFBIG);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 6);
	assert_false(io_pwrite(fd, "xyz", 3, 4));
	assert_int_equal(errno, EFBIG);
	/* Once: the rest would be another value. */
	assert_int_equal(lseek(fd, 3, SEEK_SET), 3);
	assert_false(io_write_once(fd, "12345"));
	assert_int_equal(errno, EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_true(io_pwrite(fd, "ghi", 3, 6));
	close(fd);
	fd = open("file", O_RDONLY);
	{
		char buf[16] = "";

		assert_int_equal(io_read(fd, buf, sizeof(buf) - 1), 9);
		assert_string_equal(buf, "abc123ghi");
	}
	close(fd);
}

static void write_once(void **state)
{
	char buf[8] = "";

	(void)state;
	assert_true(io_write_once(fds[1], "value"));
	assert_int_equal(read(fds[0], buf, sizeof(buf)), 5);
	assert_true(io_write_once(fds[1], ""));
	close(fds[0]);
	assert_false(io_write_once(fds[1], "value"));
	assert_int_equal(errno, EPIPE);
	fds[0] = -1;
}

static void open_for_writing(void)
{
	for (int i = 0; i < TIMES; i++)
		interrupt_parent();
	if (open("file", O_WRONLY) < 0)
		_exit(1);
}

/* A FIFO is open when somebody has the other end. */
static void open_goes_on(void **state)
{
	pid_t pid;
	int fd;

	(void)state;
	assert_int_equal(mkfifo("file", 0600), 0);
	pid = child(open_for_writing);
	fd = io_open("file", O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_ended(pid);
	close(fd);
	assert_int_equal(io_open("missing", O_RDONLY, 0), -1);
	assert_int_equal(errno, ENOENT);
}

static void lock_for_a_while(void)
{
	int fd = open("file", O_RDONLY);

	if (flock(fd, LOCK_EX) || write(fds[1], "", 1) != 1)
		_exit(1);
	for (int i = 0; i < TIMES; i++)
		interrupt_parent();
}

static void lock_goes_on(void **state)
{
	int fd = file(""), other = open("file", O_RDONLY);
	pid_t pid = child(lock_for_a_while);
	char byte;

	(void)state;
	assert_int_equal(io_read(fds[0], &byte, 1), 1);
	assert_true(io_lock(fd, LOCK_EX));
	assert_ended(pid);
	assert_false(io_lock(other, LOCK_EX | LOCK_NB));
	assert_int_equal(errno, EWOULDBLOCK);
	close(other);
	close(fd);
}

static void sizes(void **state)
{
	struct stat st;
	int fd = file("abc");

	(void)state;
	assert_true(io_truncate(fd, 8192));
	assert_true(io_allocate(fd, FALLOC_FL_KEEP_SIZE, 0, 16384));
	assert_true(io_sync(fd));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 8192);
	assert_true(st.st_blocks * 512 >= 16384);
	assert_false(io_truncate(fd, -1));
	assert_int_equal(errno, EINVAL);
	assert_false(io_allocate(fd, 0, 0, 0));
	assert_int_equal(errno, EINVAL);
	close(fd);
	assert_false(io_sync(fds[0]));
	assert_int_equal(errno, EINVAL);
}

static void others(void **state)
{
	int bytes = 0;

	(void)state;
	assert_true(io_write(fds[1], "abc", 3));
	assert_int_equal(io_ioctl(fds[0], FIONREAD, &bytes), 0);
	assert_int_equal(bytes, 3);
	bytes = open(".", O_RDONLY | O_DIRECTORY);
	assert_true(io_dup2(fds[0], bytes));
	assert_int_equal(io_ioctl(bytes, FIONREAD, &bytes), 0);
	assert_int_equal(bytes, 3);
	assert_int_equal(io_ioctl(fds[0], TIOCGPGRP, &bytes), -1);
	assert_int_equal(errno, ENOTTY);
	assert_false(io_dup2(-1, fds[0]));
	assert_int_equal(errno, EBADF);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(read_goes_on),    TEST(read_ends),
		TEST(read_all),	       TEST(read_all_of_nothing),
		TEST(pread_wants_all), TEST(write_goes_on),
		TEST(write_fails),     TEST(limited),
		TEST(write_once),      TEST(open_goes_on),
		TEST(lock_goes_on),    TEST(sizes),
		TEST(others),
	};

	return cmocka_run_group_tests_name("io", tests, NULL, NULL);
}
