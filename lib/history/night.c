// SPDX-License-Identifier: GPL-2.0-only
#include "history/night.h"

#include "history/member.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const night_state_name[] = {"done", "fetch-failed", "build-failed", "boot-failed",
					"stopped"};
const char *const night_kind_name[] = {"anchor", "last-good", "undo", "series"};
const char *const comparison_state_name[] = {"done", "stale", "build-failed", "boot-failed",
					     "skipped"};

bool night_is_date(const char *text)
{
	static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year, month, day, length = 0;

	if (strlen(text) != 10 || strspn(text, "0123456789-") != 10)
		return false;
	if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &length) != 3 || length != 10)
		return false;
	if (text[4] != '-' || text[7] != '-' || year < 1 || month < 1 || month > 12)
		return false;
	if (month == 2 && day == 29 && (year % 4 || (!(year % 100) && year % 400)))
		return false;
	return day >= 1 && day <= days[month - 1];
}

/* What is not done says why; what is done has nothing to explain. */
static const char *reason_of(struct arena *arena, const struct input *in, json_t *object, bool done)
{
	const char *reason =
		member_text(arena, in, object, "reason", done ? INPUT_OPTIONAL : INPUT_REQUIRED);

	if (done && reason)
		input_fail_json(in, "reason", "null, since the state is done",
				json_object_get(object, "reason"));
	return reason;
}

