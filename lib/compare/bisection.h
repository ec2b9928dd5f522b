/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which commit changed a figure: what a bisection has to measure next, and what it knows by now.
 * Pure: numbers in, numbers out. Values are natural logarithms of what a kernel showed.
 *
 * A search lies between a commit of which the value is known (from) and a later one (to), whose
 * values differ. Everything in `left` may hold the change; `to` always does, it or what is left
 * before it.
 */
#ifndef COMPARE_BISECTION_H
#define COMPARE_BISECTION_H

#include "compare/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No commit; as the start of a search: the good end, which is before all commits. */
#define BISECTION_NONE ((size_t)-1)

/* What is called different must be this many times the noise of one kernel's value. */
#define BISECTION_TIMES_NOISE 10
/* A value is near an end within this part of the difference between the ends .. */
#define BISECTION_NEAR .25
/* .. or within this many times the noise: four standard deviations of a difference of two. */
#define BISECTION_NEAR_NOISE 5.65685424949238

/* Commits come parents first; parents that are not among them are left out. */
struct bisection_commit {
	const size_t *parents;
	size_t nparents;
	double weight; /* how likely it is the one, in any unit, above 0 */
};

/* In the order in which it was done. */
struct bisection_event {
	size_t commit;
	bool skipped; /* it does not build or boot */
	double value; /* of what was measured */
};

struct bisection_rule {
	double threshold; /* ln of the least ratio that is looked for, above 0 */
	double noise;	  /* standard deviation of one kernel's value */
};

enum search_state {
	SEARCH_OPEN,
	SEARCH_FOUND,	/* it is `to` */
	SEARCH_SKIPPED, /* it is one of what is left, of which none but `to` can be measured */
	SEARCH_SMALL,	/* the ends differ by less than the threshold, or than noise can tell */
	SEARCH_STATES
};

extern const char *const search_state_name[SEARCH_STATES];

struct search {
	enum search_state state;
	size_t from, to;
	double from_value, to_value; /* what is measured is held against these */
	size_t before; /* of those that read as from the last that was measured; from at first */
	double before_value, at_value; /* what before and to showed themselves */
	uint64_t *left;		       /* bit i: commit i */
	size_t nleft;
	size_t best; /* open: what splits the weight of what is left most evenly */
	double bits; /* open: the entropy of what is left, about the measurements to come */
};

enum side { SIDE_FROM, SIDE_TO, SIDE_NEITHER, SIDE_SKIPPED, SIDE_OUTSIDE, SIDES };

extern const char *const side_name[SIDES];

/* What an event said in the search that it fell into. */
struct bisection_step {
	enum side side;	 /* outside: no search was about it any more */
	double position; /* 0 like from, 1 like to; NaN without a value */
};

struct bisection {
	const struct bisection_commit *commits;
	size_t ncommits, words;
	uint64_t *ancestors; /* of commit i, itself among them: words * i */
	struct bisection_rule rule;
	struct search *searches;
	size_t nsearches, room;
	struct bisection_step *steps; /* one an event */
	size_t next;		      /* to be measured, or BISECTION_NONE */
};

/* The ends differ by enough to look for anything between them. */
bool bisection_differ(const struct bisection_rule *rule, double from, double to);

/*
 * Replays the events. `good` is the value before all commits, `bad` that of the last commit.
 * Everything is in the arena; the commits must outlive the result.
 */
void bisection_decide(struct arena *arena, const struct bisection_commit *commits, size_t ncommits,
		      double good, double bad, const struct bisection_rule *rule,
		      const struct bisection_event *events, size_t nevents,
		      struct bisection *bisection);

bool bisection_left(const struct search *search, size_t commit);

/*
 * The measurements, both ends among them, that halving by number would have taken to come to this
 * commit: weights all alike, what the events skipped is skipped.
 */
size_t bisection_plain(struct arena *arena, const struct bisection_commit *commits, size_t ncommits,
		       const struct bisection_event *events, size_t nevents, size_t found);

#endif
