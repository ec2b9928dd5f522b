// SPDX-License-Identifier: GPL-2.0-only
/*
 * The truth is a difference of logarithms. A boot of a kernel has its own level (spread between
 * boots), a run its own deviation from it (spread within); both are normal, skewed (a shifted
 * exponential) or heavy-tailed (Student's t with 3 degrees of freedom), scaled to the same
 * variance. One repetition draws ten boots of five runs of each kernel; a smaller number of boots
 * is a prefix, and another true effect a shift, so that all columns see the same noise.
 */
#include "compare/trust.h"

#include "compare/claim.h"
#include "compare/stats.h"
#include "compare/verdict.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTS = 10, RUNS = 5, LEAST = 2, COUNTS = BOOTS - LEAST + 1, ALL_RUNS = BOOTS * RUNS };

enum noise { NORMAL, SKEWED, HEAVY, NOISES };

static const char *const noise_name[NOISES] = {"normal", "skewed", "heavy"};

struct spread {
	const char *name;
	double between, within; /* standard deviations of the logarithm */
};

enum { SPREADS = 3 };

static const struct spread spreads[SPREADS] = {
	{"within 2 %, between 0.2 %", .002, .02},
	{"within 1 %, between 1 %", .01, .01},
	{"within 0.5 %, between 2 %", .02, .005},
};

/* The claim that is held: shmem-batch-remove, 1163 -> 913 ms. */
static const double DOCUMENTED = 913. / 1163;

/* ---- one repetition ---- */

struct sample {
	double runs[2][ALL_RUNS]; /* ln values, boot by boot; [0] before, [1] after */
	double boots[2][BOOTS];	  /* their medians */
};

static double draw(gsl_rng *rng, enum noise noise)
{
	switch (noise) {
	case SKEWED:
		return gsl_ran_exponential(rng, 1) - 1;
	case HEAVY:
		return gsl_ran_tdist(rng, 3) / sqrt(3);
	case NORMAL:
	default:
		return gsl_ran_gaussian_ziggurat(rng, 1);
	}
}

static double median_of_five(const double *runs)
{
	double sorted[RUNS];

	memcpy(sorted, runs, sizeof(sorted));
	return stats_median(sorted, RUNS);
}

static void draw_sample(gsl_rng *rng, enum noise noise, const struct spread *spread,
			struct sample *sample)
{
	for (int k = 0; k < 2; k++) {
		for (int b = 0; b < BOOTS; b++) {
			double level = spread->between * draw(rng, noise);
			double *runs = &sample->runs[k][b * RUNS];

			for (int r = 0; r < RUNS; r++)
				runs[r] = level + spread->within * draw(rng, noise);
			sample->boots[k][b] = median_of_five(runs);
		}
	}
}

/* The comparator's own rule on the first boots of a sample; the truth is added by the caller. */
static struct stats_difference compare_boots(const struct sample *sample, size_t boots,
					     double level)
{
	struct stats_pool pool = {0};
	double floor;

	for (size_t b = 0; b < boots; b++) {
		stats_pool_add_robust(&pool, &sample->runs[0][b * RUNS], RUNS);
		stats_pool_add_robust(&pool, &sample->runs[1][b * RUNS], RUNS);
	}
	floor = stats_floor(stats_pool_variance(&pool), RUNS, STATS_MEDIAN_EFFICIENCY);
	return stats_pooled(sample->boots[0], boots, sample->boots[1], boots, floor, level);
}

/* ---- the comparator's own rates ---- */

static struct rule claim_rule(void)
{
	return (struct rule){RULE_CHANGE, log(DOCUMENTED), CLAIM_SHARE, log(CLAIM_MARGIN)};
}

struct rates {
	size_t covered, reproduced, partly, absent, opposite; /* the last four: falsely */
	size_t whole, half, tenth, twentieth;		      /* power */
};

static enum verdict verdict_at(const struct stats_difference *d, double truth)
{
	struct rule rule = claim_rule();

	return verdict_of(&rule, d->low + truth, d->high + truth);
}

static bool is_gain(enum verdict verdict)
{
	return verdict == VERDICT_REPRODUCED || verdict == VERDICT_PARTLY ||
	       verdict == VERDICT_DIRECTION;
}

/*
 * Each false verdict at the truth where it is most likely: on the border of its zone, just
 * outside. Power is at the documented effect, at half of it, and at 10 and 5 %.
 */
