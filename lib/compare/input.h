/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading what others wrote: lines of bounded length, and JSON members of a wanted type.
 * The first thing wrong is kept in struct input_error as one line "FILE:LINE: KEY: wanted X,
 * found Y"; every function then returns NULL, false or a negative number. Nothing here prints.
 */
#ifndef COMPARE_INPUT_H
#define COMPARE_INPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A record of a hundred thousand samples is below a megabyte; what is longer is no record. */
enum { INPUT_LINE_MAX = 4 << 20 };

struct input_error {
	char text[640];
};

/* Where a value stands. line 0: the file is one JSON document. */
struct input {
	const char *file;
	size_t line;
	struct input_error *error;
};

/* Records "wanted X, found Y" unless something is recorded already. Returns -1. */
int input_fail(const struct input *in, const char *key, const char *wanted, const char *found);
int input_failf(const struct input *in, const char *key, const char *wanted, const char *format,
		...) __attribute__((format(printf, 4, 5)));
/* The same with a JSON value as what was found; NULL is "nothing". */
int input_fail_json(const struct input *in, const char *key, const char *wanted,
		    const json_t *found);

/* Decodes one JSON object. Duplicate keys, NaN, Infinity and numbers that do not fit are errors. */
json_t *input_decode(const struct input *in, const char *text, size_t length);
/* Reads a whole file of at most INPUT_LINE_MAX bytes as one JSON object. */
json_t *input_decode_file(const struct input *in);

enum input_presence { INPUT_REQUIRED, INPUT_OPTIONAL };

/*
 * A member of an object. OPTIONAL: absent or null gives NULL (or the fallback) without an error;
 * so after a call with OPTIONAL look at input_ok().
 */
const char *input_string(const struct input *in, json_t *object, const char *key,
			 enum input_presence presence);
json_t *input_object(const struct input *in, json_t *object, const char *key,
		     enum input_presence presence);
json_t *input_array(const struct input *in, json_t *object, const char *key,
		    enum input_presence presence);
/* A finite number; negative ones are refused where at_least_zero. */
bool input_number(const struct input *in, json_t *object, const char *key, bool at_least_zero,
		  double *value);
bool input_integer(const struct input *in, json_t *object, const char *key, json_int_t least,
		   json_int_t *value);
/* The member must be the integer 1, the only schema there is. */
bool input_schema(const struct input *in, json_t *object);
/* Refuses every key that is not in the NULL-terminated list. */
bool input_known_keys(const struct input *in, json_t *object, const char *where,
		      const char *const *keys);

static inline bool input_ok(const struct input *in)
{
	return !in->error->text[0];
}

/* Lines of a file, read in blocks; a line above INPUT_LINE_MAX is an error, not an allocation. */
struct lines {
	struct input in;
	int fd;
	char *buffer;
	size_t start, end, size;
	bool eof;
};

/* A regular file only. Returns 0, or -1 with the error recorded. */
int lines_open(struct lines *lines, const char *path, const char *shown, struct input_error *error);
/* 1: a line (without its newline) · 0: the end · -1: error · 2: a last line without newline */
int lines_next(struct lines *lines, char **text, size_t *length);
void lines_close(struct lines *lines);

/* Copies text with control characters and broken UTF-8 made visible, cut at limit characters. */
void printable(char *out, size_t size, const char *text);

#endif
