/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of /proc/vmstat, /proc/meminfo, tables like them and files of one number.
 * -1: this kernel has no such row.
 */
#ifndef SYS_VMSTAT_H
#define SYS_VMSTAT_H

#include <stdint.h>

/* As the kernel prints it: events or pages. */
int64_t vmstat(const char *name);
/* Bytes, e.g. meminfo("MemAvailable"). */
int64_t meminfo(const char *name);
/* Bytes, of one NUMA node: "MemFree". */
int64_t node_meminfo(int node, const char *name);
/* The number in a row "NAME NUMBER" of any such table. */
int64_t file_row(const char *path, const char *name);
/* The number in a file that holds just one. */
int64_t file_number(const char *path);

#endif
