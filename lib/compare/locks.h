/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lock runs counted (run.sh --locks): how often a lock was taken for each page, for how long it
 * was held, how often somebody waited for it. Pure: from datasets to rows, and from rows to text.
 */
#ifndef COMPARE_LOCKS_H
#define COMPARE_LOCKS_H

#include "compare/dataset.h"

#include <stdio.h>
#include <sys/types.h>

/* Over all lock runs of one side with equal options. Without runs the rest is NaN. */
struct lock_side {
	size_t runs;
	double taken;	  /* acquisitions for each page */
	double held_ns;	  /* for each acquisition, by a kernel that checks its locks */
	double contended; /* the share of acquisitions that had to wait, 0 to 1 */
	double waited_ns; /* for each such */
};

struct lock_row {
	const char *case_name, *variant, *lock, *per; /* per: "page", "stolen page", .. */
	json_t *options;			      /* borrowed from the dataset */
	const char *absent;			      /* the reason, where neither side has it */
	struct lock_side before, after;
};

struct lock_table {
	struct lock_row *rows; /* in the arena of `before` */
	size_t count, room;
};

/* Of the boot, or of ALL_BOOTS (compare/codepath.h). after NULL: one side only. */
struct lock_table lock_table(struct dataset *before, struct dataset *after, ssize_t boot);

/* As a section of a report, in markdown or in plain text; nothing at all where there are no rows. */
void lock_report(const struct lock_table *table, struct dataset *before,
		 const struct dataset *after, bool markdown, FILE *out);
json_t *lock_json(const struct lock_table *table);

#endif
