// SPDX-License-Identifier: GPL-2.0-only
#include "history/pettitt.h"

#include <math.h>

static int sign(double value)
{
	return (value > 0) - (value < 0);
}

/*
 * U(t) = sum_{i<=t} sum_{j>t} sgn(x_i - x_j), K = max |U(t)|, and p = 2 exp(-6 K^2 / (T^3 + T^2)),
 * Pettitt's (2.4) and (2.14). U(t) = U(t-1) + sum_j sgn(x_t - x_j).
 */
struct pettitt pettitt(const double *values, size_t count)
{
	struct pettitt result = {.p = NAN};
	double n = (double)count, u = 0;

	if (count < 2)
		return result;
	for (size_t t = 1; t < count; t++) {
		for (size_t j = 0; j < count; j++)
			u += sign(values[t - 1] - values[j]);
		if (fabs(u) > result.k) {
			result.k = fabs(u);
			result.at = t;
		}
	}
	result.p = fmin(1, 2 * exp(-6 * result.k * result.k / (n * n * n + n * n)));
	return result;
}
