// SPDX-License-Identifier: GPL-2.0-only
#include "sys/shmem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/folios.h"
#include "sys/io.h"
#include "sys/knob.h"
#include "sys/tmpfs.h"
#include "sys/vmstat.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* Memfds, unlike our own mounts, follow this knob; the per-size ones matter for faults only. */
static const char shmem_enabled[] = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

void shmem_require(bool memfd, uint64_t bytes, bool pmd)
{
	int64_t pmd_size = folio_pmd_size();
	char now[64];

	if (pmd && pmd_size < 0)
		run_skip("wanted PMD-sized folios, found a kernel without transparent huge pages");
	/* 2 MiB on x86, 32 and 512 MiB on arm64 with pages of 16 and 64 KiB. */
	if (pmd && bytes < (uint64_t)pmd_size)
		run_skip("wanted PMD-sized folios in %" PRIu64 " bytes, found PMDs of %" PRId64,
			 bytes, pmd_size);
	/* These two overrule a mount's own huge=. */
	if (!memfd && knob_read(shmem_enabled, now, sizeof(now)) &&
	    !strcmp(now, pmd ? "deny" : "force"))
		run_skip("%s: wanted another value, found %s, which overrules huge= of mounts",
			 shmem_enabled, now);
}

void shmem_place(bool memfd, uint64_t bytes, bool pmd)
{
	shmem_require(memfd, bytes, pmd);
	if (!memfd)
		tmpfs_mount("shmem", bytes, pmd ? "always" : "never");
	else if (pmd || access(shmem_enabled, F_OK) == 0)
		knob_set(shmem_enabled, pmd ? "always" : "never");
}

const char *shmem_path(void)
{
	static char path[256];

	scratch_path(path, sizeof(path), "shmem/file");
	return path;
}

int shmem_create(bool memfd)
{
	int fd = memfd ? memfd_create("before-after", MFD_CLOEXEC | MFD_NOEXEC_SEAL)
		       : io_open(shmem_path(), O_RDWR | O_CREAT | O_EXCL, 0600);

	/* Before 6.3 the flag is unknown; since then vm.memfd_noexec=2 demands it. */
	if (fd < 0 && memfd && errno == EINVAL)
		fd = memfd_create("before-after", MFD_CLOEXEC);
	if (fd < 0)
		run_broken("%s: %s", memfd ? "memfd_create" : shmem_path(), strerror(errno));
	return fd;
}

int64_t shmem_taken(bool memfd)
{
	char dir[256];
	struct statfs fs;
	int64_t bytes;

	if (!memfd) {
		scratch_path(dir, sizeof(dir), "shmem");
		if (statfs(dir, &fs))
			run_broken("%s: %s", dir, strerror(errno));
		return (int64_t)(fs.f_blocks - fs.f_bfree) * fs.f_bsize;
	}
	file_number("/proc/sys/vm/stat_refresh");
	bytes = meminfo("Shmem");
	if (bytes < 0)
		run_broken("/proc/meminfo: wanted a row Shmem, found none");
	return bytes;
}

void shmem_write(int fd, uint64_t size, uint64_t stride)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t chunk = stride == 1 ? 256 * page : page, at;
	char *buf = calloc(1, chunk);
	uint64_t offset, number;

	if (!buf)
		run_broken("out of memory for %zu bytes", chunk);
	for (offset = 0; offset < size; offset += stride == 1 ? chunk : stride * page) {
		size_t len = size - offset < chunk ? (size_t)(size - offset) : chunk;

		for (at = 0; at < len; at += page) {
			number = (offset + at) / page + 1;
			memcpy(buf + at, &number, sizeof(number));
		}
		if (!io_pwrite(fd, buf, len, (off_t)offset))
			run_fail("write at %" PRIu64 ": wanted %zu bytes written, found: %s",
				 offset, len, strerror(errno));
	}
	free(buf);
}

void shmem_fill(int fd, uint64_t size, bool write)
{
	if (write)
		shmem_write(fd, size, 1);
	else if (!io_allocate(fd, 0, 0, (off_t)size))
		run_fail("fallocate of %" PRIu64 " bytes: %s", size, strerror(errno));
}

void shmem_punch(int fd, uint64_t offset, uint64_t bytes)
{
	if (!io_allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			 (off_t)bytes))
		run_fail("punch of %" PRIu64 " bytes: %s", bytes, strerror(errno));
}

int64_t shmem_count_written(int fd, uint64_t size, uint64_t stride)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), offset, number;
	int64_t count = 0;

	for (offset = 0; offset < size; offset += stride * page)
		count += io_pread(fd, &number, sizeof(number), (off_t)offset) &&
			 number == offset / page + 1;
	return count;
}

int64_t shmem_file_bytes(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		run_broken("fstat: %s", strerror(errno));
	return (int64_t)st.st_blocks * 512;
}
