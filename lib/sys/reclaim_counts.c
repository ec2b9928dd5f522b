// SPDX-License-Identifier: GPL-2.0-only
#include "sys/reclaim_counts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sys/interrupts.h"
#include "sys/psi.h"
#include "sys/tlb.h"
#include "sys/vmstat.h"

static const char *const rows[] = {
	"pgsteal_anon", "pgscan_anon", "pswpout", "pgmajfault", "workingset_refault_anon",
	"thp_swpout"};
enum { STOLEN, ROWS = sizeof(rows) / sizeof(rows[0]) };

static struct reclaim_figure figures[ROWS + 6 + 1];
static size_t filled;
static int64_t start[ROWS];
static struct interrupt_count tlb, calls;
static struct psi psi_start;
static char uncounted[200], no_psi[200];

void reclaim_counts_probe(void)
{
	if (tlb_flushes_counted(uncounted, sizeof(uncounted)))
		uncounted[0] = '\0';
}

void reclaim_counts_begin(const char *memcg)
{
	size_t i;

	if (psi_memory(memcg, &psi_start, no_psi, sizeof(no_psi)))
		no_psi[0] = '\0';
	for (i = 0; i < ROWS; i++)
		start[i] = vmstat(rows[i]);
	interrupts_start(&tlb, INTERRUPTS_TLB);
	interrupts_start(&calls, INTERRUPTS_CALL);
}

/* `why` NULL or empty: it is known. */
static void figure(const char *name, double value, const char *why)
{
	struct reclaim_figure *f = &figures[filled++];

	f->name = name;
	f->value = value;
	snprintf(f->why, sizeof(f->why), "%s", why ? why : "");
}

static void interrupts(const char *name, const char *share, struct interrupt_count *count)
{
	int64_t n = interrupts_since(count), stolen = reclaim_figure(rows[STOLEN]);
	const char *why = *uncounted ? uncounted : n < 0 ? count->why : NULL;

	figure(name, (double)n, why);
	if (!why && stolen <= 0)
		why = stolen ? "stolen pages are not counted" : "no page was stolen";
	figure(share, why ? 0 : (double)n / (double)stolen, why);
}

void reclaim_counts_end(const char *memcg)
{
	struct psi psi = {0, 0};
	size_t i;

	filled = 0;
	memset(figures, 0, sizeof(figures));
	for (i = 0; i < ROWS; i++) {
		int64_t now = vmstat(rows[i]);

		figure(rows[i], (double)(now - start[i]),
		       now < 0 || start[i] < 0 ? "/proc/vmstat has no such row" : NULL);
	}
	interrupts("shootdowns", "shootdowns_per_stolen_page", &tlb);
	interrupts("function_call_ipis", "ipis_per_stolen_page", &calls);
	if (!*no_psi && psi_memory(memcg, &psi, no_psi, sizeof(no_psi)))
		no_psi[0] = '\0';
	figure("psi_some", (double)(psi.some_us - psi_start.some_us), no_psi);
	figure("psi_full", (double)(psi.full_us - psi_start.full_us), no_psi);
}

const struct reclaim_figure *reclaim_figures(void)
{
	return figures;
}

int64_t reclaim_figure(const char *name)
{
	const struct reclaim_figure *f;

	for (f = figures; f->name; f++)
		if (!strcmp(f->name, name) && !*f->why)
			return (int64_t)f->value;
	return -1;
}
