/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages over all nights, as markdown. They compute nothing. */
#ifndef HISTORY_INDEX_H
#define HISTORY_INDEX_H

#include "history/trends.h"

#include <stdio.h>

/* A row a night, newest first. */
void index_markdown(struct arena *arena, const struct nights *nights, FILE *out);
/* A line a row with its course, then every change. plots: link plots/NAME.svg. */
void trends_markdown(struct arena *arena, const struct trends *trends, bool plots, FILE *out);
/* A character a night, "·" where nothing was measured. */
const char *trend_sparkline(struct arena *arena, const struct trend *trend, size_t nights);

#endif
