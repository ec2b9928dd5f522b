// SPDX-License-Identifier: GPL-2.0-only
#include "sys/cachestat.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/end.h"

/* The same number on every architecture but alpha; no libc has a function yet. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct cached cachestat_of(int fd, uint64_t offset, uint64_t length)
{
	struct {
		uint64_t offset, length;
	} range = {offset, length};
	struct cached found = {0};

	if (!syscall(SYS_cachestat, fd, &range, &found, 0))
		return found;
	if (errno == ENOSYS)
		run_skip("wanted cachestat(2), Linux 6.5, found: %s", strerror(errno));
	run_broken("cachestat: %s", strerror(errno));
}
