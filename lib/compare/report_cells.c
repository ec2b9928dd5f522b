// SPDX-License-Identifier: GPL-2.0-only
#include "compare/report.h"

#include "compare/units.h"

#include <math.h>

const char *cell_unit(const struct result_row *row)
{
	const char *claimed = row->row ? row->row->unit : NULL;
	double middle = isfinite(row->before.middle) ? row->before.middle : row->after.middle;

	if (claimed && unit_factor(row->quantity.unit, claimed) > 0)
		return claimed;
	return unit_fitting(row->quantity.unit, middle * row->quantity.factor);
}

double cell_shown(const struct result_row *row, double value)
{
	double factor = unit_factor(row->quantity.unit, cell_unit(row));

	return value * row->quantity.factor * (factor > 0 ? factor : 1);
}

const char *cell_number(struct arena *arena, const struct result_row *row, double value)
{
	char text[40];

	format_in_unit(text, sizeof(text), cell_shown(row, value), cell_unit(row));
	return isfinite(value) ? arena_strdup(arena, text) : "-";
}

const char *cell_documented(struct arena *arena, const struct result_row *row)
{
	const char *unit;

	if (!row->row)
		return NULL;
	if (!isfinite(row->row->before.value))
		return arena_printf(arena, "within %.4g %%", 100 * row->row->margin);
	unit = unit_shown(row->row->unit);
	return arena_printf(arena, "%s → %s%s%s", documented_text(arena, &row->row->before),
			    documented_text(arena, &row->row->after), *unit ? " " : "", unit);
}

const char *cell_measured(struct arena *arena, const struct result_row *row)
{
	const char *unit = unit_shown(cell_unit(row));

	if (!isfinite(row->before.middle) && !isfinite(row->after.middle))
		return "-";
	if (!isfinite(row->after.middle))
		return arena_printf(arena, "%s%s%s → -",
				    cell_number(arena, row, row->before.middle), *unit ? " " : "",
				    unit);
	return arena_printf(arena, "%s → %s%s%s%s", cell_number(arena, row, row->before.middle),
			    cell_number(arena, row, row->after.middle), *unit ? " " : "", unit,
			    row->quantity.virtual_time ? " (virtual time)" : "");
}

const char *cell_delta(struct arena *arena, double ln_ratio)
{
	char text[40];

	if (!isfinite(ln_ratio))
		return "-";
	format_percent(text, sizeof(text), exp(ln_ratio));
	return arena_strdup(arena, text);
}

const char *cell_interval(struct arena *arena, const struct result_row *row)
{
	if (!isfinite(row->difference.low))
		return "-";
	return arena_printf(arena, "%+.1f .. %+.1f %%", 100 * expm1(row->difference.low),
			    100 * expm1(row->difference.high));
}

const char *cell_share(struct arena *arena, const struct result_row *row)
{
	if (!isfinite(row->share))
		return "-";
	if (!isfinite(row->share_low))
		return arena_printf(arena, "%.0f %%", 100 * row->share);
	return arena_printf(arena, "%.0f %% (%.0f .. %.0f)", 100 * row->share, 100 * row->share_low,
			    100 * row->share_high);
}

static const char *from_to(struct arena *arena, size_t low, size_t high)
{
	return low == high ? arena_printf(arena, "%zu", low)
			   : arena_printf(arena, "%zu-%zu", low, high);
}

const char *cell_boots(struct arena *arena, const struct result_row *row)
{
	const struct row_side *before = &row->before, *after = &row->after;
	size_t low = before->runs_low, high = before->runs_high;

	if (!before->boots && !after->boots)
		return "-";
	if (!before->boots || (after->boots && after->runs_low < low))
		low = after->runs_low;
	if (after->runs_high > high)
		high = after->runs_high;
	if (before->boots == after->boots)
		return arena_printf(arena, "%zu × %s", before->boots, from_to(arena, low, high));
	return arena_printf(arena, "%zu+%zu × %s", before->boots, after->boots,
			    from_to(arena, low, high));
}
