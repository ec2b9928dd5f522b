// SPDX-License-Identifier: GPL-2.0-only
#include "sys/folios.h"

#include <glob.h>
#include <stdio.h>

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
	return (struct folio_counts){
		.pmd_bytes = meminfo("ShmemHugePages"),
		.file_thp = vmstat("thp_file_alloc"),
		.above_zero = sum_of(THP "/hugepages-*/stats/shmem_alloc"),
	};
}
