/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /proc/lock_stat of a kernel with CONFIG_LOCK_STAT: how often a lock was taken, waited for and how
 * long it was held, on all CPUs, whoever took it. Such a kernel checks every lock it takes, so
 * nothing is ever timed on it.
 */
#ifndef SYS_LOCK_STAT_H
#define SYS_LOCK_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Readers and writers together; times from the kernel's hundredths of a microsecond. */
struct lock_counts {
	uint64_t acquisitions, contentions;
	double held_ns, waited_ns;
};

/*
 * The locks that can be asked for: i_pages (of every file), i_lock (of every inode), lru_lock and
 * zone_lock. NULL-terminated.
 */
extern const char *const lock_names[];

/*
 * Turns the kernel's lock statistics on where they are off (kernel.lock_stat, journalled and given
 * back) and finds out under which name this kernel shows i_pages. False: `why`.
 */
bool lock_stat_open(char *why, size_t size);
bool lock_stat_start(char *why, size_t size);
bool lock_stat_stop(char *why, size_t size);
/* Between start and stop, of one of lock_names. False: this kernel shows no such lock. */
bool lock_stat_of(const char *name, struct lock_counts *counts, const char **shown_as);

/*
 * Adds up the rows of such a file whose lock goes by the name; with `versions` also those that differ
 * from it by a number: "&sb->s_type->i_lock_key#7". False, with what was wanted and found in `why`,
 * where it is no such file or the kernel has given up counting.
 */
bool lock_stat_sum(FILE *f, const char *lock, bool versions, struct lock_counts *sum, char *why,
		   size_t size);

#endif