static void count_rates(const struct stats_difference *d, struct rates *rates)
{
	struct rule rule = claim_rule();
	double enough = rule.share * rule.delta;

	rates->covered += d->low <= 0 && d->high >= 0;
	rates->reproduced += verdict_at(d, enough) == VERDICT_REPRODUCED;
	rates->partly += verdict_at(d, enough) == VERDICT_PARTLY;
	rates->absent += verdict_at(d, -rule.margin) == VERDICT_ABSENT;
	rates->opposite += verdict_at(d, rule.margin) == VERDICT_OPPOSITE;
	rates->whole += verdict_at(d, rule.delta) == VERDICT_REPRODUCED;
	rates->half += verdict_at(d, rule.delta / 2) == VERDICT_PARTLY;
	rates->tenth += is_gain(verdict_at(d, log(.90)));
	rates->twentieth += is_gain(verdict_at(d, log(.95)));
}

struct promise {
	size_t repetitions;
	double least_coverage, most_coverage; /* normal noise; the latter: boots dominate */
	double worst_false;		      /* normal noise */
	int broken;
};

static double percent(size_t count, size_t of)
{
	return 100. * (double)count / (double)of;
}

/* 5 % a side, and three standard errors of the simulation. */
static double most_false(size_t repetitions)
{
	return 5 + 300 * sqrt(.05 * .95 / (double)repetitions);
}

static void put_rates(FILE *out, enum noise noise, const struct spread *spread, size_t boots,
		      const struct rates *rates, struct promise *promise)
{
	size_t n = promise->repetitions;
	const size_t wrong[] = {rates->reproduced, rates->partly, rates->absent, rates->opposite};
	double coverage = percent(rates->covered, n);

	fprintf(out,
		"| %-6s | %-25s | %2zu | %6.1f | %6.2f | %6.2f | %6.2f | %6.2f | %5.1f | %5.1f | "
		"%5.1f | %5.1f |\n",
		noise_name[noise], spread->name, boots, coverage, percent(wrong[0], n),
		percent(wrong[1], n), percent(wrong[2], n), percent(wrong[3], n),
		percent(rates->whole, n), percent(rates->half, n), percent(rates->tenth, n),
		percent(rates->twentieth, n));
	fflush(out);
	if (noise != NORMAL)
		return;
	promise->least_coverage = fmin(promise->least_coverage, coverage);
	if (spread->between > spread->within)
		promise->most_coverage = fmax(promise->most_coverage, coverage);
	for (size_t i = 0; i < 4; i++)
		promise->worst_false = fmax(promise->worst_false, percent(wrong[i], n));
}

static void own_rates(gsl_rng *rng, FILE *out, struct promise *promise)
{
	fputs("## The comparator's own error rates\n\n"
	      "Percent of simulated comparisons, five runs a boot. cover: the interval holds the truth. "
	      "f.: false\nverdicts (reproduced, partly, absent, opposite), each at the true effect where "
	      "it is most likely, the\nborder of its zone. Power: \"reproduced\" at the documented "
	      "effect, \"partly\" at half of it, any verdict\nof a gain at a true gain of 10 and of 5 "
	      "%.\n\n"
	      "| noise  | spread of ln values       | B  | cover  | f.repr | f.part | f.abs  | f.opp  "
	      "| repr  | half  | 10 %  | 5 %   |\n"
	      "|--------|---------------------------|---:|-------:|-------:|-------:|-------:|-------:"
	      "|------:|------:|------:|------:|\n",
	      out);
	for (int noise = 0; noise < NOISES; noise++) {
		for (int i = 0; i < SPREADS; i++) {
			struct rates rates[COUNTS] = {0};
			struct sample sample;

			for (size_t n = 0; n < promise->repetitions; n++) {
				draw_sample(rng, (enum noise)noise, &spreads[i], &sample);
				for (size_t b = LEAST; b <= BOOTS; b++) {
					struct stats_difference d = compare_boots(&sample, b, .9);

					count_rates(&d, &rates[b - LEAST]);
				}
			}
			for (size_t b = LEAST; b <= BOOTS; b++)
				put_rates(out, (enum noise)noise, &spreads[i], b, &rates[b - LEAST],
					  promise);
		}
	}
}

/* ---- planned looks ---- */

/*
 * Boots are added until the verdict is settled, at K numbers of boots fixed beforehand: each look
 * uses a 1 - 0.10/K interval, so that all of them together err no more often than one (Bonferroni).
 * uncorrected: what the same looks would do with the 90 % interval.
 */
static const size_t look_plan[][5] = {{10}, {5, 10}, {3, 6, 10}, {2, 4, 6, 8, 10}};
static const size_t look_count[] = {1, 2, 3, 5};

