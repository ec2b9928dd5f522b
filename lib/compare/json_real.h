/* SPDX-License-Identifier: GPL-2.0-only */
/* How reports write a number that may not be there. */
#ifndef COMPARE_JSON_REAL_H
#define COMPARE_JSON_REAL_H

#include <jansson.h>
#include <math.h>

/* A number, or null where there is none: NaN and infinity have no JSON. A new reference. */
static inline json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

#endif
