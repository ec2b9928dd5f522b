// SPDX-License-Identifier: GPL-2.0-only
#include "history/export.h"

#include "compare/json_real.h"
#include "history/amount.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static void put(json_t *root, FILE *out)
{
	json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	fputc('\n', out);
	json_decref(root);
}

/* ---- github-action-benchmark ---- */

static json_t *github_entry(struct arena *arena, const struct trend *trend,
			    const struct night *night)
{
	const struct compared_row *row = trend->points[trend->npoints - 1].row;
	const char *range = isfinite(row->low) ? arena_printf(arena, "%.4f .. %.4f", exp(row->low),
							      exp(row->high))
					       : NULL;
	const char *extra = arena_printf(
		arena, "%.4g -> %.4g %s, %s\n%s %s against the anchor %s", row->before.value,
		row->after.value, amount_unit(arena, row->unit), trend->engine, night->date,
		night_kernel_name(night->kernel), night_kernel_name(night->anchor));
	json_t *entry = json_pack("{ss ss so ss}", "name", trend->label, "unit", "of the anchor",
				  "value", real(exp(row->d)), "extra", extra);

	if (range)
		json_object_set_new(entry, "range", json_string(range));
	return entry;
}

static void github(struct arena *arena, const struct trends *trends, enum compared_better better,
		   FILE *out)
{
	size_t newest = export_newest(trends);
	const struct trend *trend;
	json_t *array = json_array();

	for (size_t at = 0; (trend = export_next(trends, KIND_ANCHOR, newest, &at));) {
		if (trend->points[trend->npoints - 1].row->better == better)
			json_array_append_new(
				array, github_entry(arena, trend, &trends->nights->nights[newest]));
	}
	put(array, out);
}

size_t export_github_smaller(struct arena *arena, const struct trends *trends, FILE *out)
{
	github(arena, trends, COMPARED_LOWER, out);
	return 0;
}

size_t export_github_bigger(struct arena *arena, const struct trends *trends, FILE *out)
{
	github(arena, trends, COMPARED_HIGHER, out);
	return 0;
}

/* ---- Bencher ---- */

/* "instructions/page" as "instructions-page": what a measure's slug may hold, at most 64. */
static const char *slug(struct arena *arena, const char *unit)
{
	char *text = arena_strdup(arena, unit), *at = text;

	for (const char *c = unit; *c && at - text < 64; c++) {
		if (isalnum((unsigned char)*c))
			*at++ = (char)tolower((unsigned char)*c);
		else if (at > text && at[-1] != '-')
			*at++ = '-';
	}
	while (at > text && at[-1] == '-')
		at--;
	*at = '\0';
	return *text ? text : "value";
}

static json_t *measure(double value, double low, double high)
{
	json_t *json = json_pack("{so}", "value", real(value));

	if (isfinite(low) && isfinite(high)) {
		json_object_set_new(json, "lower_value", json_real(low));
		json_object_set_new(json, "upper_value", json_real(high));
	}
	return json;
}

static json_t *measured(const struct compared_side *side, double factor)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < side->nboots; i++) {
		low = fmin(low, side->boots[i].value);
		high = fmax(high, side->boots[i].value);
	}
	return measure(factor * side->value, factor * low, factor * high);
}

size_t export_bencher(struct arena *arena, const struct trends *trends, FILE *out)
{
	size_t newest = export_newest(trends);
	const struct trend *trend;
	json_t *root = json_object();

	for (size_t at = 0; (trend = export_next(trends, KIND_ANCHOR, newest, &at));) {
		const struct compared_row *row = trend->points[trend->npoints - 1].row;
		double factor;
		const char *unit = export_unit(arena, row->unit, &factor);
		json_t *measures = json_object();

		json_object_set_new(measures, "ratio-to-anchor",
				    measure(exp(row->d), exp(row->low), exp(row->high)));
		json_object_set_new(measures,
				    slug(arena, *unit		? unit
						: trend->metric ? trend->metric
								: ""),
				    measured(&row->after, factor));
		json_object_set_new(root, trend->label, measures);
	}
	put(root, out);
	return 0;
}
