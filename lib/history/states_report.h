/* SPDX-License-Identifier: GPL-2.0-only */
/* The writers of a night's states. They compute nothing. */
#ifndef HISTORY_STATES_REPORT_H
#define HISTORY_STATES_REPORT_H

#include "history/states.h"

#include <stdio.h>

/* docs/formats.md, states.json */
void states_json(const struct states *states, FILE *out);
/* A part of a night's report: claims, losses, what is stale. */
void states_markdown(struct arena *arena, const struct states *states, FILE *out);

#endif
