// SPDX-License-Identifier: GPL-2.0-only
#include "history/trends.h"

#include "compare/units.h"
#include "history/edivisive.h"
#include "history/pettitt.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Letters, digits and a few others; everything else becomes "_". */
static const char *file_name(struct arena *arena, const char *name)
{
	char *safe = arena_strdup(arena, name);

	for (char *c = safe; *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("._=-", *c))
			*c = '_';
	}
	return safe;
}

static const char *name_of(struct arena *arena, const struct night_comparison *comparison,
			   const struct compared_row *row)
{
	/* A claim's gain goes on where its treatment is rewritten under another name. */
	const char *series = comparison->kind == KIND_SERIES && !comparison->claim
				     ? arena_printf(arena, "%s.", comparison->name)
				     : "";

	return arena_printf(arena, "%s.%s%s.%s.%s", night_kind_name[comparison->kind], series,
			    row->label, comparison->compared->engine,
			    row->scale ? row->scale : "any");
}

/* A report shows 980 µs and 1.02 ms, each in the unit that fits; 0: nothing to convert. */
static double factor_to(const struct trend *trend, const struct compared_row *row)
{
	return !strcmp(trend->unit, row->unit) ? 1 : unit_factor(row->unit, trend->unit);
}

static struct trend *trend_of(struct arena *arena, struct trends *trends,
			      const struct night_comparison *comparison,
			      const struct compared_row *row)
{
	static const char *const before[] = {"the anchor", "", "with its gain undone", "tonight"};
	static const char *const after[] = {"tonight", "", "tonight", "with the series"};
	const char *name = name_of(arena, comparison, row);
	struct trend *trend;

	for (size_t i = 0; i < trends->count; i++) {
		if (!strcmp(trends->items[i].name, name) && factor_to(&trends->items[i], row) > 0)
			return &trends->items[i];
	}
	trend = ARENA_PUSH(arena, trends->items, trends->count, trends->room);
	*trend = (struct trend){.kind = comparison->kind,
				.name = name,
				.label = row->label,
				.before = before[comparison->kind],
				.after = after[comparison->kind],
				.unit = row->unit,
				.engine = comparison->compared->engine,
				.metric = row->metric,
				.documented = NAN};
	return trend;
}

static bool is_about(const struct night_comparison *comparison, const struct compared_row *row)
{
	if (!row->judged || !isfinite(row->d))
		return false;
	/* A comparison for a claim is about its rows; the anchor has all of them. */
	return comparison->kind == KIND_ANCHOR || !comparison->claim ||
	       (row->claim && !strcmp(row->claim, comparison->claim));
}

static void add_comparison(struct arena *arena, struct trends *trends, size_t night,
			   const struct night_comparison *comparison)
{
	for (size_t i = 0; i < comparison->compared->nrows; i++) {
		const struct compared_row *row = &comparison->compared->rows[i];
		struct trend *trend;

		if (!is_about(comparison, row))
			continue;
		trend = trend_of(arena, trends, comparison, row);
		/* The newest night says what is documented, and how it is shown. */
		if (isfinite(row->documented) && comparison->kind != KIND_ANCHOR) {
			trend->documented = row->documented;
			trend->expected = row->expected;
		}
		if (trend->npoints && trend->points[trend->npoints - 1].night == night)
			continue;
		*ARENA_PUSH(arena, trend->points, trend->npoints, trend->points_room) =
			(struct trend_point){night, row, factor_to(trend, row)};
	}
}

const struct trend_point *trend_at(const struct trend *trend, size_t night)
{
	for (size_t i = 0; i < trend->npoints; i++) {
		if (trend->points[i].night == night)
			return &trend->points[i];
	}
	return NULL;
}

/* ---- changes ---- */

static double mean(const double *values, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += values[i];
	return sum / (double)(to - from);
}

static struct trend_change *change_at(struct arena *arena, struct trend *trend, size_t night)
{
	for (size_t i = 0; i < trend->nchanges; i++) {
		if (trend->changes[i].night == night)
			return &trend->changes[i];
	}
	*ARENA_PUSH(arena, trend->changes, trend->nchanges, trend->changes_room) =
		(struct trend_change){.night = night, .size = NAN, .p = NAN, .pettitt = NAN};
	return &trend->changes[trend->nchanges - 1];
}

static void changes_by_series(struct arena *arena, struct trend *trend)
{
	double *values = arena_alloc(arena, (trend->npoints + 1) * sizeof(*values));
	struct edivisive_change found[NIGHTS_MOST];
	size_t count;

	for (size_t i = 0; i < trend->npoints; i++)
		values[i] = trend->points[i].row->d;
	count = edivisive(values, trend->npoints, &edivisive_defaults, found, NIGHTS_MOST);
	for (size_t i = 0; i < count; i++) {
		size_t from = i ? found[i - 1].at : 0;
		size_t to = i + 1 < count ? found[i + 1].at : trend->npoints;
		const struct trend_point *point = &trend->points[found[i].at];
		double size = mean(values, found[i].at, to) - mean(values, from, found[i].at);
		struct trend_change *change;

		if (fabs(size) < fmin(TREND_LEAST_CHANGE, point->row->margin))
			continue;
		change = change_at(arena, trend, point->night);
		change->by |= CHANGE_BY_SERIES;
		change->size = size;
		change->p = found[i].p;
		change->pettitt = pettitt(values + from, to - from).p;
	}
}

