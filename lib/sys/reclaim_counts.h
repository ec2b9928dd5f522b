/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What reclaim did and cost while something ran, from counters of the whole box: other programs on
 * it show in them.
 */
#ifndef SYS_RECLAIM_COUNTS_H
#define SYS_RECLAIM_COUNTS_H

#include <stdint.h>

/*
 * Their names: shootdowns, function_call_ipis (both over all CPUs), shootdowns_per_stolen_page and
 * ipis_per_stolen_page (divided by pgsteal_anon), the rows of /proc/vmstat pgsteal_anon,
 * pgscan_anon, pswpout, pgmajfault, workingset_refault_anon (pages, faults) and thp_swpout (events),
 * and psi_some and psi_full (microseconds; of the memcg on v2, else of the box).
 */
struct reclaim_figure {
	const char *name;
	double value;
	char why[200]; /* not empty: it is not known, and why */
};

/*
 * Before begin(), and before the workload: whether flushes are counted on this box. Where not, the
 * four rows of interrupts are not known.
 */
void reclaim_counts_probe(void);
/* `memcg` for the pressure. */
void reclaim_counts_begin(const char *memcg);
void reclaim_counts_end(const char *memcg);

/* Ends with one whose name is NULL. */
const struct reclaim_figure *reclaim_figures(void);
/* By name; -1: not known. */
int64_t reclaim_figure(const char *name);

#endif
