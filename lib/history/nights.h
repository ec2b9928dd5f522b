/* SPDX-License-Identifier: GPL-2.0-only */
/* All nights of a directory, with what each of them says. */
#ifndef HISTORY_NIGHTS_H
#define HISTORY_NIGHTS_H

#include "history/states.h"

/* Older ones are left to the files: not read, not shown. */
enum { NIGHTS_MOST = 100 };

struct nights {
	const char *directory;
	struct night *nights;  /* oldest first */
	struct states *states; /* one a night */
	size_t count;
	size_t left_off; /* older nights */
};

/*
 * Directories named YYYY-MM-DD that hold a night.json; what is under way or something else is left
 * alone. A night knows the losses that its states.json says it knew, else those of the night before it.
 * 0, or -1 with the error recorded. Everything is in the arena.
 */
int nights_read(struct arena *arena, const char *directory, struct nights *nights,
		struct input_error *error);

/* The newest night that is done; NULL: none. */
const struct night *nights_newest_done(const struct nights *nights);

#endif
