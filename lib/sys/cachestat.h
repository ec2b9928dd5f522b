/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the page cache holds of a range of a file, by cachestat(2) (6.5): pages, and the shadow
 * entries that reclaim left in their place. On tmpfs `evicted` counts swap entries. The order of
 * folios does not show.
 */
#ifndef SYS_CACHESTAT_H
#define SYS_CACHESTAT_H

#include <stdint.h>

/* Pages, whatever the folios' size. */
struct cached {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* Of `length` bytes from `offset`; 0: to the end of the file. Skips on kernels without the call. */
struct cached cachestat_of(int fd, uint64_t offset, uint64_t length);

#endif
