// SPDX-License-Identifier: GPL-2.0-only
/* The line reader at its borders, and what an error message may hold. */
#include "compare/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/* Opens what is written to a memory file; the caller closes lines and fd. */
static int open_text(const char *text, size_t length, struct lines *lines,
		     struct input_error *error)
{
	char path[40];
	int fd = memfd_create("lines", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, length), length);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(lines_open(lines, path, "name", error), 0);
	return fd;
}

static void test_lines(void **state)
{
	struct input_error error = {0};
	struct lines lines;
	size_t length;
	char *text;
	int fd = open_text("one\n\nthree", 10, &lines, &error);

	(void)state;
	assert_int_equal(lines_next(&lines, &text, &length), 1);
	assert_int_equal(length, 3);
	assert_int_equal(lines_next(&lines, &text, &length), 1);
	assert_int_equal(length, 0);
	assert_int_equal(lines_next(&lines, &text, &length), 2);
	assert_memory_equal(text, "three", 5);
	assert_int_equal(lines_next(&lines, &text, &length), 0);
	lines_close(&lines);
	close(fd);
}

/* Lines of every length around the size of the reader's blocks. */
static void test_blocks(void **state)
{
	static const size_t sizes[] = {65534, 65535, 65536, 65537, 131072, INPUT_LINE_MAX - 1};
	struct input_error error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *buffer = malloc(sizes[i] + 3), *text;
		struct lines lines;
		size_t length;
		int fd;

		memset(buffer, 'x', sizes[i]);
		memcpy(buffer + sizes[i], "\ny\n", 3);
		fd = open_text(buffer, sizes[i] + 3, &lines, &error);
		assert_int_equal(lines_next(&lines, &text, &length), 1);
		assert_int_equal(length, sizes[i]);
		assert_int_equal(lines_next(&lines, &text, &length), 1);
		assert_int_equal(length, 1);
		assert_int_equal(text[0], 'y');
		assert_int_equal(lines_next(&lines, &text, &length), 0);
		lines_close(&lines);
		close(fd);
		free(buffer);
	}
}

static void test_too_long(void **state)
{
	char *buffer = calloc(1, INPUT_LINE_MAX + 1), *text;
	struct input_error error = {0};
	struct lines lines;
	size_t length;
	int fd = open_text(buffer, INPUT_LINE_MAX + 1, &lines, &error);

	(void)state;
	assert_int_equal(lines_next(&lines, &text, &length), -1);
	assert_string_equal(error.text,
			    "name:1: wanted a line of at most 4 MiB, found a longer one");
	lines_close(&lines);
	close(fd);
	free(buffer);
}

static void test_printable(void **state)
{
	char out[12];

	(void)state;
	printable(out, sizeof(out), "a\nb\x1b");
	assert_string_equal(out, "a\\x0ab\\x1b");
	printable(out, sizeof(out), "abcdefghijklmnop");
	assert_string_equal(out, "abcdefgh...");
	/* Not in the middle of a character. */
	printable(out, sizeof(out), "abcdefgµµµµ");
	assert_string_equal(out, "abcdefg...");
}

static void test_first_error(void **state)
{
	struct input_error error = {0};
	struct input in = {.file = "f\n", .line = 7, .error = &error};

	(void)state;
	assert_int_equal(input_fail(&in, "k\t", "one", "two\r"), -1);
	input_fail(&in, "later", "x", "y");
	assert_string_equal(error.text, "f\\x0a:7: k\\x09: wanted one, found two\\x0d");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	    cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_too_long),    cmocka_unit_test(test_printable),
		cmocka_unit_test(test_first_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
