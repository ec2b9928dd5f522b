/* SPDX-License-Identifier: GPL-2.0-only */
/* The history for other programs; docs/history.md says where each format is from. Pure. */
#ifndef HISTORY_EXPORT_H
#define HISTORY_EXPORT_H

#include "history/trends.h"

#include <stdio.h>

struct export
{
	const char *name; /* for --format */
	/* Returns how many nights had to be left out. There is a night that is done. */
	size_t (*write)(struct arena * arena, const struct trends *trends, FILE *out);
};

extern const struct export exports[];
extern const size_t nexports;
/* "otava, github-benchmark-smaller, .." */
const char *export_names(struct arena *arena);

/* ---- the formats ---- */

/* Apache Otava's CSV: a line a night, ratios to the anchor. */
size_t export_otava(struct arena *arena, const struct trends *trends, FILE *out);
/* github-action-benchmark's JSON for customSmallerIsBetter and for customBiggerIsBetter. */
size_t export_github_smaller(struct arena *arena, const struct trends *trends, FILE *out);
size_t export_github_bigger(struct arena *arena, const struct trends *trends, FILE *out);
/* Bencher Metric Format, JSON. */
size_t export_bencher(struct arena *arena, const struct trends *trends, FILE *out);
/* Prometheus' text exposition format 0.0.4. */
size_t export_prometheus(struct arena *arena, const struct trends *trends, FILE *out);

/* ---- what they share ---- */

/* The index of the newest night that is done. */
size_t export_newest(const struct trends *trends);
/* The next trend from *at on, of that kind (or of any: -1), that the night measured; NULL: no more. */
const struct trend *export_next(const struct trends *trends, int kind, size_t night, size_t *at);

/*
 * A unit that does not follow the size of a value, as one for a reader does: ns for a time, alone or
 * per something; every other unit as it is. *factor converts to it.
 */
const char *export_unit(struct arena *arena, const char *unit, double *factor);

#endif
