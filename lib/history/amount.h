/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures in words: "saves 71 instructions a page (13.6 %)". Text is in the arena. */
#ifndef HISTORY_AMOUNT_H
#define HISTORY_AMOUNT_H

#include "history/compared.h"

/* "instructions a page" of "instructions/page"; "µs" of "us". */
const char *amount_unit(struct arena *arena, const char *unit);
/*
 * "still saves 148 to 150 instructions a page (9.5 to 9.6 %)", or "would save .." of what is
 * proposed: the gains of rows, after against before, in the better direction. Rows of another unit
 * than the first are left out.
 */
const char *amount_saved(struct arena *arena, const struct compared_row *const *rows, size_t count,
			 bool would);
/* "+1.2 % (+0.9 .. +1.5)", with its interval where there is one */
const char *amount_change(struct arena *arena, const struct compared_row *row);
/* "+1.2 %" of a logarithm; two digits where it is below 0.1 %; "-" of none. */
const char *amount_percent(struct arena *arena, double ln_ratio);

#endif
