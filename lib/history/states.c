// SPDX-License-Identifier: GPL-2.0-only
#include "history/states.h"

#include "history/amount.h"
#include "history/holm.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const claim_condition_name[] = {"kept", "lost", "not yet", "unknown"};
const char *const alarm_state_name[] = {"suspected", "confirmed", "dismissed", "standing"};
const char *const outcome_name[] = {"fine", "worse", "could-not-run", "inconclusive"};

/* ---- claims ---- */

static enum claim_condition condition_of(const struct compared_row *row)
{
	switch (row->verdict) {
	case VERDICT_REPRODUCED:
	case VERDICT_PARTLY:
	case VERDICT_DIRECTION:
	case VERDICT_IMPROVED:
	case VERDICT_UNCHANGED:
		return CLAIM_KEPT;
	case VERDICT_ABSENT:
	case VERDICT_OPPOSITE:
	case VERDICT_CHANGED:
	case VERDICT_REGRESSED:
	case VERDICT_NO_DIFFERENCE:
		return CLAIM_LOST;
	case VERDICT_INCONCLUSIVE:
	case VERDICT_DESCRIBED:
	case VERDICT_NOT_MEASURED:
	default:
		return CLAIM_UNKNOWN;
	}
}

/* A claim about a change is about its changes; its unchanged rows are for the anchor. */
static bool has_change(const struct compared *compared, const char *claim)
{
	for (size_t i = 0; i < compared->nrows; i++) {
		const struct compared_row *row = &compared->rows[i];

		if (row->claim && !strcmp(row->claim, claim) && row->change && row->gates)
			return true;
	}
	return false;
}

static void collect_rows(struct arena *arena, const struct compared *compared,
			 struct claim_state *state)
{
	bool change = state->claim && has_change(compared, state->claim);

	for (size_t i = 0; i < compared->nrows; i++) {
		const struct compared_row *row = &compared->rows[i];

		if (!row->gates || row->better == COMPARED_NEITHER)
			continue;
		if (state->claim && (!row->claim || strcmp(row->claim, state->claim) != 0))
			continue;
		if (state->claim && row->change != change)
			continue;
		*ARENA_PUSH(arena, state->rows, state->nrows, state->rows_room) =
			(struct claim_row_state){row, condition_of(row)};
	}
}

static size_t rows_in(const struct claim_state *state, enum claim_condition condition)
{
	size_t count = 0;

	for (size_t i = 0; i < state->nrows; i++)
		count += state->rows[i].condition == condition;
	return count;
}

/* "punch, close" of the rows in a condition. */
static const char *names_in(struct arena *arena, const struct claim_state *state,
			    enum claim_condition condition)
{
	const char *names = "";

	for (size_t i = 0; i < state->nrows; i++) {
		if (state->rows[i].condition == condition)
			names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "",
					     state->rows[i].row->id);
	}
	return names;
}

static const char *saved(struct arena *arena, const struct claim_state *state, bool would)
{
	const struct compared_row **rows = arena_alloc(arena, (state->nrows + 1) * sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < state->nrows; i++) {
		if (state->rows[i].condition == CLAIM_KEPT)
			rows[count++] = state->rows[i].row;
	}
	return amount_saved(arena, rows, count, would);
}

/* A claim that something did not change. */
static bool is_unchanged(const struct claim_state *state)
{
	return state->claim && state->nrows && !state->rows[0].row->change;
}

/* What fresh boots say of the rows that look lost. */
static enum confirmation confirm_lost(const struct claim_state *state)
{
	const struct compared *again = state->comparison->confirmed;
	bool seen = false;

	for (size_t i = 0; again && i < state->nrows; i++) {
		const struct compared_row *row;

		if (state->rows[i].condition != CLAIM_LOST)
			continue;
		row = compared_find(again, state->rows[i].row->label);
		if (row && condition_of(row) == CLAIM_LOST)
			return CONFIRMATION_YES;
		seen = seen || (row && condition_of(row) == CLAIM_KEPT);
	}
	return seen ? CONFIRMATION_NO : CONFIRMATION_NONE;
}

