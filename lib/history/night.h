/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One night: results/nightly/DATE/night.json and the comparisons it names (docs/formats.md).
 * Reading is strict: an unknown key is an error, because a misspelt "confirm" would silently turn
 * an alarm off.
 */
#ifndef HISTORY_NIGHT_H
#define HISTORY_NIGHT_H

#include "history/compared.h"

enum night_state {
	NIGHT_DONE,
	NIGHT_FETCH_FAILED,
	NIGHT_BUILD_FAILED,
	NIGHT_BOOT_FAILED,
	NIGHT_STOPPED
};
extern const char *const night_state_name[NIGHT_STOPPED + 1];

/*
 * Before and after of a comparison: anchor and tonight, last good night and tonight, tonight with
 * a gain undone and tonight, tonight and tonight with a proposed series.
 */
enum night_kind { KIND_ANCHOR, KIND_LAST_GOOD, KIND_UNDO, KIND_SERIES };
extern const char *const night_kind_name[KIND_SERIES + 1];

enum comparison_state {
	COMPARISON_DONE,
	COMPARISON_STALE,
	COMPARISON_BUILD_FAILED,
	COMPARISON_BOOT_FAILED,
	COMPARISON_SKIPPED
};
extern const char *const comparison_state_name[COMPARISON_SKIPPED + 1];

struct night_kernel {
	const char *ref, *commit;
	const char *release, *describe, *date; /* may be NULL */
};

struct night_comparison {
	enum night_kind kind;
	const char *name, *claim;      /* claim may be NULL for a series */
	const char *compare, *confirm; /* file names inside the night, or NULL */
	enum comparison_state state;
	const char *reason;	    /* of a state that is not done */
	struct compared *compared;  /* NULL where the state is not done */
	struct compared *confirmed; /* fresh boots, NULL: none yet */
};

struct stale_treatment {
	const char *treatment, *hunk;
};

struct night {
	const char *date, *reason, *started, *finished, *report,
		*consoles; /* all but date may be NULL */
	enum night_state state;
	struct night_kernel *kernel, *last_good, *anchor; /* may be NULL */
	struct night_comparison *comparisons;
	size_t ncomparisons;
	struct stale_treatment *stale;
	size_t nstale;
};

/* YYYY-MM-DD of a day that exists. */
bool night_is_date(const char *text);

/* Of a decoded document; compared and confirmed stay NULL. 0, or -1 with the error recorded. */
int night_parse(struct arena *arena, const struct input *in, json_t *root, struct night *night);
/*
 * The night in directory, with its comparisons. 1: there is no night.json, the night is under way;
 * 0; -1 with the error recorded. Everything is in the arena. A report or consoles that are not there, such
 * as records that were removed, are NULL.
 */
int night_read(struct arena *arena, const char *directory, struct night *night,
	       struct input_error *error);

/* The one comparison of a kind that there is once at most; NULL: none. */
const struct night_comparison *night_comparison(const struct night *night, enum night_kind kind);
/* What a kernel is called: its describe, else its release, else its ref. */
const char *night_kernel_name(const struct night_kernel *kernel);

#endif
