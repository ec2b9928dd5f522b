// SPDX-License-Identifier: GPL-2.0-only
#include "compare/single.h"
#include "compare/json_real.h"
#include "compare/table.h"
#include "compare/units.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define DRAWN_COLUMNS 64

static const char *when(struct arena *arena, double seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[40];

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm);
	return arena_strdup(arena, text);
}

/* "6.18.0, engine native, 2 CPUs, 23.4 GiB" as far as the environment says. */
static const char *machine(struct arena *arena, const struct boot *boot)
{
	json_t *match = boot_match(boot), *info = boot_info(boot);
	const char *release = json_string_value(json_object_get(info, "release"));
	json_t *cpus = json_object_get(match, "cpus"), *memory = json_object_get(match, "memory");
	const char *text = arena_printf(arena, "%s%sengine %s", release ? release : "",
					release ? ", " : "", boot_engine(boot));
	char bytes[40];

	if (json_is_integer(cpus))
		text = arena_printf(arena, "%s, %lld CPU%s", text,
				    (long long)json_integer_value(cpus),
				    json_integer_value(cpus) == 1 ? "" : "s");
	if (json_is_number(memory)) {
		format_bytes(bytes, sizeof(bytes), json_number_value(memory));
		text = arena_printf(arena, "%s, %s of memory", text, bytes);
	}
	return text;
}

static const char *heading(struct arena *arena, const struct single_section *section)
{
	const char *identity = section->several_identities
				       ? ""
				       : quantity_identity(arena, section->group->identity);

	return arena_printf(arena, "%s scale%s%s%s%s%s%s", section->group->scale,
			    *section->sizes ? ", " : "", section->sizes, *identity ? ", " : "",
			    identity, *section->constant ? ", " : "", section->constant);
}

static void figure(struct table *table, const struct single_row *row, double value,
		   const char *unit)
{
	char text[60];

	format_value(text, sizeof(text), value * row->quantity.factor, row->quantity.unit, unit);
	table_cell(table, "%s%s", text, row->quantity.virtual_time ? " (virtual time)" : "");
}

static void range(struct table *table, const struct single_row *row, const char *unit)
{
	double factor = row->quantity.factor * unit_factor(row->quantity.unit, unit);
	char low[40], high[40];

	if (!row->runs) {
		table_cell(table, "-");
		return;
	}
	format_in_unit(low, sizeof(low), row->low * factor, unit);
	format_in_unit(high, sizeof(high), row->high * factor, unit);
	table_cell(table, "%s - %s", low, high);
}

static void number_or_dash(struct table *table, double value)
{
	char text[40];

	format_digits(text, sizeof(text), value);
	table_cell(table, "%s", isfinite(value) ? text : "-");
}

static void build_table(const struct single *single, const struct single_section *section,
			struct table *table)
{
	struct arena *arena = &single->dataset->arena;
	const char **head = arena_alloc(arena, 9 * sizeof(*head));
	char *align = arena_alloc(arena, 10);
	bool instructions = section->any_instructions;
	size_t n = 0;

	head[n] = "variant", align[n++] = 'l';
	if (section->several_identities)
		head[n] = "identity", align[n++] = 'l';
	if (section->several_metrics)
		head[n] = "metric", align[n++] = 'l';
	head[n] = "runs", align[n++] = 'r';
	head[n] = "median", align[n++] = 'r';
	head[n] = "min - max", align[n++] = 'r';
	if (section->any_per_page)
		head[n] = "ns/page", align[n++] = 'r';
	if (instructions)
		head[n] = "instructions/page", align[n++] = 'r';
	if (section->any_documented)
		head[n] = "documented before → after", align[n++] = 'l';
	*table = (struct table){.arena = arena, .columns = n, .head = head, .align = align};
	for (size_t i = section->first; i < section->first + section->nrows; i++) {
		const struct single_row *row = &single->rows[i];
		const char *unit =
			unit_fitting(row->quantity.unit, row->median * row->quantity.factor);

		/* Said once, with its reason, below the table. */
		if (!row->runs && row->metric->absent)
			continue;
		table_cell(table, "%s", variant_without(arena, row->group, section->constant));
		if (section->several_identities)
			table_cell(table, "%s", quantity_identity(arena, row->group->identity));
		if (section->several_metrics)
			table_cell(table, "%s", row->metric->name);
		table_cell(table, "%zu", row->runs);
		figure(table, row, row->median, unit);
		range(table, row, unit);
		if (section->any_per_page)
			number_or_dash(table, row->per_page);
		if (instructions)
			number_or_dash(table, row->instructions_page);
		if (section->any_documented)
			table_cell(table, "%s", row->documented ? row->documented : "-");
	}
}

