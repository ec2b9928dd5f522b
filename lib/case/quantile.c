// SPDX-License-Identifier: GPL-2.0-only
#include "case/quantile.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void quantile_sort(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), ascending);
}

double quantile(const uint64_t *sorted, size_t count, double p)
{
	double at = (double)(count - 1) * p;
	size_t low = count ? (size_t)at : 0;

	if (!count)
		return NAN;
	if (low + 1 >= count)
		return (double)sorted[count - 1];
	return (double)sorted[low] +
	       (at - (double)low) * ((double)sorted[low + 1] - (double)sorted[low]);
}
