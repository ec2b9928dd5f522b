/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Losses that an earlier night confirmed, against a kernel that a later one is held against as well: what
 * states.json hands from night to night.
 */
#ifndef HISTORY_KNOWN_H
#define HISTORY_KNOWN_H

#include "compare/arena.h"
#include "compare/input.h"

struct known_loss {
	const char *against; /* its commit */
	const char *label, *since;
	double most; /* ln, the largest loss that was admitted */
};

struct known_losses {
	struct known_loss *items;
	size_t count, room;
};

/* Of a states.json that states_json() wrote. 0, or -1 with the error recorded. */
int known_losses_parse(struct arena *arena, const struct input *in, json_t *root,
		       struct known_losses *known);

enum { KNOWN_READ = 0, KNOWN_NO_FILE = 1, KNOWN_NO_JSON = 2 };
/*
 * Of the states.json in a night's directory. NO_FILE: there is none. NO_JSON: it is empty, cut short or
 * cannot be read, and the error says which. -1 with the error recorded: it is JSON, but not a night's
 * states. Nothing is known but with READ.
 */
int known_losses_read(struct arena *arena, const char *directory, struct known_losses *known,
		      struct input_error *error);

#endif
