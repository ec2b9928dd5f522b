/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's function profiler (CONFIG_FUNCTION_PROFILER): counts calls of chosen functions on
 * every CPU, whoever makes them. Its switch and filter outlive a process; what they were before is
 * journalled and put back. Where somebody else uses ftrace it is left alone.
 */
#ifndef SYS_PROFILER_H
#define SYS_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: there is no profiler here, or somebody else's, and `why` says it. */
bool profiler_open(char *why, size_t size);

/* Adds a function to those counted. False: `why`. */
bool profiler_define(const char *function, char *why, size_t size);

/* Counts from 0. / Stops. False: `why`. */
bool profiler_start(char *why, size_t size);
bool profiler_stop(char *why, size_t size);

/* The calls between start and stop, over all CPUs; -1: not known, `why`. */
int64_t profiler_calls(const char *function, char *why, size_t size);

#endif