static bool any_absent(const struct single *single, const struct single_section *section)
{
	for (size_t i = section->first; i < section->first + section->nrows; i++) {
		if (single->rows[i].metric->absent && !single->rows[i].runs)
			return true;
	}
	return false;
}

/* The metrics that a run of the section lacks, with their reasons, once each. */
static void absences(const struct single *single, const struct single_section *section, FILE *out,
		     const char *indent, size_t width)
{
	struct arena *arena = &single->dataset->arena;
	/* Under icount the time is what a PMU would have counted. */
	bool missed =
		section->instructions_absent && !single->rows[section->first].quantity.instructions;

	/* A line of text right after a table would be its next row. */
	if (missed || any_absent(single, section))
		fputc('\n', out);
	if (missed)
		text_wrap(out,
			  arena_printf(arena, "Instructions a page: absent (%s).",
				       section->instructions_absent),
			  indent, width);
	for (size_t i = section->first; i < section->first + section->nrows; i++) {
		const struct single_row *row = &single->rows[i];
		bool told = false;

		for (size_t j = section->first; j < i; j++)
			told = told || (single->rows[j].metric->absent &&
					!strcmp(single->rows[j].metric->name, row->metric->name));
		if (row->metric->absent && !row->runs && !told)
			text_wrap(out,
				  arena_printf(arena, "%s: absent (%s).", row->metric->name,
					       row->metric->absent),
				  indent, width);
	}
}

/* One line a run of a variant that took many samples, all on one axis. */
static void draw_group(const struct single *single, const struct group *group, FILE *out,
		       const char *indent)
{
	const struct dataset *dataset = single->dataset;
	struct arena *arena = &single->dataset->arena;
	const struct group_metric *median = group_metric(group, "median");
	const struct histogram **histograms =
		arena_alloc(arena, (group->count[RUN_OK] + 1) * sizeof(*histograms));
	const struct run **runs = arena_alloc(arena, (group->count[RUN_OK] + 1) * sizeof(*runs));
	char low[60], high[60], drawn[3 * DRAWN_COLUMNS + 1];
	struct histogram_axis axis;
	struct quantity quantity;
	double below, above;
	size_t count = 0;

	for (size_t i = group->first_run; i != NO_RUN; i = dataset->runs[i].next) {
		const struct run *run = &dataset->runs[i];

		if (!run->histogram || run->status != RUN_OK ||
		    &dataset->boots[run->boot] != single->boot)
			continue;
		runs[count] = run;
		histograms[count++] = run->histogram;
	}
	if (!count || !median)
		return;
	axis = histogram_axis(histograms, count, DRAWN_COLUMNS);
	quantity = quantity_of(group, median->unit, single->boot);
	format_value(low, sizeof(low), axis.low * quantity.factor, quantity.unit,
		     unit_fitting(quantity.unit, axis.low * quantity.factor));
	format_value(high, sizeof(high), axis.high * quantity.factor, quantity.unit,
		     unit_fitting(quantity.unit, axis.high * quantity.factor));
	fprintf(out, "\n%s%s: samples from %s to %s, %.3g %% a column\n", indent, group->variant,
		low, high, 100 * (axis.ratio - 1));
	for (size_t i = 0; i < count; i++) {
		histogram_draw(histograms[i], &axis, drawn, &below, &above);
		fprintf(out, "%s%3lld |%s|", indent, (long long)runs[i]->run, drawn);
		fprintf(out, " %.2g %% above\n", 100 * above);
	}
}

