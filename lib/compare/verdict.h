/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an interval to a verdict. Everything here is the natural logarithm of a ratio after/before,
 * oriented so that what the claim documents (or what is better) is negative. Pure.
 */
#ifndef COMPARE_VERDICT_H
#define COMPARE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum verdict {
	VERDICT_REPRODUCED,
	VERDICT_PARTLY,
	VERDICT_DIRECTION,
	VERDICT_ABSENT,
	VERDICT_OPPOSITE,
	VERDICT_UNCHANGED,
	VERDICT_CHANGED,
	VERDICT_IMPROVED,
	VERDICT_REGRESSED,
	VERDICT_NO_DIFFERENCE,
	VERDICT_INCONCLUSIVE,
	VERDICT_DESCRIBED,   /* a row that only describes */
	VERDICT_NOT_MEASURED /* nothing to judge on either side, or a metric that cannot be had */
};

enum { VERDICTS = VERDICT_NOT_MEASURED + 1 };

/* "reproduced", "direction confirmed", .. */
extern const char *const verdict_name[VERDICTS];

enum rule_kind {
	RULE_CHANGE,	/* a documented change, in all its zones */
	RULE_DIRECTION, /* a documented change of which this engine can show the direction only */
	RULE_UNCHANGED, /* documented as unchanged */
	RULE_FREE	/* no claim: better or worse */
};

struct rule {
	enum rule_kind kind;
	double delta;  /* RULE_CHANGE: the documented ln ratio, negative */
	double share;  /* RULE_CHANGE: of delta that counts as reproduced */
	double margin; /* ln of what counts as a difference at all, positive */
};

/* Shows what is documented, in part or in direction at least. */
bool verdict_shows(enum verdict verdict);
enum verdict verdict_of(const struct rule *rule, double low, double high);
/* Nothing more to learn from further boots under this rule. */
bool verdict_settled(const struct rule *rule, enum verdict verdict);

/*
 * The boots of each kernel (in all, not below have) at which the interval around d with this
 * spread would lie in one zone; 0: more than limit.
 */
size_t verdict_boots(const struct rule *rule, double d, double s, double level, size_t have,
		     size_t limit);
/*
 * The runs a boot (in all, not below have) that would do it with this many boots of each kernel,
 * where between is the variance due to boots alone, within that of ln values inside a boot and
 * efficiency the factor of stats_floor(); 0: not with any number up to limit.
 */
size_t verdict_runs(const struct rule *rule, double d, double between, double within,
		    double efficiency, double level, size_t boots, size_t have, size_t limit);

enum gate { GATE_DIRECTION, GATE_REPRODUCED, GATE_NONE };
enum gate_outcome { OUTCOME_PASS, OUTCOME_OPEN, OUTCOME_FAIL };

enum gate_outcome gate_outcome(enum gate gate, enum verdict verdict);

#endif
