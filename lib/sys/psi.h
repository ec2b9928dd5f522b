/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pressure stall information: how long tasks waited for memory. On cgroup v2 of one memcg, else of
 * the whole box. Microseconds since the memcg was made, or since boot: take differences.
 */
#ifndef SYS_PSI_H
#define SYS_PSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct psi {
	int64_t some_us, full_us; /* some task waited; all that were not idle did */
};

/* False: not counted here (CONFIG_PSI, psi=1); `why` says so. */
bool psi_memory(const char *memcg, struct psi *psi, char *why, size_t size);
/* Reads such a file; `why` names nothing but what was wanted. */
bool psi_parse(FILE *f, struct psi *psi);

/* "memcg" or "box": whose pressure psi_memory() tells. */
const char *psi_scope(const char *memcg);

#endif
