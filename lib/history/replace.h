/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are there whole or not at all: written beside their place and renamed. Errors are one
 * line in struct input_error.
 */
#ifndef HISTORY_REPLACE_H
#define HISTORY_REPLACE_H

#include "compare/arena.h"
#include "compare/input.h"

#include <stdio.h>

struct replacement {
	FILE *file;
	const char *path, *new;
};

/* Returns 0, or -1 with the error recorded. */
int replace_open(struct arena *arena, struct replacement *replacement, const char *path,
		 struct input_error *error);
/* Writes everything to the disk and puts it in place; on failure nothing is changed. */
int replace_commit(struct replacement *replacement, struct input_error *error);

#endif
