// SPDX-License-Identifier: GPL-2.0-only
#include "compare/bisection.h"

#include <math.h>
#include <string.h>

const char *const search_state_name[SEARCH_STATES] = {"open", "found", "skipped", "small"};
const char *const side_name[SIDES] = {"good", "bad", "neither", "skipped", "outside"};

/* ---- sets of commits ---- */

static bool has(const uint64_t *set, size_t commit)
{
	return set[commit / 64] >> (commit % 64) & 1;
}

static void add(uint64_t *set, size_t commit)
{
	set[commit / 64] |= (uint64_t)1 << (commit % 64);
}

static const uint64_t *ancestors_of(const struct bisection *b, size_t commit)
{
	return b->ancestors + commit * b->words;
}

static uint64_t *new_set(struct arena *arena, const struct bisection *b)
{
	return arena_alloc(arena, b->words * sizeof(uint64_t));
}

/* Parents come first, so theirs are complete. */
static void find_ancestors(struct arena *arena, struct bisection *b)
{
	b->words = (b->ncommits + 63) / 64;
	b->ancestors = arena_alloc(arena, b->ncommits * b->words * sizeof(uint64_t));
	for (size_t i = 0; i < b->ncommits; i++) {
		uint64_t *own = b->ancestors + i * b->words;

		for (size_t p = 0; p < b->commits[i].nparents; p++) {
			const uint64_t *more = ancestors_of(b, b->commits[i].parents[p]);

			for (size_t w = 0; w < b->words; w++)
				own[w] |= more[w];
		}
		add(own, i);
	}
}

bool bisection_left(const struct search *search, size_t commit)
{
	return has(search->left, commit);
}

/* ---- searches ---- */

bool bisection_differ(const struct bisection_rule *rule, double from, double to)
{
	double d = fabs(to - from);

	return d >= rule->threshold && d >= BISECTION_TIMES_NOISE * rule->noise;
}

static void start(struct arena *arena, struct bisection *b, const struct search *search)
{
	*ARENA_PUSH(arena, b->searches, b->nsearches, b->room) = *search;
	if (!bisection_differ(&b->rule, search->from_value, search->to_value))
		b->searches[b->nsearches - 1].state = SEARCH_SMALL;
}

static enum side side_of(const struct bisection *b, const struct search *s, double value)
{
	double d = s->to_value - s->from_value;
	double near = fmax(BISECTION_NEAR * fabs(d), BISECTION_NEAR_NOISE * b->rule.noise);
	double from = fabs(value - s->from_value), to = fabs(value - s->to_value);

	if (from > near && to > near)
		return SIDE_NEITHER;
	return from < to ? SIDE_FROM : SIDE_TO;
}

/*
 * Near neither end: two changes, one up to this commit and one after it. What comes after it is
 * only what contains it: of another branch nothing could be said by these two values.
 */
static void split(struct arena *arena, struct bisection *b, size_t which, size_t commit,
		  double value)
{
	struct search first = b->searches[which], second = first;

	first.to = commit;
	first.to_value = first.at_value = value;
	second.from = second.before = commit;
	second.from_value = second.before_value = value;
	first.left = new_set(arena, b);
	second.left = new_set(arena, b);
	for (size_t i = 0; i < b->ncommits; i++) {
		if (!has(b->searches[which].left, i))
			continue;
		if (has(ancestors_of(b, commit), i))
			add(first.left, i);
		else if (has(ancestors_of(b, i), commit))
			add(second.left, i);
	}
	/* The second in the first one's place would turn the order of what is reported. */
	b->searches[which] = first;
	if (!bisection_differ(&b->rule, first.from_value, first.to_value))
		b->searches[which].state = SEARCH_SMALL;
	start(arena, b, &second);
}

/* The last of the searches that are about it: sets overlap only where branches do. */
static size_t about(const struct bisection *b, size_t commit)
{
	for (size_t i = b->nsearches; i-- > 0;) {
		if (b->searches[i].state == SEARCH_OPEN && b->searches[i].to != commit &&
		    has(b->searches[i].left, commit))
			return i;
	}
	return BISECTION_NONE;
}

static void replay(struct arena *arena, struct bisection *b, const struct bisection_event *event,
		   struct bisection_step *step, uint64_t *skipped)
{
	size_t which = about(b, event->commit);
	struct search *s = which == BISECTION_NONE ? NULL : &b->searches[which];
	const uint64_t *known = ancestors_of(b, event->commit);

