/* SPDX-License-Identifier: GPL-2.0-only */
/* The newest boot of one kernel: what ran, its medians, and the documented figures beside them. */
#ifndef COMPARE_SINGLE_H
#define COMPARE_SINGLE_H

#include "compare/claim.h"
#include "compare/codepath.h"
#include "compare/locks.h"
#include "compare/quantity.h"

struct single_row {
	const struct group *group;
	const struct group_metric *metric;
	struct quantity quantity;
	size_t runs;			    /* ok runs that have the metric */
	double median, low, high;	    /* recorded unit; NaN without runs */
	double per_page, instructions_page; /* NaN: not to be had */
	const char *documented;		    /* text, or NULL */
	const struct claim *claim;
};

/* Runs that did not end well, by variant, status and reason. */
struct single_trouble {
	const struct group *group;
	enum run_status status;
	const char *reason;
	size_t count;
};

/* Rows that share a case, scale and sizes: one table. */
struct single_section {
	const struct group *group; /* the first one */
	const char *constant; /* options equal in all its groups, "fill=write,state=resident" */
	const char *sizes;    /* "size 1 GiB" */
	size_t first, nrows;
	const char *instructions_absent; /* why there are none, or NULL */
	bool several_identities, several_metrics, any_documented, any_per_page, any_instructions;
};

/* Which code the boot runs, of a claim whose case has a probe run in it. */
struct single_path {
	const struct claim *claim;
	struct path_side side;
};

struct single {
	struct dataset *dataset;
	const struct boot *boot;
	struct single_section *sections;
	size_t nsections, sections_room;
	struct single_row *rows;
	size_t nrows, rows_room;
	struct single_trouble *troubles;
	size_t ntroubles, troubles_room;
	struct single_path *paths;
	size_t npaths, paths_room;
	struct lock_table locks; /* of lock runs; empty without */
};

/* Everything is in the dataset's arena; the claims must outlive the result. */
void single_build(struct dataset *dataset, const struct claim *claims, size_t nclaims,
		  struct single *single);

void single_markdown(const struct single *single, FILE *out);
void single_text(const struct single *single, FILE *out);
json_t *single_json(const struct single *single);

#endif
