// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bisections over invented histories: what is asked next, what is concluded, and in how many
 * steps.
 */
#include "compare/bisection.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX = 128 };

/* A history, what its kernels show, and a bisection that is led to its end. */
struct history {
	struct arena arena;
	struct bisection_commit commits[MAX];
	size_t parents[MAX][2], count;
	double good, values[MAX];
	bool broken[MAX];
	struct bisection_rule rule;
	struct bisection_event events[MAX];
	size_t nevents, measured;
	struct bisection b;
};

static struct history *linear(size_t count)
{
	struct history *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->count = count;
	h->rule = (struct bisection_rule){.threshold = log(1.01), .noise = 5e-4};
	for (size_t i = 0; i < count; i++) {
		h->parents[i][0] = i - 1;
		h->commits[i] = (struct bisection_commit){
			.parents = h->parents[i], .nparents = i ? 1 : 0, .weight = 1};
	}
	return h;
}

static void done(struct history *h)
{
	arena_free(&h->arena);
	free(h);
}

static void decide(struct history *h)
{
	bisection_decide(&h->arena, h->commits, h->count, h->good, h->values[h->count - 1],
			 &h->rule, h->events, h->nevents, &h->b);
}

static void lead(struct history *h)
{
	decide(h);
	while (h->b.next != BISECTION_NONE) {
		size_t next = h->b.next;

		assert_true(h->nevents < h->count);
		h->measured += !h->broken[next];
		h->events[h->nevents++] =
			(struct bisection_event){next, h->broken[next], h->values[next]};
		decide(h);
	}
}

static void change(struct history *h, size_t from, double by)
{
	for (size_t i = from; i < h->count; i++)
		h->values[i] += by;
}

static void found(const struct history *h, size_t which, size_t commit)
{
	assert_true(which < h->b.nsearches);
	assert_string_equal(search_state_name[h->b.searches[which].state], "found");
	assert_int_equal(h->b.searches[which].to, commit);
	assert_int_equal(h->b.searches[which].nleft, 1);
}

/* Every place of the change in 1 to 40 commits; 16 take 4 measurements beside the ends. */
static void test_every_place(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 40; n++) {
		for (size_t at = 0; at < n; at++) {
			struct history *h = linear(n);

			change(h, at, log(1.1));
			lead(h);
			found(h, 0, at);
			assert_int_equal(h->b.nsearches, 1);
			assert_true(h->measured <= ceil(log2((double)n)));
			assert_true(h->b.searches[0].before == (at ? at - 1 : BISECTION_NONE));
			assert_int_equal(bisection_plain(&h->arena, h->commits, n, h->events,
							 h->nevents, at),
					 h->measured + 2);
			done(h);
		}
	}
}

/* Likely ones first: half of the weight on one of 16 is found with the two around it. */
static void test_weights(void **state)
{
	(void)state;
	for (size_t at = 0; at < 16; at++) {
		struct history *h = linear(16);

		h->commits[at].weight = 16;
		change(h, at, -.05);
		lead(h);
		found(h, 0, at);
		assert_true(h->measured <= 2);
		done(h);
		/* .. and when it is another one, in never more than one step for each halving of the
		 * weight, and one for each side. */
		for (size_t other = 0; other < 16; other++) {
			h = linear(16);
			h->commits[at].weight = 16;
			change(h, other, .05);
			lead(h);
			found(h, 0, other);
			assert_true(h->measured <= 6);
			done(h);
		}
	}
}

static void test_skipped(void **state)
{
	struct history *h;

	(void)state;
	/* One that does not build costs a try, no measurement, and no wrong name. */
	for (size_t at = 0; at < 16; at++) {
		for (size_t broken = 0; broken < 15; broken++) {
			h = linear(16);
			h->broken[broken] = true;
			change(h, at, .1);
			lead(h);
			if (broken == at || broken + 1 == at) {
				size_t last = broken + 1;

				assert_string_equal(search_state_name[h->b.searches[0].state],
						    "skipped");
				assert_int_equal(h->b.searches[0].nleft, 2);
				assert_true(bisection_left(&h->b.searches[0], broken));
				assert_true(bisection_left(&h->b.searches[0], last));
			} else {
				found(h, 0, at);
				assert_true(h->measured <= 5);
			}
			done(h);
		}
	}
	/* None can be measured: one of all. */
	h = linear(5);
	memset(h->broken, true, sizeof(h->broken));
	change(h, 2, .1);
	lead(h);
	assert_int_equal(h->nevents, 4);
	assert_int_equal(h->b.searches[0].nleft, 5);
	assert_int_equal(h->b.searches[0].state, SEARCH_SKIPPED);
	done(h);
}

static void test_ends_alike(void **state)
{
	struct history *h = linear(9);

	(void)state;
	change(h, 4, log(1.009));
	lead(h);
	assert_int_equal(h->measured, 0);
	assert_int_equal(h->b.searches[0].state, SEARCH_SMALL);
	done(h);
	/* Above the threshold, but not ten times the noise. */
	h = linear(9);
	h->rule.noise = log(1.02) / 9.9;
	change(h, 4, log(1.02));
	lead(h);
	assert_int_equal(h->b.searches[0].state, SEARCH_SMALL);
	done(h);
	h = linear(9);
	h->rule.noise = log(1.02) / 10.1;
	change(h, 4, log(1.02));
	lead(h);
	found(h, 0, 4);
	done(h);
}

