/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An arena owns everything a reader keeps: strings, arrays, structures. It is freed as a whole.
 * Allocations are zeroed. Out of memory aborts the process: the readers are bounded, so this is
 * a broken machine and not bad input.
 */
#ifndef COMPARE_ARENA_H
#define COMPARE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
};

void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void arena_free(struct arena *arena);

/*
 * Room for one more element in an arena array: returns the array, moved when it had to grow.
 * Growing leaves the old copy to the arena, so the total stays below twice the final size.
 */
void *arena_grow(struct arena *arena, void *array, size_t used, size_t *room, size_t size);

#define ARENA_PUSH(arena, array, used, room)                                                       \
	((array) = arena_grow(arena, array, used, &(room), sizeof(*(array))), &(array)[(used)++])

#endif
