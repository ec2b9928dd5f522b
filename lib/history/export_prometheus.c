// SPDX-License-Identifier: GPL-2.0-only
#include "history/export.h"

#include "compare/units.h"

#include <math.h>
#include <string.h>
#include <time.h>

static void family(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* A label's value: backslash, quote and newline are escaped. */
static void label(FILE *out, const char *before, const char *name, const char *value)
{
	fprintf(out, "%s%s=\"", before, name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else if (*value == '\\' || *value == '"')
			fprintf(out, "\\%c", *value);
		else
			fputc(*value, out);
	}
	fputc('"', out);
}

static void labels_of(FILE *out, const struct trend *trend)
{
	label(out, "{", "trend", trend->name);
	label(out, ",", "comparison", night_kind_name[trend->kind]);
	label(out, ",", "row", trend->label);
	label(out, ",", "engine", trend->engine);
}

static double seconds_of(const struct night *night)
{
	const char *text = night->started ? night->started : night->date;
	struct tm tm = {.tm_isdst = 0};

	if (!strptime(text, night->started ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d", &tm))
		return 0;
	return (double)timegm(&tm);
}

static void kernel(FILE *out, const struct night *night)
{
	family(out, "before_after_kernel_info", "The kernel of the newest night that is done.");
	fputs("before_after_kernel_info", out);
	label(out, "{", "ref", night->kernel->ref);
	label(out, ",", "commit", night->kernel->commit);
	label(out, ",", "describe", night->kernel->describe ? night->kernel->describe : "");
	fputs("} 1\n", out);
	family(out, "before_after_night_start_timestamp_seconds",
	       "When the newest night that is done began.");
	fprintf(out, "before_after_night_start_timestamp_seconds %.0f\n", seconds_of(night));
}

/* A series a state, 1 for the one that holds: what can be summed and alerted on. */
static void outcome(FILE *out, const struct states *states)
{
	family(out, "before_after_night_outcome", "1 for the outcome of the newest night.");
	for (int i = 0; i <= OUTCOME_INCONCLUSIVE; i++) {
		fputs("before_after_night_outcome", out);
		label(out, "{", "outcome", outcome_name[i]);
		fprintf(out, "} %d\n", (int)states->outcome == i);
	}
}

static void claims(FILE *out, const struct states *states)
{
	family(out, "before_after_claim_state",
	       "1 for the state of a claim in the newest night that is done.");
	for (size_t i = 0; i < states->nclaims; i++) {
		const struct claim_state *state = &states->claims[i];

		for (int j = 0; j <= CLAIM_UNKNOWN; j++) {
			fputs("before_after_claim_state", out);
			label(out, "{", "claim", state->name);
			label(out, ",", "comparison",
			      state->comparison ? state->comparison->name : "");
			label(out, ",", "state", claim_condition_name[j]);
			fprintf(out, "} %d\n", (int)state->condition == j);
		}
	}
}

static void losses(FILE *out, const struct states *states)
{
	family(out, "before_after_losses",
	       "Rows that lost against the anchor or the last good night, by how sure that is.");
	for (int i = 0; i <= ALARM_STANDING; i++) {
		size_t count = 0;

		for (size_t j = 0; j < states->nalarms; j++)
			count += (int)states->alarms[j].state == i;
		fputs("before_after_losses", out);
		label(out, "{", "state", alarm_state_name[i]);
		fprintf(out, "} %zu\n", count);
	}
}

static double ratio(const struct compared_row *row)
{
	return exp(row->d);
}

static double ratio_lower(const struct compared_row *row)
{
	return exp(row->low);
}

static double ratio_upper(const struct compared_row *row)
{
	return exp(row->high);
}

/* In seconds; NaN for what is no time. */
static double seconds(const struct compared_row *row)
{
	double factor = unit_factor(row->unit, "s");

	return factor > 0 ? row->after.value * factor : NAN;
}

static double value(const struct compared_row *row)
{
	return unit_factor(row->unit, "s") > 0 ? NAN : row->after.value;
}

static const struct {
	const char *name, *help;
	double (*get)(const struct compared_row *row);
	bool unit; /* in a label, since the rows do not share one */
} row_metrics[] = {
	{"before_after_row_ratio", "Ratio of after to before in the newest night that is done.",
	 ratio, false},
	{"before_after_row_ratio_lower", "Lower bound of its interval.", ratio_lower, false},
	{"before_after_row_ratio_upper", "Upper bound of its interval.", ratio_upper, false},
	{"before_after_row_seconds", "What after took: the middle over its boots.", seconds, false},
	{"before_after_row_value", "What after measured, in the unit that the label names.", value,
	 true},
};

static void rows(struct arena *arena, const struct trends *trends, size_t newest, FILE *out)
{
	for (size_t i = 0; i < sizeof(row_metrics) / sizeof(row_metrics[0]); i++) {
		const struct trend *trend;
		bool first = true;

		for (size_t at = 0; (trend = export_next(trends, -1, newest, &at));) {
			const struct compared_row *row = trend_at(trend, newest)->row;
			double number = row_metrics[i].get(row), factor;
			const char *unit = export_unit(arena, row->unit, &factor);

			if (!isfinite(number))
				continue;
			if (first)
				family(out, row_metrics[i].name, row_metrics[i].help);
			first = false;
			fputs(row_metrics[i].name, out);
			labels_of(out, trend);
			if (row_metrics[i].unit)
				label(out, ",", "unit", unit);
			fprintf(out, "} %.9g\n", row_metrics[i].unit ? factor * number : number);
		}
	}
}

size_t export_prometheus(struct arena *arena, const struct trends *trends, FILE *out)
{
	const struct nights *nights = trends->nights;
	size_t newest = export_newest(trends);

	kernel(out, &nights->nights[newest]);
	outcome(out, &nights->states[nights->count - 1]);
	claims(out, &nights->states[newest]);
	losses(out, &nights->states[newest]);
	rows(arena, trends, newest, out);
	return 0;
}