/* A path inside the night: not absolute, no "..". */
static const char *path_of(struct arena *arena, const struct input *in, json_t *object,
			   const char *key)
{
	const char *path = member_text(arena, in, object, key, INPUT_OPTIONAL);
	const char *part = path;

	while (part) {
		if (*part == '/' || !*part ||
		    (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/'))) {
			input_fail_json(in, key, "a path inside the night's directory",
					json_object_get(object, key));
			return NULL;
		}
		part = strchr(part, '/');
		if (part)
			part++;
	}
	return path;
}

static struct night_kernel *kernel_of(struct arena *arena, const struct input *in, json_t *root,
				      const char *key)
{
	static const char *const keys[] = {"ref", "commit", "release", "describe", "date", NULL};
	json_t *object = input_object(in, root, key, INPUT_OPTIONAL);
	struct night_kernel *kernel;

	if (!object || !input_known_keys(in, object, key, keys))
		return NULL;
	kernel = arena_alloc(arena, sizeof(*kernel));
	*kernel = (struct night_kernel){
		.ref = member_text(arena, in, object, "ref", INPUT_REQUIRED),
		.commit = member_text(arena, in, object, "commit", INPUT_REQUIRED),
		.release = member_text(arena, in, object, "release", INPUT_OPTIONAL),
		.describe = member_text(arena, in, object, "describe", INPUT_OPTIONAL),
		.date = member_text(arena, in, object, "date", INPUT_OPTIONAL),
	};
	return kernel;
}

static void read_comparison(struct arena *arena, const struct input *in, json_t *object,
			    struct night_comparison *comparison)
{
	static const char *const keys[] = {"kind",    "name",  "claim",	 "compare",
					   "confirm", "state", "reason", NULL};

	if (!json_is_object(object)) {
		input_fail_json(in, "comparisons", "an object", object);
		return;
	}
	if (!input_known_keys(in, object, "comparisons", keys))
		return;
	*comparison = (struct night_comparison){
		.kind = (enum night_kind)member_choice(in, object, "kind", night_kind_name, 4),
		.name = member_text(arena, in, object, "name", INPUT_REQUIRED),
		.claim = member_text(arena, in, object, "claim", INPUT_OPTIONAL),
		.compare = path_of(arena, in, object, "compare"),
		.confirm = path_of(arena, in, object, "confirm"),
		.state = (enum comparison_state)member_choice(in, object, "state",
							      comparison_state_name, 5),
	};
	comparison->reason = reason_of(arena, in, object, comparison->state == COMPARISON_DONE);
	if (comparison->state == COMPARISON_DONE && !comparison->compare)
		input_fail_json(in, "compare", "a file, since the state is done",
				json_object_get(object, "compare"));
	if (comparison->state != COMPARISON_DONE && (comparison->compare || comparison->confirm))
		input_fail_json(
			in, comparison->compare ? "compare" : "confirm",
			"null, since the state is not done",
			json_object_get(object, comparison->compare ? "compare" : "confirm"));
	if (comparison->kind == KIND_UNDO && !comparison->claim)
		input_fail_json(in, "claim", "the claim whose gain is undone",
				json_object_get(object, "claim"));
}

static void read_comparisons(struct arena *arena, const struct input *in, json_t *array,
			     struct night *night)
{
	json_t *object;
	size_t i;

	night->comparisons =
		arena_alloc(arena, (json_array_size(array) + 1) * sizeof(*night->comparisons));
	json_array_foreach (array, i, object) {
		struct night_comparison *new = &night->comparisons[i];

		read_comparison(arena, in, object, new);
		if (!input_ok(in))
			return;
		for (size_t j = 0; j < i; j++) {
			const struct night_comparison *other = &night->comparisons[j];

			if (!strcmp(other->name, new->name))
				input_fail_json(in, "name", "a name that no other comparison has",
						json_object_get(object, "name"));
			if (other->kind == new->kind &&new->kind <= KIND_LAST_GOOD)
				input_fail_json(in, "kind", "at most one anchor and one last-good",
						json_object_get(object, "kind"));
		}
		night->ncomparisons++;
	}
}

static void read_stale(struct arena *arena, const struct input *in, json_t *array,
		       struct night *night)
{
	static const char *const keys[] = {"treatment", "hunk", NULL};
	json_t *object;
	size_t i;

	night->stale = arena_alloc(arena, (json_array_size(array) + 1) * sizeof(*night->stale));
	json_array_foreach (array, i, object) {
		if (!json_is_object(object)) {
			input_fail_json(in, "stale", "an object", object);
			return;
		}
		if (!input_known_keys(in, object, "stale", keys))
			return;
		night->stale[night->nstale++] = (struct stale_treatment){
			member_text(arena, in, object, "treatment", INPUT_REQUIRED),
			member_text(arena, in, object, "hunk", INPUT_REQUIRED)};
	}
}

/* 2026-11-30T01:00:00Z */
static const char *time_of(struct arena *arena, const struct input *in, json_t *root,
			   const char *key)
{
	const char *value = member_text(arena, in, root, key, INPUT_OPTIONAL);
	int hour, minute, second, length = 0;

	if (value &&
	    (strlen(value) != 20 || value[10] != 'T' ||
	     sscanf(value + 10, "T%2d:%2d:%2dZ%n", &hour, &minute, &second, &length) != 3 ||
	     length != 10 || hour > 23 || minute > 59 || second > 60 ||
	     strspn(value + 11, "0123456789:") != 8 ||
	     !night_is_date(arena_printf(arena, "%.10s", value))))
		input_fail_json(in, key, "a time such as 2026-11-30T01:00:00Z",
				json_object_get(root, key));
	return value;
}

int night_parse(struct arena *arena, const struct input *in, json_t *root, struct night *night)
{
	static const char *const keys[] = {"schema",   "date",	 "state",	"reason", "started",
					   "finished", "kernel", "last_good",	"anchor", "report",
					   "consoles", "stale",	 "comparisons", "info",	  NULL};

	*night = (struct night){.date = NULL};
	if (!root || !input_schema(in, root) || !input_known_keys(in, root, NULL, keys))
		return -1;
	night->date = member_text(arena, in, root, "date", INPUT_REQUIRED);
	if (night->date && !night_is_date(night->date))
		input_fail_json(in, "date", "a day as YYYY-MM-DD", json_object_get(root, "date"));
	night->state = (enum night_state)member_choice(in, root, "state", night_state_name, 5);
	night->reason = reason_of(arena, in, root, night->state == NIGHT_DONE);
	night->started = time_of(arena, in, root, "started");
	night->finished = time_of(arena, in, root, "finished");
	night->kernel = kernel_of(arena, in, root, "kernel");
	night->last_good = kernel_of(arena, in, root, "last_good");
	night->anchor = kernel_of(arena, in, root, "anchor");
	night->report = path_of(arena, in, root, "report");
	night->consoles = path_of(arena, in, root, "consoles");
	input_object(in, root, "info", INPUT_OPTIONAL);
	read_comparisons(arena, in, input_array(in, root, "comparisons", INPUT_REQUIRED), night);
	read_stale(arena, in, input_array(in, root, "stale", INPUT_OPTIONAL), night);
	if (night->state == NIGHT_DONE && !night->kernel)
		input_fail(in, "kernel", "the kernel of a night that is done", "nothing");
	if (night_comparison(night, KIND_ANCHOR) && !night->anchor)
		input_fail(in, "anchor", "the kernel of the anchor comparison", "nothing");
	if (night_comparison(night, KIND_LAST_GOOD) && !night->last_good)
		input_fail(in, "last_good", "the kernel of the last-good comparison", "nothing");
	return input_ok(in) ? 0 : -1;
}

static struct compared *read_compared(struct arena *arena, const char *directory, const char *name,
				      struct input_error *error)
{
	struct compared *compared;

	if (!name)
		return NULL;
	compared = arena_alloc(arena, sizeof(*compared));
	compared_read(arena, arena_printf(arena, "%s/%s", directory, name), compared, error);
	return compared;
}

static int read_files(struct arena *arena, const char *directory,
		      struct night_comparison *comparison, struct input_error *error)
{
	const char *boot;

	comparison->compared = read_compared(arena, directory, comparison->compare, error);
	comparison->confirmed = read_compared(arena, directory, comparison->confirm, error);
	if (error->text[0])
		return -1;
	if (!comparison->compared || !comparison->confirmed)
		return 0;
	boot = compared_common_boot(comparison->compared, comparison->confirmed);
	if (boot) {
		struct input in = {.file = comparison->confirmed->file, .error = error};

		return input_failf(&in, "boots", "fresh boots", "boot %s of the first look", boot);
	}
	return 0;
}

/* What old nights gave up is not linked. */
static const char *still_there(struct arena *arena, const char *directory, const char *path)
{
	return path && !access(arena_printf(arena, "%s/%s", directory, path), F_OK) ? path : NULL;
}

int night_read(struct arena *arena, const char *directory, struct night *night,
	       struct input_error *error)
{
	const char *file = arena_printf(arena, "%s/night.json", directory);
	struct input in = {.file = file, .error = error};
	size_t length = strlen(directory);
	const char *name;
	json_t *root;
	int result;

	if (access(file, F_OK) < 0 && errno == ENOENT)
		return 1;
	root = input_decode_file(&in);
	result = root ? night_parse(arena, &in, root, night) : -1;
	json_decref(root);
	if (result < 0)
		return -1;
	while (length > 1 && directory[length - 1] == '/')
		length--;
	name = arena_printf(arena, "%.*s", (int)length, directory);
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	if (night_is_date(name) && strcmp(name, night->date) != 0)
		return input_failf(&in, "date", "the date that the directory is named after",
				   "the string \"%s\"", night->date);
	night->report = still_there(arena, directory, night->report);
	night->consoles = still_there(arena, directory, night->consoles);
	for (size_t i = 0; i < night->ncomparisons; i++) {
		if (read_files(arena, directory, &night->comparisons[i], error) < 0)
			return -1;
	}
	return 0;
}

const struct night_comparison *night_comparison(const struct night *night, enum night_kind kind)
{
	for (size_t i = 0; i < night->ncomparisons; i++) {
		if (night->comparisons[i].kind == kind)
			return &night->comparisons[i];
	}
	return NULL;
}

const char *night_kernel_name(const struct night_kernel *kernel)
{
	return kernel->describe	 ? kernel->describe
	       : kernel->release ? kernel->release
				 : kernel->ref;
}
