/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The distribution of a run's samples as one line of text, so that a run with two modes is seen as
 * one. Pure: numbers in, text out. Samples are kept as counts in bins of equal ratio, 64 to a
 * doubling (1.1 % each), so that a kept run has the same size whatever it sampled.
 */
#ifndef COMPARE_HISTOGRAM_H
#define COMPARE_HISTOGRAM_H

#include <stdint.h>
#include <stddef.h>

#define HISTOGRAM_PER_DOUBLING 64
#define HISTOGRAM_BINS (48 * HISTOGRAM_PER_DOUBLING) /* from 1; of nanoseconds, to three days */
/* Fewer samples have no shape worth a line. */
#define HISTOGRAM_LEAST 20

struct histogram {
	size_t count;
	uint32_t bins[HISTOGRAM_BINS];
};

/* What is below 1 or too large is counted in the first or the last bin. */
void histogram_fill(struct histogram *histogram, const double *samples, size_t count);

/* The columns of a picture: the range of values they cover, and how much each one covers. */
struct histogram_axis {
	size_t first, columns, bins_a_column;
	double low, high; /* values at the left and the right edge */
	double ratio;	  /* of a column's right edge to its left edge */
};

/*
 * An axis of at most `width` columns for pictures that are read against each other: from the least
 * 0.5 % quantile to the largest 99 % quantile among them, or the whole of a run where that is less.
 */
struct histogram_axis histogram_axis(const struct histogram *const *histograms, size_t count,
				     size_t width);

/*
 * Draws one histogram: a column of up to eight steps for each part of the axis, relative to the
 * tallest, "·" for what is there but below 1 % of it. Returns `out`, UTF-8, which must hold
 * 3 * axis->columns + 1 bytes; `below` and `above` are the shares of the samples off the axis.
 */
char *histogram_draw(const struct histogram *histogram, const struct histogram_axis *axis,
		     char *out, double *below, double *above);

#endif
