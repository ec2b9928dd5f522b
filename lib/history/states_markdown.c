// SPDX-License-Identifier: GPL-2.0-only
#include "history/states_report.h"

#include "compare/table.h"

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

static void losses(struct arena *arena, const struct states *states, FILE *out)
{
	static const char *const head[] = {"row", "loss", "state", "p (Holm)"};
	struct table table = {.arena = arena, .columns = 4, .head = head, .align = "lllr"};

	if (!states->nalarms) {
		if (states->tested)
			fprintf(out,
				"No loss in %zu tests together (Holm, %.0f %%) of rows against the anchor "
				"and the last good night.\n",
				states->tested, 100 * STATES_LEVEL);
		if (states->untested)
			fprintf(out,
				"Rows that could not be tested (it takes two boots of each kernel): "
				"%zu.\n",
				states->untested);
		if (states->tested || states->untested)
			fputc('\n', out);
		return;
	}
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
	losses(arena, states, out);
	not_done(states, out);
}
