/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bisection as files: commits and what was done by now as JSON, measured kernels as directories
 * of records; out come the values, what every step said, and what is next. ci/bisect.sh builds and
 * boots.
 *
 * In: {"schema":1, "case", "options":{}, "metric", "threshold": ratio - 1, "good", "bad",
 *      "commits":[{"commit", "parents":[], "weight"}],
 *      "log":[{"commit", "records": DIR | "skipped": WHY}]}
 * The commits come parents first; the last is `bad`, `good` is none of them. A log entry of a
 * kernel whose records do not hold the figure is taken as skipped, with that reason.
 */
#ifndef COMPARE_BISECT_H
#define COMPARE_BISECT_H

#include "compare/input.h"

#include <stdio.h>

/* Writes the decision as one JSON object. Returns 0, or -1 with the error recorded. */
int bisect_run(const char *path, FILE *out, struct input_error *error);

#endif
