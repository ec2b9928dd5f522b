/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A RAM disk of the brd driver. Where brd is a module that nobody has loaded, it is loaded for us
 * and unloaded again. Where its devices are there already, one is taken that nobody has open and
 * that holds nothing but zeroes; our mark goes to its end before anything else, so that what
 * stands on a device with the mark is ours, and is wiped. Both are journalled.
 */
#ifndef SYS_BRD_H
#define SYS_BRD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Takes a device of at least `bytes`, not counting the last BRD_MARK_BYTES, which must be left
 * alone. Writes its path into `device`. False: there is none.
 */
bool brd_take(uint64_t bytes, const char *mark, char *device, size_t size);

#define BRD_MARK_BYTES 4096

#endif