static void distributions(const struct single *single, const struct single_section *section,
			  FILE *out, const char *indent)
{
	const struct group *last = NULL;

	for (size_t i = section->first; i < section->first + section->nrows; i++) {
		if (single->rows[i].group != last)
			draw_group(single, single->rows[i].group, out, indent);
		last = single->rows[i].group;
	}
}

static const char *title(const struct single *single)
{
	struct arena *arena = &single->dataset->arena;

	return arena_printf(arena, "%s: %s", single->dataset->kernel, machine(arena, single->boot));
}

static const char *boots_sentence(const struct single *single)
{
	const struct dataset *dataset = single->dataset;
	struct arena *arena = &single->dataset->arena;

	return arena_printf(
		arena, "Boot %s, %s; %s.", single->boot->id, when(arena, single->boot->first),
		dataset->nboots == 1
			? "the only one here, and one boot says nothing of the next"
			: arena_printf(arena, "the newest of %zu boots here", dataset->nboots));
}

static const char ORIENTATION[] =
	"Documented figures were measured on another machine: its absolute times are for "
	"orientation, only the change from before to after can be held against them.";

static bool any_documented(const struct single *single)
{
	for (size_t i = 0; i < single->nsections; i++) {
		if (single->sections[i].any_documented)
			return true;
	}
	return false;
}

static void trouble_table(const struct single *single, struct table *table)
{
	static const char *const head[] = {"case", "variant", "scale", "status", "runs", "reason"};

	*table = (struct table){
		.arena = &single->dataset->arena, .columns = 6, .head = head, .align = "llllrl"};
	for (size_t i = 0; i < single->ntroubles; i++) {
		const struct single_trouble *trouble = &single->troubles[i];

		table_cell(table, "%s", trouble->group->case_name);
		table_cell(table, "%s", trouble->group->variant);
		table_cell(table, "%s", trouble->group->scale);
		table_cell(table, "%s", run_status_name[trouble->status]);
		table_cell(table, "%zu", trouble->count);
		table_cell(table, "%s", trouble->reason);
	}
}

/* "shmem-batch-remove: before (filemap_remove_folio 1.000 a page); .." */
static const char *path_text(const struct single *single, const struct single_path *path)
{
	struct arena *arena = &single->dataset->arena;
	const char *missing = codepath_missing(arena, &path->side);

	return arena_printf(arena, "%s: %s%s%s", path->claim->name,
			    codepath_text(arena, &path->side), missing ? "; " : "",
			    missing ? missing : "");
}

void single_markdown(const struct single *single, FILE *out)
{
	struct arena *arena = &single->dataset->arena;
	struct table table;

	fprintf(out, "# %s\n\n%s\n", title(single), boots_sentence(single));
	for (size_t i = 0; i < single->nsections; i++) {
		const struct single_section *section = &single->sections[i];

		if (!section->nrows)
			continue;
		fprintf(out, "\n## %s\n\n%s\n\n", section->group->case_name,
			heading(arena, section));
		build_table(single, section, &table);
		table_markdown(&table, out);
		absences(single, section, out, "", 100);
		distributions(single, section, out, "    ");
	}
	if (any_documented(single)) {
		fputc('\n', out);
		text_wrap(out, ORIENTATION, "", 100);
	}
	if (single->npaths)
		fputs("\n## Code path\n\n", out);
	for (size_t i = 0; i < single->npaths; i++)
		fprintf(out, "- %s\n", path_text(single, &single->paths[i]));
	lock_report(&single->locks, single->dataset, NULL, true, out);
	if (single->ntroubles) {
		fputs("\n## Not measured\n\n", out);
		trouble_table(single, &table);
		table_markdown(&table, out);
	}
	for (size_t i = 0; i < single->dataset->notes.count; i++)
		fprintf(out, "\nNote: %s.\n", single->dataset->notes.items[i].text);
}

