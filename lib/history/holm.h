/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many tests at once: Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
 * Journal of Statistics 6 (1979). Pure.
 */
#ifndef HISTORY_HOLM_H
#define HISTORY_HOLM_H

#include <stddef.h>

/*
 * adjusted[i]: the smallest level at which test i is rejected when all `count` tests are made
 * together; at most 1. NaN stays NaN and counts as no test. p and adjusted may be the same array.
 */
void holm(const double *p, size_t count, double *adjusted);

#endif
