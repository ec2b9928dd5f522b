// SPDX-License-Identifier: GPL-2.0-only
#include "sys/folios.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/kernel-page-flags.h>
#include <stdio.h>
#include <unistd.h>

#include "sys/io.h"
#include "sys/vmstat.h"

#define THP "/sys/kernel/mm/transparent_hugepage"

int64_t folio_pmd_size(void)
{
	return file_number(THP "/hpage_pmd_size");
}

static int64_t sum_of(const char *pattern)
{
	int64_t sum = -1;
	glob_t found;
	size_t i;

	if (!glob(pattern, 0, NULL, &found)) {
		for (sum = 0, i = 0; i < found.gl_pathc; i++)
			sum += file_number(found.gl_pathv[i]);
	}
	globfree(&found);
	return sum;
}

struct folio_counts folio_counts(void)
{
	/* Before 5.10 PMD-sized folios stay in per-CPU counts of up to 125 folios: fold them in. */
	file_number("/proc/sys/vm/stat_refresh");
	return (struct folio_counts){
		.pmd_bytes = meminfo("ShmemHugePages"),
		.above_zero = sum_of(THP "/hugepages-*/stats/shmem_alloc"),
	};
}

/* An entry of /proc/self/pagemap: bit 63, in memory; bits 0 to 54, the frame, 0 without the right. */
static uint64_t frame_of(int pagemap, uint64_t page_number)
{
	uint64_t entry;

	if (!io_pread(pagemap, &entry, sizeof(entry), (off_t)(page_number * sizeof(entry))) ||
	    !(entry >> 63))
		return 0;
	return entry & (((uint64_t)1 << 55) - 1);
}

int64_t folio_pages_above_order_0(const void *map, uint64_t bytes)
{
	const uint64_t compound = (uint64_t)1 << KPF_COMPOUND_HEAD | (uint64_t)1
									     << KPF_COMPOUND_TAIL;
	int pagemap = io_open("/proc/self/pagemap", O_RDONLY, 0);
	int kpageflags = io_open("/proc/kpageflags", O_RDONLY, 0);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), i, flags;
	int64_t asked = 0, above = 0;

	for (i = 0; pagemap >= 0 && kpageflags >= 0 && i < bytes / page; i++) {
		uint64_t frame = frame_of(pagemap, (uintptr_t)map / page + i);

		if (!frame ||
		    !io_pread(kpageflags, &flags, sizeof(flags), (off_t)(frame * sizeof(flags))))
			continue;
		asked++;
		above += (flags & compound) != 0;
	}
	if (pagemap >= 0)
		close(pagemap);
	if (kpageflags >= 0)
		close(kpageflags);
	return asked ? above : -1;
}