static enum verdict look(const struct sample *sample, const size_t *plan, size_t count,
			 double level, double truth)
{
	struct rule rule = claim_rule();
	enum verdict verdict = VERDICT_INCONCLUSIVE;

	for (size_t i = 0; i < count; i++) {
		struct stats_difference d = compare_boots(sample, plan[i], level);

		verdict = verdict_at(&d, truth);
		if (verdict_settled(&rule, verdict))
			break;
	}
	return verdict;
}

static void looks(gsl_rng *rng, FILE *out, struct promise *promise)
{
	const struct rule rule = claim_rule();
	size_t n = promise->repetitions / 4;

	fputs("\n## Looking K times until settled\n\n"
	      "Normal noise. \"Plain\" is what the same looks would do with 90 % intervals.\n\n"
	      "| K | boots looked at | spread of ln values       | false repr. | plain | false absent "
	      "| plain | repr. at 1 |\n"
	      "|--:|-----------------|---------------------------|------------:|------:|-------------:"
	      "|------:|-----------:|\n",
	      out);
	for (size_t k = 0; k < sizeof(look_count) / sizeof(look_count[0]); k++) {
		static const char *const shown[] = {"10", "5, 10", "3, 6, 10", "2, 4, 6, 8, 10"};

		for (int i = 0; i < SPREADS; i++) {
			size_t reproduced[2] = {0}, absent[2] = {0}, whole = 0;
			struct sample sample;

			for (size_t j = 0; j < n; j++) {
				draw_sample(rng, NORMAL, &spreads[i], &sample);
				for (int plain = 0; plain < 2; plain++) {
					double level = plain ? .9 : 1 - .10 / (double)look_count[k];

					reproduced[plain] +=
						look(&sample, look_plan[k], look_count[k], level,
						     rule.share * rule.delta) == VERDICT_REPRODUCED;
					absent[plain] +=
						look(&sample, look_plan[k], look_count[k], level,
						     -rule.margin) == VERDICT_ABSENT;
				}
				whole += look(&sample, look_plan[k], look_count[k],
					      1 - .10 / (double)look_count[k],
					      rule.delta) == VERDICT_REPRODUCED;
			}
			fprintf(out,
				"| %zu | %-15s | %-25s | %11.2f | %5.2f | %12.2f | %5.2f | %10.1f |\n",
				look_count[k], shown[k], spreads[i].name, percent(reproduced[0], n),
				percent(reproduced[1], n), percent(absent[0], n),
				percent(absent[1], n), percent(whole, n));
			fflush(out);
			if (percent(reproduced[0], n) > most_false(n) ||
			    percent(absent[0], n) > most_false(n))
				promise->broken = 1;
		}
	}
}

/* ---- the rules of others on the same data ---- */

enum who { OURS, MANN_WHITNEY, MIN_MAX, NORMAL_INTERVALS, RULES };

/* This program's, and those of benchstat, LKP and mmtests; as wide as a figure. */
static const char *const rule_name[RULES] = {"ours", "bst ", "LKP ", "mmt "};

/* Evidence that after is lower: the rule says so where it exceeds the rule's threshold. */
static double evidence(const struct sample *sample, size_t boots, double truth, enum who who)
{
	size_t n = boots * RUNS;
	double before[ALL_RUNS], after[ALL_RUNS];

	memcpy(before, sample->runs[0], n * sizeof(double));
	for (size_t i = 0; i < n; i++)
		after[i] = sample->runs[1][i] + truth;
	if (who == NORMAL_INTERVALS) {
		double sum;

		for (size_t i = 0; i < n; i++) {
			before[i] = exp(before[i]);
			after[i] = exp(after[i]);
		}
		/* mean +- z s/sqrt(n) do not overlap: (m1 - m2) > z (se1 + se2) */
		sum = sqrt(stats_variance(before, n) / (double)n) +
		      sqrt(stats_variance(after, n) / (double)n);
		return (stats_mean(before, n) - stats_mean(after, n)) / sum;
	}
	stats_sort(before, n);
	stats_sort(after, n);
	if (who == MIN_MAX) {
		double median_before = stats_quantile_sorted(before, n, .5);
		double median_after = stats_quantile_sorted(after, n, .5);

		/* Neither median lies in the other's range; then the ratio counts. */
		return median_after < before[0] && median_before > after[n - 1]
			       ? median_before - median_after
			       : -INFINITY;
	} else {
		double u = 0, dn = (double)n;
		size_t j = 0;

		/* U counts the pairs with before above after. */
		for (size_t i = 0; i < n; i++) {
			while (j < n && after[j] < before[i])
				j++;
			u += (double)j;
		}
		/* The normal approximation, good from ten a side, with continuity correction. */
		return (u - dn * dn / 2 - .5) / sqrt(dn * dn * (2 * dn + 1) / 12);
	}
}

