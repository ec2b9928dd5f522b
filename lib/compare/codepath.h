/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code ran: the calls that probe runs counted, held against what a claim says of either side.
 * Unlike a time, a rate of calls is the same on every machine. Pure: from a dataset to data.
 *
 * A rate is calls divided by the run's own count of pages (or stolen pages, truncates, ..). A side
 * runs the code of "before" when every rate that could be had is within its tolerance of what the
 * claim says of before, in every probe run; the same for "after"; else neither.
 */
#ifndef COMPARE_CODEPATH_H
#define COMPARE_CODEPATH_H

#include "compare/claim.h"
#include "compare/dataset.h"
#include "compare/verdict.h"

enum path { PATH_ABSENT, PATH_BEFORE, PATH_AFTER, PATH_NEITHER, PATHS };

extern const char *const path_name[PATHS];

struct path_rate {
	const struct mechanism *of;
	const char *function; /* the alternative that was counted, NULL: none */
	const char *reason;   /* why not */
	double low, high;     /* calls for each of->per, over the runs that counted it */
	size_t runs;
	const char *failed; /* not NULL: only runs that failed counted it, for this reason */
	bool every_cpu;	    /* counted on all CPUs: calls of other tasks are in it */
};

struct path_side {
	enum path path;
	const char *reason;	 /* of absent */
	size_t runs;		 /* probe runs that counted anything */
	struct path_rate *rates; /* one a mechanism row */
	size_t nrates;
};

enum { ALL_BOOTS = -1 };

/* The rates alone: absent without any. */
enum path codepath_classify(const struct path_rate *rates, size_t count);

/* The mechanism is about the rows that change or, in a claim without such, about all. */
bool codepath_applies(const struct claim *claim, const struct claim_row *row);

/*
 * From the probe runs of one boot or ALL_BOOTS that have the options of this row; row NULL: of any
 * row that the mechanism is about. Everything is in the arena.
 */
struct path_side codepath_side(struct arena *arena, const struct dataset *dataset, ssize_t boot,
			       const struct claim *claim, const struct claim_row *row);

/* A count for each page: three decimals, and what is there but smaller never looks like none. */
const char *codepath_rate(struct arena *arena, double value);

/* "before (filemap_remove_folio 1.000, delete_from_page_cache_batch 0.000 a page)" */
const char *codepath_text(struct arena *arena, const struct path_side *side);
/* The functions that were not counted, with their reasons; NULL: all were, or none. */
const char *codepath_missing(struct arena *arena, const struct path_side *side);

/* The same for programs. */
json_t *codepath_json(const struct path_side *side);

/*
 * What a verdict and the code that ran on both sides say of each other, a sentence, or NULL where
 * they agree or nothing is known. *warning: the verdict cannot mean what it says.
 */
const char *codepath_contradiction(struct arena *arena, enum verdict verdict, enum path before,
				   enum path after, bool *warning);

#endif
