/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Before against after: every claim row judged, everything else compared, and whatever a reader
 * has to know besides as data. The writers (report.h) only render this.
 */
#ifndef COMPARE_COMPARISON_H
#define COMPARE_COMPARISON_H

#include "compare/claim.h"
#include "compare/codepath.h"
#include "compare/locks.h"
#include "compare/quantity.h"
#include "compare/stats.h"
#include "compare/verdict.h"

/* One side of a row. */
struct row_side {
	const struct group *group;  /* NULL: no record */
	size_t boots, runs;	    /* with the metric */
	size_t runs_low, runs_high; /* of a boot */
	size_t count[RUN_STATUSES];
	const char *reason;		 /* the first of a run that is not ok */
	double *boot_values, *boot_logs; /* the middle of each boot, recorded unit, and its ln */
	const char **boot_ids;
	double middle; /* the cover letter's form: mean (or median) of the boots' middles */
};

struct result_row {
	const struct claim *claim; /* NULL: a row without a claim */
	const struct claim_row *row;
	const char *name;  /* the claim row's id, with its settings where several were measured */
	const char *label; /* "CLAIM.ROW", unique in the comparison: for notes and programs */
	const char *metric, *unit;
	enum better better;
	struct quantity quantity;
	struct row_side before, after;
	struct rule rule;
	enum verdict verdict;
	const char *reason; /* of inconclusive, not measured and failing, or NULL */
	bool gates, judged; /* judged: there is a ratio */
	bool failing;	    /* it gates, and runs failed on the after kernel: it does not pass */
	enum gate_outcome outcome;
	struct stats_difference difference, welch; /* of ln values, not oriented */
	double permutation;			   /* p, or NaN */
	double floor, within; /* within: variance of ln values inside a boot; NaN at one run */
	double between;	      /* variance due to boots alone, at least 0 */
	double efficiency;    /* of the boot's middle, see stats_floor() */
	double share, share_low, share_high; /* of the documented change, NaN where not said */
	double expected;      /* after/before the verdict was held against, NaN for none */
	bool expected_engine; /* .. that is the engine's expected ratio, not the documented one */
	double size_share;    /* of the documented size, NaN: not known */
	size_t boots_needed;  /* more of each kernel, 0: not known or none */
	size_t runs_needed;   /* a boot, in all, 0: would not do */
	double run_cost_ns;   /* mean of both sides, NaN: not recorded */
	enum path path[2];    /* which code ran before and after, of this row's options */
};

struct claim_result {
	const struct claim *claim;
	bool recorded; /* the case has a record in before or after */
	bool run;      /* .. of some row, not only of probes */
	struct result_row **rows;
	size_t nrows, rows_room;
	struct path_side path[2]; /* before and after; only where the claim says a mechanism */
};

struct difference {
	const char *what, *before, *after;
};

/* What it would take to settle all that is open, and which way is cheaper. */
struct advice {
	size_t open;		  /* rows */
	size_t boots;		  /* more of each kernel; 0 with open rows: not to be said */
	size_t runs;		  /* a boot, in a new series of as many boots; 0: would not do */
	double boots_ns, runs_ns; /* what each costs, NaN: not recorded */
	double boot_ns;		  /* overhead of a boot, NaN: not known */
	size_t best_runs;	  /* runs a boot that buy most for the time, 0: not known */
	bool within_unknown;	  /* one run a boot: nothing to be said of more runs */
	bool beyond; /* a row lies too near to a border for any sensible number of boots */
};

struct comparison {
	struct arena *arena;
	struct dataset *before, *after;
	struct claim_result *claims;
	size_t nclaims;
	struct result_row **others;
	size_t nothers, others_room;
	struct lock_table locks; /* of lock runs; empty without */
	struct difference *forced, *environment;
	size_t nforced, forced_room, nenvironment, environment_room;
	struct notes notes;
	struct advice advice;
	enum gate gate;
	size_t looks;
	double level; /* of every interval */
	const char *engine, *headline, *method;
	size_t count[VERDICTS]; /* of the claim rows that gate */
	size_t scaled;		/* of these, passed below the documented size */
	size_t failing;		/* rows, claimed or not, that gate and had runs fail on after */
	enum gate_outcome outcome;
};

struct comparison_options {
	enum gate gate;
	bool force;
	size_t looks; /* planned beforehand, at least 1 */
};

/*
 * Returns 0, or -1 with the error recorded when the two must not be compared. Everything is in
 * the before side's arena; both datasets and the claims must outlive the result.
 */
int comparison_build(struct dataset *before, struct dataset *after, const struct claim *claims,
		     size_t nclaims, const struct comparison_options *options,
		     struct comparison *comparison, struct input_error *error);

/* The documented figure of a row as text, "1163" or "20-25". In the arena. */
const char *documented_text(struct arena *arena, const struct documented *documented);

#endif
