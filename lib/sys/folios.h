/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's own counters say about the folios of tmpfs files: how many bytes are in
 * PMD-sized folios and how many folios above order 0 were allocated. It proves the order of a
 * file's folios without mapping it. The counters are global: other users of tmpfs show in them.
 */
#ifndef SYS_FOLIOS_H
#define SYS_FOLIOS_H

#include <stdint.h>

struct folio_counts {
	int64_t pmd_bytes;  /* ShmemHugePages; -1 without THP */
	int64_t above_zero; /* shmem_alloc over all sizes above order 0; -1: not counted */
};

struct folio_counts folio_counts(void);

/* Bytes of a PMD-sized folio; -1 without THP. */
int64_t folio_pmd_size(void);

/*
 * How many pages of a mapping (those that are in memory and mapped) belong to folios above order 0:
 * the kernel's flags of every page, by /proc/self/pagemap and /proc/kpageflags. `map` and `bytes`
 * are multiples of a page. -1: the kernel does not say, or nothing is mapped.
 */
int64_t folio_pages_above_order_0(const void *map, uint64_t bytes);

#endif