static void lost(struct arena *arena, struct claim_state *state)
{
	size_t count = rows_in(state, CLAIM_LOST);
	const char *what = "";

	for (size_t i = 0; i < state->nrows; i++) {
		if (state->rows[i].condition == CLAIM_LOST)
			what = arena_printf(
				arena, "%s%s%s %s", what, *what ? ", " : "",
				count == 1 && state->nrows == 1 ? "" : state->rows[i].row->id,
				amount_change(arena, state->rows[i].row));
	}
	while (*what == ' ')
		what++;
	state->condition = CLAIM_LOST;
	state->confirmed = confirm_lost(state);
	if (count == state->nrows)
		state->text = arena_printf(arena, "%s: %s",
					   is_unchanged(state) ? "no longer unchanged"
							       : "no longer saves anything",
					   what);
	else
		state->text = arena_printf(arena, "lost in %zu of %zu rows: %s", count,
					   state->nrows, what);
	if (state->confirmed == CONFIRMATION_NO) {
		state->condition = CLAIM_UNKNOWN;
		state->reason = "two looks disagree: fresh boots do not show the loss";
	} else if (state->confirmed == CONFIRMATION_NONE && state->comparison->confirmed) {
		state->reason = "fresh boots could not tell";
	}
}

static void kept(struct arena *arena, struct claim_state *state)
{
	bool partly = false;

	for (size_t i = 0; i < state->nrows; i++)
		partly = partly || state->rows[i].row->verdict == VERDICT_PARTLY;
	state->condition = CLAIM_KEPT;
	if (is_unchanged(state))
		state->text = arena_printf(arena, "still unchanged: %s",
					   amount_change(arena, state->rows[0].row));
	else
		state->text = arena_printf(arena, "%s%s", saved(arena, state, false),
					   partly ? ", less than documented" : "");
}

/* What a series of nobody's claim makes worse; NULL: nothing. */
static const char *made_worse(struct arena *arena, const struct claim_state *state)
{
	const char *rows = "";

	for (size_t i = 0; i < state->nrows; i++) {
		const struct compared_row *row = state->rows[i].row;

		if (row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_OPPOSITE)
			rows = arena_printf(arena, "%s%s%s %s", rows, *rows ? ", " : "", row->label,
					    amount_change(arena, row));
	}
	return *rows ? arena_printf(arena, "worse: %s", rows) : NULL;
}

static void not_yet(struct arena *arena, struct claim_state *state)
{
	size_t kept_rows = rows_in(state, CLAIM_KEPT);

	state->condition = CLAIM_NOT_YET;
	if (kept_rows)
		state->text = saved(arena, state, true);
	else
		state->text = arena_printf(arena, "the series shows no gain: %s",
					   amount_change(arena, state->rows[0].row));
	if (state->claim && kept_rows && rows_in(state, CLAIM_LOST))
		state->reason =
			arena_printf(arena, "no gain in %s", names_in(arena, state, CLAIM_LOST));
	else if (!state->claim)
		state->reason = made_worse(arena, state);
}

static void unknown(struct arena *arena, struct claim_state *state, const char *reason)
{
	state->condition = CLAIM_UNKNOWN;
	state->text = arena_printf(arena, "unknown: %s", reason);
	state->reason = reason;
}

static const char *why_unknown(struct arena *arena, const struct claim_state *state)
{
	for (size_t i = 0; i < state->nrows; i++) {
		const struct compared_row *row = state->rows[i].row;

		if (state->rows[i].condition == CLAIM_UNKNOWN)
			return arena_printf(arena, "%s: %s%s%s", row->id,
					    verdict_name[row->verdict], row->reason ? ": " : "",
					    row->reason ? row->reason : "");
	}
	return "no row of it was measured";
}

