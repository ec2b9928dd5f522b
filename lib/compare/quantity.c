// SPDX-License-Identifier: GPL-2.0-only
#include "compare/quantity.h"

#include "compare/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct quantity quantity_of(const struct group *group, const char *unit, const struct boot *boot)
{
	struct quantity quantity = {.unit = unit, .factor = 1};
	double pages = group_param(group, "pages"), shift;

	if (strcmp(boot_engine(boot), "icount") != 0 || !unit_is_time(unit))
		return quantity;
	if (group->idle_ns > 0) {
		quantity.virtual_time = true;
		return quantity;
	}
	shift = json_number_value(json_object_get(boot_match(boot), "icount_shift"));
	quantity.instructions = true;
	if (unit_factor(unit, "ns/page") > 0) {
		quantity.factor = unit_factor(unit, "ns/page");
		quantity.unit = "instructions/page";
	} else {
		quantity.factor = unit_factor(unit, "ns");
		quantity.unit = "instructions";
		if (pages > 0) {
			quantity.factor /= pages;
			quantity.unit = "instructions/page";
		}
	}
	quantity.factor /= exp2(shift);
	return quantity;
}

double quantity_size_share(const struct group *group, json_t *documented)
{
	double share = NAN;
	const char *key;
	json_t *value;

	json_object_foreach (documented, key, value) {
		double here = group_param(group, key);

		if (here > 0)
			share = fmin(share, here / json_number_value(value));
	}
	return share;
}

static bool in_bytes(const char *name)
{
	static const char *const names[] = {"size", "bytes", "memory", "limit", "alloc", "swap"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t tail = strlen(names[i]);

		if (length >= tail && !strcmp(name + length - tail, names[i]))
			return true;
	}
	return false;
}

static const char *flat(struct arena *arena, json_t *object, bool bytes)
{
	const char *text = "", *key;
	char shown[80], name[60];
	json_t *value;

	json_object_foreach (object, key, value) {
		printable(name, sizeof(name), key);
		if (json_is_number(value) && bytes && in_bytes(key)) {
			format_bytes(shown, sizeof(shown), json_number_value(value));
		} else if (json_is_string(value)) {
			printable(shown, sizeof(shown), json_string_value(value));
		} else {
			char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
							       JSON_REAL_PRECISION(10));

			printable(shown, sizeof(shown), dump ? dump : "");
			free(dump);
		}
		text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "", name, shown);
	}
	return text;
}

const char *quantity_params(struct arena *arena, json_t *params)
{
	return flat(arena, params, true);
}

const char *quantity_identity(struct arena *arena, json_t *identity)
{
	return flat(arena, identity, false);
}

const char *variant_without(struct arena *arena, const struct group *group, const char *constant)
{
	const char *text = "", *key;
	json_t *value;

	json_object_foreach (group->options, key, value) {
		const char *pair = arena_printf(arena, "%s=%s", key, json_string_value(value));
		const char *at = strstr(constant, pair);
		size_t length = strlen(pair);

		if (at && (at == constant || at[-1] == ',') && (!at[length] || at[length] == ','))
			continue;
		text = arena_printf(arena, "%s%s%s", text, *text ? "," : "", pair);
	}
	return *text ? text : "all";
}
