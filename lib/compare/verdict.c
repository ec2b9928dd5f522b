// SPDX-License-Identifier: GPL-2.0-only
#include "compare/verdict.h"

#include "compare/stats.h"

#include <math.h>

const char *const verdict_name[VERDICTS] = {
	[VERDICT_REPRODUCED] = "reproduced",
	[VERDICT_PARTLY] = "partly",
	[VERDICT_DIRECTION] = "direction confirmed",
	[VERDICT_ABSENT] = "absent",
	[VERDICT_OPPOSITE] = "opposite",
	[VERDICT_UNCHANGED] = "unchanged",
	[VERDICT_CHANGED] = "changed",
	[VERDICT_IMPROVED] = "improved",
	[VERDICT_REGRESSED] = "regressed",
	[VERDICT_NO_DIFFERENCE] = "no difference",
	[VERDICT_INCONCLUSIVE] = "inconclusive",
	[VERDICT_DESCRIBED] = "described",
	[VERDICT_NOT_MEASURED] = "not measured",
};

static bool within(double low, double high, double margin)
{
	return low >= -margin && high <= margin;
}

static enum verdict of_change(const struct rule *rule, double low, double high)
{
	double enough = rule->share * rule->delta;

	if (high <= enough)
		return VERDICT_REPRODUCED;
	if (low > enough && high < -rule->margin)
		return VERDICT_PARTLY;
	if (within(low, high, rule->margin))
		return VERDICT_ABSENT;
	if (low > rule->margin)
		return VERDICT_OPPOSITE;
	return high < -rule->margin ? VERDICT_DIRECTION : VERDICT_INCONCLUSIVE;
}

static enum verdict of_direction(const struct rule *rule, double low, double high)
{
	if (high < -rule->margin)
		return VERDICT_DIRECTION;
	if (within(low, high, rule->margin))
		return VERDICT_ABSENT;
	return low > rule->margin ? VERDICT_OPPOSITE : VERDICT_INCONCLUSIVE;
}

static enum verdict of_unchanged(const struct rule *rule, double low, double high)
{
	if (within(low, high, rule->margin))
		return VERDICT_UNCHANGED;
	if (low > rule->margin || high < -rule->margin)
		return VERDICT_CHANGED;
	return VERDICT_INCONCLUSIVE;
}

static enum verdict of_free(const struct rule *rule, double low, double high)
{
	if (low > rule->margin)
		return VERDICT_REGRESSED;
	if (high < -rule->margin)
		return VERDICT_IMPROVED;
	return within(low, high, rule->margin) ? VERDICT_NO_DIFFERENCE : VERDICT_INCONCLUSIVE;
}

enum verdict verdict_of(const struct rule *rule, double low, double high)
{
	if (!isfinite(low) || !isfinite(high))
		return VERDICT_INCONCLUSIVE;
	switch (rule->kind) {
	case RULE_CHANGE:
		return of_change(rule, low, high);
	case RULE_DIRECTION:
		return of_direction(rule, low, high);
	case RULE_UNCHANGED:
		return of_unchanged(rule, low, high);
	case RULE_FREE:
	default:
		return of_free(rule, low, high);
	}
}

bool verdict_settled(const struct rule *rule, enum verdict verdict)
{
	if (verdict == VERDICT_DIRECTION)
		return rule->kind == RULE_DIRECTION;
	return verdict != VERDICT_INCONCLUSIVE;
}

static bool settles(const struct rule *rule, double d, double s, double level, size_t boots)
{
	double half = stats_t_quantile(.5 + level / 2, 2. * (double)boots - 2) * s *
		      sqrt(2. / (double)boots);

	return verdict_settled(rule, verdict_of(rule, d - half, d + half));
}

size_t verdict_boots(const struct rule *rule, double d, double s, double level, size_t have,
		     size_t limit)
{
	if (!isfinite(d) || !isfinite(s))
		return 0;
	for (size_t boots = have > 2 ? have : 2; boots <= limit; boots++) {
		if (settles(rule, d, s, level, boots))
			return boots;
	}
	return 0;
}

size_t verdict_runs(const struct rule *rule, double d, double between, double within_boot,
		    double efficiency, double level, size_t boots, size_t have, size_t limit)
{
	if (!isfinite(d) || !isfinite(between) || !isfinite(within_boot) || boots < 2)
		return 0;
	for (size_t runs = have; runs <= limit; runs++) {
		double s = sqrt(fmax(between, 0) + efficiency * within_boot / (double)runs);

		if (settles(rule, d, s, level, boots))
			return runs;
	}
	return 0;
}

bool verdict_shows(enum verdict verdict)
{
	return verdict == VERDICT_REPRODUCED || verdict == VERDICT_PARTLY ||
	       verdict == VERDICT_DIRECTION || verdict == VERDICT_UNCHANGED;
}

enum gate_outcome gate_outcome(enum gate gate, enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_REPRODUCED:
	case VERDICT_UNCHANGED:
	case VERDICT_IMPROVED:
	case VERDICT_NO_DIFFERENCE:
	case VERDICT_DESCRIBED:
	case VERDICT_NOT_MEASURED:
		return OUTCOME_PASS;
	case VERDICT_PARTLY:
		/* Settled, and less than was asked for. */
		return gate == GATE_REPRODUCED ? OUTCOME_FAIL : OUTCOME_PASS;
	case VERDICT_DIRECTION:
		return gate == GATE_REPRODUCED ? OUTCOME_OPEN : OUTCOME_PASS;
	case VERDICT_INCONCLUSIVE:
		return gate == GATE_NONE ? OUTCOME_PASS : OUTCOME_OPEN;
	case VERDICT_ABSENT:
	case VERDICT_OPPOSITE:
	case VERDICT_CHANGED:
	case VERDICT_REGRESSED:
	default:
		return gate == GATE_NONE ? OUTCOME_PASS : OUTCOME_FAIL;
	}
}
