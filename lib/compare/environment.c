// SPDX-License-Identifier: GPL-2.0-only
#include "compare/environment.h"

#include "compare/envfile.h"

#include <stdlib.h>
#include <string.h>

/* Values seen under one key, on one side. */
struct seen {
	const char **texts;
	size_t count, room;
};

struct facts {
	struct arena *arena;
	json_t *keys; /* key -> index, in the order of the first sight */
	struct seen (*seen)[2];
	size_t nkeys, room;
};

static void add(struct facts *facts, const char *key, size_t side, const char *text)
{
	json_t *index = json_object_get(facts->keys, key);
	struct seen *seen;

	if (!index) {
		memset(ARENA_PUSH(facts->arena, facts->seen, facts->nkeys, facts->room), 0,
		       sizeof(*facts->seen));
		index = json_integer((json_int_t)facts->nkeys - 1);
		json_object_set_new(facts->keys, key, index);
	}
	seen = &facts->seen[json_integer_value(index)][side];
	for (size_t i = 0; i < seen->count; i++) {
		if (!strcmp(seen->texts[i], text))
			return;
	}
	*ARENA_PUSH(facts->arena, seen->texts, seen->count, seen->room) =
		arena_strdup(facts->arena, text);
}

/* Flattens nested objects to "thp.enabled"; an absence is told as such. */
static void add_all(struct facts *facts, const char *prefix, size_t side, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		const char *name =
			arena_printf(facts->arena, "%s%s%s", prefix, *prefix ? "." : "", key);
		json_t *absent = json_object_get(value, "absent");
		char *dump;

		if (json_is_string(absent)) {
			add(facts, name, side,
			    arena_printf(facts->arena, "absent (%s)", json_string_value(absent)));
		} else if (json_is_object(value)) {
			add_all(facts, name, side, value);
		} else if (json_is_string(value)) {
			add(facts, name, side, json_string_value(value));
		} else {
			dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
							 JSON_REAL_PRECISION(10) | JSON_SORT_KEYS);
			add(facts, name, side, dump ? dump : "");
			free(dump);
		}
	}
}

static void collect(struct facts *facts, const struct dataset *dataset, size_t side,
		    json_t *(*part)(json_t *, const char *), bool all_known)
{
	for (size_t i = 0; i < dataset->nboots; i++) {
		const struct boot *boot = &dataset->boots[i];

		for (size_t j = 0; j < boot->ninvocations; j++) {
			json_t *object = part(boot->env, boot->invocations[j]);

			if (object)
				add_all(facts, "", side, object);
			else if (all_known)
				add(facts, "environment", side,
				    arena_printf(facts->arena, "none recorded for boot %.8s",
						 boot->id));
		}
	}
}

static const char *join(struct arena *arena, const struct seen *seen, const char *none)
{
	const char *text = "";

	for (size_t i = 0; i < seen->count; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", seen->texts[i]);
	return seen->count ? text : none;
}

static bool equal(const struct seen *a, const struct seen *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		bool found = false;

		for (size_t j = 0; j < b->count; j++)
			found = found || !strcmp(a->texts[i], b->texts[j]);
		if (!found)
			return false;
	}
	return true;
}

/* one_value: also what varies within a side is a difference. */
static void differences(struct comparison *comparison, bool one_value,
			json_t *(*part)(json_t *, const char *), struct difference **list,
			size_t *count, size_t *room)
{
	struct facts facts = {.arena = comparison->arena, .keys = json_object()};
	const char *key;
	json_t *index;

	collect(&facts, comparison->before, 0, part, one_value);
	collect(&facts, comparison->after, 1, part, one_value);
	json_object_foreach (facts.keys, key, index) {
		const struct seen *seen = facts.seen[json_integer_value(index)];

		const char *none = !strcmp(key, "environment") ? "recorded" : "not recorded";

		if (equal(&seen[0], &seen[1]) && !(one_value && seen[0].count > 1) &&
		    !(one_value && !strcmp(key, "environment")))
			continue;
		*ARENA_PUSH(comparison->arena, *list, *count, *room) = (struct difference){
			.what = arena_strdup(comparison->arena, key),
			.before = join(comparison->arena, &seen[0], none),
			.after = join(comparison->arena, &seen[1], none),
		};
	}
	json_decref(facts.keys);
}

void environment_compare(struct comparison *comparison)
{
	differences(comparison, true, envfile_match, &comparison->forced, &comparison->nforced,
		    &comparison->forced_room);
	differences(comparison, false, envfile_info, &comparison->environment,
		    &comparison->nenvironment, &comparison->environment_room);
}