	*step = (struct bisection_step){.side = SIDE_OUTSIDE, .position = NAN};
	if (event->skipped) {
		add(skipped, event->commit);
		step->side = SIDE_SKIPPED;
		return;
	}
	if (!s)
		return;
	step->side = side_of(b, s, event->value);
	step->position = (event->value - s->from_value) / (s->to_value - s->from_value);
	if (step->side == SIDE_NEITHER) {
		split(arena, b, which, event->commit, event->value);
		return;
	}
	for (size_t w = 0; w < b->words; w++)
		s->left[w] &= step->side == SIDE_FROM ? ~known[w] : known[w];
	if (step->side == SIDE_TO) {
		s->to = event->commit;
		s->at_value = event->value;
	} else if (s->before == BISECTION_NONE || has(known, s->before)) {
		s->before = event->commit;
		s->before_value = event->value;
	}
}

static double weight_of(const struct bisection *b, const uint64_t *set, const uint64_t *within,
			size_t *count)
{
	double sum = 0;

	*count = 0;
	for (size_t i = 0; i < b->ncommits; i++) {
		if (!has(set, i) || !has(within, i))
			continue;
		sum += b->commits[i].weight;
		(*count)++;
	}
	return sum;
}

/*
 * A measurement tells the commits that contain the change from those that do not; it tells most
 * where both have the same weight. Among equals the one that also halves the number, then the
 * latest.
 */
static void choose(struct bisection *b, struct search *s, const uint64_t *skipped)
{
	double all = weight_of(b, s->left, s->left, &s->nleft), best = -1;
	size_t best_count = 0;

	s->best = BISECTION_NONE;
	s->bits = 0;
	if (s->state == SEARCH_SMALL)
		return;
	for (size_t i = 0; i < b->ncommits; i++) {
		size_t count, balance;
		double weight;

		if (!has(s->left, i))
			continue;
		s->bits -= b->commits[i].weight / all * log2(b->commits[i].weight / all);
		if (i == s->to || has(skipped, i))
			continue;
		weight = weight_of(b, ancestors_of(b, i), s->left, &count);
		weight = fmin(weight, all - weight);
		balance = count < s->nleft - count ? count : s->nleft - count;
		if (weight > best * (1 + 1e-12) ||
		    (weight >= best * (1 - 1e-12) && balance >= best_count)) {
			best = weight;
			best_count = balance;
			s->best = i;
		}
	}
	if (s->best != BISECTION_NONE)
		s->state = SEARCH_OPEN;
	else
		s->state = s->nleft == 1 ? SEARCH_FOUND : SEARCH_SKIPPED;
}

void bisection_decide(struct arena *arena, const struct bisection_commit *commits, size_t ncommits,
		      double good, double bad, const struct bisection_rule *rule,
		      const struct bisection_event *events, size_t nevents,
		      struct bisection *bisection)
{
	struct bisection *b = bisection;
	struct search whole = {.from = BISECTION_NONE,
			       .before = BISECTION_NONE,
			       .to = ncommits - 1,
			       .from_value = good,
			       .to_value = bad,
			       .before_value = good,
			       .at_value = bad};
	uint64_t *skipped;

	*b = (struct bisection){
		.commits = commits, .ncommits = ncommits, .rule = *rule, .next = BISECTION_NONE};
	find_ancestors(arena, b);
	skipped = new_set(arena, b);
	whole.left = new_set(arena, b);
	for (size_t w = 0; w < b->words; w++)
		whole.left[w] = ancestors_of(b, whole.to)[w];
	start(arena, b, &whole);
	b->steps = arena_alloc(arena, (nevents + 1) * sizeof(*b->steps));
	for (size_t i = 0; i < nevents; i++)
		replay(arena, b, &events[i], &b->steps[i], skipped);
	for (size_t i = 0; i < b->nsearches; i++) {
		choose(b, &b->searches[i], skipped);
		if (b->next == BISECTION_NONE)
			b->next = b->searches[i].best;
	}
}

size_t bisection_plain(struct arena *arena, const struct bisection_commit *commits, size_t ncommits,
		       const struct bisection_event *events, size_t nevents, size_t found)
{
	static const struct bisection_rule exact = {.threshold = .5, .noise = 0};
	struct bisection_commit *alike = arena_alloc(arena, ncommits * sizeof(*alike));
	struct bisection_event *asked = arena_alloc(arena, ncommits * sizeof(*asked));
	size_t nasked = 0, measured = 2;
	struct bisection b;

	for (size_t i = 0; i < ncommits; i++) {
		alike[i] = commits[i];
		alike[i].weight = 1;
	}
	for (;;) {
		struct bisection_event *event = &asked[nasked];
		struct arena scratch = {0};

		bisection_decide(&scratch, alike, ncommits, 0, 1, &exact, asked, nasked, &b);
		if (b.next == BISECTION_NONE || nasked == ncommits) {
			arena_free(&scratch);
			return measured;
		}
		*event = (struct bisection_event){.commit = b.next};
		for (size_t i = 0; i < nevents; i++)
			event->skipped =
				event->skipped || (events[i].skipped && events[i].commit == b.next);
		event->value = has(ancestors_of(&b, b.next), found);
		arena_free(&scratch);
		measured += !event->skipped;
		nasked++;
	}
}
