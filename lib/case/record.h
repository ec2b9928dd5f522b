/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Appending to results/KERNEL/BOOT_ID.jsonl: one line a run, one write(2). What an earlier kill
 * left torn at the end is moved to FILE.torn first; a short write is taken back.
 */
#ifndef CASE_RECORD_H
#define CASE_RECORD_H

#include <jansson.h>

/* Makes the directory of `path` where it is missing; broken where it cannot be written. */
void record_prepare(const char *path);
/* A descriptor for record_append(), or broken with the path and the reason. */
int record_open(const char *path);
/* 0, or an errno: then the file is as it was. */
int record_append(int fd, const json_t *record);

/* 2026-11-30T12:00:00Z of now. */
void utc_now(char *buf, size_t size);

#endif
