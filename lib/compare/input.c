// SPDX-License-Identifier: GPL-2.0-only
#include "compare/input.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The bytes of the control character that the text begins with: 0 for none. Those of Unicode too: C1,
 * which terminals take as ESC and a letter, and what turns the direction of the text that follows.
 */
static size_t control(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (*c < 0x20 || *c == 0x7f)
		return 1;
	if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)
		return 2;
	if (c[0] == 0xe2 && ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) ||
			     (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9)))
		return 3;
	return 0;
}

void printable(char *out, size_t size, const char *text)
{
	size_t used = 0, bytes;

	for (; *text; text++) {
		bytes = control(text);
		/* Bytes from 0x80 pass: jansson has already refused what is no UTF-8. */
		if (!bytes) {
			if (used + 2 > size)
				break;
			out[used++] = *text;
			continue;
		}
		if (used + 4 * bytes + 1 > size)
			break;
		for (; bytes; bytes--)
			used += (size_t)snprintf(out + used, size - used, "\\x%02x",
						 (unsigned char)(bytes > 1 ? *text++ : *text));
	}
	out[used] = '\0';
	if (*text && used >= 4) {
		/* Cut on a character's boundary, and show that it was cut. */
		used -= 3;
		while (used && ((unsigned char)out[used] & 0xc0) == 0x80)
			used--;
		memcpy(out + used, "...", 4);
	}
}

int input_fail(const struct input *in, const char *key, const char *wanted, const char *found)
{
	char file[256], where[128] = "", what[200];

	if (!input_ok(in))
		return -1;
	printable(file, sizeof(file), in->file);
	if (key) {
		char shown[100];

		printable(shown, sizeof(shown), key);
		snprintf(where, sizeof(where), "%s: ", shown);
	}
	printable(what, sizeof(what), found);
	if (in->line)
		snprintf(in->error->text, sizeof(in->error->text), "%s:%zu: %swanted %s, found %s",
			 file, in->line, where, wanted, what);
	else
		snprintf(in->error->text, sizeof(in->error->text), "%s: %swanted %s, found %s",
			 file, where, wanted, what);
	return -1;
}

int input_failf(const struct input *in, const char *key, const char *wanted, const char *format,
		...)
{
	char found[200];
	va_list args;

	va_start(args, format);
	vsnprintf(found, sizeof(found), format, args);
	va_end(args);
	return input_fail(in, key, wanted, found);
}

int input_fail_json(const struct input *in, const char *key, const char *wanted,
		    const json_t *found)
{
	char text[60];

	if (!found)
		return input_fail(in, key, wanted, "nothing");
	switch (json_typeof(found)) {
	case JSON_OBJECT:
		return input_fail(in, key, wanted, "an object");
	case JSON_ARRAY:
		return input_failf(in, key, wanted, "an array of %zu", json_array_size(found));
	case JSON_STRING:
		printable(text, sizeof(text), json_string_value(found));
		return input_failf(in, key, wanted, "the string \"%s\"", text);
	case JSON_INTEGER:
		return input_failf(in, key, wanted, "%" JSON_INTEGER_FORMAT,
				   json_integer_value(found));
	case JSON_REAL:
		return input_failf(in, key, wanted, "%.10g", json_real_value(found));
	case JSON_TRUE:
		return input_fail(in, key, wanted, "true");
	case JSON_FALSE:
		return input_fail(in, key, wanted, "false");
	case JSON_NULL:
	default:
		return input_fail(in, key, wanted, "null");
	}
}

static bool hidden(const char *text)
{
	for (; *text; text++)
		if (control(text))
			return true;
	return false;
}

/* A new string for one with control characters in it; NULL: out of memory. */
static char *shown(const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *copy = malloc(size);

	if (copy)
		printable(copy, size, text);
	return copy;
}

/*
 * What was read may end on a terminal, in a mail or in a line of KTAP by many ways: control characters
 * are made visible once, here, in all strings and keys. False: out of memory.
 */
