// SPDX-License-Identifier: GPL-2.0-only
#include "history/export.h"

#include <math.h>
#include <string.h>

/* RFC 4180: quoted where it has to be. */
static void field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* 2026-11-30T01:00:00Z as "2026-11-30 01:00:00 +0000". */
static void when(FILE *out, const struct night *night)
{
	if (night->started)
		fprintf(out, "%.10s %.8s +0000", night->started, night->started + 11);
	else
		fprintf(out, "%s 00:00:00 +0000", night->date);
}

/*
 * The reader takes no empty cell, so a night that lacks a column is left out. One that measured less
 * than usual, or has no anchor, must not take the columns away; a row that was given up must not take the
 * nights away for good. So a column is what one of the newest nights measured.
 */
enum { NEWEST_NIGHTS = 3 };

struct columns {
	const struct trend **items;
	size_t count, room;
};

static size_t last_night(const struct trend *trend)
{
	return trend->points[trend->npoints - 1].night;
}

/* The oldest of the newest nights that measured anything against the anchor. */
static size_t columns_since(const struct trends *trends)
{
	size_t night = trends->nights->count, found = 0;

	while (night > 0 && found < NEWEST_NIGHTS) {
		size_t at = 0;

		found += export_next(trends, KIND_ANCHOR, --night, &at) != NULL;
	}
	return night;
}

/* A row that changed its unit, engine or scale is the newer of the two. */
static bool has_newer(const struct trends *trends, const struct trend *trend)
{
	for (size_t i = 0; i < trends->count; i++) {
		const struct trend *other = &trends->items[i];

		if (other->kind == trend->kind && !strcmp(other->label, trend->label) &&
		    last_night(other) > last_night(trend))
			return true;
	}
	return false;
}

static struct columns columns_of(struct arena *arena, const struct trends *trends)
{
	struct columns columns = {.items = NULL};
	size_t since = columns_since(trends);

	for (size_t i = 0; i < trends->count; i++) {
		const struct trend *trend = &trends->items[i];

		if (trend->kind == KIND_ANCHOR && last_night(trend) >= since &&
		    !has_newer(trends, trend))
			*ARENA_PUSH(arena, columns.items, columns.count, columns.room) = trend;
	}
	return columns;
}

static bool has_all(const struct columns *columns, size_t night)
{
	for (size_t i = 0; i < columns->count; i++) {
		if (!trend_at(columns->items[i], night))
			return false;
	}
	return columns->count > 0;
}

size_t export_otava(struct arena *arena, const struct trends *trends, FILE *out)
{
	struct columns columns = columns_of(arena, trends);
	size_t left_out = 0;

	fputs("time,commit", out);
	for (size_t i = 0; i < columns.count; i++) {
		fputc(',', out);
		field(out, columns.items[i]->label);
	}
	fputc('\n', out);
	for (size_t night = 0; night < trends->nights->count; night++) {
		/* Only a night that is done has rows in a trend. */
		if (!has_all(&columns, night)) {
			left_out++;
			continue;
		}
		when(out, &trends->nights->nights[night]);
		fputc(',', out);
		field(out, trends->nights->nights[night].kernel->commit);
		for (size_t i = 0; i < columns.count; i++)
			fprintf(out, ",%.9g", exp(trend_at(columns.items[i], night)->row->d));
		fputc('\n', out);
	}
	return left_out;
}
