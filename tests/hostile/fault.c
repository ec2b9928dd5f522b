// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls that fail when asked to: linked into the cases with --wrap for each name below, so that
 * only the project's own calls come through here, not those of libraries.
 *
 *	BEFORE_AFTER_FAULT=ROLE:CALL:SITE:N:ERROR   the Nth call from there fails; ERROR is an errno's
 *		name, or SHORT: half of what was to be read or written is
 *	BEFORE_AFTER_FAULT_TRACE=FILE               a line for each of the first calls from a site:
 *		ROLE CALL SITE N; and "hit" when the fault was made
 *
 * ROLE is parent, inner, empty, or child of one of these: what it forked, until that becomes another
 * program. SITE is the return address in the program, as addr2line takes it.
 */
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/io.h"

enum { SITES_MAX = 1024, LOGGED = 12, SHORT = -1 };

extern const char __executable_start[]; /* the linker's */

static struct {
	uintptr_t site;
	unsigned int calls;
} sites[SITES_MAX];
static int role_pid;
static char role[32];
static atomic_flag busy = ATOMIC_FLAG_INIT;

static const struct {
	const char *name;
	int number;
} errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},	    {"EPERM", EPERM},
	      {"ENOMEM", ENOMEM}, {"EINTR", EINTR}, {"SHORT", SHORT}};

long __real_syscall(long n, ...);

static void say(const char *what, const char *call, uintptr_t site, unsigned int n)
{
	const char *path = getenv("BEFORE_AFTER_FAULT_TRACE");
	char line[160];
	int len = snprintf(line, sizeof(line), "%s %s %s %zx %u\n", what, role, call, (size_t)site,
			   n);
	long fd = path ? __real_syscall(SYS_openat, AT_FDCWD, path,
					O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)
		       : -1;

	if (fd < 0)
		return;
	__real_syscall(SYS_write, fd, line, len);
	__real_syscall(SYS_close, fd);
}

/* Also of a process that was just forked, which begins to count anew. */
static void find_role(void)
{
	int pid = (int)__real_syscall(SYS_getpid), fd;
	char words[4096] = "";
	ssize_t len;

	if (pid == role_pid)
		return;
	if (role_pid) {
		if (strncmp(role, "child-of-", 9)) {
			memmove(role + 9, role, sizeof(role) - 10);
			memcpy(role, "child-of-", 9);
		}
		memset(sites, 0, sizeof(sites));
	} else {
		fd = (int)__real_syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY, 0);
		len = __real_syscall(SYS_read, fd, words, sizeof(words) - 1);
		__real_syscall(SYS_close, fd);
		for (ssize_t i = 0; i < len; i++)
			words[i] = words[i] ? words[i] : ' ';
		snprintf(role, sizeof(role), "%s",
			 strstr(words, " --inner-empty ") ? "empty"
			 : strstr(words, " --inner ")	  ? "inner"
							  : "parent");
	}
	role_pid = pid;
}

static unsigned int count(uintptr_t site)
{
	size_t i = 0;

	while (i < SITES_MAX - 1 && sites[i].site && sites[i].site != site)
		i++;
	sites[i].site = site;
	return ++sites[i].calls;
}

/* 0, or the error that the call is to fail with. */
static int asked_for(const char *call, uintptr_t site, unsigned int n)
{
	const char *text = getenv("BEFORE_AFTER_FAULT");
	char words[256], *save = NULL, *word[5] = {NULL};
	int i;

	snprintf(words, sizeof(words), "%s", text ? text : "");
	for (i = 0; i < 5; i++)
		word[i] = strtok_r(i ? NULL : words, ":", &save);
	if (!word[4] || strcmp(word[0], role) || strcmp(word[1], call) ||
	    strtoul(word[2], NULL, 16) != site || strtoul(word[3], NULL, 10) != n)
		return 0;
	for (i = 0; i < (int)(sizeof(errors) / sizeof(errors[0])); i++)
		if (!strcmp(word[4], errors[i].name))
			return errors[i].number;
	return 0;
}

/* The place is who called io_*(), where those are the caller: one object file, in one piece. */
static uintptr_t place(uintptr_t from)
{
	static const uintptr_t all[] = {
		(uintptr_t)io_open,	(uintptr_t)io_openat,	  (uintptr_t)io_read,
		(uintptr_t)io_pread,	(uintptr_t)io_write,	  (uintptr_t)io_pwrite,
		(uintptr_t)io_truncate, (uintptr_t)io_allocate,	  (uintptr_t)io_sync,
		(uintptr_t)io_lock,	(uintptr_t)io_write_once, (uintptr_t)io_dup2,
		(uintptr_t)io_ioctl};
	uintptr_t low = all[0], high = all[0];
	void *frames[12];
	int i, n;

	for (i = 0; i < (int)(sizeof(all) / sizeof(all[0])); i++) {
		low = all[i] < low ? all[i] : low;
		high = all[i] > high ? all[i] : high;
	}
	high += 128; /* the last one's length, at most */
	if (from < low || from >= high)
		return from - (uintptr_t)__executable_start;
	n = backtrace(frames, 12);
	for (i = 0; i < n && (uintptr_t)frames[i] != from; i++)
		;
	while (i < n && (uintptr_t)frames[i] >= low && (uintptr_t)frames[i] < high)
		i++;
	return (i < n ? (uintptr_t)frames[i] : from) - (uintptr_t)__executable_start;
}

