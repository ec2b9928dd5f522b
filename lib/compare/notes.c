// SPDX-License-Identifier: GPL-2.0-only
#include "compare/notes.h"

#include <string.h>

static int same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void add(struct notes *notes, const char *code, const char *subject, char *text,
		bool warning)
{
	for (size_t i = 0; i < notes->count; i++) {
		struct note *note = &notes->items[i];

		if (same(note->code, code) && same(note->subject, subject) &&
		    same(note->text, text)) {
			note->count++;
			return;
		}
	}
	*ARENA_PUSH(notes->arena, notes->items, notes->count, notes->room) = (struct note){
		.code = code,
		.text = text,
		.subject = subject ? arena_strdup(notes->arena, subject) : NULL,
		.count = 1,
		.warning = warning,
	};
}

void note_add(struct notes *notes, const char *code, const char *subject, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(notes, code, subject, arena_vprintf(notes->arena, format, args), false);
	va_end(args);
}

void note_warn(struct notes *notes, const char *code, const char *subject, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(notes, code, subject, arena_vprintf(notes->arena, format, args), true);
	va_end(args);
}
