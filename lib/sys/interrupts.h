/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of /proc/interrupts, one counter a CPU that is online. A row is found by what it is, "TLB
 * shootdowns", not by its label, which differs by architecture (x86 CAL, arm64 IPI1).
 *
 * The kernel's counters are 32 bit and wrap, in seconds on a large machine: only differences of the
 * same CPU modulo 2^32 mean anything, and only while fewer than 2^32 happen on one CPU.
 */
#ifndef SYS_INTERRUPTS_H
#define SYS_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define INTERRUPTS_TLB "TLB shootdowns"
#define INTERRUPTS_CALL "Function call interrupts"

struct interrupt_row {
	size_t cpus;
	unsigned int
		*cpu; /* their numbers, as the heading gives them: those offline are left out */
	uint32_t *count;
};

/* False: there is no such row, or it is not one counter a CPU; `why` says so. */
bool interrupt_row_parse(FILE *f, const char *what, struct interrupt_row *row, char *why,
			 size_t size);
void interrupt_row_free(struct interrupt_row *row);

/* The sum of the differences. False where a CPU came or went: its part is not known. */
bool interrupt_row_difference(const struct interrupt_row *before, const struct interrupt_row *after,
			      uint64_t *sum, char *why, size_t size);

/* How often something happened since interrupts_start(). */
struct interrupt_count {
	const char *what;
	struct interrupt_row start;
	char why[160]; /* not empty: it cannot be counted */
};

void interrupts_start(struct interrupt_count *count, const char *what);
/* -1: not known, count->why says why. Once for each start. */
int64_t interrupts_since(struct interrupt_count *count);

#endif
