// SPDX-License-Identifier: GPL-2.0-only
#include "history/amount.h"

#include "compare/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *amount_unit(struct arena *arena, const char *unit)
{
	const char *slash = strchr(unit, '/');

	/* A rate is read as it stands: "ops/s". */
	if (!slash || !strcmp(slash, "/s"))
		return arena_strdup(arena, unit_shown(unit));
	return arena_printf(arena, "%s a %s",
			    unit_shown(arena_printf(arena, "%.*s", (int)(slash - unit), unit)),
			    slash + 1);
}

/* Two or three digits: a reader compares it with last night's, not with the record. */
static const char *figure(struct arena *arena, double value)
{
	double size = fabs(value);

	return size >= 9.95   ? arena_printf(arena, "%.0f", value)
	       : size >= .995 ? arena_printf(arena, "%.1f", value)
			      : arena_printf(arena, "%.2g", value);
}

static const char *share(struct arena *arena, double value)
{
	return fabs(value) >= .095 ? arena_printf(arena, "%.1f", value)
				   : arena_printf(arena, "%.2f", value);
}

static const char *from_to(struct arena *arena, const char *low, const char *high)
{
	return strcmp(low, high) ? arena_printf(arena, "%s to %s", low, high) : low;
}

const char *amount_saved(struct arena *arena, const struct compared_row *const *rows, size_t count,
			 bool would)
{
	double low = INFINITY, high = -INFINITY, least = INFINITY, most = -INFINITY;
	bool higher;

	if (!count)
		return would ? "would save nothing" : "saves nothing";
	higher = rows[0]->better == COMPARED_HIGHER;
	for (size_t i = 0; i < count; i++) {
		double gain = rows[i]->before.value - rows[i]->after.value;
		double part = -100 * expm1(rows[i]->d);

		if (strcmp(rows[i]->unit, rows[0]->unit) != 0 ||
		    rows[i]->better != rows[0]->better || !isfinite(gain) || !isfinite(part))
			continue;
		low = fmin(low, higher ? -gain : gain);
		high = fmax(high, higher ? -gain : gain);
		least = fmin(least, higher ? -part : part);
		most = fmax(most, higher ? -part : part);
	}
	if (!isfinite(low))
		return would ? "would save" : "still saves";
	return arena_printf(arena, "%s %s %s (%s %%)",
			    would    ? higher ? "would gain" : "would save"
			    : higher ? "still gains"
				     : "still saves",
			    from_to(arena, figure(arena, low), figure(arena, high)),
			    amount_unit(arena, rows[0]->unit),
			    from_to(arena, share(arena, least), share(arena, most)));
}

/* What rounds to nothing has no sign to speak of: "0.00", not "-0.00". */
static const char *percent(struct arena *arena, double ln_ratio, int digits)
{
	double value = 100 * expm1(ln_ratio);

	if (!isfinite(value))
		return "-";
	if (fabs(value) < .5 * pow(10, -digits))
		value = 0;
	return arena_printf(arena, value != 0 ? "%+.*f" : "%.*f", digits, value);
}

const char *amount_percent(struct arena *arena, double ln_ratio)
{
	int digits = fabs(100 * expm1(ln_ratio)) >= .095 ? 1 : 2;

	return isfinite(ln_ratio) ? arena_printf(arena, "%s %%", percent(arena, ln_ratio, digits))
				  : "-";
}

const char *amount_change(struct arena *arena, const struct compared_row *row)
{
	int digits = row->high - row->low < .002 ? 2 : 1;

	if (!isfinite(row->low))
		return amount_percent(arena, row->d);
	return arena_printf(arena, "%s %% (%s .. %s)", percent(arena, row->d, digits),
			    percent(arena, row->low, digits), percent(arena, row->high, digits));
}
