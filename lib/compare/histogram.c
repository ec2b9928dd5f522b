// SPDX-License-Identifier: GPL-2.0-only
#include "compare/histogram.h"

#include <math.h>
#include <string.h>

static size_t bin_of(double value)
{
	double bin = value > 1 ? floor(log2(value) * HISTOGRAM_PER_DOUBLING) : 0;

	return bin < HISTOGRAM_BINS ? (size_t)bin : HISTOGRAM_BINS - 1;
}

static double edge(size_t bin)
{
	return exp2((double)bin / HISTOGRAM_PER_DOUBLING);
}

void histogram_fill(struct histogram *histogram, const double *samples, size_t count)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->count = count;
	for (size_t i = 0; i < count; i++)
		histogram->bins[bin_of(samples[i])]++;
}

/* The first bin at which more than share p of the samples is reached. */
static size_t quantile_bin(const struct histogram *histogram, double p)
{
	double reached = 0;
	size_t bin;

	for (bin = 0; bin < HISTOGRAM_BINS - 1; bin++) {
		reached += histogram->bins[bin];
		if (reached > p * (double)histogram->count)
			break;
	}
	return bin;
}

struct histogram_axis histogram_axis(const struct histogram *const *histograms, size_t count,
				     size_t width)
{
	struct histogram_axis axis = {.first = HISTOGRAM_BINS - 1};
	size_t last = 0, bins;

	for (size_t i = 0; i < count; i++) {
		size_t low = quantile_bin(histograms[i], .005);
		size_t high = quantile_bin(histograms[i], .99);

		axis.first = low < axis.first ? low : axis.first;
		last = high > last ? high : last;
	}
	bins = last >= axis.first ? last - axis.first + 1 : 1;
	axis.bins_a_column = (bins + width - 1) / width;
	axis.columns = (bins + axis.bins_a_column - 1) / axis.bins_a_column;
	axis.low = edge(axis.first);
	axis.high = edge(axis.first + axis.columns * axis.bins_a_column);
	axis.ratio = edge(axis.bins_a_column);
	return axis;
}

static double sum(const struct histogram *histogram, size_t from, size_t to)
{
	double total = 0;

	for (size_t bin = from; bin < to && bin < HISTOGRAM_BINS; bin++)
		total += histogram->bins[bin];
	return total;
}

char *histogram_draw(const struct histogram *histogram, const struct histogram_axis *axis,
		     char *out, double *below, double *above)
{
	static const char *const steps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t end = axis->first + axis->columns * axis->bins_a_column;
	double all = histogram->count ? (double)histogram->count : 1, tallest = 0;
	char *at = out;

	for (size_t i = 0; i < 2 * axis->columns; i++) {
		size_t from = axis->first + i % axis->columns * axis->bins_a_column;
		double here = sum(histogram, from, from + axis->bins_a_column);
		const char *text;

		/* The first pass looks for the tallest, the second one draws. */
		if (i < axis->columns) {
			tallest = fmax(tallest, here);
			continue;
		}
		if (!(here > 0))
			text = " ";
		else if (here < .01 * tallest)
			text = "·";
		else
			text = steps[(size_t)ceil(here / tallest * 8) - 1];
		at = stpcpy(at, text);
	}
	*at = '\0';
	*below = sum(histogram, 0, axis->first) / all;
	*above = sum(histogram, end, HISTOGRAM_BINS) / all;
	return out;
}
