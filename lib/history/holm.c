// SPDX-License-Identifier: GPL-2.0-only
#include "history/holm.h"

#include <math.h>
#include <stdlib.h>

struct test {
	double p;
	size_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct test *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* The i-th smallest of n is multiplied by n - i + 1; none is smaller than the one before it. */
void holm(const double *p, size_t count, double *adjusted)
{
	struct test *tests = malloc((count + 1) * sizeof(*tests));
	size_t made = 0;
	double least = 0;

	if (!tests)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (!isnan(p[i]))
			tests[made++] = (struct test){p[i], i};
		adjusted[i] = p[i];
	}
	qsort(tests, made, sizeof(*tests), by_p);
	for (size_t i = 0; i < made; i++) {
		least = fmax(least, fmin(1, tests[i].p * (double)(made - i)));
		adjusted[tests[i].index] = least;
	}
	free(tests);
}
