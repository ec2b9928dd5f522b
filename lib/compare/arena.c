// SPDX-License-Identifier: GPL-2.0-only
#include "compare/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	max_align_t data[];
};

static const size_t CHUNK = 64 << 10;

static struct arena_chunk *chunk_new(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);

	if (!chunk) {
		fputs("compare: out of memory\n", stderr);
		abort();
	}
	chunk->size = size;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	static const size_t align = _Alignof(max_align_t);
	struct arena_chunk *chunk = arena->chunks;
	void *memory;

	size = (size + align - 1) / align * align;
	if (!chunk || chunk->size - chunk->used < size)
		chunk = chunk_new(arena, size > CHUNK ? size : CHUNK);
	memory = (char *)chunk->data + chunk->used;
	chunk->used += size;
	return memory;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(arena_alloc(arena, size), text, size);
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = arena_alloc(arena, (size_t)length + 1);
	vsnprintf(text, (size_t)length + 1, format, args);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

void *arena_grow(struct arena *arena, void *array, size_t used, size_t *room, size_t size)
{
	void *grown;

	if (used < *room)
		return array;
	*room = *room ? 2 * *room : 8;
	grown = arena_alloc(arena, *room * size);
	if (used)
		memcpy(grown, array, used * size);
	return grown;
}

void arena_free(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
}
