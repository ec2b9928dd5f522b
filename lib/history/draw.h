/* SPDX-License-Identifier: GPL-2.0-only */
/* Has gnuplot draw every trend into DIRECTORY/plots. */
#ifndef HISTORY_DRAW_H
#define HISTORY_DRAW_H

#include "history/trends.h"

/*
 * 0: drawn; 1: there is no gnuplot, nothing was drawn; -1 with the error recorded. Each picture is
 * put in place whole.
 */
int draw_trends(struct arena *arena, const struct trends *trends, const char *directory,
		struct input_error *error);

#endif
