/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file system whose storage is memory, so that the file system and not a disk is measured: on
 * brd (/dev/ramN) where one can be had, else on a loop device over a file in a tmpfs of our own.
 *
 * brd is loaded for us where it is a module that nobody loaded, and unloaded again. Where it is
 * there already, a device is taken that nothing has open and that holds nothing but zeroes; our
 * mark is written to its end before anything else, so that whatever stands on a device with the
 * mark is ours to wipe. A loop device carries the mark as its file name and clears itself with its
 * last user. All of it is journalled: a killed run's device is freed at the next start.
 */
#ifndef SYS_RAMDISK_H
#define SYS_RAMDISK_H

#include <stdint.h>

/*
 * Makes a file system of type ext4, xfs or tmpfs with room for `bytes` of file data, and mounts it
 * on SCRATCH/ramdisk. Returns what it is on: "brd", "loop" or "tmpfs". Skips where the kernel or
 * the box cannot: no such file system, no mkfs, neither kind of device. The file systems are made
 * with fixed features (ramdisk.c), whatever the box's mke2fs.conf says.
 */
const char *ramdisk_mount(const char *fs, uint64_t bytes);

/* In the inner process: a new, empty file on it, open for reading and writing. */
int ramdisk_file(void);

#endif
