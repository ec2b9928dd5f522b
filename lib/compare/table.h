/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of text cells, padded so that they read well as they are. Widths count characters. */
#ifndef COMPARE_TABLE_H
#define COMPARE_TABLE_H

#include "compare/arena.h"

#include <stdio.h>

struct table {
	struct arena *arena;
	size_t columns;
	const char *const *head;
	const char *align; /* a letter a column: l or r */
	const char **cells;
	size_t count, room;
};

/* Adds the next cell, row by row. Control characters become visible. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* GitHub's form, "|" escaped. */
void table_markdown(const struct table *table, FILE *out);
/* Plain columns, two blanks between them. */
void table_text(const struct table *table, FILE *out);

/* Characters of a UTF-8 text. */
size_t text_width(const char *text);
/* Text in a paragraph of at most width columns, each line after indent. */
void text_wrap(FILE *out, const char *text, const char *indent, size_t width);

#endif
