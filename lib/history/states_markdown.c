// SPDX-License-Identifier: GPL-2.0-only
#include "history/states_report.h"

#include "compare/table.h"
#include "history/amount.h"

#include <math.h>

static const char *condition(struct arena *arena, const struct claim_state *state)
{
	const char *name = claim_condition_name[state->condition];

	if (state->condition != CLAIM_LOST)
		return name;
	return arena_printf(arena, "**%s**%s", name,
			    state->confirmed == CONFIRMATION_YES ? "" : " (not confirmed yet)");
}

static void claims(struct arena *arena, const struct states *states, FILE *out)
{
	static const char *const head[] = {"claim", "state", "tonight", "told by"};
	struct table table = {.arena = arena, .columns = 4, .head = head, .align = "llll"};

	if (!states->nclaims)
		return;
	fputs("### Claims\n\n", out);
	for (size_t i = 0; i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];
		const struct night_comparison *comparison = state->comparison;

		table_cell(&table, "%s", state->name);
		table_cell(&table, "%s", condition(arena, state));
		if (state->condition == CLAIM_UNKNOWN)
			table_cell(&table, "%s", state->reason);
		else
			table_cell(&table, "%s%s%s", state->text, state->reason ? "; " : "",
				   state->reason ? state->reason : "");
		if (!comparison)
			table_cell(&table, "-");
		else
			table_cell(&table, "%s%s%s", comparison->name,
				   comparison->compared ? ", " : "",
				   comparison->compared ? comparison->compared->engine : "");
	}
	table_markdown(&table, out);
	fputc('\n', out);
}

static void alarms(struct arena *arena, const struct states *states, FILE *out)
{
	static const char *const head[] = {"row", "loss", "state", "p (Holm)"};
	struct table table = {.arena = arena, .columns = 4, .head = head, .align = "lllr"};

	if (!states->nalarms)
		return;
	fputs("### Losses\n\n", out);
	for (size_t i = 0; i < states->nalarms; i++) {
		const struct alarm *alarm = &states->alarms[i];

		table_cell(&table, "%s", alarm->row->label);
		table_cell(&table, "%s", alarm->text);
		table_cell(&table, "%s", alarm_state_name[alarm->state]);
		table_cell(&table, "%.2g", alarm->p_holm);
	}
	table_markdown(&table, out);
	fputc('\n', out);
}

/*
 * That no loss was proven does not say that there is none: how large one may be is the end of the widest
 * interval.
 */
static void not_proven(struct arena *arena, const struct states *states, FILE *out)
{
	size_t count = states->tested - states->nalarms;
	const struct compared_row *widest = states->widest;

	if (count) {
		const char *tests = arena_printf(arena, "%zu test%s", count, count == 1 ? "" : "s");

		if (states->nalarms)
			tests = count == 1 ? "the other test"
					   : arena_printf(arena, "the other %zu tests", count);
		fprintf(out,
			"No loss above its margin was proven in %s (Holm, %.0f %%) of rows against "
			"the anchor and the last good night",
			tests, 100 * STATES_LEVEL);
		if (widest && compared_most_loss(widest) > 0)
			fprintf(out, "; up to %s cannot be excluded (90 %% interval of %s, %s)",
				amount_percent(arena, states_admitted(widest)), widest->label,
				states->widest_in->name);
		else if (widest)
			fputs("; no 90 % interval admits one", out);
		fputs(".\n", out);
	}
	if (states->untested)
		fprintf(out,
			"Rows that could not be tested (it takes two boots of each kernel): %zu.\n",
			states->untested);
	if (count || states->untested)
		fputc('\n', out);
}

static void not_done(const struct states *states, FILE *out)
{
	const struct night *night = states->night;
	bool any = false;

	for (size_t i = 0; i < night->nstale; i++) {
		fprintf(out, "- stale: %s: %s\n", night->stale[i].treatment, night->stale[i].hunk);
		any = true;
	}
	for (size_t i = 0; i < night->ncomparisons; i++) {
		const struct night_comparison *comparison = &night->comparisons[i];

		if (comparison->state == COMPARISON_DONE ||
		    (comparison->state == COMPARISON_STALE && night->nstale))
			continue;
		fprintf(out, "- %s: %s: %s\n", comparison_state_name[comparison->state],
			comparison->name, comparison->reason);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

void states_markdown(struct arena *arena, const struct states *states, FILE *out)
{
	fprintf(out, "**%s: %s**%s%s\n\n", states->night->date, outcome_name[states->outcome],
		states->reason ? ": " : "", states->reason ? states->reason : "");
	if (states->night->state != NIGHT_DONE)
		return;
	claims(arena, states, out);
	alarms(arena, states, out);
	not_proven(arena, states, out);
	not_done(states, out);
}
