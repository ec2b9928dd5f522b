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

/*
 * What a night knew when it was judged: of what its own states.json knows all but the losses that it
 * confirmed itself. So a page says of it what it said, also where the night that confirmed a loss is not
 * read any more. There need not be one, nor need it be whole: pages of all nights are not refused for
 * that, and the chain of the nights that are read goes on.
 */
static bool read_own(struct arena *arena, const char *directory, const char *date,
		     struct known_losses *known)
{
	struct input_error error = {0};
	size_t count = 0;

	if (known_losses_read(arena, arena_printf(arena, "%s/%s", directory, date), known,
			      &error) != KNOWN_READ)
		return false;
	for (size_t i = 0; i < known->count; i++) {
		if (strcmp(known->items[i].since, date) < 0)
			known->items[count++] = known->items[i];
	}
	known->count = count;
	return true;
}

/* What the newest night that is not shown knew. */
static void read_earlier(struct arena *arena, const char *directory, const char *const *names,
			 size_t left_off, struct known_losses *known)
{
	int result = KNOWN_NO_FILE;

	while (left_off-- > 0 && result == KNOWN_NO_FILE) {
		struct input_error error = {0};

		result = known_losses_read(arena,
					   arena_printf(arena, "%s/%s", directory, names[left_off]),
					   known, &error);
	}
}

int nights_read(struct arena *arena, const char *directory, struct nights *nights,
		struct input_error *error)
{
	struct known_losses before = {.items = NULL};
	const char **names;
	size_t count;

	*nights = (struct nights){.directory = directory};
	if (list(arena, directory, &names, &count, error) < 0)
		return -1;
	nights->left_off = count > NIGHTS_MOST ? count - NIGHTS_MOST : 0;
	nights->nights = arena_alloc(arena, (count + 1) * sizeof(*nights->nights));
	nights->states = arena_alloc(arena, (count + 1) * sizeof(*nights->states));
	read_earlier(arena, directory, names, nights->left_off, &before);
	for (size_t i = nights->left_off; i < count; i++) {
		struct known_losses own;
		struct night *night = &nights->nights[nights->count];
		struct states *states = &nights->states[nights->count];
		int result = night_read(arena, arena_printf(arena, "%s/%s", directory, names[i]),
					night, error);

		if (result < 0)
			return -1;
		/* Taken away between two looks. */
		if (result)
			continue;
		states_build(arena, night,
			     read_own(arena, directory, names[i], &own) ? &own : &before, states);
		before = states->known;
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