/* A loss that fresh boots confirmed is a change where the night before had none. */
static bool is_confirmed(const struct states *states, const struct trend *trend)
{
	for (size_t i = 0; trend->kind == KIND_ANCHOR && i < states->nalarms; i++) {
		if (states->alarms[i].state == ALARM_CONFIRMED &&
		    !strcmp(states->alarms[i].row->label, trend->label))
			return true;
	}
	for (size_t i = 0; trend->kind == KIND_UNDO && i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];

		for (size_t j = 0; state->condition == CLAIM_LOST &&
				   state->confirmed == CONFIRMATION_YES && j < state->nrows;
		     j++) {
			if (state->rows[j].condition == CLAIM_LOST &&
			    !strcmp(state->rows[j].row->label, trend->label))
				return true;
		}
	}
	return false;
}

static bool is_alarmed(const struct states *states, const struct trend *trend)
{
	for (size_t i = 0; i < states->nalarms; i++) {
		if (states->alarms[i].state != ALARM_DISMISSED &&
		    states->alarms[i].comparison->kind == trend->kind &&
		    !strcmp(states->alarms[i].row->label, trend->label))
			return true;
	}
	return trend->kind == KIND_UNDO && is_confirmed(states, trend);
}

static void changes_by_alarm(struct arena *arena, const struct nights *nights, struct trend *trend)
{
	for (size_t i = 0; i < trend->npoints; i++) {
		const struct trend_point *point = &trend->points[i];
		struct trend_change *change;

		if (!is_confirmed(&nights->states[point->night], trend) ||
		    (i && is_alarmed(&nights->states[trend->points[i - 1].night], trend)))
			continue;
		change = change_at(arena, trend, point->night);
		change->by |= CHANGE_BY_ALARM;
		if (!isfinite(change->size) && i)
			change->size = point->row->d - trend->points[i - 1].row->d;
	}
}

static int by_night(const void *a, const void *b)
{
	const struct trend_change *x = a, *y = b;

	return x->night < y->night ? -1 : x->night > y->night;
}

static int by_kind(const void *a, const void *b)
{
	static const int order[] = {2, 3, 0, 1};
	const struct trend *x = a, *y = b;

	if (order[x->kind] != order[y->kind])
		return order[x->kind] - order[y->kind];
	return strcmp(x->name, y->name);
}

static const char *newest_anchor(const struct nights *nights)
{
	for (size_t i = nights->count; i > 0; i--) {
		if (nights->nights[i - 1].anchor &&
		    night_comparison(&nights->nights[i - 1], KIND_ANCHOR))
			return nights->nights[i - 1].anchor->commit;
	}
	return NULL;
}

static void name_files(struct arena *arena, struct trends *trends)
{
	for (size_t i = 0; i < trends->count; i++)
		trends->items[i].name = file_name(arena, trends->items[i].name);
	for (size_t i = 1; i < trends->count; i++) {
		if (!strcmp(trends->items[i].name, trends->items[i - 1].name))
			trends->items[i].name =
				arena_printf(arena, "%s.%zu", trends->items[i].name, i);
	}
}

void trends_build(struct arena *arena, const struct nights *nights, struct trends *trends)
{
	*trends = (struct trends){.nights = nights, .anchor = newest_anchor(nights)};
	for (size_t i = 0; i < nights->count; i++) {
		const struct night *night = &nights->nights[i];

		for (size_t j = 0; night->state == NIGHT_DONE && j < night->ncomparisons; j++) {
			const struct night_comparison *comparison = &night->comparisons[j];

			if (!comparison->compared || comparison->kind == KIND_LAST_GOOD)
				continue;
			if (comparison->kind == KIND_ANCHOR &&
			    strcmp(night->anchor->commit, trends->anchor) != 0) {
				trends->other_anchors++;
				continue;
			}
			add_comparison(arena, trends, i, comparison);
		}
	}
	if (trends->count)
		qsort(trends->items, trends->count, sizeof(*trends->items), by_kind);
	name_files(arena, trends);
	for (size_t i = 0; i < trends->count; i++) {
		struct trend *trend = &trends->items[i];

		changes_by_series(arena, trend);
		changes_by_alarm(arena, nights, trend);
		if (trend->nchanges)
			qsort(trend->changes, trend->nchanges, sizeof(*trend->changes), by_night);
	}
}