void single_text(const struct single *single, FILE *out)
{
	struct arena *arena = &single->dataset->arena;
	struct table table;

	fprintf(out, "%s\n", title(single));
	text_wrap(out, boots_sentence(single), "", 72);
	for (size_t i = 0; i < single->nsections; i++) {
		const struct single_section *section = &single->sections[i];

		if (!section->nrows)
			continue;
		fprintf(out, "\n%s\n", section->group->case_name);
		text_wrap(out, heading(arena, section), "", 72);
		fputc('\n', out);
		build_table(single, section, &table);
		table_text(&table, out);
		absences(single, section, out, "", 72);
		distributions(single, section, out, "");
	}
	if (any_documented(single)) {
		fputc('\n', out);
		text_wrap(out, ORIENTATION, "", 72);
	}
	if (single->npaths)
		fputc('\n', out);
	for (size_t i = 0; i < single->npaths; i++)
		text_wrap(out,
			  arena_printf(arena, "Code path of %s.",
				       path_text(single, &single->paths[i])),
			  "", 72);
	lock_report(&single->locks, single->dataset, NULL, false, out);
	for (size_t i = 0; i < single->ntroubles; i++) {
		const struct single_trouble *trouble = &single->troubles[i];

		if (!i)
			fputc('\n', out);
		text_wrap(out,
			  arena_printf(arena, "%s %s: %zu run%s, %s", trouble->group->case_name,
				       trouble->group->variant, trouble->count,
				       trouble->count == 1 ? "" : "s",
				       run_status_name[trouble->status]),
			  "", 72);
		text_wrap(out, trouble->reason, "  ", 72);
	}
	for (size_t i = 0; i < single->dataset->notes.count; i++)
		text_wrap(out,
			  arena_printf(arena, "Note: %s.", single->dataset->notes.items[i].text),
			  "", 72);
}

json_t *single_json(const struct single *single)
{
	json_t *rows = json_array(), *troubles = json_array(), *notes = json_array();
	json_t *paths = json_array(), *root;

	for (size_t i = 0; i < single->nrows; i++) {
		const struct single_row *row = &single->rows[i];

		json_array_append_new(
			rows,
			json_pack("{ss sO ss sO sO ss ss sI so so so sf ss so so ss? ss? ss?}",
				  "case", row->group->case_name, "options", row->group->options,
				  "scale", row->group->scale, "params", row->group->params,
				  "identity", row->group->identity, "metric", row->metric->name,
				  "unit", row->metric->unit, "runs", (json_int_t)row->runs,
				  "median", real(row->median), "min", real(row->low), "max",
				  real(row->high), "shown_factor", row->quantity.factor,
				  "shown_unit", row->quantity.unit, "ns_per_page",
				  real(row->per_page), "instructions_per_page",
				  real(row->instructions_page), "absent", row->metric->absent,
				  "documented", row->documented, "claim",
				  row->claim ? row->claim->name : NULL));
	}
	for (size_t i = 0; i < single->ntroubles; i++) {
		const struct single_trouble *trouble = &single->troubles[i];

		json_array_append_new(
			troubles,
			json_pack("{ss sO ss ss sI ss}", "case", trouble->group->case_name,
				  "options", trouble->group->options, "scale",
				  trouble->group->scale, "status", run_status_name[trouble->status],
				  "runs", (json_int_t)trouble->count, "reason", trouble->reason));
	}
	for (size_t i = 0; i < single->dataset->notes.count; i++) {
		const struct note *note = &single->dataset->notes.items[i];

		json_array_append_new(notes, json_pack("{ss ss ss?}", "code", note->code, "text",
						       note->text, "subject", note->subject));
	}
	for (size_t i = 0; i < single->npaths; i++) {
		json_t *path = codepath_json(&single->paths[i].side);

		json_object_set_new(path, "claim", json_string(single->paths[i].claim->name));
		json_array_append_new(paths, path);
	}
	root = json_pack("{si ss ss ss sI so so so so}", "schema", 1, "kernel",
			 single->dataset->kernel, "boot", single->boot->id, "engine",
			 boot_engine(single->boot), "boots", (json_int_t)single->dataset->nboots,
			 "rows", rows, "code_path", paths, "not_measured", troubles, "notes",
			 notes);
	if (single->locks.count)
		json_object_set_new(root, "locks", lock_json(&single->locks));
	return root;
}
