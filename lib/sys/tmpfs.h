/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A private mount namespace with a scratch directory in it. Nothing is made on the host's file
 * systems: a small tmpfs covers one existing, empty-handed directory (/mnt, /media, ...) inside
 * the namespace, and all other mounts stand below it. The namespace, and every mount with it,
 * ends with its last process, however that one dies.
 */
#ifndef SYS_TMPFS_H
#define SYS_TMPFS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Enters the namespace and mounts the scratch tmpfs. Returns its path; it is also in the
 * environment of the children, where scratch_dir() finds it. `avoid`, NULL-terminated: paths
 * that must stay visible. Skips without the right to mount.
 */
const char *scratch_enter(const char *const *avoid);
const char *scratch_dir(void);
/* SCRATCH/NAME into buf. */
void scratch_path(char *buf, size_t size, const char *name);

/* Makes SCRATCH/NAME, its path into dir, to be mounted on by the caller; unmounted when released. */
void scratch_mountpoint(char *dir, size_t size, const char *name);

/*
 * Mounts a tmpfs of `size` bytes on SCRATCH/NAME. `huge` is never, always, within_size or advise;
 * a kernel without huge tmpfs takes never as no option at all, and skips the others.
 */
void tmpfs_mount(const char *name, uint64_t size, const char *huge);

/* Mounts a block device's file system on SCRATCH/NAME, or skips. */
void scratch_mount(const char *name, const char *device, const char *fs);

#endif
