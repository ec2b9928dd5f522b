/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A swap area of our own, in front of any that the box has (highest priority). Journalled: a
 * killed run's area is turned off and its zram device or file removed at the next start.
 */
#ifndef SYS_SWAP_H
#define SYS_SWAP_H

#include <stdint.h>

/*
 * Makes and turns on an area of at least `bytes`: on the block device that run.sh --swap-device
 * named ($BEFORE_AFTER_SWAP_DEVICE; it is overwritten, and refused when it holds anything but a
 * swap area), else on a new zram device. Returns what it is on: "device" or "zram".
 * Skips where neither can be had.
 */
const char *swap_add(uint64_t bytes);
/* Each skips where the one without _require would, as far as that is seen without a change. */
void swap_add_require(uint64_t bytes);

/*
 * The same on what is asked for: "device"; "file", made in the directory that --swap-device names
 * (the only place on the host's file systems that we write to, so it must be named); "zram"; or
 * "host", which adds nothing and wants that much free in the areas that the box has.
 */
void swap_use(const char *kind, uint64_t bytes);
void swap_require(const char *kind, uint64_t bytes);

/* Bytes in use over all areas; a few pages a CPU lag behind. */
int64_t swap_used(void);

#endif