static bool make_visible(json_t *value)
{
	json_t *each;
	const char *key;
	size_t i;
	void *next;
	char *copy;
	bool ok = true;

	if (json_is_string(value) && hidden(json_string_value(value))) {
		copy = shown(json_string_value(value));
		ok = copy && !json_string_set(value, copy);
		free(copy);
	}
	json_array_foreach (value, i, each)
		ok = ok && make_visible(each);
	json_object_foreach_safe (value, next, key, each) {
		ok = ok && make_visible(each);
		if (!ok || !hidden(key))
			continue;
		copy = shown(key);
		ok = copy && !json_object_set(value, copy, each) && !json_object_del(value, key);
		free(copy);
	}
	return ok;
}

json_t *input_decode(const struct input *in, const char *text, size_t length)
{
	json_error_t error;
	json_t *root;

	if (!length) {
		input_fail(in, NULL, "a JSON object", "an empty line");
		return NULL;
	}
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		input_failf(in, NULL, "a JSON object", "broken JSON at byte %d: %s", error.position,
			    error.text);
		return NULL;
	}
	if (!json_is_object(root)) {
		input_fail_json(in, NULL, "a JSON object", root);
		json_decref(root);
		return NULL;
	}
	if (!make_visible(root)) {
		input_fail(in, NULL, "memory for the object", "none");
		json_decref(root);
		return NULL;
	}
	return root;
}

json_t *input_decode_file(const struct input *in)
{
	struct stat st;
	json_t *root = NULL;
	char *text = NULL;
	size_t used = 0;
	ssize_t got;
	int fd = open(in->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) < 0) {
		input_fail(in, NULL, "a JSON file", strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		input_fail(in, NULL, "a JSON file", "something that is no regular file");
		goto out;
	}
	if (st.st_size > INPUT_LINE_MAX) {
		input_failf(in, NULL, "a JSON file of at most 4 MiB", "%lld bytes",
			    (long long)st.st_size);
		goto out;
	}
	text = malloc((size_t)st.st_size + 1);
	if (!text) {
		input_fail(in, NULL, "memory for the file", "none");
		goto out;
	}
	while (used < (size_t)st.st_size) {
		got = read(fd, text + used, (size_t)st.st_size - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			input_fail(in, NULL, "a JSON file", strerror(errno));
			goto out;
		}
		if (!got)
			break;
		used += (size_t)got;
	}
	if (!used)
		input_fail(in, NULL, "a JSON object", "an empty file");
	else
		root = input_decode(in, text, used);
out:
	free(text);
	if (fd >= 0)
		close(fd);
	return root;
}

static json_t *member(const struct input *in, json_t *object, const char *key,
		      enum input_presence presence, const char *wanted)
{
	json_t *value = json_object_get(object, key);

	if (presence == INPUT_OPTIONAL && (!value || json_is_null(value)))
		return NULL;
	if (!value)
		input_fail_json(in, key, wanted, value);
	return value;
}

const char *input_string(const struct input *in, json_t *object, const char *key,
			 enum input_presence presence)
{
	json_t *value = member(in, object, key, presence, "a string");

	if (!value)
		return NULL;
	if (!json_is_string(value) || (presence == INPUT_REQUIRED && !json_string_length(value))) {
		input_fail_json(in, key, "a string", value);
		return NULL;
	}
	return json_string_value(value);
}

json_t *input_object(const struct input *in, json_t *object, const char *key,
		     enum input_presence presence)
{
	json_t *value = member(in, object, key, presence, "an object");

	if (value && !json_is_object(value)) {
		input_fail_json(in, key, "an object", value);
		return NULL;
	}
	return value;
}

json_t *input_array(const struct input *in, json_t *object, const char *key,
		    enum input_presence presence)
{
	json_t *value = member(in, object, key, presence, "an array");

	if (value && !json_is_array(value)) {
		input_fail_json(in, key, "an array", value);
		return NULL;
	}
	return value;
}