/* The claims without a comparison of their own are known from the others. */
static void add_claim(struct arena *arena, struct states *states, const char *claim,
		      const char *name, const struct night_comparison *comparison)
{
	struct claim_state *state =
		ARENA_PUSH(arena, states->claims, states->nclaims, states->claims_room);

	*state = (struct claim_state){.claim = claim, .name = name, .comparison = comparison};
	if (!comparison) {
		unknown(arena, state, "there is no treatment that would undo it in this kernel");
		return;
	}
	if (!comparison->compared) {
		unknown(arena, state,
			arena_printf(arena, "%s: %s", comparison_state_name[comparison->state],
				     comparison->reason));
		return;
	}
	collect_rows(arena, comparison->compared, state);
	if (!rows_in(state, CLAIM_KEPT) && !rows_in(state, CLAIM_LOST)) {
		unknown(arena, state, why_unknown(arena, state));
		return;
	}
	if (comparison->kind == KIND_SERIES)
		not_yet(arena, state);
	else if (rows_in(state, CLAIM_LOST))
		lost(arena, state);
	else
		kept(arena, state);
	if (!state->reason && rows_in(state, CLAIM_UNKNOWN))
		state->reason = arena_printf(arena, "not told: %s", why_unknown(arena, state));
}

static bool has_claim(const struct states *states, const char *claim)
{
	for (size_t i = 0; i < states->nclaims; i++) {
		if (states->claims[i].claim && !strcmp(states->claims[i].claim, claim))
			return true;
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	const struct claim_state *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->comparison < y->comparison ? -1 : x->comparison > y->comparison;
}

static void build_claims(struct arena *arena, const struct night *night, struct states *states)
{
	for (size_t i = 0; i < night->ncomparisons; i++) {
		const struct night_comparison *comparison = &night->comparisons[i];

		if (comparison->kind == KIND_UNDO || comparison->kind == KIND_SERIES)
			add_claim(arena, states, comparison->claim,
				  comparison->claim ? comparison->claim : comparison->name,
				  comparison);
	}
	for (size_t i = 0; i < night->ncomparisons; i++) {
		const struct compared *compared = night->comparisons[i].compared;

		for (size_t j = 0; compared && j < compared->nclaims; j++) {
			if (!has_claim(states, compared->claims[j]))
				add_claim(arena, states, compared->claims[j], compared->claims[j],
					  NULL);
		}
	}
	if (states->nclaims)
		qsort(states->claims, states->nclaims, sizeof(*states->claims), by_name);
	for (size_t i = 0; i < states->nclaims; i++)
		states->count[states->claims[i].condition]++;
}

/* ---- losses ---- */

/*
 * One-sided p of "the loss is at most the margin", Student's test on the logarithms: t = (d -
 * margin) / se with the degrees of freedom of the comparison. NaN: no test can be made.
 */
static double loss_p(const struct compared_row *row)
{
	double margin = isfinite(row->margin) ? row->margin : 0;

	if (!row->judged || !isfinite(row->d) || !(row->se > 0) || !(row->df >= 1))
		return NAN;
	return gsl_cdf_tdist_Q((compared_worse(row, row->d) - margin) / row->se, row->df);
}

static bool is_watched(const struct compared_row *row)
{
	return row->gates && row->better != COMPARED_NEITHER;
}

static const char *against(const struct night *night, const struct alarm *alarm)
{
	return alarm->comparison->kind == KIND_ANCHOR ? night->anchor->commit
						      : night->last_good->commit;
}

/* Known is what is not proven to be larger, by more than a margin, than what was confirmed. */
static const struct known_loss *known_loss(const struct known_losses *known,
					   const struct night *night, const struct alarm *alarm)
{
	double least = compared_least_loss(alarm->row) - alarm->row->margin;

	for (size_t i = 0; known && i < known->count; i++) {
		if (!strcmp(known->items[i].label, alarm->row->label) &&
		    !strcmp(known->items[i].against, against(night, alarm)) &&
		    least <= known->items[i].most)
			return &known->items[i];
	}
	return NULL;
}

struct family {
	struct alarm *tests;
	double *p;
	size_t count;
};

static void add_tests(const struct night_comparison *comparison, struct family *family,
		      struct states *states)
{
	for (size_t i = 0; i < comparison->compared->nrows; i++) {
		const struct compared_row *row = &comparison->compared->rows[i];
		double p = is_watched(row) ? loss_p(row) : NAN;

		if (!is_watched(row) || row->verdict == VERDICT_NOT_MEASURED)
			continue;
		if (isnan(p)) {
			states->untested++;
			continue;
		}
		family->tests[family->count] =
			(struct alarm){.comparison = comparison, .row = row, .p = p};
		family->p[family->count++] = p;
	}
	states->tested = family->count;
}

/* The fresh boots of all suspects are tests of their own, together at the same level. */
static void confirm_all(struct arena *arena, const struct known_losses *known,
			struct states *states)
{
	double *p = arena_alloc(arena, (states->nalarms + 1) * sizeof(*p));

	for (size_t i = 0; i < states->nalarms; i++) {
		struct alarm *alarm = &states->alarms[i];

		p[i] = NAN;
		if (alarm->comparison->confirmed)
			alarm->again =
				compared_find(alarm->comparison->confirmed, alarm->row->label);
		if (alarm->again)
			p[i] = loss_p(alarm->again);
	}
	holm(p, states->nalarms, p);
	for (size_t i = 0; i < states->nalarms; i++) {
		struct alarm *alarm = &states->alarms[i];
		const struct known_loss *loss = known_loss(known, states->night, alarm);

		if (!isnan(p[i]))
			alarm->state = p[i] <= STATES_LEVEL ? ALARM_CONFIRMED : ALARM_DISMISSED;
		if (loss && alarm->state != ALARM_DISMISSED) {
			alarm->state = ALARM_STANDING;
			alarm->since = loss->since;
		}
	}
}

static void remember(struct arena *arena, struct states *states)
{
	const struct night *night = states->night;

	for (size_t i = 0; i < states->nalarms; i++) {
		const struct alarm *alarm = &states->alarms[i];

		if (alarm->state != ALARM_CONFIRMED && alarm->state != ALARM_STANDING)
			continue;
		*ARENA_PUSH(arena, states->known.items, states->known.count, states->known.room) =
			(struct known_loss){against(night, alarm), alarm->row->label,
					    alarm->since ? alarm->since : night->date,
					    compared_most_loss(alarm->row)};
	}
}

static const char *alarm_text(struct arena *arena, const struct alarm *alarm)
{
	const char *kernel =
		alarm->comparison->kind == KIND_ANCHOR ? "the anchor" : "the last good night";
	const char *again = alarm->again ? arena_printf(arena, "; fresh boots: %s",
							amount_change(arena, alarm->again))
					 : "";

	if (alarm->since)
		again = arena_printf(arena, "; known since %s", alarm->since);
	return arena_printf(arena, "%s against %s%s", amount_change(arena, alarm->row), kernel,
			    again);
}

/* A loss that is not proven may be there all the same: the report says how large it can be. */
static void widen(struct states *states, const struct alarm *test)
{
	double most = compared_most_loss(test->row);

	if (!isfinite(most) || (states->widest && most <= compared_most_loss(states->widest)))
		return;
	states->widest = test->row;
	states->widest_in = test->comparison;
}

static void build_alarms(struct arena *arena, const struct night *night,
			 const struct known_losses *known, struct states *states)
{
	struct family family = {.count = 0};
	size_t rows = 1;

	for (size_t i = 0; i < night->ncomparisons; i++)
		rows += night->comparisons[i].compared ? night->comparisons[i].compared->nrows : 0;
	family.tests = arena_alloc(arena, rows * sizeof(*family.tests));
	family.p = arena_alloc(arena, rows * sizeof(*family.p));
	for (size_t i = 0; i < night->ncomparisons; i++) {
		const struct night_comparison *comparison = &night->comparisons[i];

		if (comparison->compared &&
		    (comparison->kind == KIND_ANCHOR || comparison->kind == KIND_LAST_GOOD))
			add_tests(comparison, &family, states);
	}
	holm(family.p, family.count, family.p);
	for (size_t i = 0; i < family.count; i++) {
		family.tests[i].p_holm = family.p[i];
		if (family.p[i] <= STATES_LEVEL)
			*ARENA_PUSH(arena, states->alarms, states->nalarms, states->alarms_room) =
				family.tests[i];
		else
			widen(states, &family.tests[i]);
	}
	confirm_all(arena, known, states);
	for (size_t i = 0; i < states->nalarms; i++)
		states->alarms[i].text = alarm_text(arena, &states->alarms[i]);
	remember(arena, states);
}

/* ---- what is to be booted again ---- */

static void add_variant(struct arena *arena, struct to_confirm *entry, const char *variant)
{
	const char *at = entry->variant;
	size_t length = strlen(variant);

	while (at && (at = strstr(at, variant))) {
		if ((at == entry->variant || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return;
		at += length;
	}
	entry->variant =
		entry->variant ? arena_printf(arena, "%s %s", entry->variant, variant) : variant;
}

static void confirm_row(struct arena *arena, struct states *states,
			const struct night_comparison *comparison, const struct compared_row *row)
{
	struct to_confirm *entry = NULL;

	/* One look again, not as many as it takes. */
	if (comparison->confirmed || !row->case_name)
		return;
	for (size_t i = 0; i < states->nconfirm && !entry; i++) {
		if (states->confirm[i].comparison == comparison &&
		    !strcmp(states->confirm[i].case_name, row->case_name))
			entry = &states->confirm[i];
	}
	if (!entry) {
		entry = ARENA_PUSH(arena, states->confirm, states->nconfirm, states->confirm_room);
		*entry = (struct to_confirm){.comparison = comparison, .case_name = row->case_name};
	}
	add_variant(arena, entry, row->variant);
	*ARENA_PUSH(arena, entry->rows, entry->nrows, entry->rows_room) = row->label;
}

static void build_confirm(struct arena *arena, struct states *states)
{
	for (size_t i = 0; i < states->nalarms; i++) {
		const struct alarm *alarm = &states->alarms[i];

		if (alarm->state == ALARM_SUSPECTED)
			confirm_row(arena, states, alarm->comparison, alarm->row);
	}
	for (size_t i = 0; i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];

		for (size_t j = 0; state->condition == CLAIM_LOST && j < state->nrows; j++) {
			if (state->rows[j].condition == CLAIM_LOST)
				confirm_row(arena, states, state->comparison, state->rows[j].row);
		}
	}
}

/* ---- the night as a whole ---- */

/* A run that fails says that its kernel does wrong, which no fresh boot takes back. NULL: none. */
static const char *why_failing(struct arena *arena, const struct night *night)
{
	for (size_t i = 0; i < night->ncomparisons; i++) {
		const struct night_comparison *comparison = &night->comparisons[i];

		if (comparison->kind != KIND_ANCHOR && comparison->kind != KIND_LAST_GOOD)
			continue;
		for (size_t j = 0; comparison->compared && j < comparison->compared->nrows; j++) {
			const struct compared_row *row = &comparison->compared->rows[j];

			if (row->after.failed && !row->before.failed)
				return arena_printf(arena, "%s: %zu run%s failed, none of %s: %s",
						    row->label, row->after.failed,
						    row->after.failed == 1 ? "" : "s",
						    comparison->compared->before,
						    row->after.reason ? row->after.reason
								      : "no reason recorded");
		}
	}
	return NULL;
}

/* The first confirmed loss, or kernel that does wrong; NULL: none. */
static const char *why_worse(struct arena *arena, const struct states *states)
{
	for (size_t i = 0; i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];

		if (state->condition == CLAIM_LOST && state->confirmed == CONFIRMATION_YES)
			return arena_printf(arena, "%s: %s", state->name, state->text);
	}
	for (size_t i = 0; i < states->nalarms; i++) {
		const struct alarm *alarm = &states->alarms[i];

		if (alarm->state == ALARM_CONFIRMED || alarm->state == ALARM_STANDING)
			return arena_printf(arena, "%s: %s", alarm->row->label, alarm->text);
	}
	return why_failing(arena, states->night);
}

/* The first thing that keeps the night from being fine; NULL: it is. */
static const char *why_open(struct arena *arena, const struct states *states)
{
	const struct night *night = states->night;

	for (size_t i = 0; i < states->nalarms; i++) {
		if (states->alarms[i].state == ALARM_SUSPECTED)
			return arena_printf(arena, "%s: a loss that is not confirmed yet",
					    states->alarms[i].row->label);
	}
	for (size_t i = 0; i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];

		if (state->condition == CLAIM_LOST && state->confirmed == CONFIRMATION_NONE)
			return arena_printf(arena, "%s: a loss that is not confirmed yet",
					    state->name);
	}
	for (size_t i = 0; i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];

		/* Without a treatment a claim stays unknown every night. */
		if (state->condition == CLAIM_UNKNOWN && state->comparison)
			return arena_printf(arena, "%s: %s", state->name, state->reason);
	}
	for (size_t i = 0; i < night->ncomparisons; i++) {
		const struct night_comparison *comparison = &night->comparisons[i];

		if (comparison->state != COMPARISON_DONE)
			return arena_printf(arena, "%s: %s: %s", comparison->name,
					    comparison_state_name[comparison->state],
					    comparison->reason);
	}
	if (!night->ncomparisons)
		return "nothing was compared";
	if (!states->tested && states->untested)
		return "no row can be tested: it takes two boots of each kernel";
	if (!states->tested &&
	    (night_comparison(night, KIND_ANCHOR) || night_comparison(night, KIND_LAST_GOOD)))
		return "no row was measured that could be tested for a loss";
	return NULL;
}

