/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filling the page cache with a file in folios of order 0, also where the file system could make
 * larger ones, and what of a file is cached.
 */
#ifndef SYS_CACHED_H
#define SYS_CACHED_H

#include <stdint.h>

/*
 * Makes an empty file a hole of `size` bytes and has all of it read in, by readahead(2), which
 * neither copies nor waits for a device, in folios of the least order. Fails the run.
 */
void cached_read_hole(int fd, uint64_t size);
/* Writes `size` bytes, a write a page: a folio is no larger than the write that made it. */
void cached_write(int fd, uint64_t size);

/* Sums of pages over all the times looked; -1: this kernel, or these rights, do not tell. */
struct cached {
	int64_t wanted;	       /* as many as should have been cached */
	int64_t pages;	       /* cached, by cachestat(2) (6.5) or else mincore(2) */
	int64_t evicted;       /* reclaimed, of those not cached any more; 0 where not told */
	int64_t dirty;	       /* of these dirty or under writeback; -1 on tmpfs, where all are */
	int64_t above_order_0; /* of these in a folio of more than a page, by /proc/kpageflags */
	int64_t left;	       /* cached where none should have been */
};

/*
 * Adds what the first `size` bytes of a file, which should all be cached, have in the cache. The
 * pages are mapped for that and so left referenced: not for pages that are timed afterwards.
 */
void cached_add(struct cached *sum, int fd, uint64_t size);
/* Adds what is left of them, where nothing should be. */
void cached_add_left(struct cached *sum, int fd, uint64_t size);

#endif
