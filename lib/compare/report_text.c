// SPDX-License-Identifier: GPL-2.0-only
#include "compare/report.h"

#include "compare/sentences.h"
#include "compare/table.h"
#include "compare/units.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 72 };

static const char *short_verdict(const struct result_row *row)
{
	switch (row->verdict) {
	case VERDICT_DIRECTION:
		return "direction";
	case VERDICT_INCONCLUSIVE:
		return "open";
	case VERDICT_NOT_MEASURED:
		return "not measured";
	case VERDICT_NO_DIFFERENCE:
		return "no change";
	default:
		return verdict_name[row->verdict];
	}
}

/* "±1.6": half the interval, in percent of before. */
static const char *half_width(struct arena *arena, const struct result_row *row)
{
	if (!isfinite(row->difference.low))
		return "-";
	return arena_printf(arena, "±%.1f",
			    50 * (exp(row->difference.high) - exp(row->difference.low)));
}

static const char *with_unit(struct arena *arena, const struct result_row *row, double value)
{
	const char *unit = unit_shown(cell_unit(row));

	/* "instructions/page" is said once under the table. */
	if (!isfinite(value))
		return "-";
	return arena_printf(arena, "%s%s%s", cell_number(arena, row, value),
			    *unit && strlen(unit) <= 8 ? " " : "", strlen(unit) <= 8 ? unit : "");
}

static const char *cut(struct arena *arena, const char *text, size_t width)
{
	size_t bytes = 0, columns = 0;

	if (text_width(text) <= width)
		return text;
	while (columns + 1 < width || ((unsigned char)text[bytes] & 0xc0) == 0x80) {
		bytes++;
		columns += ((unsigned char)text[bytes] & 0xc0) != 0x80;
	}
	return arena_printf(arena, "%.*s~", (int)bytes, text);
}

/* Why a row has no verdict, unless boots would do, which the headline says. */
static void put_reasons(struct arena *arena, struct result_row *const *rows, size_t count,
			FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i]->reason && !rows[i]->boots_needed)
			text_wrap(out,
				  arena_printf(arena, "%s: %s", rows[i]->name, rows[i]->reason), "",
				  WIDTH);
	}
}

static void rows_table(const struct comparison *comparison, struct result_row *const *rows,
		       size_t count, FILE *out)
{
	static const char *const head[] = {"", "before", "after", "change", "", "verdict"};
	struct arena *arena = comparison->arena;
	struct table table = {.arena = arena, .columns = 6, .head = head, .align = "lrrrrl"};
	size_t taken = 0, column[6] = {0, 6, 5, 6, 0, 7};
	const char *unit = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct result_row *row = rows[i];

		table_cell(&table, "%s", row->name);
		table_cell(&table, "%s", with_unit(arena, row, row->before.middle));
		table_cell(&table, "%s", with_unit(arena, row, row->after.middle));
		table_cell(&table, "%s", cell_delta(arena, row->difference.d));
		table_cell(&table, "%s", half_width(arena, row));
		table_cell(&table, "%s", short_verdict(row));
		for (size_t j = 1; j < 6; j++) {
			size_t width = text_width(table.cells[table.count - 6 + j]);

			column[j] = width > column[j] ? width : column[j];
		}
		if (strlen(unit_shown(cell_unit(row))) > 8)
			unit = unit_shown(cell_unit(row));
	}
	for (size_t j = 1; j < 6; j++)
		taken += column[j] + 2;
	for (size_t i = 0; i < table.count; i += 6)
		table.cells[i] =
			cut(arena, table.cells[i], WIDTH > taken + 12 ? WIDTH - taken : 12);
	table_text(&table, out);
	put_reasons(arena, rows, count, out);
	if (unit)
		text_wrap(out, arena_printf(arena, "(figures without a unit: %s)", unit), "",
			  WIDTH);
}

static void sentence(const char *text, const struct comparison *comparison, FILE *out)
{
	text_wrap(
		out,
		arena_printf(comparison->arena, "%c%s.", toupper((unsigned char)text[0]), text + 1),
		"", WIDTH);
}

void report_text(const struct comparison *comparison, FILE *out)
{
	struct arena *arena = comparison->arena;
	const char *path, *warning;
	bool warned = false;
	size_t at = 0;

	while ((warning = sentence_warning(comparison, &at))) {
		sentence(arena_printf(arena, "warning: %s", warning), comparison, out);
		warned = true;
	}
	if (warned)
		fputc('\n', out);
	for (size_t i = 0; i < comparison->nclaims; i++) {
		const struct claim_result *result = &comparison->claims[i];

		if (!result->recorded)
			continue;
		fprintf(out, "%s:\n\n", result->claim->name);
		if (result->run)
			rows_table(comparison, result->rows, result->nrows, out);
		path = sentence_path(comparison, result);
		if (path)
			sentence(path, comparison, out);
		fputc('\n', out);
	}
	if (comparison->nothers) {
		fputs("Without a claim:\n\n", out);
		rows_table(comparison, comparison->others, comparison->nothers, out);
		fputc('\n', out);
	}
	sentence(comparison->headline, comparison, out);
	if (comparison->method)
		sentence(arena_printf(arena, "%s; ± is half the %.4g %% interval",
				      comparison->method, 100 * comparison->level),
			 comparison, out);
	for (size_t i = 0; i < comparison->notes.count; i++) {
		const struct note *note = &comparison->notes.items[i];

		text_wrap(out,
			  arena_printf(arena, "Note: %s%s%s.", note->subject ? note->subject : "",
				       note->subject ? ": " : "", note->text),
			  "", WIDTH);
	}
	lock_report(&comparison->locks, comparison->before, comparison->after, false, out);
}
