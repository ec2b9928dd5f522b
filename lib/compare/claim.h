/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A claim: one documented before/after table, cases/CASE.CLAIM.json. Reading validates strictly:
 * an unknown key is an error, because a misspelt one would silently change what is judged.
 */
#ifndef COMPARE_CLAIM_H
#define COMPARE_CLAIM_H

#include "compare/arena.h"
#include "compare/input.h"

enum row_kind { ROW_CHANGE, ROW_UNCHANGED, ROW_DESCRIBE };
enum value_form { FORM_VALUE, FORM_RANGE, FORM_RUNS, FORM_RATIO };
enum within { WITHIN_MEDIAN, WITHIN_MEAN };
enum across { ACROSS_MEAN, ACROSS_MEDIAN };

/*
 * One documented figure, in the row's unit. value is what the verdict is held against: the value
 * itself, the middle of a range, the median over the runs of a column, or the quotient of two
 * other rows of the table.
 */
struct documented {
	enum value_form form;
	double value, spread, low, high; /* NaN where the form has none */
	size_t runs;			 /* of FORM_RUNS */
};

struct claim_row {
	const char *id, *metric, *unit; /* metric NULL: only ratio_of; unit NULL: none printed */
	const char *ratio_of[2];	/* NULL where before and after are no quotients */
	enum row_kind kind;
	bool gate;
	double margin;			 /* of an unchanged row, as a fraction */
	json_t *where;			 /* borrowed from root: option names and values */
	struct documented before, after; /* values NaN: an unchanged row without figures */
};

/*
 * Which code a side runs: how often a kernel function is called for each `per`, before and after.
 * A row holds where |rate - wanted| <= tolerance. The functions are alternatives, of which a kernel
 * has one: names of other versions, or what stands for one that is inlined. The first that was
 * counted is taken.
 */
struct mechanism {
	const char **functions;
	size_t nfunctions;
	const char *per; /* "page", another unit that the case counts, or "function()": its calls */
	double before, after, tolerance;
	json_t *where; /* options that replace the row's, borrowed, may be NULL */
};

struct claim {
	const char *file, *name, *case_name, *origin, *title, *id, *author, *machine;
	enum within within;
	enum across across;
	json_int_t runs, boots; /* 0: not known */
	json_t *params;		/* documented sizes, borrowed, may be NULL */
	json_t *expected;	/* engine -> row id -> ratio, borrowed, may be NULL */
	struct claim_row *rows;
	size_t nrows;
	struct mechanism *mechanism;
	size_t nmechanism;
	json_t *root;
};

/* What a `per` that counts calls of a function ends with. */
#define CLAIM_PER_CALL "()"
bool claim_per_call(const char *per);

/* A change must be larger than this to be told from none: shares are of its logarithm. */
#define CLAIM_SHARE 0.75
#define CLAIM_MARGIN 1.02
#define CLAIM_MARGIN_ICOUNT 1.002
#define CLAIM_UNCHANGED 0.05
#define CLAIM_UNCHANGED_ICOUNT 0.005

/* Returns 0, or -1 with the error recorded. claim_release() in both cases. */
int claim_read(struct arena *arena, const char *path, struct claim *claim,
	       struct input_error *error);
/* From a decoded document, whose reference it takes: for claim_read() and the fuzzer. */
int claim_parse(struct arena *arena, const struct input *in, json_t *root, struct claim *claim);
void claim_release(struct claim *claim);

/* Holds a claim against the --describe document of its case. */
int claim_check(const struct claim *claim, json_t *describe, struct input_error *error);

/* after/before that this engine is expected to show for a row; 0: nothing is stated. */
double claim_expected(const struct claim *claim, const char *engine, const char *row);

#endif
