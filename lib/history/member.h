/* SPDX-License-Identifier: GPL-2.0-only */
/* Members of JSON objects beyond those of compare/input.h, whose errors they record alike. */
#ifndef HISTORY_MEMBER_H
#define HISTORY_MEMBER_H

#include "compare/arena.h"
#include "compare/input.h"

/* A copy in the arena; NULL where it is absent or wrong. */
const char *member_text(struct arena *arena, const struct input *in, json_t *object,
			const char *key, enum input_presence presence);
/* The index of a string in a list; 0 where it is none of them. */
int member_choice(const struct input *in, json_t *object, const char *key, const char *const *names,
		  size_t count);
/* A number, NaN for null: what the comparator prints where it has none. */
double member_number(const struct input *in, json_t *object, const char *key);
bool member_boolean(const struct input *in, json_t *object, const char *key);

#endif