/* The thresholds the rules are published with. */
static double published(enum who who, size_t boots)
{
	switch (who) {
	case MANN_WHITNEY:
		return 1.959964; /* two-sided 0.05 */
	case MIN_MAX:
		return log(1.05);
	case NORMAL_INTERVALS:
		return 1.959964; /* 95 % intervals */
	case OURS:
	default:
		return stats_t_quantile(.95, 2. * (double)boots - 2);
	}
}

/* Above which a rule's evidence lies in a share of the cases; ties are split by a coin. */
struct threshold {
	double at, coin;
};

static double share_above(const double *sorted, size_t count, struct threshold threshold)
{
	size_t above = 0, equal = 0;

	for (size_t i = count; i-- && sorted[i] >= threshold.at;) {
		above += sorted[i] > threshold.at;
		equal += sorted[i] == threshold.at;
	}
	return ((double)above + threshold.coin * (double)equal) / (double)count;
}

static struct threshold calibrate(const double *sorted, size_t count, double share)
{
	size_t allowed = (size_t)(share * (double)count);
	struct threshold threshold = {INFINITY, 0};
	size_t above = 0, equal = 0;

	if (allowed >= count)
		return (struct threshold){-INFINITY, 1};
	threshold.at = sorted[count - 1 - allowed];
	for (size_t i = count; i-- && sorted[i] >= threshold.at;) {
		above += sorted[i] > threshold.at;
		equal += sorted[i] == threshold.at;
	}
	threshold.coin = fmax(0, (share * (double)count - (double)above) / (double)equal);
	/* What never fires cannot be made to: no coin for "no evidence at all". */
	if (threshold.at == -INFINITY)
		threshold.coin = 0;
	return threshold;
}

/* Standard error of d when everything is known. */
static double true_error(const struct spread *spread, size_t boots)
{
	/* The variance of a median of five normal values is 0.2868 of theirs. */
	double middle = spread->between * spread->between + .2868 * spread->within * spread->within;

	return sqrt(2 * middle / (double)boots);
}

/* Sorted evidence of every rule without an effect, and with one of three standard errors. */
struct evidence_table {
	double *values[SPREADS][COUNTS][2][RULES];
};

static void gather(gsl_rng *rng, enum noise noise, int spread, size_t count,
		   struct evidence_table *table)
{
	struct sample sample;

	for (size_t n = 0; n < count; n++) {
		draw_sample(rng, noise, &spreads[spread], &sample);
		for (size_t b = LEAST; b <= BOOTS; b++) {
			struct stats_difference d = compare_boots(&sample, b, .9);

			for (int effect = 0; effect < 2; effect++) {
				double truth = effect ? -3 * true_error(&spreads[spread], b) : 0;
				double **to = table->values[spread][b - LEAST][effect];

				to[OURS][n] = -(d.d + truth) / d.se;
				for (int who = MANN_WHITNEY; who < RULES; who++)
					to[who][n] = evidence(&sample, b, truth, (enum who)who);
			}
		}
	}
	for (size_t b = 0; b < COUNTS; b++) {
		for (int who = 0; who < RULES; who++) {
			stats_sort(table->values[spread][b][0][who], count);
			stats_sort(table->values[spread][b][1][who], count);
		}
	}
}

struct verdicts_on_rules {
	size_t rows, best_everywhere, best_here;
	double margin; /* three standard errors of a difference */
};

