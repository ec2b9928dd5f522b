// SPDX-License-Identifier: GPL-2.0-only
#include "compare/report.h"

#include "compare/advice.h"
#include "compare/sentences.h"
#include "compare/table.h"
#include "compare/units.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 100 };

/* The numbers of the notes that belong to a row: " [1][4]". */
static const char *marks(const struct comparison *comparison, const struct result_row *row)
{
	const char *text = "";

	for (size_t i = 0; i < comparison->notes.count; i++) {
		const char *subject = comparison->notes.items[i].subject;

		if (subject && !strcmp(subject, row->label))
			text = arena_printf(comparison->arena, "%s%s[%zu]", text, *text ? "" : " ",
					    i + 1);
	}
	return text;
}

static void row_cells(const struct comparison *comparison, struct table *table,
		      const struct result_row *row, bool claim)
{
	struct arena *arena = comparison->arena;

	table_cell(table, "%s%s", row->name, marks(comparison, row));
	if (claim)
		table_cell(table, "%s (%s)", cell_documented(arena, row),
			   row->row->kind == ROW_UNCHANGED
				   ? "unchanged"
				   : cell_delta(arena, log(row->row->after.value /
							   row->row->before.value)));
	table_cell(table, "%s", cell_measured(arena, row));
	table_cell(table, "%s", cell_delta(arena, row->difference.d));
	table_cell(table, "%s", cell_interval(arena, row));
	if (claim)
		table_cell(table, "%s", cell_share(arena, row));
	table_cell(table, "%s", cell_boots(arena, row));
	table_cell(table, "%s", sentence_verdict(arena, row));
}

static const char *interval_head(const struct comparison *comparison)
{
	return arena_printf(comparison->arena, "%.4g %% interval", 100 * comparison->level);
}

/* A sentence of its own. */
static const char *capital(const struct comparison *comparison, const char *text)
{
	return arena_printf(comparison->arena, "%c%s.", toupper((unsigned char)text[0]), text + 1);
}

static void claim_table(const struct comparison *comparison, const struct claim_result *result,
			FILE *out)
{
	const struct claim *claim = result->claim;
	const char *const head[] = {
		"row",	 "documented",	 "measured", "delta", interval_head(comparison),
		"share", "boots × runs", "verdict"};
	struct table table = {
		.arena = comparison->arena, .columns = 8, .head = head, .align = "lllrrrrl"};
	const char *path = sentence_path(comparison, result);

	fprintf(out, "\n## %s\n\n%s%s%s%s%s.\n\n", claim->name, claim->title,
		claim->author ? ", " : "", claim->author ? claim->author : "",
		claim->machine ? ". Documented on: " : "", claim->machine ? claim->machine : "");
	for (size_t i = 0; i < result->nrows; i++)
		row_cells(comparison, &table, result->rows[i], true);
	/* Where only probe runs were made there is nothing but the code path. */
	if (result->run)
		table_markdown(&table, out);
	if (!path)
		return;
	if (result->run)
		fputc('\n', out);
	text_wrap(out, capital(comparison, path), "", WIDTH);
}

static void others_table(const struct comparison *comparison, FILE *out)
{
	const char *const head[] = {"row",	    "measured", "delta", interval_head(comparison),
				    "boots × runs", "verdict"};
	struct table table = {
		.arena = comparison->arena, .columns = 6, .head = head, .align = "llrrrl"};

	if (!comparison->nothers)
		return;
	fputs("\n## Rows without a claim\n\n", out);
	for (size_t i = 0; i < comparison->nothers; i++)
		row_cells(comparison, &table, comparison->others[i], false);
	table_markdown(&table, out);
}

static void difference_table(const struct comparison *comparison, const char *title,
			     const struct difference *list, size_t count, FILE *out)
{
	static const char *const head[] = {"what", "before", "after"};
	struct table table = {
		.arena = comparison->arena, .columns = 3, .head = head, .align = "lll"};

	if (!count)
		return;
	fprintf(out, "\n%s\n\n", title);
	for (size_t i = 0; i < count; i++) {
		table_cell(&table, "%s", list[i].what);
		table_cell(&table, "%s", list[i].before);
		table_cell(&table, "%s", list[i].after);
	}
	table_markdown(&table, out);
}

static const char *side(const struct comparison *comparison, const struct dataset *dataset)
{
	size_t count[RUN_STATUSES] = {0};
	const char *text = "";

	for (size_t i = 0; i < dataset->ngroups; i++) {
		for (int j = 0; j < RUN_STATUSES; j++)
			count[j] += dataset->groups[i].count[j];
	}
	for (int j = RUN_FAIL; j < RUN_STATUSES; j++) {
		if (count[j])
			text = arena_printf(comparison->arena, "%s, %zu %s", text, count[j],
					    run_status_name[j]);
	}
	return arena_printf(comparison->arena, "%s (%zu boot%s, %zu run%s ok%s)", dataset->kernel,
			    dataset->nboots, dataset->nboots == 1 ? "" : "s", count[RUN_OK],
			    count[RUN_OK] == 1 ? "" : "s", text);
}

