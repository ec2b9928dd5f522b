/* SPDX-License-Identifier: GPL-2.0-only */
/* What the boots of two kernels must agree in, and what else differs between them. */
#ifndef COMPARE_ENVIRONMENT_H
#define COMPARE_ENVIRONMENT_H

#include "compare/comparison.h"

/* Fills forced and environment of the comparison. */
void environment_compare(struct comparison *comparison);

#endif
