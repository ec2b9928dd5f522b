/* SPDX-License-Identifier: GPL-2.0-only */
/* Pictures of trends: a script for gnuplot, which writes an SVG a trend. Writing it is pure. */
#ifndef HISTORY_PLOTS_H
#define HISTORY_PLOTS_H

#include "history/trends.h"

#include <stdio.h>

/* A script that writes DIRECTORY/NAME.svg for one trend; relative to where gnuplot runs. */
void plot_script(struct arena *arena, const struct trends *trends, const struct trend *trend,
		 const char *directory, FILE *out);

#endif
