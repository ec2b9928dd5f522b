// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: two readings of /proc/interrupts, separated by a NUL byte, and what lies between them. */
#include "sys/interrupts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_row(const uint8_t *data, size_t size, struct interrupt_row *row)
{
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	char why[200] = "";
	bool ok;

	if (!f)
		return false;
	ok = interrupt_row_parse(f, INTERRUPTS_TLB, row, why, sizeof(why));
	fclose(f);
	if (!ok && !why[0])
		abort();
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t first = nul ? (size_t)(nul - data) : size;
	struct interrupt_row before, after;
	char why[200] = "";
	uint64_t sum = 0;

	if (!read_row(data, first, &before))
		return 0;
	if (nul && read_row(nul + 1, size - first - 1, &after)) {
		if (!interrupt_row_difference(&before, &after, &sum, why, sizeof(why)) && !why[0])
			abort();
		/* 32 bits a CPU. */
		if (sum > before.cpus * UINT64_C(0xffffffff))
			abort();
		interrupt_row_free(&after);
	}
	interrupt_row_free(&before);
	return 0;
}