void states_build(struct arena *arena, const struct night *night, const struct known_losses *known,
		  struct states *states)
{
	*states = (struct states){.night = night};
	if (night->state != NIGHT_DONE) {
		states->outcome = OUTCOME_COULD_NOT_RUN;
		states->reason = arena_printf(arena, "%s: %s", night_state_name[night->state],
					      night->reason);
		/* A night that says nothing forgets nothing. */
		if (known)
			states->known = *known;
		return;
	}
	build_claims(arena, night, states);
	build_alarms(arena, night, known, states);
	build_confirm(arena, states);
	states->reason = why_worse(arena, states);
	states->outcome = OUTCOME_WORSE;
	if (states->reason)
		return;
	states->reason = why_open(arena, states);
	states->outcome = states->reason ? OUTCOME_INCONCLUSIVE : OUTCOME_FINE;
}

const struct compared_row *states_worst(const struct night *night, enum night_kind kind)
{
	const struct night_comparison *comparison = night_comparison(night, kind);
	const struct compared_row *worst = NULL;

	for (size_t i = 0; comparison && comparison->compared && i < comparison->compared->nrows;
	     i++) {
		const struct compared_row *row = &comparison->compared->rows[i];

		if (!is_watched(row) || !row->judged || !isfinite(compared_least_loss(row)))
			continue;
		if (!worst || compared_least_loss(row) > compared_least_loss(worst))
			worst = row;
	}
	return worst;
}

double states_admitted(const struct compared_row *row)
{
	return compared_worse(row, compared_most_loss(row));
}

const char *states_headline(struct arena *arena, const struct states *states)
{
	const char *line = "";

	for (int i = 0; i <= CLAIM_UNKNOWN; i++) {
		if (states->count[i])
			line = arena_printf(arena, "%s%s%zu %s", line, *line ? ", " : "",
					    states->count[i], claim_condition_name[i]);
	}
	return *line ? line : "no claim was looked at";
}
