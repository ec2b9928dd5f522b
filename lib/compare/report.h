/* SPDX-License-Identifier: GPL-2.0-only */
/* The writers: a comparison as text. None of them computes or decides anything. */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "compare/comparison.h"

#include <stdio.h>

void report_markdown(const struct comparison *comparison, FILE *out);
/* At most 72 columns, for a commit message. */
void report_text(const struct comparison *comparison, FILE *out);
/* Everything there is, in full precision. */
void report_json(const struct comparison *comparison, FILE *out);
/* A test a claim row, a subtest a claim. */
void report_ktap(const struct comparison *comparison, FILE *out);
/* "key: number" lines. */
void report_lkp(const struct comparison *comparison, FILE *out);

/* ---- cells that several writers use; in the comparison's arena ---- */

/* The unit a row's figures are shown in: the claim's where it fits, else one that reads well. */
const char *cell_unit(const struct result_row *row);
/* A recorded value in that unit, without the unit. */
double cell_shown(const struct result_row *row, double value);
const char *cell_number(struct arena *arena, const struct result_row *row, double value);
/* "1163 → 913 ms", "within 5 %" where the claim has no figures, NULL without a claim */
const char *cell_documented(struct arena *arena, const struct result_row *row);
const char *cell_measured(struct arena *arena, const struct result_row *row);
/* "-21.5 %", "-" without a ratio */
const char *cell_delta(struct arena *arena, double ln_ratio);
/* "-23.1 .. -19.9 %" */
const char *cell_interval(struct arena *arena, const struct result_row *row);
const char *cell_share(struct arena *arena, const struct result_row *row);
/* "2 × 5", "2+3 × 4-5" */
const char *cell_boots(struct arena *arena, const struct result_row *row);

#endif