bool input_number(const struct input *in, json_t *object, const char *key, bool at_least_zero,
		  double *value)
{
	const char *wanted = at_least_zero ? "a number of at least 0" : "a number";
	json_t *found = json_object_get(object, key);

	if (!json_is_number(found) || !isfinite(json_number_value(found)) ||
	    (at_least_zero && json_number_value(found) < 0)) {
		input_fail_json(in, key, wanted, found);
		return false;
	}
	*value = json_number_value(found);
	return true;
}

bool input_integer(const struct input *in, json_t *object, const char *key, json_int_t least,
		   json_int_t *value)
{
	json_t *found = json_object_get(object, key);

	if (!json_is_integer(found) || json_integer_value(found) < least) {
		char wanted[60];

		snprintf(wanted, sizeof(wanted), "an integer of at least %" JSON_INTEGER_FORMAT,
			 least);
		input_fail_json(in, key, wanted, found);
		return false;
	}
	*value = json_integer_value(found);
	return true;
}

bool input_schema(const struct input *in, json_t *object)
{
	json_t *schema = json_object_get(object, "schema");

	if (json_is_integer(schema) && json_integer_value(schema) == 1)
		return true;
	input_fail_json(in, "schema", "1 (the schema this comparator knows)", schema);
	return false;
}

bool input_known_keys(const struct input *in, json_t *object, const char *where,
		      const char *const *keys)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		const char *const *known = keys;

		while (*known && strcmp(*known, key) != 0)
			known++;
		if (!*known) {
			char found[80], shown[60];

			printable(shown, sizeof(shown), key);
			snprintf(found, sizeof(found), "\"%s\"", shown);
			input_fail(in, where, "only the keys the format names", found);
			return false;
		}
	}
	return true;
}

int lines_open(struct lines *lines, const char *path, const char *shown, struct input_error *error)
{
	struct stat st;

	*lines = (struct lines){.in = {.file = shown, .error = error}, .size = 64 << 10};
	lines->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (lines->fd < 0 || fstat(lines->fd, &st) < 0)
		return input_fail(&lines->in, NULL, "a file of records", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return input_fail(&lines->in, NULL, "a file of records",
				  "something that is no regular file");
	lines->buffer = malloc(lines->size);
	if (!lines->buffer)
		return input_fail(&lines->in, NULL, "memory for a line", "none");
	return 0;
}

/* Makes room behind the bytes still unread: moves them to the front, then grows. */
static int lines_room(struct lines *lines)
{
	char *grown;

	if (lines->start) {
		memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
		lines->end -= lines->start;
		lines->start = 0;
	}
	if (lines->end < lines->size)
		return 0;
	if (lines->size >= INPUT_LINE_MAX)
		return input_fail(&lines->in, NULL, "a line of at most 4 MiB", "a longer one");
	grown = realloc(lines->buffer, 2 * lines->size);
	if (!grown)
		return input_fail(&lines->in, NULL, "memory for a line", "none");
	lines->buffer = grown;
	lines->size *= 2;
	return 0;
}

int lines_next(struct lines *lines, char **text, size_t *length)
{
	size_t searched = 0;

	lines->in.line++;
	for (;;) {
		char *from = lines->buffer + lines->start;
		size_t have = lines->end - lines->start;
		char *newline =
			have > searched ? memchr(from + searched, '\n', have - searched) : NULL;
		ssize_t got;

		if (newline) {
			*text = from;
			*length = (size_t)(newline - from);
			lines->start += *length + 1;
			return 1;
		}
		if (lines->eof) {
			*text = from;
			*length = have;
			lines->start = lines->end;
			return have ? 2 : 0;
		}
		searched = have;
		if (lines_room(lines) < 0)
			return -1;
		got = read(lines->fd, lines->buffer + lines->end, lines->size - lines->end);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return input_fail(&lines->in, NULL, "a file of records", strerror(errno));
		lines->eof = got == 0;
		lines->end += (size_t)got;
	}
}

void lines_close(struct lines *lines)
{
	free(lines->buffer);
	if (lines->fd >= 0)
		close(lines->fd);
	*lines = (struct lines){.fd = -1};
}