static int fault(const char *call, const void *from)
{
	uintptr_t site = place((uintptr_t)from);
	int error, was = errno;
	unsigned int n;

	while (atomic_flag_test_and_set(&busy))
		;
	find_role();
	n = count(site);
	error = asked_for(call, site, n);
	if (error || n <= LOGGED)
		say(error ? "hit" : "call", call, site, n);
	atomic_flag_clear(&busy);
	errno = was;
	return error;
}

#define FAULT(name) fault(#name, __builtin_return_address(0))

/* WRAP(..): a call that returns `failed` and sets errno. */
#define WRAP(name, type, failed, params, args)                                                     \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		int error = FAULT(name);                                                           \
                                                                                                   \
		if (error) {                                                                       \
			errno = error == SHORT ? EIO : error;                                      \
			return failed;                                                             \
		}                                                                                  \
		return __real_##name args;                                                         \
	}

/* WRAPNUMBER(..): .. that returns the error. */
#define WRAPNUMBER(name, params, args)                                                             \
	int __real_##name params;                                                                  \
	int __wrap_##name params;                                                                  \
	int __wrap_##name params                                                                   \
	{                                                                                          \
		int error = FAULT(name);                                                           \
                                                                                                   \
		return error ? error : __real_##name args;                                         \
	}

/* WRAPDATA(..): .. that may do half of `size`. */
#define WRAPDATA(name, params, size, args, half)                                                   \
	ssize_t __real_##name params;                                                              \
	ssize_t __wrap_##name params;                                                              \
	ssize_t __wrap_##name params                                                               \
	{                                                                                          \
		int error = FAULT(name);                                                           \
                                                                                                   \
		if (error == SHORT)                                                                \
			return (size) > 1 ? __real_##name half : __real_##name args;               \
		if (error) {                                                                       \
			errno = error;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		return __real_##name args;                                                         \
	}

/* Of variable arguments all that there can be are handed on. */
#define WRAPVARIABLE(name, type, params, last, count, args)                                        \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		int error = FAULT(name), i;                                                        \
		long v[count];                                                                     \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, last);                                                                \
		for (i = 0; i < (count); i++)                                                      \
			v[i] = va_arg(ap, long);                                                   \
		va_end(ap);                                                                        \
		if (error) {                                                                       \
			errno = error;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		return __real_##name args;                                                         \
	}

WRAPDATA(read, (int f, void *b, size_t n), n, (f, b, n), (f, b, n / 2))
WRAPDATA(write, (int f, const void *b, size_t n), n, (f, b, n), (f, b, n / 2))
WRAPDATA(pread64, (int f, void *b, size_t n, off_t o), n, (f, b, n, o), (f, b, n / 2, o))
WRAPDATA(pwrite64, (int f, const void *b, size_t n, off_t o), n, (f, b, n, o), (f, b, n / 2, o))

WRAPVARIABLE(open64, int, (const char *p, int f, ...), f, 1, (p, f, v[0]))
WRAPVARIABLE(openat64, int, (int d, const char *p, int f, ...), f, 1, (d, p, f, v[0]))
WRAPVARIABLE(ioctl, int, (int f, unsigned long r, ...), r, 1, (f, r, v[0]))
WRAPVARIABLE(fcntl64, int, (int f, int c, ...), c, 1, (f, c, v[0]))
WRAPVARIABLE(prctl, int, (int o, ...), o, 4, (o, v[0], v[1], v[2], v[3]))

