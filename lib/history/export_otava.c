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
 * The reader takes no empty cell. The columns are what the newest night measured; a night that lacks
 * one of them is left out.
 */
size_t export_otava(struct arena *arena, const struct trends *trends, FILE *out)
{
	size_t newest = export_newest(trends), left_out = 0;

	(void)arena;
	fputs("time,commit", out);
	for (size_t at = 0;;) {
		const struct trend *trend = export_next(trends, KIND_ANCHOR, newest, &at);

		if (!trend)
			break;
		fputc(',', out);
		field(out, trend->label);
	}
	fputc('\n', out);
	for (size_t i = 0; i <= newest; i++) {
		const struct night *night = &trends->nights->nights[i];
		const struct trend *trend;
		size_t at = 0;

		while ((trend = export_next(trends, KIND_ANCHOR, newest, &at)) &&
		       trend_at(trend, i))
			;
		if (trend || night->state != NIGHT_DONE) {
			left_out++;
			continue;
		}
		when(out, night);
		fputc(',', out);
		field(out, night->kernel->commit);
		at = 0;
		while ((trend = export_next(trends, KIND_ANCHOR, newest, &at)))
			fprintf(out, ",%.9g", exp(trend_at(trend, i)->row->d));
		fputc('\n', out);
	}
	return left_out;
}
