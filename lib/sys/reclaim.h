/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What decides how anonymous memory is reclaimed, set for one run and restored with the other
 * knobs. All in the parent.
 */
#ifndef SYS_RECLAIM_H
#define SYS_RECLAIM_H

/* Skips where this kernel does not have the LRU. Changes nothing. */
void reclaim_lru_require(const char *lru);

/*
 * Anonymous memory in single pages (THP and every size of mTHP never), swapped to its area (no zswap
 * in front), on the LRU "mglru" or "classic". What a kernel does not have needs no setting; skips
 * where it has only the other LRU.
 */
void reclaim_single_pages(const char *lru);

#endif
