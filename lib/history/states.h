/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a night says: the state of every claim, losses that are told from noise, what has to be
 * booted again before anyone is alarmed. Pure; docs/history.md has the rules.
 */
#ifndef HISTORY_STATES_H
#define HISTORY_STATES_H

#include "history/known.h"
#include "history/night.h"

enum claim_condition { CLAIM_KEPT, CLAIM_LOST, CLAIM_NOT_YET, CLAIM_UNKNOWN };
extern const char *const claim_condition_name[CLAIM_UNKNOWN + 1];

enum confirmation { CONFIRMATION_NONE, CONFIRMATION_YES, CONFIRMATION_NO };

/* A row of the comparison that says a claim's state. */
struct claim_row_state {
	const struct compared_row *row;
	enum claim_condition condition;
};

struct claim_state {
	const char *claim; /* NULL: a series of nobody's claim */
	const char *name;  /* the claim, or the series */
	enum claim_condition condition;
	enum confirmation confirmed; /* of lost */
	const char *text, *reason; /* reason: of unknown, or what is unknown besides; may be NULL */
	const struct night_comparison *comparison; /* NULL: none was made */
	struct claim_row_state *rows;
	size_t nrows, rows_room;
};

enum alarm_state { ALARM_SUSPECTED, ALARM_CONFIRMED, ALARM_DISMISSED, ALARM_STANDING };
extern const char *const alarm_state_name[ALARM_STANDING + 1];

struct alarm {
	const struct night_comparison *comparison;
	const struct compared_row *row, *again; /* again: of fresh boots, NULL: none */
	enum alarm_state state;
	double p, p_holm;
	const char *since; /* of a standing one: the night that confirmed it */
	const char *text;
};

/* Boots that would confirm or dismiss: one entry a comparison and case. */
struct to_confirm {
	const struct night_comparison *comparison;
	const char *case_name, *variant; /* variants for run.sh --variant, a blank between two */
	const char **rows;		 /* labels */
	size_t nrows, rows_room;
};

enum outcome { OUTCOME_FINE, OUTCOME_WORSE, OUTCOME_COULD_NOT_RUN, OUTCOME_INCONCLUSIVE };
extern const char *const outcome_name[OUTCOME_INCONCLUSIVE + 1];

struct states {
	const struct night *night;
	enum outcome outcome; /* its number is the exit code */
	const char *reason;   /* of what is not fine */
	struct claim_state *claims;
	size_t nclaims, claims_room;
	struct alarm *alarms;
	size_t nalarms, alarms_room;
	struct to_confirm *confirm;
	size_t nconfirm, confirm_room;
	size_t count[CLAIM_UNKNOWN + 1]; /* claims by condition */
	size_t tested;			 /* rows of anchor and last-good that were tested */
	size_t untested;		 /* .. that could not be, such as one boot a side */
	/* Of those that were tested and are no alarm the row whose interval admits the largest loss. */
	const struct compared_row *widest; /* NULL: none */
	const struct night_comparison *widest_in;
	struct known_losses known; /* for the next night */
};

/* Tests of one night together err no more often than this. */
#define STATES_LEVEL .05

void states_build(struct arena *arena, const struct night *night, const struct known_losses *known,
		  struct states *states);

/* The row with the largest proven loss (by the near end of its interval); NULL: none was judged. */
const struct compared_row *states_worst(const struct night *night, enum night_kind kind);

/* The end of the row's interval that is the larger loss: ln(after/before), in the row's own direction. */
double states_admitted(const struct compared_row *row);

/* "3 kept, 1 lost, 1 not yet" */
const char *states_headline(struct arena *arena, const struct states *states);

#endif
