// SPDX-License-Identifier: GPL-2.0-only
#include "compare/locks.h"

#include "compare/codepath.h"
#include "compare/json_real.h"
#include "compare/table.h"
#include "compare/units.h"

#include <math.h>
#include <string.h>

/* What the region did most to: pages or, where the case says no pages, its first unit. */
static double work(const struct probe_run *run, const char **per)
{
	const char *key;
	json_t *count;

	*per = "page";
	if (run->pages >= 1)
		return run->pages;
	json_object_foreach (run->per, key, count) {
		*per = key;
		return json_number_value(count);
	}
	return NAN;
}

static struct lock_row *row_of(struct arena *arena, struct lock_table *table,
			       const struct probe_run *run, const char *lock)
{
	for (size_t i = 0; i < table->count; i++) {
		struct lock_row *row = &table->rows[i];

		if (!strcmp(row->case_name, run->case_name) &&
		    !strcmp(row->variant, run->variant) && !strcmp(row->lock, lock))
			return row;
	}
	*ARENA_PUSH(arena, table->rows, table->count, table->room) = (struct lock_row){
		.case_name = run->case_name,
		.variant = run->variant,
		.lock = arena_strdup(arena, lock),
		.options = run->options,
		.before = {0, NAN, NAN, NAN, NAN},
		.after = {0, NAN, NAN, NAN, NAN},
	};
	return &table->rows[table->count - 1];
}

/* Sums over a side's runs of one row, before they are divided. */
struct sums {
	double acquisitions, contentions, held_ns, waited_ns, work;
	size_t runs;
};

static void add_sum(struct sums *sums, json_t *counts, double work)
{
	sums->acquisitions += json_number_value(json_object_get(counts, "acquisitions"));
	sums->contentions += json_number_value(json_object_get(counts, "contentions"));
	sums->held_ns += json_number_value(json_object_get(counts, "held_ns"));
	sums->waited_ns += json_number_value(json_object_get(counts, "waited_ns"));
	sums->work += work;
	sums->runs++;
}

static void add_side(struct arena *arena, struct lock_table *table, const struct dataset *dataset,
		     ssize_t boot, bool is_after)
{
	struct sums *sums = NULL;
	size_t nsums = 0, room = 0;

	for (size_t i = 0; i < dataset->nprobes; i++) {
		const struct probe_run *run = &dataset->probes[i];
		const char *lock, *per;
		double done = work(run, &per);
		json_t *counts;

		if (boot != ALL_BOOTS && run->boot != (size_t)boot)
			continue;
		json_object_foreach (run->locks, lock, counts) {
			struct lock_row *row = row_of(arena, table, run, lock);
			const char *reason = json_string_value(json_object_get(counts, "absent"));

			row->per = arena_strdup(arena, per);
			if (reason || !(done > 0)) {
				row->absent = arena_strdup(
					arena, reason ? reason : "the run does not say its pages");
				continue;
			}
			while (nsums < table->count)
				*ARENA_PUSH(arena, sums, nsums, room) = (struct sums){0};
			add_sum(&sums[row - table->rows], counts, done);
		}
	}
	for (size_t i = 0; i < nsums; i++) {
		struct lock_side *side = is_after ? &table->rows[i].after : &table->rows[i].before;

		if (!sums[i].runs)
			continue;
		*side = (struct lock_side){
			.runs = sums[i].runs,
			.taken = sums[i].acquisitions / sums[i].work,
			.held_ns = sums[i].held_ns / sums[i].acquisitions,
			.contended = sums[i].contentions / sums[i].acquisitions,
			.waited_ns = sums[i].waited_ns / sums[i].contentions,
		};
	}
}

struct lock_table lock_table(struct dataset *before, struct dataset *after, ssize_t boot)
{
	struct lock_table table = {0};

	add_side(&before->arena, &table, before, boot, false);
	if (after)
		add_side(&before->arena, &table, after, boot, true);
	return table;
}

static const char *rate(struct arena *arena, double value)
{
	return isfinite(value) ? codepath_rate(arena, value) : "-";
}

static const char *nanoseconds(struct arena *arena, double value)
{
	char text[40];
	const char *unit;

	if (!isfinite(value))
		return "-";
	unit = unit_fitting("ns", value);
	format_in_unit(text, sizeof(text), value * unit_factor("ns", unit), unit);
	return arena_printf(arena, "%s %s", text, unit);
}