/* Near neither end: both sides are searched. Also where one goes up and the other down again. */
static void test_two_changes(void **state)
{
	static const double pairs[][2] = {{.1, .1}, {.05, .08}, {.3, -.1}, {-.1, .3}, {.1, -.3}};

	(void)state;
	for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++) {
		for (size_t one = 0; one < 16; one++) {
			for (size_t two = one + 1; two < 16; two++) {
				struct history *h = linear(16);

				change(h, one, pairs[p][0]);
				change(h, two, pairs[p][1]);
				lead(h);
				if (h->b.nsearches == 2) {
					found(h, 0, one);
					found(h, 1, two);
				} else {
					/* Never seen between the two: what is named changes it. */
					assert_int_equal(h->b.nsearches, 1);
					assert_int_equal(h->b.searches[0].state, SEARCH_FOUND);
					assert_true(h->b.searches[0].to == one ||
						    h->b.searches[0].to == two);
				}
				done(h);
			}
		}
	}
}

/* What came in small parts is not one commit's: the parts are named, none is accused. */
static void test_drift(void **state)
{
	struct history *h = linear(8);

	(void)state;
	for (size_t i = 0; i < 8; i++)
		change(h, i, log(1.0024));
	lead(h);
	assert_int_equal(h->b.nsearches, 2);
	assert_int_equal(h->b.searches[0].state, SEARCH_SMALL);
	assert_int_equal(h->b.searches[1].state, SEARCH_SMALL);
	done(h);
}

/*
 * 0 - 1 - 2 ------- 6 - 7      6 merges the branch 3 - 4 - 5, which forks from 0.
 *  \- 3 - 4 - 5 ---/
 */
static struct history *merged(void)
{
	struct history *h = linear(8);

	h->parents[3][0] = 0;
	h->parents[6][0] = 2;
	h->parents[6][1] = 5;
	h->commits[6].nparents = 2;
	return h;
}

/* Which commits contain commit `at` of merged(). */
static bool contains(size_t commit, size_t at)
{
	return commit == at || at == 0 || commit >= 6 ? commit >= at
						      : commit > at && (commit < 3) == (at < 3);
}

static void test_merge(void **state)
{
	(void)state;
	for (size_t at = 0; at < 8; at++) {
		struct history *h = merged();

		for (size_t i = 0; i < 8; i++)
			h->values[i] = contains(i, at) ? .1 : 0;
		lead(h);
		found(h, 0, at);
		assert_true(h->measured <= 4);
		done(h);
	}
	/*
	 * Each branch brings one: what is named is one of the two or the merge, and nothing is
	 * lost.
	 */
	for (size_t one = 1; one < 3; one++) {
		for (size_t two = 3; two < 6; two++) {
			struct history *h = merged();

			for (size_t i = 0; i < 8; i++)
				h->values[i] =
					(contains(i, one) ? .1 : 0) + (contains(i, two) ? .2 : 0);
			lead(h);
			for (size_t s = 0; s < h->b.nsearches; s++) {
				size_t to = h->b.searches[s].to;

				assert_int_equal(h->b.searches[s].state, SEARCH_FOUND);
				assert_true(to == one || to == two || to == 6);
			}
			done(h);
		}
	}
}

/* A replay comes to the same, and what is no longer asked is outside. */
static void test_replay(void **state)
{
	struct history *h = linear(16);
	size_t n;

	(void)state;
	change(h, 9, .1);
	lead(h);
	n = h->nevents;
	h->nevents = 0;
	lead(h);
	assert_int_equal(h->nevents, n);
	h->events[h->nevents++] = (struct bisection_event){2, false, .1};
	decide(h);
	assert_int_equal(h->b.steps[n].side, SIDE_OUTSIDE);
	found(h, 0, 9);
	done(h);
}

/* The worked example of docs/bisect.md: 0 like the good end, 1 like the bad one. */
static void test_sides(void **state)
{
	struct history *h = linear(16);

	(void)state;
	h->values[15] = log(1.04);
	h->events[h->nevents++] = (struct bisection_event){7, false, log(1.001)};
	h->events[h->nevents++] = (struct bisection_event){11, false, log(1.02)};
	decide(h);
	assert_int_equal(h->b.steps[0].side, SIDE_FROM);
	assert_true(fabs(h->b.steps[0].position - .0255) < 5e-5);
	assert_int_equal(h->b.steps[1].side, SIDE_NEITHER);
	assert_true(fabs(h->b.steps[1].position - .5049) < 5e-5);
	assert_int_equal(h->b.nsearches, 2);
	assert_int_equal(h->b.searches[0].before, 7);
	assert_true(h->b.searches[0].before_value == log(1.001));
	assert_true(h->b.searches[0].at_value == log(1.02));
	assert_int_equal(h->b.searches[0].nleft, 4);
	assert_int_equal(h->b.searches[1].from, 11);
	assert_int_equal(h->b.searches[1].nleft, 4);
	assert_true(fabs(h->b.searches[1].bits - 2) < 1e-12);
	done(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_place), cmocka_unit_test(test_weights),
		cmocka_unit_test(test_skipped),	    cmocka_unit_test(test_ends_alike),
		cmocka_unit_test(test_two_changes), cmocka_unit_test(test_drift),
		cmocka_unit_test(test_merge),	    cmocka_unit_test(test_replay),
		cmocka_unit_test(test_sides),
	};

	return cmocka_run_group_tests_name("bisection", tests, NULL, NULL);
}
