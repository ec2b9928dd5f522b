// SPDX-License-Identifier: GPL-2.0-only
#include "history/known.h"

#include <errno.h>
#include <unistd.h>

int known_losses_parse(struct arena *arena, const struct input *in, json_t *root,
		       struct known_losses *known)
{
	json_t *array, *loss;
	size_t i;

	*known = (struct known_losses){.items = NULL};
	if (!root || !input_schema(in, root))
		return -1;
	array = input_array(in, root, "known", INPUT_REQUIRED);
	json_array_foreach (array, i, loss) {
		struct known_loss new = {.label = NULL};

		if (!json_is_object(loss))
			return input_fail_json(in, "known", "an object", loss);
		new.against = input_string(in, loss, "against", INPUT_REQUIRED);
		new.label = input_string(in, loss, "label", INPUT_REQUIRED);
		new.since = input_string(in, loss, "since", INPUT_REQUIRED);
		if (!input_number(in, loss, "most", false, &new.most) || !input_ok(in))
			return -1;
		*ARENA_PUSH(arena, known->items, known->count, known->room) = (struct known_loss){
			arena_strdup(arena, new.against), arena_strdup(arena, new.label),
			arena_strdup(arena, new.since), new.most};
	}
	return input_ok(in) ? 0 : -1;
}

int known_losses_read(struct arena *arena, const char *directory, struct known_losses *known,
		      struct input_error *error)
{
	struct input in = {.file = arena_printf(arena, "%s/states.json", directory),
			   .error = error};
	json_t *root;
	int result;

	*known = (struct known_losses){.items = NULL};
	if (access(in.file, F_OK) < 0 && errno == ENOENT)
		return KNOWN_NO_FILE;
	root = input_decode_file(&in);
	if (!root)
		return KNOWN_NO_JSON;
	result = known_losses_parse(arena, &in, root, known);
	json_decref(root);
	if (result < 0)
		*known = (struct known_losses){.items = NULL};
	return result;
}
