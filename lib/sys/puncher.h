/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that removes pages from a file and puts them back, piece by piece, without end: each
 * piece is punched out (in batches, under the lock of the file's page cache tree) and allocated
 * again.
 */
#ifndef SYS_PUNCHER_H
#define SYS_PUNCHER_H

#include <stdint.h>

/*
 * Starts on [from, from + bytes) of the file, all of which is allocated, on one CPU. `piece`
 * divides `bytes`. One at a time.
 */
void puncher_start(int fd, uint64_t from, uint64_t bytes, uint64_t piece, int cpu);

/* Stops it; it leaves all of its range allocated. Punches done, and a second. */
struct punched {
	uint64_t punches;
	double per_second;
};
struct punched puncher_stop(void);

#endif
