// SPDX-License-Identifier: GPL-2.0-only
#include "history/edivisive.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct edivisive_options edivisive_defaults = {
	.least = 3, .permutations = 999, .level = .05, .seed = 1};

/* sums[i * (count + 1) + j]: the sum of |a - b| over the first i values a and the first j values b. */
static void distances(const double *values, size_t count, double *sums)
{
	size_t width = count + 1;

	for (size_t j = 0; j < width; j++)
		sums[j] = 0;
	for (size_t i = 0; i < count; i++) {
		double row = 0;

		sums[(i + 1) * width] = 0;
		for (size_t j = 0; j < count; j++) {
			row += fabs(values[i] - values[j]);
			sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + row;
		}
	}
}

static double pairs(size_t count)
{
	return (double)count * (double)(count - 1) / 2;
}

/*
 * Matteson and James, (5) and (6), with alpha = 1: for X of n values and Y of m,
 *   E = 2/(nm) sum |x-y| - sum_{i<k} |x_i-x_k| / (n choose 2) - sum_{j<k} |y_j-y_k| / (m choose 2)
 *   Q = nm/(n+m) E
 * where the mean distance inside a side of one value is 0. X is [0, at), Y is [at, end).
 */
static double divergence(const double *sums, size_t width, size_t at, size_t end)
{
	double n = (double)at, m = (double)(end - at);
	double all = sums[at * width + end], x = sums[at * width + at];
	double between = all - x;
	double y = sums[end * width + end] - 2 * all + x;
	double e = 2 * between / (n * m);

	/* Every pair inside a side is in its sum twice. */
	if (at > 1)
		e -= x / 2 / pairs(at);
	if (end - at > 1)
		e -= y / 2 / pairs(end - at);
	return n * m / (n + m) * e;
}

/* sums has room for (count + 1)^2. */
static struct edivisive_change best_split(const double *values, size_t count, size_t least,
					  double *sums)
{
	struct edivisive_change best = {.q = 0, .p = NAN};

	if (count < 2 * least)
		return best;
	distances(values, count, sums);
	for (size_t at = least; at + least <= count; at++) {
		for (size_t end = at + least; end <= count; end++) {
			double q = divergence(sums, count + 1, at, end);

			/* Rounding must not make a change of what is constant. */
			if (q > best.q && q > 1e-12 * sums[count * (count + 1) + count])
				best = (struct edivisive_change){at, end, q, NAN};
		}
	}
	return best;
}

static double *sums_of(size_t count)
{
	return malloc((count + 1) * (count + 1) * sizeof(double));
}

bool edivisive_split(const double *values, size_t count, size_t least,
		     struct edivisive_change *change)
{
	double *sums = sums_of(count);

	*change = (struct edivisive_change){.p = NAN};
	if (sums)
		*change = best_split(values, count, least ? least : 1, sums);
	free(sums);
	return change->q > 0;
}

struct search {
	const double *values;
	size_t count, least;
	size_t *starts; /* of the segments, starts[segments] is the end */
	size_t segments;
	double *work, *sums;
};

/* The best change of any segment; values as they are, or permuted inside each segment. */
static struct edivisive_change best_of_all(struct search *search, gsl_rng *permute)
{
	struct edivisive_change best = {.p = NAN};

	for (size_t i = 0; i < search->segments; i++) {
		size_t start = search->starts[i], count = search->starts[i + 1] - start;
		struct edivisive_change change;

		memcpy(search->work, search->values + start, count * sizeof(double));
		if (permute)
			gsl_ran_shuffle(permute, search->work, count, sizeof(double));
		change = best_split(search->work, count, search->least, search->sums);
		if (change.q > best.q)
			best = (struct edivisive_change){start + change.at, start + change.end,
							 change.q, NAN};
	}
	return best;
}

/*
 * p = (1 + permutations at least as extreme) / (1 + permutations), each permuting inside the
 * segments found so far (Matteson and James, 2.4). Ends as soon as p can no longer be at most
 * level: it is then a lower bound, above level.
 */
static double permutation_p(struct search *search, double q,
			    const struct edivisive_options *options, gsl_rng *rng)
{
	double all = (double)options->permutations + 1;
	size_t extreme = 1;

	for (size_t i = 0; i < options->permutations; i++) {
		/* The same split summed in another order is as extreme as itself. */
		if (best_of_all(search, rng).q >= q * (1 - 1e-9))
			extreme++;
		if ((double)extreme / all > options->level)
			break;
	}
	return (double)extreme / all;
}

static void split_segment(struct search *search, size_t at)
{
	size_t i = search->segments + 1;

	for (; search->starts[i - 1] > at; i--)
		search->starts[i] = search->starts[i - 1];
	search->starts[i] = at;
	search->segments++;
}

static void insert_change(struct edivisive_change *changes, size_t count,
			  const struct edivisive_change *change)
{
	for (; count && changes[count - 1].at > change->at; count--)
		changes[count] = changes[count - 1];
	changes[count] = *change;
}

size_t edivisive(const double *values, size_t count, const struct edivisive_options *options,
		 struct edivisive_change *changes, size_t room)
{
	struct search search = {.values = values,
				.count = count,
				.least = options->least ? options->least : 1,
				.segments = 1};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	size_t found = 0;

	search.starts = calloc(count + 2, sizeof(*search.starts));
	search.work = malloc((count + 1) * sizeof(double));
	search.sums = sums_of(count);
	if (rng && search.starts && search.work && search.sums) {
		gsl_rng_set(rng, options->seed);
		search.starts[1] = count;
		while (found < room) {
			struct edivisive_change change = best_of_all(&search, NULL);

			if (!(change.q > 0))
				break;
			change.p = permutation_p(&search, change.q, options, rng);
			if (change.p > options->level)
				break;
			insert_change(changes, found++, &change);
			split_segment(&search, change.at);
		}
	}
	free(search.starts);
	free(search.work);
	free(search.sums);
	if (rng)
		gsl_rng_free(rng);
	return found;
}
