// SPDX-License-Identifier: GPL-2.0-only
#include "compare/table.h"

#include "compare/input.h"

#include <stdarg.h>
#include <string.h>

size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

void table_cell(struct table *table, const char *format, ...)
{
	char text[512], shown[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printable(shown, sizeof(shown), text);
	*ARENA_PUSH(table->arena, table->cells, table->count, table->room) =
		arena_strdup(table->arena, shown);
}

static const char *escape_bars(struct arena *arena, const char *text)
{
	char *escaped = arena_alloc(arena, 2 * strlen(text) + 1), *out = escaped;

	for (; *text; text++) {
		if (*text == '|')
			*out++ = '\\';
		*out++ = *text;
	}
	return escaped;
}

static void pad(FILE *out, size_t count, char with)
{
	while (count--)
		fputc(with, out);
}

static void put_cell(FILE *out, const char *text, size_t width, char align, bool last)
{
	size_t blanks = width - text_width(text);

	if (align == 'r')
		pad(out, blanks, ' ');
	fputs(text, out);
	if (align != 'r' && !last)
		pad(out, blanks, ' ');
}

enum { COLUMNS_MAX = 16 };

static void widths(const struct table *table, const char *const *cells, size_t *width)
{
	for (size_t i = 0; i < table->columns; i++)
		width[i] = text_width(table->head[i]);
	for (size_t i = 0; i < table->count; i++) {
		size_t column = i % table->columns, wide = text_width(cells[i]);

		if (wide > width[column])
			width[column] = wide;
	}
}

void table_markdown(const struct table *table, FILE *out)
{
	const char **cells = arena_alloc(table->arena, (table->count + 1) * sizeof(*cells));
	size_t width[COLUMNS_MAX];

	for (size_t i = 0; i < table->count; i++)
		cells[i] = escape_bars(table->arena, table->cells[i]);
	widths(table, cells, width);
	for (size_t i = 0; i < table->columns; i++) {
		fputs("| ", out);
		put_cell(out, table->head[i], width[i], table->align[i], false);
		fputc(' ', out);
	}
	fputs("|\n", out);
	for (size_t i = 0; i < table->columns; i++) {
		fputc('|', out);
		pad(out, width[i] + 1, '-');
		fputc(table->align[i] == 'r' ? ':' : '-', out);
	}
	fputs("|\n", out);
	for (size_t i = 0; i < table->count; i++) {
		fputs("| ", out);
		put_cell(out, cells[i], width[i % table->columns], table->align[i % table->columns],
			 false);
		fputs((i + 1) % table->columns ? " " : " |\n", out);
	}
}

void table_text(const struct table *table, FILE *out)
{
	size_t width[COLUMNS_MAX];

	widths(table, table->cells, width);
	for (size_t i = 0; i < table->columns; i++) {
		bool last = i + 1 == table->columns;

		put_cell(out, table->head[i], width[i], table->align[i], last);
		fputs(last ? "\n" : "  ", out);
	}
	for (size_t i = 0; i < table->count; i++) {
		size_t column = i % table->columns;
		bool last = column + 1 == table->columns;

		put_cell(out, table->cells[i], width[column], table->align[column], last);
		fputs(last ? "\n" : "  ", out);
	}
}

void text_wrap(FILE *out, const char *text, const char *indent, size_t width)
{
	size_t column = 0;
	char shown[4096];

	printable(shown, sizeof(shown), text);
	text = shown;
	while (*text) {
		size_t bytes = strcspn(text, " ");
		size_t wide = 0;

		for (size_t i = 0; i < bytes; i++)
			wide += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (column && column + 1 + wide > width) {
			fputc('\n', out);
			column = 0;
		}
		if (!column) {
			fputs(indent, out);
			column = text_width(indent);
		} else {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, bytes, out);
		column += wide;
		text += bytes;
		text += strspn(text, " ");
	}
	if (column)
		fputc('\n', out);
}