WRAP(clone, int, -1, (int (*f)(void *), void *s, int w, void *a), (f, s, w, a))
WRAP(access, int, -1, (const char *p, int m), (p, m))
WRAP(stat64, int, -1, (const char *p, struct stat *s), (p, s))
WRAP(fstat64, int, -1, (int f, struct stat *s), (f, s))
WRAP(statfs64, int, -1, (const char *p, struct statfs *s), (p, s))
WRAP(fstatfs64, int, -1, (int f, struct statfs *s), (f, s))
WRAP(mkdir, int, -1, (const char *p, mode_t m), (p, m))
WRAP(rmdir, int, -1, (const char *p), (p))
WRAP(unlink, int, -1, (const char *p), (p))
WRAP(unlinkat, int, -1, (int d, const char *p, int f), (d, p, f))
WRAP(rename, int, -1, (const char *p, const char *q), (p, q))
WRAP(renameat, int, -1, (int d, const char *p, int e, const char *q), (d, p, e, q))
WRAP(mkfifo, int, -1, (const char *p, mode_t m), (p, m))
WRAP(mkostemp64, int, -1, (char *p, int f), (p, f))
WRAP(ftruncate64, int, -1, (int f, off_t n), (f, n))
WRAP(fallocate64, int, -1, (int f, int m, off_t o, off_t n), (f, m, o, n))
WRAP(lseek64, off_t, -1, (int f, off_t o, int w), (f, o, w))
WRAP(readahead, ssize_t, -1, (int f, off_t o, size_t n), (f, o, n))
WRAP(fsync, int, -1, (int f), (f))
WRAP(flock, int, -1, (int f, int o), (f, o))
WRAP(dup, int, -1, (int f), (f))
WRAP(dup2, int, -1, (int f, int g), (f, g))
WRAP(pipe2, int, -1, (int *p, int f), (p, f))
WRAP(memfd_create, int, -1, (const char *n, unsigned int f), (n, f))
WRAP(mount, int, -1, (const char *s, const char *d, const char *t, unsigned long f, const void *o),
     (s, d, t, f, o))
WRAP(umount2, int, -1, (const char *p, int f), (p, f))
WRAP(unshare, int, -1, (int f), (f))
WRAP(fsopen, int, -1, (const char *n, unsigned int f), (n, f))
WRAP(fsmount, int, -1, (int f, unsigned int g, unsigned int a), (f, g, a))
WRAP(fsconfig, int, -1, (int f, unsigned int c, const char *k, const void *v, int a),
     (f, c, k, v, a))
WRAP(swapon, int, -1, (const char *p, int f), (p, f))
WRAP(swapoff, int, -1, (const char *p), (p))
WRAP(fork, pid_t, -1, (void), ())
WRAP(setpgid, int, -1, (pid_t p, pid_t g), (p, g))
WRAP(waitpid, pid_t, -1, (pid_t p, int *s, int o), (p, s, o))
WRAP(poll, int, -1, (struct pollfd * p, nfds_t n, int t), (p, n, t))
WRAP(execv, int, -1, (const char *p, char *const *a), (p, a))
WRAP(execvp, int, -1, (const char *p, char *const *a), (p, a))
WRAP(sched_getaffinity, int, -1, (pid_t p, size_t n, cpu_set_t *s), (p, n, s))
WRAP(sched_setaffinity, int, -1, (pid_t p, size_t n, const cpu_set_t *s), (p, n, s))
WRAP(mmap64, void *, MAP_FAILED, (void *a, size_t n, int p, int f, int d, off_t o),
     (a, n, p, f, d, o))
WRAP(munmap, int, -1, (void *a, size_t n), (a, n))
WRAP(madvise, int, -1, (void *a, size_t n, int w), (a, n, w))
WRAP(mprotect, int, -1, (void *a, size_t n, int p), (a, n, p))
WRAP(mincore, int, -1, (void *a, size_t n, unsigned char *v), (a, n, v))
WRAP(fopen64, FILE *, NULL, (const char *p, const char *m), (p, m))
WRAP(fdopen, FILE *, NULL, (int f, const char *m), (f, m))
WRAP(fgets, char *, NULL, (char *b, int n, FILE *f), (b, n, f))
WRAP(__getdelim, ssize_t, -1, (char **b, size_t *n, int d, FILE *f), (b, n, d, f))
WRAP(fread, size_t, 0, (void *b, size_t s, size_t n, FILE *f), (b, s, n, f))
WRAP(fflush, int, EOF, (FILE * f), (f))
WRAP(opendir, DIR *, NULL, (const char *p), (p))
WRAP(realpath, char *, NULL, (const char *p, char *b), (p, b))
WRAP(getcwd, char *, NULL, (char *b, size_t n), (b, n))
WRAP(setenv, int, -1, (const char *n, const char *v, int o), (n, v, o))
WRAPNUMBER(posix_fadvise64, (int f, off_t o, off_t n, int a), (f, o, n, a))
WRAPNUMBER(pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *x),
	   (t, a, f, x))

/* Closed all the same, as the kernel does it. */
int __real_close(int f);
int __wrap_close(int f);
int __wrap_close(int f)
{
	int error = FAULT(close), rc = __real_close(f);

	if (!error)
		return rc;
	errno = error;
	return -1;
}

long __wrap_syscall(long n, ...);
long __wrap_syscall(long n, ...)
{
	int error = FAULT(syscall), i;
	long v[6];
	va_list ap;

	va_start(ap, n);
	for (i = 0; i < 6; i++)
		v[i] = va_arg(ap, long);
	va_end(ap);
	if (!error)
		return __real_syscall(n, v[0], v[1], v[2], v[3], v[4], v[5]);
	errno = error;
	return -1;
}
