/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A memory cgroup of our own, v1 or v2. Journalled: what a killed run left is emptied (whoever is
 * in it was put there by that run) and removed at the next start.
 *
 * It stands below the nearest cgroup, from our own upwards, that gives its children the memory
 * controller, so that no limit set on this box is escaped: on v1 our own, on v2 usually the slice
 * above. Where none does, the root of v2 is told to (journalled too, taken back at the end).
 *
 * A memcg is named by its directory, a string of the caller's to free. All sizes are bytes.
 */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMCG_UNLIMITED UINT64_MAX

/*
 * In the parent: makes one, unlimited and without a process; `name` is part of its own name and
 * for people. NULL where that cannot be: `why` says what was wanted and what was found.
 */
char *memcg_try_create(const char *name, char *why, size_t size);
/* The same, but skips. */
char *memcg_create(const char *name);

/* Files are those of v2: memory.max, memory.reclaim, memory.events. */
bool memcg_is_v2(const char *memcg);

/* Moves the calling process (all threads) in. Children follow, what was charged before does not. */
void memcg_join(const char *memcg);
/* A descriptor into which a process writes "0" to move itself: for between fork and exec. */
int memcg_procs(const char *memcg);

/* The limit on memory; on v2 and with swap accounting, swap stays unlimited. Skips if refused. */
void memcg_limit(const char *memcg, uint64_t bytes);

/*
 * What this process may still be charged, its file pages being reclaimed, before a limit of its
 * cgroup or one above is met, as far as they are to be seen. MEMCG_UNLIMITED: none is set.
 */
uint64_t memcg_room(void);

/* What is charged now, kernel memory included. */
uint64_t memcg_usage(const char *memcg);
/* A row of memory.stat, spelled as this version spells it; -1: there is none. */
int64_t memcg_stat(const char *memcg, const char *row);
/* Processes killed for lack of memory; -1: not counted (v1 before 4.13). */
int64_t memcg_oom_kills(const char *memcg);
/* How often the limit was hit (v2 memory.events max, v1 memory.failcnt); -1: not counted. */
int64_t memcg_limit_hits(const char *memcg);

/*
 * Reclaims: v2 `bytes` through memory.reclaim (5.19), v1 all that can be through
 * memory.force_empty. False: not all of it could be reclaimed. Skips on kernels without the file.
 */
bool memcg_reclaim(const char *memcg, uint64_t bytes);

#endif