static void notes(const struct comparison *comparison, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < comparison->notes.count; i++) {
		const struct note *note = &comparison->notes.items[i];

		if (!any)
			fputs("\n## Notes\n\n", out);
		any = true;
		fprintf(out, "%zu. %s%s%s.\n", i + 1, note->subject ? note->subject : "",
			note->subject ? ": " : "", note->text);
	}
}

/* As a shell takes it for one word; the lines are there to be pasted. */
static const char *word(struct arena *arena, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._+-/";
	const char *quoted = "", *quote;

	if (*text && !text[strspn(text, plain)])
		return text;
	for (; (quote = strchr(text, '\'')); text = quote + 1)
		quoted = arena_printf(arena, "%s%.*s'\\''", quoted, (int)(quote - text), text);
	return arena_printf(arena, "'%s%s'", quoted, text);
}

/* Which cases, at which scale: what make run is told, or of guests make ab. */
static void reproduce(const struct comparison *comparison, FILE *out)
{
	struct arena *arena = comparison->arena;
	const struct dataset *before = comparison->before;
	const char *cases = "", *scale;
	size_t runs = 0, boots = before->nboots > comparison->after->nboots
					 ? before->nboots
					 : comparison->after->nboots;

	if (!before->ngroups)
		return;
	scale = before->groups[0].scale;
	for (size_t i = 0; i < before->ngroups; i++) {
		bool known = false;

		for (size_t j = 0; j < i; j++)
			known = known ||
				!strcmp(before->groups[j].case_name, before->groups[i].case_name);
		if (!known)
			cases = arena_printf(arena, "%s%s%s", cases, *cases ? "," : "",
					     before->groups[i].case_name);
		if (strcmp(before->groups[i].scale, scale) != 0)
			scale = NULL;
	}
	for (size_t i = 0; i < before->nruns; i++) {
		if ((size_t)before->runs[i].run > runs)
			runs = (size_t)before->runs[i].run;
	}
	scale = scale ? arena_printf(arena, "SCALE=%s ", word(arena, scale)) : "";
	fputs("\n## How to reproduce\n\n", out);
	if (!strcmp(comparison->engine, "native") || !strcmp(comparison->engine, "unknown")) {
		fprintf(out, "In each of %zu boot%s of each kernel, then once:\n\n", boots,
			boots == 1 ? "" : "s");
		for (size_t i = 0; i < 2; i++)
			fprintf(out, "    make run CASES=%s %sRUNS=%zu LABEL=%s\n", cases, scale,
				runs, word(arena, (i ? comparison->after : before)->kernel));
		fprintf(out, "    make compare BEFORE=%s AFTER=%s\n", word(arena, before->path),
			word(arena, comparison->after->path));
		return;
	}
	fprintf(out,
		"BEFORE and AFTER being the sources, patches or images of the two kernels:\n\n"
		"    make ab BEFORE=%s AFTER=%s CASES=%s %sRUNS=%zu BOOTS=%zu ENGINE=%s\n",
		word(arena, before->kernel), word(arena, comparison->after->kernel), cases, scale,
		runs, boots, comparison->engine);
}

void report_markdown(const struct comparison *comparison, FILE *out)
{
	const char *advice = advice_text(comparison), *warning;
	size_t at = 0;

	fprintf(out, "**%s**\n\n", capital(comparison, comparison->headline));
	while ((warning = sentence_warning(comparison, &at)))
		fprintf(out, "**Warning: %s.**\n\n", warning);
	fprintf(out, "Before: %s. After: %s.\n", side(comparison, comparison->before),
		side(comparison, comparison->after));
	if (comparison->method)
		fprintf(out, "Method: %s.\n", comparison->method);
	if (advice)
		text_wrap(out, advice, "", WIDTH);
	difference_table(comparison,
			 "Compared by force, although these must agree:", comparison->forced,
			 comparison->nforced, out);
	difference_table(comparison, "The environments differ in:", comparison->environment,
			 comparison->nenvironment, out);
	for (size_t i = 0; i < comparison->nclaims; i++) {
		if (comparison->claims[i].recorded)
			claim_table(comparison, &comparison->claims[i], out);
	}
	others_table(comparison, out);
	lock_report(&comparison->locks, comparison->before, comparison->after, true, out);
	notes(comparison, out);
	reproduce(comparison, out);
}
