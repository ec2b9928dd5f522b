// SPDX-License-Identifier: GPL-2.0-only
#include "history/export.h"

#include "compare/units.h"

#include <string.h>

const struct export exports[] = {
	{"otava", export_otava},
	{"github-benchmark-smaller", export_github_smaller},
	{"github-benchmark-bigger", export_github_bigger},
	{"bencher", export_bencher},
	{"prometheus", export_prometheus},
};
const size_t nexports = sizeof(exports) / sizeof(exports[0]);

const char *export_names(struct arena *arena)
{
	const char *names = exports[0].name;

	for (size_t i = 1; i < nexports; i++)
		names = arena_printf(arena, "%s%s%s", names, i + 1 < nexports ? ", " : " or ",
				     exports[i].name);
	return names;
}

size_t export_newest(const struct trends *trends)
{
	size_t night = trends->nights->count;

	while (night > 0 && trends->nights->nights[night - 1].state != NIGHT_DONE)
		night--;
	return night ? night - 1 : 0;
}

const struct trend *export_next(const struct trends *trends, int kind, size_t night, size_t *at)
{
	while (*at < trends->count) {
		const struct trend *trend = &trends->items[(*at)++];

		if ((kind < 0 || (int)trend->kind == kind) && trend_at(trend, night))
			return trend;
	}
	return NULL;
}

const char *export_unit(struct arena *arena, const char *unit, double *factor)
{
	const char *slash = strchr(unit, '/');
	const char *base = arena_printf(arena, "ns%s", slash ? slash : "");

	*factor = unit_factor(unit, base);
	if (*factor > 0)
		return base;
	*factor = 1;
	return unit;
}
