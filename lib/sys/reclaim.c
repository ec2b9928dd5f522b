// SPDX-License-Identifier: GPL-2.0-only
#include "sys/reclaim.h"

#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/knob.h"

#define THP "/sys/kernel/mm/transparent_hugepage"

static const char zswap[] = "/sys/module/zswap/parameters/enabled";
static const char lru_gen[] = "/sys/kernel/mm/lru_gen/enabled";

/* All parts: x86 can also clear the accessed bit of a page table; others read back without it. */
#if defined(__x86_64__)
static const char all_parts[] = "0x0007";
#else
static const char all_parts[] = "0x0003";
#endif

void reclaim_lru_require(const char *lru)
{
	if (!strcmp(lru, "mglru") && access(lru_gen, F_OK))
		run_skip("lru=mglru: wanted a kernel with CONFIG_LRU_GEN, found no %s; "
			 "lru=classic does without",
			 lru_gen);
}

static void choose_lru(const char *name)
{
	reclaim_lru_require(name);
	if (!access(lru_gen, F_OK))
		knob_set(lru_gen, !strcmp(name, "mglru") ? all_parts : "0x0000");
}

void reclaim_single_pages(const char *lru)
{
	char value[64];
	glob_t sizes;
	size_t i;

	if (!access(THP "/enabled", F_OK))
		knob_set(THP "/enabled", "never");
	if (!glob(THP "/hugepages-*/enabled", 0, NULL, &sizes)) {
		for (i = 0; i < sizes.gl_pathc; i++)
			/* "inherit" is the never above. */
			if (!knob_read(sizes.gl_pathv[i], value, sizeof(value)) ||
			    strcmp(value, "inherit"))
				knob_set(sizes.gl_pathv[i], "never");
		globfree(&sizes);
	}
	if (!access(zswap, F_OK))
		knob_set(zswap, "N");
	choose_lru(lru);
}
