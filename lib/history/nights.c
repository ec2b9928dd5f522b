// SPDX-License-Identifier: GPL-2.0-only
#include "history/nights.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_date(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list(struct arena *arena, const char *directory, const char ***names, size_t *count,
		struct input_error *error)
{
	struct input in = {.file = directory, .error = error};
	struct dirent *entry;
	size_t room = 0;
	DIR *dir = opendir(directory);

	*names = NULL;
	*count = 0;
	if (!dir)
		return input_fail(&in, NULL, "a directory of nights", strerror(errno));
	while ((entry = readdir(dir))) {
		if (night_is_date(entry->d_name) &&
		    !access(arena_printf(arena, "%s/%s/night.json", directory, entry->d_name),
			    F_OK))
			*ARENA_PUSH(arena, *names, *count, room) =
				arena_strdup(arena, entry->d_name);
	}
	closedir(dir);
	if (*count)
		qsort(*names, *count, sizeof(**names), by_date);
	return 0;
}

int nights_read(struct arena *arena, const char *directory, struct nights *nights,
		struct input_error *error)
{
	const struct known_losses *known = NULL;
	const char **names;
	size_t count;

	*nights = (struct nights){.directory = directory};
	if (list(arena, directory, &names, &count, error) < 0)
		return -1;
	nights->left_off = count > NIGHTS_MOST ? count - NIGHTS_MOST : 0;
	nights->nights = arena_alloc(arena, (count + 1) * sizeof(*nights->nights));
	nights->states = arena_alloc(arena, (count + 1) * sizeof(*nights->states));
	for (size_t i = nights->left_off; i < count; i++) {
		struct night *night = &nights->nights[nights->count];
		struct states *states = &nights->states[nights->count];
		int result = night_read(arena, arena_printf(arena, "%s/%s", directory, names[i]),
					night, error);

		if (result < 0)
			return -1;
		/* Taken away between two looks. */
		if (result)
			continue;
		states_build(arena, night, known, states);
		known = &states->known;
		nights->count++;
	}
	return 0;
}

const struct night *nights_newest_done(const struct nights *nights)
{
	for (size_t i = nights->count; i > 0; i--) {
		if (nights->nights[i - 1].state == NIGHT_DONE)
			return &nights->nights[i - 1];
	}
	return NULL;
}
