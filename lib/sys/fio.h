/* SPDX-License-Identifier: GPL-2.0-only */
/* fio writing through a mapping, each operation timed, and the JSON it prints (3.0 and later). */
#ifndef SYS_FIO_H
#define SYS_FIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fio_result {
	int64_t operations;
	double per_second;		/* over the job's own run time */
	double p50_ns, p99_ns, p999_ns; /* of the completion latency, as fio's buckets round it */
};

/*
 * Writes a page in every page of the first `bytes` of a file that reaches so far, in order, through
 * a shared mapping: in a hole each write is a first touch. On one CPU. (The range begins at 0
 * because fio 3.33 maps the file's beginning whatever --offset says, and anew for every write.)
 * False: `why` says what was wanted and what was found.
 */
bool fio_touch(const char *path, uint64_t bytes, int cpu, struct fio_result *result, char *why,
	       size_t size);

/* Reads fio's output for one job that wrote; lines before the JSON are passed over. */
bool fio_parse(FILE *f, struct fio_result *result, char *why, size_t size);

/* Of each figure the median over n results (the higher of the middle two); of operations the least. */
struct fio_result fio_median(const struct fio_result *results, size_t n);

/* "fio-3.33"; "unknown" where it does not say. */
const char *fio_version(void);

#endif
