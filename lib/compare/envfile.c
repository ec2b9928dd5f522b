// SPDX-License-Identifier: GPL-2.0-only
#include "compare/envfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const engines[] = {"native", "kvm", "tcg", "icount", "uml", NULL};

static int check_invocation(const struct input *in, const char *id, json_t *invocation)
{
	const char *engine;
	json_int_t shift;
	json_t *match;

	if (!json_is_object(invocation))
		return input_fail_json(in, id, "an invocation: an object", invocation);
	match = input_object(in, invocation, "match", INPUT_REQUIRED);
	input_object(in, invocation, "info", INPUT_OPTIONAL);
	if (!input_ok(in))
		return -1;
	engine = input_string(in, match, "engine", INPUT_REQUIRED);
	if (!engine)
		return -1;
	/* Without it nobody knows how many instructions a nanosecond is. */
	if (!strcmp(engine, "icount") && !input_integer(in, match, "icount_shift", 0, &shift))
		return -1;
	for (size_t i = 0; engines[i]; i++) {
		if (!strcmp(engine, engines[i]))
			return 0;
	}
	return input_fail_json(in, "engine", "native, kvm, tcg, icount or uml",
			       json_object_get(match, "engine"));
}

json_t *envfile_check(const struct input *in, json_t *root, const char *boot)
{
	json_t *invocations, *invocation;
	const char *id, *found;

	if (!root)
		return NULL;
	if (!input_schema(in, root))
		goto bad;
	found = input_string(in, root, "boot", INPUT_REQUIRED);
	invocations = input_object(in, root, "invocations", INPUT_REQUIRED);
	if (!input_ok(in))
		goto bad;
	if (boot && strcmp(found, boot) != 0) {
		input_fail_json(in, "boot", "the boot the file is named after",
				json_object_get(root, "boot"));
		goto bad;
	}
	json_object_foreach (invocations, id, invocation) {
		if (check_invocation(in, id, invocation) < 0)
			goto bad;
	}
	return root;
bad:
	json_decref(root);
	return NULL;
}

json_t *envfile_read(const char *path, const char *boot, bool *missing, struct input_error *error)
{
	struct input in = {.file = path, .error = error};

	*missing = access(path, F_OK) < 0 && errno == ENOENT;
	return *missing ? NULL : envfile_check(&in, input_decode_file(&in), boot);
}

static json_t *part(json_t *env, const char *invocation, const char *key)
{
	json_t *invocations = json_object_get(env, "invocations");

	return json_object_get(json_object_get(invocations, invocation), key);
}

json_t *envfile_match(json_t *env, const char *invocation)
{
	return part(env, invocation, "match");
}

json_t *envfile_info(json_t *env, const char *invocation)
{
	return part(env, invocation, "info");
}
