// SPDX-License-Identifier: GPL-2.0-only
#include "history/plots.h"

#include "history/amount.h"

#include <math.h>
#include <string.h>

/* In between black and white: readable on either, since the picture has no ground of its own. */
#define GRAY "#7a7a7a"
#define BEFORE "#c8781e"
#define AFTER "#2f86d0"
#define DOCUMENTED "#3c9a50"
#define CHANGED "#c8483c"

/* A text in gnuplot's single quotes. */
static const char *quoted(struct arena *arena, const char *text)
{
	char *out = arena_alloc(arena, 2 * strlen(text) + 3), *at = out;

	*at++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			*at++ = '\'';
		*at++ = (unsigned char)*text < 0x20 ? ' ' : *text;
	}
	*at++ = '\'';
	return out;
}

static const char *date(const struct trends *trends, size_t night)
{
	return trends->nights->nights[night].date;
}

/*
 * A dot a boot: the boots of before stand a little to the left of their night, those of after to the
 * right, in hours, so that none hides another.
 */
static void dots(const struct trends *trends, const struct trend *trend, bool after, FILE *out)
{
	fprintf(out, "$%s << END\n", after ? "after" : "before");
	for (size_t i = 0; i < trend->npoints; i++) {
		const struct compared_row *row = trend->points[i].row;
		const struct compared_side *side = after ? &row->after : &row->before;

		for (size_t j = 0; j < side->nboots; j++) {
			double part = ((double)j + 1) / ((double)side->nboots + 1);
			int minutes = (int)(60 * (after ? 12 + 6 * part : 12 - 6 * part));

			if (isfinite(side->boots[j].value))
				fprintf(out, "%s.%02d:%02d %.8g\n",
					date(trends, trend->points[i].night), minutes / 60,
					minutes % 60,
					trend->points[i].factor * side->boots[j].value);
		}
	}
	fputs("END\n", out);
}

/* The middle of each night; a blank line where a night is missing breaks the line. */
static void middles(const struct trends *trends, const struct trend *trend, FILE *out)
{
	fputs("$middle << END\n", out);
	for (size_t i = 0; i < trend->npoints; i++) {
		const struct compared_row *row = trend->points[i].row;
		double factor = trend->points[i].factor;

		if (i && trend->points[i].night != trend->points[i - 1].night + 1)
			fputc('\n', out);
		fprintf(out, "%s.12:00 %.8g %.8g ", date(trends, trend->points[i].night),
			factor * row->before.value, factor * row->after.value);
		if (isfinite(trend->documented))
			fprintf(out, "%.8g\n", factor * row->before.value * trend->documented);
		else
			fputs("nan\n", out);
	}
	fputs("END\n", out);
}

static void lines_of_change(struct arena *arena, const struct trends *trends,
			    const struct trend *trend, FILE *out)
{
	for (size_t i = 0; i < trend->nchanges; i++) {
		const struct trend_change *change = &trend->changes[i];
		const char *when = arena_printf(arena, "%s.06:00", date(trends, change->night));

		fprintf(out,
			"set arrow from '%s', graph 0 to '%s', graph 1 nohead lc rgb '" CHANGED
			"' lw 1.5 dt 3 back\n"
			"set label %s at '%s', graph 0.97 right offset -0.5,0 tc rgb '" CHANGED
			"'\n",
			when, when, quoted(arena, amount_percent(arena, change->size)), when);
	}
}

/* At most eight dates, each in the middle of its night. */
static void time_axis(const struct trends *trends, const struct trend *trend, FILE *out)
{
	size_t first = trend->points[0].night, last = trend->points[trend->npoints - 1].night;
	size_t step = (last - first) / 8 + 1;

	fprintf(out,
		"set xdata time\nset timefmt '%%Y-%%m-%%d.%%H:%%M'\n"
		"set xrange ['%s.00:00':'%s.23:59']\nset xtics (",
		date(trends, first), date(trends, last));
	for (size_t i = first; i <= last; i += step)
		fprintf(out, "%s'%s' '%s.12:00'", i == first ? "" : ", ", date(trends, i),
			date(trends, i));
	fputs(")\n", out);
}

void plot_script(struct arena *arena, const struct trends *trends, const struct trend *trend,
		 const char *directory, FILE *out)
{
	const char *unit = amount_unit(arena, trend->unit);
	const char *what = !*unit ? trend->metric ? trend->metric : "" : unit;

	fprintf(out,
		"reset\n"
		"set terminal svg size 860,400 dynamic font 'sans-serif,13' noenhanced\n"
		"set output %s\n",
		quoted(arena, arena_printf(arena, "%s/%s.svg", directory, trend->name)));
	fprintf(out,
		"set border 3 lc rgb '" GRAY "'\nset tics nomirror tc rgb '" GRAY "'\n"
		"set grid ytics lc rgb '" GRAY "' lw 0.4 dt 3\n"
		"set title %s tc rgb '" GRAY "'\nset ylabel %s tc rgb '" GRAY "'\n"
		"set xlabel 'night' tc rgb '" GRAY "'\n"
		"set key above maxrows 2 tc rgb '" GRAY "'\n"
		"set offsets 0, 0, graph 0.12, graph 0.08\nset format y '%%.5g'\n",
		quoted(arena, arena_printf(arena, "%s (%s)", trend->label, trend->engine)),
		quoted(arena, what));
	time_axis(trends, trend, out);
	dots(trends, trend, false, out);
	dots(trends, trend, true, out);
	middles(trends, trend, out);
	lines_of_change(arena, trends, trend, out);
	fprintf(out,
		"plot $middle using 1:2 with lines lw 1.5 lc rgb '" BEFORE "' title %s, \\\n"
		" $before using 1:2 with points pt 7 ps 0.45 lc rgb '" BEFORE
		"' title 'a boot', \\\n"
		" $middle using 1:3 with lines lw 1.5 lc rgb '" AFTER "' title %s, \\\n"
		" $after using 1:2 with points pt 7 ps 0.45 lc rgb '" AFTER "' title 'a boot'",
		quoted(arena, arena_printf(arena, "before: %s", trend->before)),
		quoted(arena, arena_printf(arena, "after: %s", trend->after)));
	if (isfinite(trend->documented))
		fprintf(out,
			", \\\n $middle using 1:4 with lines lw 1.5 dt 2 lc rgb '" DOCUMENTED
			"' title %s",
			quoted(arena,
			       trend->expected
				       ? arena_printf(arena, "documented gain, as %s shows it",
						      trend->engine)
				       : "documented gain"));
	if (trend->nchanges)
		fputs(", \\\n NaN with lines lw 1.5 dt 3 lc rgb '" CHANGED
		      "' title 'level changed'",
		      out);
	fputs("\nunset output\n", out);
}