static void put_rule_row(FILE *out, enum noise noise, int spread, size_t b, size_t count,
			 const struct evidence_table *table, struct verdicts_on_rules *all)
{
	double ours_here, ours_most = 0, here[RULES], everywhere[RULES], best_here = 0, best = 0;

	for (int i = 0; i < SPREADS; i++)
		ours_most = fmax(ours_most,
				 share_above(table->values[i][b][0][OURS], count,
					     (struct threshold){published(OURS, b + LEAST), 0}));
	ours_here = share_above(table->values[spread][b][0][OURS], count,
				(struct threshold){published(OURS, b + LEAST), 0});
	fprintf(out, "| %-6s | %-25s | %2zu |", noise_name[noise], spreads[spread].name, b + LEAST);
	for (int who = 0; who < RULES; who++) {
		struct threshold is = {published((enum who)who, b + LEAST), 0};

		fprintf(out, " %5.1f |",
			100 * share_above(table->values[spread][b][0][who], count, is));
	}
	for (int who = 0; who < RULES; who++) {
		struct threshold common = {-INFINITY, 1};

		here[who] =
			share_above(table->values[spread][b][1][who], count,
				    calibrate(table->values[spread][b][0][who], count, ours_here));
		for (int i = 0; i < SPREADS; i++) {
			struct threshold one =
				calibrate(table->values[i][b][0][who], count, ours_most);

			if (!i || one.at > common.at)
				common = one;
		}
		if (who == OURS)
			common = (struct threshold){published(OURS, b + LEAST), 0};
		everywhere[who] = share_above(table->values[spread][b][1][who], count, common);
		if (who != OURS) {
			best_here = fmax(best_here, here[who]);
			best = fmax(best, everywhere[who]);
		}
	}
	for (int who = 0; who < RULES; who++)
		fprintf(out, " %5.1f |", 100 * everywhere[who]);
	for (int who = 0; who < RULES; who++)
		fprintf(out, " %5.1f |", 100 * here[who]);
	all->rows++;
	all->best_everywhere += everywhere[OURS] + all->margin >= best;
	all->best_here += here[OURS] + all->margin >= best_here;
	fprintf(out, " %s%s |\n", everywhere[OURS] + all->margin >= best ? "" : "c",
		here[OURS] + all->margin >= best_here ? "" : "r");
	fflush(out);
}

static void others(gsl_rng *rng, FILE *out, size_t count)
{
	struct verdicts_on_rules all = {.margin = 3 * sqrt(.5 / (double)count)};
	struct evidence_table table = {0};

	fputs("\n## Beside the rules of others\n\n"
	      "Percent that call after faster. 0: without any effect, that is false alarms of one side, "
	      "each rule as\npublished. Then at a true effect of three standard errors. c: with one "
	      "threshold a rule and B that keeps\nits false alarms at ours in all three spreads. r: with "
	      "a threshold a row, which nobody has who does not\nknow the spread. Last: where the best "
	      "other rule has more power than ours.\n\n"
	      "| noise  | spread of ln values       | B  |",
	      out);
	for (int i = 0; i < 3; i++) {
		for (int who = 0; who < RULES; who++)
			fprintf(out, " %c %s |", "0cr"[i], rule_name[who]);
	}
	fputs(" behind |\n|--------|---------------------------|---:|", out);
	for (int i = 0; i < 3 * RULES; i++)
		fputs("------:|", out);
	fputs("---|\n", out);
	for (int i = 0; i < SPREADS * COUNTS * 2 * RULES; i++)
		(&table.values[0][0][0][0])[i] = malloc(count * sizeof(double));
	for (int noise = 0; noise < NOISES; noise++) {
		for (int spread = 0; spread < SPREADS; spread++)
			gather(rng, (enum noise)noise, spread, count, &table);
		for (int spread = 0; spread < SPREADS; spread++) {
			for (size_t b = 0; b < COUNTS; b++)
				put_rule_row(out, (enum noise)noise, spread, b, count, &table,
					     &all);
		}
	}
	for (int i = 0; i < SPREADS * COUNTS * 2 * RULES; i++)
		free((&table.values[0][0][0][0])[i]);
	fprintf(out,
		"\nOurs has at least the power of the best other rule in %zu of %zu rows with a common "
		"threshold,\nin %zu with a threshold a row (differences below %.1f are within the "
		"simulation's error).\n",
		all.best_everywhere, all.rows, all.best_here, 100 * all.margin);
}

int trust_run(const struct trust_options *options, FILE *out)
{
	struct promise promise = {
		.repetitions = options->repetitions, .least_coverage = 100, .most_coverage = 0};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);

	if (!rng)
		return 1;
	gsl_rng_set(rng, options->seed);
	fprintf(out, "Seed %zu, %zu repetitions. B: boots of each kernel.\n\n", options->seed,
		options->repetitions);
	own_rates(rng, out, &promise);
	looks(rng, out, &promise);
	others(rng, out, options->repetitions / 5);
	gsl_rng_free(rng);
	if (promise.least_coverage < 88 || promise.most_coverage > 93 ||
	    promise.worst_false > most_false(promise.repetitions))
		promise.broken = 1;
	fprintf(out,
		"\nNormal noise: the 90 %% interval covers at least %.1f %% (promised: 88), where boots "
		"dominate at\nmost %.1f %% (93); the worst false verdict has %.2f %% (at most %.2f). "
		"%s.\n",
		promise.least_coverage, promise.most_coverage, promise.worst_false,
		most_false(promise.repetitions), promise.broken ? "BROKEN" : "Kept");
	return promise.broken;
}