static const char *share(struct arena *arena, double value)
{
	return isfinite(value) ? arena_printf(arena, "%.2f %%", 100 * value) : "-";
}

static bool counted(const struct lock_row *row)
{
	return row->before.runs || row->after.runs;
}

/* The options in which the rows of its case differ. */
static const char *told_apart(struct arena *arena, const struct lock_table *locks,
			      const struct lock_row *row)
{
	const char *text = "", *key;
	json_t *value;

	json_object_foreach (row->options, key, value) {
		bool differs = false;

		for (size_t i = 0; i < locks->count; i++) {
			const struct lock_row *other = &locks->rows[i];

			differs = differs ||
				  (!strcmp(other->case_name, row->case_name) &&
				   !json_equal(json_object_get(other->options, key), value));
		}
		if (differs)
			text = arena_printf(arena, "%s%s%s=%s", text, *text ? "," : " ", key,
					    json_string_value(value));
	}
	return text;
}

/* A row's cells, or those of the head: each figure before, then after. */
static void add_cells(struct table *table, const struct lock_row *row, const char *name,
		      const char *per, bool both)
{
	const struct lock_side *sides[] = {&row->before, &row->after};
	struct arena *arena = table->arena;
	size_t count = both ? 2 : 1;

	table_cell(table, "%s", name);
	table_cell(table, "%s", row->lock);
	for (size_t i = 0; i < count; i++)
		table_cell(table, "%s%s", rate(arena, sides[i]->taken),
			   strcmp(per, row->per) ? arena_printf(arena, " a %s", row->per) : "");
	for (size_t i = 0; i < count; i++)
		table_cell(table, "%s", nanoseconds(arena, sides[i]->held_ns));
	for (size_t i = 0; i < count; i++)
		table_cell(table, "%s", share(arena, sides[i]->contended));
	for (size_t i = 0; i < count; i++)
		table_cell(table, "%s", nanoseconds(arena, sides[i]->waited_ns));
}

void lock_report(const struct lock_table *locks, struct dataset *before,
		 const struct dataset *after, bool markdown, FILE *out)
{
	struct arena *arena = &before->arena;
	const char *per = NULL, *absent = NULL;
	const char *head[10] = {"case", "lock"};
	struct table table = {.arena = arena, .columns = 2, .head = head, .align = "llrrrrrrrr"};

	for (size_t i = 0; i < locks->count; i++) {
		if (!counted(&locks->rows[i]))
			absent = locks->rows[i].absent;
		else if (!per)
			per = locks->rows[i].per;
	}
	if (!locks->count)
		return;
	fputs(markdown ? "\n## Locks\n\n" : "\nLocks:\n\n", out);
	if (!per) {
		fprintf(out, "Not counted: %s.\n", absent);
		return;
	}
	text_wrap(out,
		  "Counted on all CPUs by a kernel that checks every lock it takes, so held and "
		  "waited mean something only against each other.",
		  "", markdown ? 100 : 72);
	fputc('\n', out);
	for (size_t i = 0; i < 4; i++) {
		const char *const names[] = {arena_printf(arena, "taken a %s", per), "held each",
					     "contended", "waited each"};

		head[table.columns++] =
			after ? arena_printf(arena, "%s, before", names[i]) : names[i];
		if (after)
			head[table.columns++] = "after";
	}
	for (size_t i = 0; i < locks->count; i++) {
		const struct lock_row *row = &locks->rows[i];

		if (counted(row))
			add_cells(&table, row,
				  arena_printf(arena, "%s%s", row->case_name,
					       told_apart(arena, locks, row)),
				  per, after);
	}
	(markdown ? table_markdown : table_text)(&table, out);
}

static json_t *side_json(const struct lock_side *side)
{
	return json_pack("{sI so so so so}", "runs", (json_int_t)side->runs, "taken",
			 real(side->taken), "held_ns", real(side->held_ns), "contended",
			 real(side->contended), "waited_ns", real(side->waited_ns));
}

json_t *lock_json(const struct lock_table *table)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < table->count; i++) {
		const struct lock_row *row = &table->rows[i];

		json_array_append_new(
			rows, json_pack("{ss ss ss ss ss? so so}", "case", row->case_name,
					"variant", row->variant, "lock", row->lock, "per", row->per,
					"absent", counted(row) ? NULL : row->absent, "before",
					side_json(&row->before), "after", side_json(&row->after)));
	}
	return rows;
}
