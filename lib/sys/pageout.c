// SPDX-License-Identifier: GPL-2.0-only
#include "sys/pageout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/end.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define ROUNDS 50

static int64_t not_in_memory(void *map, size_t size, unsigned char *vector)
{
	size_t pages = size / (size_t)sysconf(_SC_PAGESIZE), i;
	int64_t out = 0;

	if (mincore(map, size, vector))
		run_broken("mincore: %s", strerror(errno));
	for (i = 0; i < pages; i++)
		out += !(vector[i] & 1);
	return out;
}

int64_t pageout_chunks(int fd, size_t size, size_t chunk, size_t stride)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), at;
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *vector = malloc(size / page);
	int64_t wanted = 0, out = 0;
	int round;

	if (map == MAP_FAILED || !vector)
		run_broken("mmap of %zu bytes: %s", size, strerror(errno));
	if (madvise(map, size, MADV_POPULATE_READ))
		run_skip("wanted MADV_POPULATE_READ, found: %s", strerror(errno));
	for (at = 0; at < size; at += stride)
		wanted += (int64_t)((size - at < chunk ? size - at : chunk) / page);
	for (round = 0; round < ROUNDS && out < wanted; round++) {
		for (at = 0; at < size; at += stride)
			if (madvise(map + at, size - at < chunk ? size - at : chunk, MADV_PAGEOUT))
				run_skip("wanted MADV_PAGEOUT, found: %s", strerror(errno));
		out = not_in_memory(map, size, vector);
	}
	free(vector);
	munmap(map, size);
	return out;
}
