/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that removes pages from a file and puts them back, piece by piece, without end: each
 * piece is punched out (in batches, under the lock of the file's page cache tree) and allocated
 * again.
 */
#ifndef SYS_PUNCHER_H
#define SYS_PUNCHER_H

#include <stdint.h>

enum { PUNCHERS_MAX = 4 };

/* How the pages of a piece come back: by one call, or each by a fault on a mapping of the file. */
enum refill { REFILL_FALLOCATE, REFILL_TOUCH };

/*
 * Starts one on [from, from + bytes) of the file, all of which is allocated, on one CPU. `piece`
 * divides `bytes`. Each stays in its own range.
 */
void puncher_start(int fd, uint64_t from, uint64_t bytes, uint64_t piece, enum refill refill,
		   int cpu);

/* Stops all; they leave their ranges allocated. Punches of all, and of the first a second. */
struct punched {
	uint64_t punches;
	double per_second;
};
struct punched puncher_stop(void);

#endif
