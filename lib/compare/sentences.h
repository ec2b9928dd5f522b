/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentences a reader quotes, written from the data. In the comparison's arena. */
#ifndef COMPARE_SENTENCES_H
#define COMPARE_SENTENCES_H

#include "compare/comparison.h"

/* "4 of 5 claim rows reproduced, 1 inconclusive: 3 more boots of each kernel" */
const char *sentence_headline(const struct comparison *comparison);
/* "median of five runs, averaged over two boots of each kernel, in a 32 vCPU VM" */
const char *sentence_method(const struct comparison *comparison);

/* The verdict of a row as it reads: with its size, its reason. */
const char *sentence_verdict(struct arena *arena, const struct result_row *row);

/*
 * The next warning from *at on, "ROW, ROW: why", with all rows that it is about; NULL: no more. For
 * the top of a report.
 */
const char *sentence_warning(const struct comparison *comparison, size_t *at);

/* "code path: base before (..), patched after (..)"; NULL where the claim names no mechanism. */
const char *sentence_path(const struct comparison *comparison, const struct claim_result *result);

#endif
