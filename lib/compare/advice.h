/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More boots or more runs: from the variance between and within boots and the recorded costs, what
 * would settle the open rows, and which of the two ways takes less time.
 */
#ifndef COMPARE_ADVICE_H
#define COMPARE_ADVICE_H

#include "compare/comparison.h"

/* Nobody boots a kernel more often for a table: beyond this a row is said to lie on a border. */
enum { ADVICE_BOOTS_MAX = 100, ADVICE_RUNS_MAX = 1000 };

void advice_build(struct comparison *comparison);
/* One or two sentences, or NULL when nothing is open. In the comparison's arena. */
const char *advice_text(const struct comparison *comparison);

#endif
