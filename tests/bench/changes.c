// SPDX-License-Identifier: GPL-2.0-only
/*
 * How soon the history sees a change, and how often one that is not there, by simulation: the tables
 * of docs/history.md. Fixed seed.
 */
#include "history/edivisive.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>

enum { NIGHTS = 100, BEFORE = 20 };

static double series[NIGHTS];
static struct edivisive_change found[NIGHTS];

static void noise(const gsl_rng *rng, size_t count, size_t at, double step)
{
	for (size_t i = 0; i < count; i++)
		series[i] = gsl_ran_gaussian(rng, 1) + (i >= at ? step : 0);
}

static size_t changes(size_t count)
{
	return edivisive(series, count, &edivisive_defaults, found, NIGHTS);
}

/* Nights after a step without any noise until it is told. */
static size_t nights_needed(size_t before)
{
	for (size_t after = 1; before + after <= NIGHTS; after++) {
		for (size_t i = 0; i < before + after; i++)
			series[i] = i >= before;
		if (changes(before + after))
			return after;
	}
	return 0;
}

static void false_alarms(const gsl_rng *rng, size_t count, size_t repetitions)
{
	size_t hits = 0;

	for (size_t i = 0; i < repetitions; i++) {
		noise(rng, count, count, 0);
		hits += changes(count) > 0;
	}
	printf("| %zu | %.1f %% of %zu |\n", count, 100. * (double)hits / (double)repetitions,
	       repetitions);
}

static double power(const gsl_rng *rng, size_t after, double step)
{
	enum { REPETITIONS = 500 };
	size_t hits = 0;

	for (size_t i = 0; i < REPETITIONS; i++) {
		bool near = false;
		size_t count;

		noise(rng, BEFORE + after, BEFORE, step);
		count = changes(BEFORE + after);
		for (size_t j = 0; j < count; j++)
			near = near || (found[j].at + 2 >= BEFORE && found[j].at <= BEFORE + 2);
		hits += near;
	}
	return 100. * (double)hits / REPETITIONS;
}

int main(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, 7);
	puts("| nights before a step without noise | nights after it until it is told |\n|--:|--:|");
	for (size_t before = 3; before <= 6; before++)
		printf("| %zu | %zu |\n", before, nights_needed(before));
	puts("\n| nights of nothing but noise | series with a change |\n|--:|--:|");
	false_alarms(rng, 10, 1000);
	false_alarms(rng, 30, 1000);
	false_alarms(rng, NIGHTS, 200);
	printf("\n| nights after | step of 1 sd | 2 sd | 3 sd |\n|--:|--:|--:|--:|\n");
	for (size_t after = 3; after <= 10; after++)
		printf("| %zu | %.1f %% | %.1f %% | %.1f %% |\n", after, power(rng, after, 1),
		       power(rng, after, 2), power(rng, after, 3));
	gsl_rng_free(rng);
	return 0;
}
