/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Warnings are data: what a reader of the result has to know. Each writer renders them its own
 * way. The code is a stable word for programs, the text a sentence for people.
 */
#ifndef COMPARE_NOTES_H
#define COMPARE_NOTES_H

#include "compare/arena.h"

#include <stdbool.h>

struct note {
	const char *code, *text;
	const char *subject; /* a row's or a variant's name, or NULL */
	size_t count;	     /* how often it was added */
	bool warning;	     /* a verdict cannot mean what it says: shown at the top */
};

struct notes {
	struct arena *arena;
	struct note *items;
	size_t count, room;
};

/* Adds a note, or counts it where the same one stands already. */
void note_add(struct notes *notes, const char *code, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void note_warn(struct notes *notes, const char *code, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
