/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel functions as perf events: a kprobe event each, in a group of our own, which perf counts
 * for one task in one region like any other event. The definitions outlive a process; they are
 * journalled and removed. tracefs is mounted in our own namespace.
 */
#ifndef SYS_KPROBE_H
#define SYS_KPROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Mounts tracefs on SCRATCH/tracing. False: no kprobe events here, and `why` says it. */
bool kprobe_open(char *why, size_t size);

/*
 * Defines one. False: `why`, e.g. that this kernel has no such function (it may be inlined).
 * Its event is named GROUP:FUNCTION.
 */
bool kprobe_define(const char *function, char *why, size_t size);

#define KPROBE_GROUP "before_after"

#endif
