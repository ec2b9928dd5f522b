// SPDX-License-Identifier: GPL-2.0-only
#include "history/index.h"

#include "compare/table.h"
#include "compare/units.h"
#include "history/amount.h"

#include <math.h>
#include <string.h>

const char *trend_sparkline(struct arena *arena, const struct trend *trend, size_t nights)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double low = INFINITY, high = -INFINITY, least = 0;
	const char *line = "";

	for (size_t i = 0; i < trend->npoints; i++) {
		const struct compared_row *row = trend->points[i].row;

		low = fmin(low, row->d);
		high = fmax(high, row->d);
		least = isfinite(row->margin) ? 2 * row->margin : 0;
	}
	/* Noise below what counts as a difference is not blown up to the full height. */
	if (high - low < least) {
		low = (low + high - least) / 2;
		high = low + least;
	}
	for (size_t i = 0; i < nights; i++) {
		const struct trend_point *point = trend_at(trend, i);
		double place = point && high > low ? (point->row->d - low) / (high - low) : .5;

		line = arena_printf(arena, "%s%s", line,
				    point ? bars[(int)fmin(7, floor(8 * place))] : "·");
	}
	return line;
}

static void add_trend(struct arena *arena, struct table *table, const struct trend *trend,
		      size_t nights, bool plots)
{
	const struct compared_row *row = trend->points[trend->npoints - 1].row;
	const char *unit = amount_unit(arena, row->unit);
	char before[40], after[40];

	format_digits(before, sizeof(before), row->before.value);
	format_digits(after, sizeof(after), row->after.value);
	if (plots)
		table_cell(table, "[%s](plots/%s.svg)", trend->label, trend->name);
	else
		table_cell(table, "%s", trend->label);
	table_cell(table, "%s", trend_sparkline(arena, trend, nights));
	table_cell(table, "%.4g → %.4g%s%s", row->before.value, row->after.value, *unit ? " " : "",
		   unit);
	table_cell(table, "%s", amount_change(arena, row));
	table_cell(table, "%zu", trend->nchanges);
}

static void section(struct arena *arena, const struct trends *trends, enum night_kind kind,
		    const char *title, const char *what, bool plots, FILE *out)
{
	static const char *const head[] = {"row", "course", "newest night", "change",
					   "levels changed"};
	struct table table = {.arena = arena, .columns = 5, .head = head, .align = "lllrr"};
	size_t count = 0;

	for (size_t i = 0; i < trends->count; i++) {
		if (trends->items[i].kind != kind)
			continue;
		add_trend(arena, &table, &trends->items[i], trends->nights->count, plots);
		count++;
	}
	if (!count)
		return;
	fprintf(out, "## %s\n\n%s\n\n", title, what);
	table_markdown(&table, out);
	fputc('\n', out);
}

static const char *told_by(struct arena *arena, const struct trend_change *change)
{
	const char *series = "";

	if (change->by & CHANGE_BY_SERIES)
		series = arena_printf(arena, "the series (e-divisive p %.3g, Pettitt p %.2g)",
				      change->p, change->pettitt);
	if (!(change->by & CHANGE_BY_ALARM))
		return series;
	return arena_printf(arena, "%s%sfresh boots", series, *series ? ", " : "");
}

static void changes(struct arena *arena, const struct trends *trends, FILE *out)
{
	static const char *const head[] = {"night", "row", "level", "told by"};
	struct table table = {.arena = arena, .columns = 4, .head = head, .align = "llrl"};
	const struct nights *nights = trends->nights;
	size_t count = 0;

	/* Newest first: what happened last is what a reader came for. */
	for (size_t night = nights->count; night > 0; night--) {
		for (size_t i = 0; i < trends->count; i++) {
			const struct trend *trend = &trends->items[i];

			for (size_t j = 0; j < trend->nchanges; j++) {
				const struct trend_change *change = &trend->changes[j];

				if (change->night != night - 1)
					continue;
				table_cell(&table, "%s", nights->nights[night - 1].date);
				table_cell(&table, "%s: %s", night_kind_name[trend->kind],
					   trend->label);
				table_cell(&table, "%s", amount_percent(arena, change->size));
				table_cell(&table, "%s", told_by(arena, change));
				count++;
			}
		}
	}
	fputs("## Changes\n\n", out);
	if (count)
		table_markdown(&table, out);
	else
		fputs("None.\n", out);
}

void trends_markdown(struct arena *arena, const struct trends *trends, bool plots, FILE *out)
{
	const struct nights *nights = trends->nights;

	fputs("# Trends\n\n", out);
	if (!trends->count) {
		fputs("Nothing was measured yet.\n", out);
		return;
	}
	fprintf(out,
		"%zu night%s, %s to %s. Course: the ratio of after to before, a character a night, oldest "
		"first, each row in a scale of its own; `·` is a night that did not measure it. "
		"[Nights](index.md).\n\n",
		nights->count, nights->count == 1 ? "" : "s", nights->nights[0].date,
		nights->nights[nights->count - 1].date);
	section(arena, trends, KIND_UNDO, "Gains kept",
		"Before: the night's kernel with the gain undone. After: the night's kernel.",
		plots, out);
	section(arena, trends, KIND_SERIES, "Gains proposed",
		"Before: the night's kernel. After: it with the series.", plots, out);
	section(arena, trends, KIND_ANCHOR, "Against the anchor",
		arena_printf(arena, "Before: the anchor, %.12s. After: the night's kernel.",
			     trends->anchor ? trends->anchor : "none"),
		plots, out);
	if (trends->other_anchors)
		fprintf(out, "Nights against another anchor, left out here: %zu.\n\n",
			trends->other_anchors);
	changes(arena, trends, out);
}
