// SPDX-License-Identifier: GPL-2.0-only
#include "history/member.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *member_text(struct arena *arena, const struct input *in, json_t *object,
			const char *key, enum input_presence presence)
{
	const char *value = input_string(in, object, key, presence);

	return value ? arena_strdup(arena, value) : NULL;
}

int member_choice(const struct input *in, json_t *object, const char *key, const char *const *names,
		  size_t count)
{
	const char *found = input_string(in, object, key, INPUT_REQUIRED);
	char wanted[300] = "";

	for (size_t i = 0; found && i < count; i++) {
		size_t used = strlen(wanted);

		if (!strcmp(names[i], found))
			return (int)i;
		snprintf(wanted + used, sizeof(wanted) - used, "%s%s",
			 !i		  ? ""
			 : i == count - 1 ? " or "
					  : ", ",
			 names[i]);
	}
	if (found)
		input_fail_json(in, key, wanted, json_object_get(object, key));
	return 0;
}

double member_number(const struct input *in, json_t *object, const char *key)
{
	double result = NAN;

	if (!json_is_null(json_object_get(object, key)))
		input_number(in, object, key, false, &result);
	return result;
}

bool member_boolean(const struct input *in, json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_boolean(value))
		input_fail_json(in, key, "true or false", value);
	return json_is_true(value);
}
