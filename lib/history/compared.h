/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `build/compare --format json` printed, read back: the rows of one comparison with what was
 * measured on both sides. Keys that are not needed here are left alone, since the writer is ours
 * and may say more.
 */
#ifndef HISTORY_COMPARED_H
#define HISTORY_COMPARED_H

#include "compare/arena.h"
#include "compare/input.h"
#include "compare/verdict.h"

enum compared_better { COMPARED_LOWER, COMPARED_HIGHER, COMPARED_NEITHER };

struct compared_boot {
	const char *id;
	double value; /* in the shown unit */
};

struct compared_side {
	double value; /* in the shown unit; NaN: not measured */
	struct compared_boot *boots;
	size_t nboots;
	size_t failed;	    /* runs */
	const char *reason; /* of the first run that was not ok, or NULL */
};

struct compared_row {
	const char *claim; /* NULL: a row without a claim */
	const char *label; /* unique in the comparison */
	const char *id, *case_name, *variant, *scale, *metric, *reason; /* reason may be NULL */
	enum verdict verdict;
	enum compared_better better;
	bool change;	    /* documented as a change (not as unchanged, not only described) */
	bool gates, judged; /* judged: there is a ratio */
	double documented;  /* after/before that the verdict was held against, else as documented;
			     * NaN: not said */
	bool expected;	    /* .. that is what this engine is expected to show, not the document */
	const char *unit;   /* that the values below are shown in */
	struct compared_side before, after;
	double margin;		     /* ln of what counts as a difference */
	double d, low, high, se, df; /* ln(after/before), its interval, error; NaN: not known */
};

struct compared {
	const char *file, *engine, *before, *after; /* labels of the two kernels */
	struct compared_row *rows;
	size_t nrows, rows_room;
	const char **claims; /* that had records */
	size_t nclaims, claims_room;
};

/* Everything is in the arena. Return 0, or -1 with the error recorded. */
int compared_read(struct arena *arena, const char *path, struct compared *compared,
		  struct input_error *error);
int compared_parse(struct arena *arena, const struct input *in, json_t *root,
		   struct compared *compared);

/* NULL: there is none of this label. */
const struct compared_row *compared_find(const struct compared *compared, const char *label);
/* A boot that both have, or NULL. */
const char *compared_common_boot(const struct compared *a, const struct compared *b);

/* d, oriented so that worse is positive; 0 where neither direction is better. */
double compared_worse(const struct compared_row *row, double ln_ratio);
/* The bounds of d, oriented alike: low is the least loss that the interval admits. */
double compared_least_loss(const struct compared_row *row);
double compared_most_loss(const struct compared_row *row);

#endif
