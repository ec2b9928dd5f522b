// SPDX-License-Identifier: GPL-2.0-only
/* LKP's stats form: "key: number" lines, one value a key. What is absent has no line. */
#include "compare/report.h"

#include <ctype.h>
#include <math.h>

static const char *key(struct arena *arena, const char *label)
{
	char *text = arena_strdup(arena, label);

	for (char *c = text; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-' && *c != '_' &&
		    *c != '=' && *c != '#')
			*c = '_';
	}
	return text;
}

static void put(FILE *out, const char *label, const char *what, double value)
{
	if (isfinite(value))
		fprintf(out, "before-after.%s.%s: %.10g\n", label, what, value);
}

static void put_row(const struct comparison *comparison, const struct result_row *row, FILE *out)
{
	const char *label = key(comparison->arena, row->label);

	put(out, label, "before", row->before.middle * row->quantity.factor);
	put(out, label, "after", row->after.middle * row->quantity.factor);
	put(out, label, "ratio", exp(row->difference.d));
	put(out, label, "ratio_low", exp(row->difference.low));
	put(out, label, "ratio_high", exp(row->difference.high));
	put(out, label, "share", row->share);
	put(out, label, "boots_before", (double)row->before.boots);
	put(out, label, "boots_after", (double)row->after.boots);
	if (row->verdict != VERDICT_DESCRIBED && row->verdict != VERDICT_NOT_MEASURED)
		put(out, label, key(comparison->arena, verdict_name[row->verdict]), 1);
}

/* before-after.CLAIM.code_path_before.before: 1, and each rate. */
static void put_path(const struct comparison *comparison, const struct claim_result *result,
		     FILE *out)
{
	static const char *const sides[] = {"code_path_before", "code_path_after"};

	for (int i = 0; i < 2 && result->claim->nmechanism; i++) {
		const struct path_side *side = &result->path[i];
		const char *label =
			key(comparison->arena, arena_printf(comparison->arena, "%s.%s",
							    result->claim->name, sides[i]));

		if (side->path != PATH_ABSENT)
			put(out, label, path_name[side->path], 1);
		for (size_t j = 0; j < side->nrates; j++) {
			if (side->rates[j].function)
				put(out, label, side->rates[j].function, side->rates[j].high);
		}
	}
}

void report_lkp(const struct comparison *comparison, FILE *out)
{
	size_t warnings = 0;

	for (size_t i = 0; i < comparison->nclaims; i++) {
		for (size_t j = 0; j < comparison->claims[i].nrows; j++)
			put_row(comparison, comparison->claims[i].rows[j], out);
		put_path(comparison, &comparison->claims[i], out);
	}
	for (size_t i = 0; i < comparison->nothers; i++)
		put_row(comparison, comparison->others[i], out);
	for (size_t i = 0; i < comparison->notes.count; i++)
		warnings += comparison->notes.items[i].warning;
	put(out, "summary", "reproduced", (double)comparison->count[VERDICT_REPRODUCED]);
	put(out, "summary", "unchanged", (double)comparison->count[VERDICT_UNCHANGED]);
	put(out, "summary", "inconclusive", (double)comparison->count[VERDICT_INCONCLUSIVE]);
	put(out, "summary", "warnings", (double)warnings);
	put(out, "summary", "failed", comparison->outcome == OUTCOME_FAIL ? 1 : 0);
}
