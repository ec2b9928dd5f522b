// SPDX-License-Identifier: GPL-2.0-only
#include "history/replace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int failed(const char *path, struct input_error *error)
{
	struct input in = {.file = path, .error = error};

	return input_fail(&in, NULL, "a file that can be written", strerror(errno));
}

int replace_open(struct arena *arena, struct replacement *replacement, const char *path,
		 struct input_error *error)
{
	replacement->path = path;
	replacement->new = arena_printf(arena, "%s.new", path);
	replacement->file = fopen(replacement->new, "we");
	return replacement->file ? 0 : failed(replacement->new, error);
}

int replace_commit(struct replacement *replacement, struct input_error *error)
{
	FILE *file = replacement->file;
	bool whole = !fflush(file) && !ferror(file) && !fsync(fileno(file));
	int result = 0;

	if (!whole)
		result = failed(replacement->new, error);
	if (fclose(file) && !result)
		result = failed(replacement->new, error);
	if (!result && rename(replacement->new, replacement->path))
		result = failed(replacement->path, error);
	if (result)
		unlink(replacement->new);
	return result;
}
