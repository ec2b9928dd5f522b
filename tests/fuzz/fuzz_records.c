// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: records through everything. The input is two .jsonl files, separated by a NUL byte,
 * for a boot of each kernel; what can be read is compared and written in every format. Whatever
 * the input, there is a result or an error of one line, never a crash.
 */
#include "compare/dataset.h"
#include "compare/report.h"
#include "compare/single.h"

#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/dev/shm/fuzz-records-XXXXXX";
static char side_path[2][64], file_path[2][128];
static FILE *sink;
static struct arena arena;
static struct claim claim;

static const char CLAIM[] =
	"{\"schema\":1,\"claim\":\"c\",\"case\":\"a\",\"origin\":\"ours\",\"source\":{\"title\":\"t\"},"
	"\"method\":{\"params\":{\"size\":8}},\"rows\":[{\"id\":\"r\",\"kind\":\"change\",\"where\":{},"
	"\"metric\":\"time\",\"unit\":\"ms\",\"before\":{\"value\":4},\"after\":{\"value\":2}}],"
	"\"mechanism\":[{\"function\":[\"f\",\"g\"],\"per\":\"page\",\"before\":1,\"after\":0,"
	"\"tolerance\":0.1},{\"function\":[\"h\"],\"per\":\"truncate\",\"before\":0,\"after\":1,"
	"\"tolerance\":0.1}]}";

static void clean(void)
{
	for (int i = 0; i < 2; i++) {
		unlink(file_path[i]);
		rmdir(side_path[i]);
	}
	rmdir(directory);
	claim_release(&claim);
	arena_free(&arena);
	fclose(sink);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct input_error error = {0};
	struct input in = {.file = "claim", .error = &error};

	(void)argc;
	(void)argv;
	gsl_set_error_handler_off();
	sink = fopen("/dev/null", "w");
	if (!mkdtemp(directory) || !sink ||
	    claim_parse(&arena, &in, input_decode(&in, CLAIM, strlen(CLAIM)), &claim) < 0)
		abort();
	for (int i = 0; i < 2; i++) {
		snprintf(side_path[i], sizeof(side_path[i]), "%s/%d", directory, i);
		snprintf(file_path[i], sizeof(file_path[i]), "%s/b%d.jsonl", side_path[i], i);
		mkdir(side_path[i], 0700);
	}
	atexit(clean);
	return 0;
}

static void put(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t first = nul ? (size_t)(nul - data) : size;
	struct comparison_options options = {.force = true, .looks = 1};
	struct dataset before = {0}, after = {0};
	struct input_error error = {0};
	struct comparison comparison;
	struct single single;
	bool read[2];

	put(file_path[0], data, first);
	put(file_path[1], data + first + (nul ? 1 : 0), size - first - (nul ? 1 : 0));
	read[0] = !dataset_read(side_path[0], &before, &error);
	if (!read[0] && input_ok(&(struct input){.error = &error}))
		abort();
	if (strchr(error.text, '\n'))
		abort();
	error.text[0] = '\0';
	read[1] = !dataset_read(side_path[1], &after, &error);
	error.text[0] = '\0';
	if (read[0]) {
		single_build(&before, &claim, 1, &single);
		single_markdown(&single, sink);
		single_text(&single, sink);
		json_decref(single_json(&single));
	}
	if (read[0] && read[1] &&
	    !comparison_build(&before, &after, &claim, 1, &options, &comparison, &error)) {
		report_markdown(&comparison, sink);
		report_text(&comparison, sink);
		report_json(&comparison, sink);
		report_ktap(&comparison, sink);
		report_lkp(&comparison, sink);
	}
	dataset_release(&before);
	dataset_release(&after);
	return 0;
}
