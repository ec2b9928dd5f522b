/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reclaiming chosen pages of a mapping with MADV_PAGEOUT (5.4). The call returns 0 while it skips
 * pages that another CPU's LRU batch still holds, so it is repeated until they are gone.
 */
#ifndef SYS_PAGEOUT_H
#define SYS_PAGEOUT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Maps the first `size` bytes of a file of ours, reads them in, and reclaims the first `chunk`
 * bytes of every `stride`. Skips on kernels without the calls. Returns how many of the pages are
 * not in memory afterwards; the mapping is gone.
 */
int64_t pageout_chunks(int fd, size_t size, size_t chunk, size_t stride);

#endif
