/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel functions as perf events of another kind: hardware breakpoints on their first instruction,
 * counted for one task like kprobes. They take what kprobe events refuse, functions built without
 * ftrace (all of lib/, so the xarray's), but there are only four. Nothing to undo: they go with the
 * process that opened them. A kernel without kprobes allows none in its own code.
 */
#ifndef SYS_BREAKPOINT_H
#define SYS_BREAKPOINT_H

#include <stdbool.h>
#include <stddef.h>

/* False: this kernel takes none in its own code, and `why` says it. */
bool breakpoint_open(char *why, size_t size);

/* The name of perf's event into `event`. False: `why`. */
bool breakpoint_define(const char *function, char *event, size_t event_size, char *why,
		       size_t size);

#endif
