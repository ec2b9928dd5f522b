/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel functions as perf events: a kprobe event each, in a group of our own, which perf counts
 * for one task in one region like any other event. The definitions outlive a process; they are
 * journalled and removed.
 */
#ifndef SYS_KPROBE_H
#define SYS_KPROBE_H

#include <stdbool.h>
#include <stddef.h>

/* False: there are no kprobe events here, and `why` says it. */
bool kprobe_open(char *why, size_t size);

/* Defines one and writes the name of perf's event into `event`. False: `why`. */
bool kprobe_define(const char *function, char *event, size_t event_size, char *why, size_t size);

#endif
