// SPDX-License-Identifier: GPL-2.0-only
/* Records are whole lines or not there: torn tails, short writes, full disks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "case/record.h"

static char dir[64], path[128], torn[128];

static void put(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_content(const char *file, const char *want)
{
	char *buf = calloc(1, 1 << 20);
	int fd = open(file, O_RDONLY);

	assert_true(fd >= 0 && read(fd, buf, (1 << 20) - 1) >= 0);
	assert_string_equal(buf, want);
	close(fd);
	free(buf);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_record.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/r.jsonl", dir);
	snprintf(torn, sizeof(torn), "%s/r.jsonl.torn", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(torn);
	return rmdir(dir);
}

static void appends_lines(void **state)
{
	json_t *record = json_pack("{s:i}", "n", 1);
	int fd = record_open(path);

	(void)state;
	assert_int_equal(record_append(fd, record), 0);
	json_object_set_new(record, "n", json_string("two\nlines"));
	assert_int_equal(record_append(fd, record), 0);
	close(fd);
	assert_content(path, "{\"n\":1}\n{\"n\":\"two\\nlines\"}\n");
	json_decref(record);
}

static void torn_tail(void **state)
{
	char *big = malloc(20001);
	int fd;

	(void)state;
	put("{\"n\":1}\n{\"n\":");
	close(record_open(path));
	assert_content(path, "{\"n\":1}\n");
	assert_content(torn, "{\"n\":\n");
	/* Longer than a block of the search, and no whole line before it. */
	memset(big, 'x', 20000);
	big[20000] = '\0';
	put(big);
	unlink(torn);
	fd = record_open(path);
	close(fd);
	assert_content(path, "");
	big[0] = 'x';
	assert_int_equal(access(torn, F_OK), 0);
	free(big);
	put("");
	close(record_open(path));
	assert_content(path, "");
}

/* A file size limit gives what a full disk gives: first a short write, then none. */
static void short_write(void **state)
{
	struct rlimit old, limit;
	json_t *record = json_pack("{s:s}", "text", "0123456789012345678901234567890123456789");
	int fd = record_open(path), err;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(record_append(fd, record), 0);
	assert_false(getrlimit(RLIMIT_FSIZE, &old));
	limit = old;
	limit.rlim_cur = 70;
	assert_false(setrlimit(RLIMIT_FSIZE, &limit));
	err = record_append(fd, record);
	assert_false(setrlimit(RLIMIT_FSIZE, &old));
	assert_int_equal(err, ENOSPC);
	assert_content(path, "{\"text\":\"0123456789012345678901234567890123456789\"}\n");
	assert_int_equal(record_append(fd, record), 0);
	close(fd);
	json_decref(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(appends_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(torn_tail, setup, teardown),
		cmocka_unit_test_setup_teardown(short_write, setup, teardown),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
