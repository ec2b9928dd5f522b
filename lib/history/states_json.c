// SPDX-License-Identifier: GPL-2.0-only
#include "history/states_report.h"

#include "compare/json_real.h"

#include <jansson.h>
#include <math.h>

static json_t *whole(size_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *confirmation(const struct claim_state *state)
{
	if (state->confirmed == CONFIRMATION_NONE)
		return json_null();
	return json_boolean(state->confirmed == CONFIRMATION_YES);
}

static json_t *claim_rows(const struct claim_state *state)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < state->nrows; i++) {
		const struct compared_row *row = state->rows[i].row;

		json_array_append_new(
			rows, json_pack("{ss ss ss so so ss so so so}", "label", row->label,
					"state", claim_condition_name[state->rows[i].condition],
					"verdict", verdict_name[row->verdict], "before",
					real(row->before.value), "after", real(row->after.value),
					"unit", row->unit, "ratio", real(exp(row->d)), "low",
					real(exp(row->low)), "high", real(exp(row->high))));
	}
	return rows;
}

static json_t *claims(const struct states *states)
{
	json_t *array = json_array();

	for (size_t i = 0; i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];
		const struct night_comparison *comparison = state->comparison;

		json_array_append_new(
			array,
			json_pack("{ss? ss ss so ss ss? ss? ss? so}", "claim", state->claim, "name",
				  state->name, "state", claim_condition_name[state->condition],
				  "confirmed", confirmation(state), "text", state->text, "reason",
				  state->reason, "comparison", comparison ? comparison->name : NULL,
				  "engine",
				  comparison && comparison->compared ? comparison->compared->engine
								     : NULL,
				  "rows", claim_rows(state)));
	}
	return array;
}

static json_t *alarms(const struct states *states)
{
	json_t *array = json_array();

	for (size_t i = 0; i < states->nalarms; i++) {
		const struct alarm *alarm = &states->alarms[i];

		json_array_append_new(
			array,
			json_pack("{ss ss ss so so so so so ss? ss}", "comparison",
				  alarm->comparison->name, "label", alarm->row->label, "state",
				  alarm_state_name[alarm->state], "ratio", real(exp(alarm->row->d)),
				  "low", real(exp(alarm->row->low)), "high",
				  real(exp(alarm->row->high)), "p", real(alarm->p), "p_holm",
				  real(alarm->p_holm), "since", alarm->since, "text", alarm->text));
	}
	return array;
}

static json_t *confirm(const struct states *states)
{
	json_t *array = json_array();

	for (size_t i = 0; i < states->nconfirm; i++) {
		const struct to_confirm *entry = &states->confirm[i];
		json_t *rows = json_array();

		for (size_t j = 0; j < entry->nrows; j++)
			json_array_append_new(rows, json_string(entry->rows[j]));
		json_array_append_new(array, json_pack("{ss ss ss ss so}", "comparison",
						       entry->comparison->name, "kind",
						       night_kind_name[entry->comparison->kind],
						       "case", entry->case_name, "variant",
						       entry->variant, "rows", rows));
	}
	return array;
}

static json_t *known(const struct states *states)
{
	json_t *array = json_array();

	for (size_t i = 0; i < states->known.count; i++) {
		const struct known_loss *loss = &states->known.items[i];

		json_array_append_new(array, json_pack("{ss ss ss so}", "against", loss->against,
						       "label", loss->label, "since", loss->since,
						       "most", real(loss->most)));
	}
	return array;
}

static json_t *not_excluded(const struct states *states)
{
	const struct compared_row *row = states->widest;

	return row ? json_pack("{ss ss so}", "comparison", states->widest_in->name, "label",
			       row->label, "ratio", real(exp(states_admitted(row))))
		   : json_null();
}

void states_json(const struct states *states, FILE *out)
{
	json_t *root = json_pack(
		"{si ss ss ss? so so so so so so so}", "schema", 1, "date", states->night->date,
		"outcome", outcome_name[states->outcome], "reason", states->reason, "claims",
		claims(states), "alarms", alarms(states), "confirm", confirm(states), "counts",
		json_pack("{so so so so so so}", "kept", whole(states->count[CLAIM_KEPT]), "lost",
			  whole(states->count[CLAIM_LOST]), "not_yet",
			  whole(states->count[CLAIM_NOT_YET]), "unknown",
			  whole(states->count[CLAIM_UNKNOWN]), "rows_tested", whole(states->tested),
			  "rows_untested", whole(states->untested)),
		"level", real(STATES_LEVEL), "not_excluded", not_excluded(states), "known",
		known(states));

	json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	fputc('\n', out);
	json_decref(root);
}
