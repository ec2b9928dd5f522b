/* SPDX-License-Identifier: GPL-2.0-only */
/* tracefs: mounted in our own namespace, or opened without a mount when a killed run is undone. */
#ifndef SYS_TRACEFS_H
#define SYS_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

/* Mounts it where it is not, in our own namespace: perf looks for its events there. */
bool tracefs_mount(char *why, size_t size);

/*
 * Opens NAME of a mounted tracefs or, where none is mounted, of one that is attached nowhere and
 * goes with the descriptor. -1: errno.
 */
int tracefs_open(const char *name, int flags);
/* Writes the whole text; an empty one only opens the file. False: errno. */
bool tracefs_write(const char *name, int flags, const char *text);
/* The whole file, to be freed; NULL: errno. */
char *tracefs_read(const char *name);

/* For tests: a directory that stands for the mounted tracefs. */
void tracefs_use(const char *dir);

#endif
