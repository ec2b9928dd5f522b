// SPDX-License-Identifier: GPL-2.0-only
#include "sys/cached.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/io.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* the same on every architecture; newer than glibc 2.36's headers */
#endif

#define PFN_MASK ((UINT64_C(1) << 55) - 1)
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define KPF_COMPOUND (UINT64_C(3) << 15) /* KPF_COMPOUND_HEAD, KPF_COMPOUND_TAIL */

struct cachestat_range {
	uint64_t offset, length;
};
struct cachestat {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

static bool cachestat(int fd, uint64_t size, struct cachestat *stat)
{
	struct cachestat_range range = {0, size};

	if (!syscall(SYS_cachestat, fd, &range, stat, 0))
		return true;
	if (errno != ENOSYS && errno != EPERM)
		run_broken("cachestat: %s", strerror(errno));
	return false;
}

static unsigned char *map_file(int fd, uint64_t size)
{
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		run_broken("mmap of %ju bytes: %s", (uintmax_t)size, strerror(errno));
	return map;
}

static int64_t in_core(int fd, uint64_t size)
{
	size_t pages = size / (size_t)sysconf(_SC_PAGESIZE), i;
	unsigned char *map = map_file(fd, size), *vector = malloc(pages);
	int64_t cached = 0;

	if (!vector || mincore(map, size, vector))
		run_broken("mincore: %s", strerror(errno));
	for (i = 0; i < pages; i++)
		cached += vector[i] & 1;
	free(vector);
	munmap(map, size);
	return cached;
}

/* 1, 0, or -1: not told. */
static int is_compound(int pagemap, int flags, const volatile unsigned char *address, size_t page)
{
	uint64_t entry = 0, flag = 0;

	(void)*address; /* only a page that is mapped has an entry */
	if (!io_pread(pagemap, &entry, 8, (off_t)((uintptr_t)address / page * 8)) ||
	    !(entry & PAGEMAP_PRESENT) || !(entry & PFN_MASK) ||
	    !io_pread(flags, &flag, 8, (off_t)((entry & PFN_MASK) * 8)))
		return -1;
	return (flag & KPF_COMPOUND) != 0;
}

static int64_t above_order_0(int fd, uint64_t size)
{
	int pagemap = io_open("/proc/self/pagemap", O_RDONLY, 0);
	int flags = io_open("/proc/kpageflags", O_RDONLY, 0);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *map = map_file(fd, size);
	int64_t above = 0;
	uint64_t at;

	for (at = 0; at < size && above >= 0; at += page) {
		int compound = is_compound(pagemap, flags, map + at, page);

		above = compound < 0 ? -1 : above + compound;
	}
	munmap(map, size);
	if (pagemap >= 0)
		close(pagemap);
	if (flags >= 0)
		close(flags);
	return above;
}

static int64_t plus(int64_t sum, int64_t part)
{
	return sum < 0 || part < 0 ? -1 : sum + part;
}

static bool on_tmpfs(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
}

void cached_add(struct cached *sum, int fd, uint64_t size)
{
	struct cachestat stat;
	bool told = cachestat(fd, size, &stat);

	sum->wanted += (int64_t)(size / (uint64_t)sysconf(_SC_PAGESIZE));
	sum->pages += told ? (int64_t)stat.cached : in_core(fd, size);
	sum->evicted += told && !on_tmpfs(fd) ? (int64_t)stat.evicted : 0;
	sum->dirty = plus(sum->dirty,
			  told && !on_tmpfs(fd) ? (int64_t)(stat.dirty + stat.writeback) : -1);
	sum->above_order_0 = plus(sum->above_order_0, above_order_0(fd, size));
}

void cached_add_left(struct cached *sum, int fd, uint64_t size)
{
	struct cachestat stat;

	sum->left += cachestat(fd, size, &stat) ? (int64_t)stat.cached : in_core(fd, size);
}

void cached_read_hole(int fd, uint64_t size)
{
	/* One call reads no more than the device's window, and says nothing of the rest. */
	const uint64_t chunk = 64 << 10;
	uint64_t at;

	if (!io_truncate(fd, (off_t)size))
		run_fail("ftruncate to %ju bytes: %s", (uintmax_t)size, strerror(errno));
	for (at = 0; at < size; at += chunk)
		if (readahead(fd, (off_t)at, chunk))
			run_fail("readahead at %ju: %s", (uintmax_t)at, strerror(errno));
}

void cached_write(int fd, uint64_t size)
{
	static const char data[65536]; /* no page is larger */
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t at;

	for (at = 0; at < size; at += page)
		if (!io_pwrite(fd, data, page, (off_t)at))
			run_fail("write at %ju: %s", (uintmax_t)at, strerror(errno));
}
