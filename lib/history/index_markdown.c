// SPDX-License-Identifier: GPL-2.0-only
#include "history/index.h"

#include "compare/table.h"
#include "history/amount.h"

#include <math.h>
#include <string.h>

static const char *kernel(struct arena *arena, const struct night_kernel *kernel)
{
	if (!kernel)
		return "-";
	return arena_printf(arena, "%s (%.12s)", night_kernel_name(kernel), kernel->commit);
}

static const char *kept(struct arena *arena, const struct states *states)
{
	size_t told = states->count[CLAIM_KEPT] + states->count[CLAIM_LOST];
	const char *text = arena_printf(arena, "%zu of %zu", states->count[CLAIM_KEPT], told);

	if (states->night->state != NIGHT_DONE)
		return "-";
	if (states->count[CLAIM_NOT_YET])
		text = arena_printf(arena, "%s, %zu not yet", text, states->count[CLAIM_NOT_YET]);
	if (states->count[CLAIM_UNKNOWN])
		text = arena_printf(arena, "%s, %zu unknown", text, states->count[CLAIM_UNKNOWN]);
	return text;
}

static const char *worst(struct arena *arena, const struct night *night, enum night_kind kind)
{
	const struct compared_row *row = states_worst(night, kind);
	const struct night_comparison *comparison = night_comparison(night, kind);

	if (row)
		return arena_printf(arena, "%s %s", row->label, amount_change(arena, row));
	if (comparison && comparison->state != COMPARISON_DONE)
		return comparison_state_name[comparison->state];
	return "-";
}

static const char *link_to(struct arena *arena, const char *links, const char *text,
			   const char *night, const char *path)
{
	return path ? arena_printf(arena, "%s%s[%s](%s/%s)", links, *links ? " " : "", text, night,
				   path)
		    : links;
}

static void add_row(struct arena *arena, struct table *table, const struct states *states)
{
	const struct night *night = states->night;
	const char *links = link_to(arena, "", "report", night->date, night->report);

	links = link_to(arena, links, "consoles", night->date, night->consoles);
	table_cell(table, "%s", night->date);
	table_cell(table, "%s", kernel(arena, night->kernel));
	table_cell(table, states->outcome == OUTCOME_WORSE ? "**%s**%s%s" : "%s%s%s",
		   outcome_name[states->outcome], states->reason ? ": " : "",
		   states->reason ? states->reason : "");
	table_cell(table, "%s", kept(arena, states));
	table_cell(table, "%s", worst(arena, night, KIND_LAST_GOOD));
	table_cell(table, "%s", worst(arena, night, KIND_ANCHOR));
	table_cell(table, "%s", *links ? links : "-");
}

static const struct states *newest(const struct nights *nights)
{
	return nights->count ? &nights->states[nights->count - 1] : NULL;
}

void index_markdown(struct arena *arena, const struct nights *nights, FILE *out)
{
	static const char *const head[] = {"night",
					   "kernel",
					   "outcome",
					   "claims kept",
					   "worst since the last good night",
					   "worst since the anchor",
					   ""};
	struct table table = {.arena = arena, .columns = 7, .head = head, .align = "lllllll"};
	const struct states *last = newest(nights);

	fputs("# Nightly\n\n", out);
	if (!last) {
		fputs("No night yet.\n", out);
		return;
	}
	fprintf(out, "%s: %s; %s. [Trends](trends.md).\n\n", last->night->date,
		outcome_name[last->outcome],
		last->night->state == NIGHT_DONE ? states_headline(arena, last) : last->reason);
	for (size_t i = nights->count; i > 0; i--)
		add_row(arena, &table, &nights->states[i - 1]);
	table_markdown(&table, out);
	fputs("\nWorst: the row whose interval proves the largest loss (its 90 % interval in "
	      "brackets); a negative one is a gain.\n",
	      out);
	if (nights->left_off)
		fprintf(out, "\n%zu older nights are not shown.\n", nights->left_off);
}
