/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tmpfs files and memfds: making them, writing them so that every page can be told again, and
 * what they hold. Failures end the run.
 */
#ifndef SYS_SHMEM_H
#define SYS_SHMEM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * In the parent: makes room for one file of up to `bytes`, of PMD-sized folios or of single pages.
 * A file goes on a tmpfs of just that size, SCRATCH/shmem; memfds follow a knob, which is owned.
 */
void shmem_place(bool memfd, uint64_t bytes, bool pmd);
/* Skips where it would, as far as that is to be seen without changing anything. */
void shmem_require(bool memfd, uint64_t bytes, bool pmd);

/* In the inner process: makes the file; its path, for files, is shmem_path(). */
int shmem_create(bool memfd);
const char *shmem_path(void);

/*
 * Bytes taken: on our tmpfs exactly; for memfds, which are on no mount that can be asked, in all
 * tmpfs files and memfds of the box (per-CPU counts are folded in where root may).
 */
int64_t shmem_taken(bool memfd);

/* Fills the file up to `size`: by fallocate(), whose folios are not uptodate, or by writing. */
void shmem_fill(int fd, uint64_t size, bool write);
/* Writes every `stride`th page of the first `size` bytes; each begins with its number, from 1. */
void shmem_write(int fd, uint64_t size, uint64_t stride);
/* Takes all pages of a range out; the file keeps its length. */
void shmem_punch(int fd, uint64_t offset, uint64_t bytes);
/* How many of those pages still hold what shmem_write() wrote. */
int64_t shmem_count_written(int fd, uint64_t size, uint64_t stride);

/* Bytes that the file holds (st_blocks). */
int64_t shmem_file_bytes(int fd);

#endif
