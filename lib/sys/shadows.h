/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes of a file's page cache what a much larger file leaves after reclaim: no page, and a shadow
 * entry in the tree in the place of every page. The file is filled and reclaimed chunk by chunk, so
 * memory holds a few chunks and the tree's nodes (2.3 permille of the file's size), however large
 * it is. docs/shadow-entries.md says why this way.
 */
#ifndef SYS_SHADOWS_H
#define SYS_SHADOWS_H

#include <stdint.h>

#include "sys/cachestat.h"

struct shadows_plan {
	/*
	 * Puts pages into the page cache, on that CPU, and returns 0 or an errno. NULL: they are
	 * read in by faults.
	 */
	int (*fill)(int fd, uint64_t offset, uint64_t length, int cpu);
	/* The same for the pages whose folios are looked at: they must be such as can be mapped. */
	int (*fill_sample)(int fd, uint64_t offset, uint64_t length, int cpu);
	/*
	 * NULL: reclaimed by MADV_PAGEOUT. Else by memcg_reclaim() of this one, which must be what
	 * `fill` has the pages charged to, and not what it has the tree's nodes charged to: reclaim
	 * shrinks a memcg's shadow nodes as well, whenever there are more than an eighth of its
	 * pages. Needs `fill` and `fill_sample`.
	 */
	const char *memcg;
	uint64_t chunk;	      /* bytes; 0: what was measured to be best */
	unsigned int threads; /* 0: as many as help, not more than CPUs */
};

struct shadows {
	uint64_t cached, evicted; /* pages of the whole file, asked for last */
	/* Pages of a sample that were in folios above order 0; -1: the kernel does not say. */
	int64_t above_order_0;
};

/*
 * `fd` is open for reading and writing, a file of ours of `size` bytes, mapped nowhere else. Pages
 * that a first pass leaves, in the cache or out of the tree, are sought and done again, so
 * `cached` is 0 and `evicted` the whole but on a kernel that has it otherwise.
 */
struct shadows shadows_make(int fd, uint64_t size, const struct shadows_plan *plan);

#endif
