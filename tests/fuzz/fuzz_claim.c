// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: the reader of claims, and of claims against a case's description. */
#include "compare/claim.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char DESCRIBE[] =
	"{\"schema\":1,\"case\":\"shmem-truncate\",\"options\":{\"op\":{\"values\":[\"ftruncate\","
	"\"punch\"]},\"folio\":{\"values\":[\"4k\",\"pmd\"]}},\"params\":{\"size\":{\"documented\":"
	"8589934592}},\"metrics\":{\"time\":{\"unit\":\"ns\",\"better\":\"lower\"}},"
	"\"functions\":[\"filemap_remove_folio\"],\"per\":[\"page\"]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input_error error = {0};
	struct input in = {.file = "claim", .error = &error};
	struct arena arena = {0};
	struct claim claim;
	json_t *describe = input_decode(&in, DESCRIBE, strlen(DESCRIBE));
	int bad = claim_parse(&arena, &in, input_decode(&in, (const char *)data, size), &claim);

	/* An error has its one line, and only an error has one. */
	if (bad ? input_ok(&in) || strchr(error.text, '\n') != NULL : !input_ok(&in))
		abort();
	if (!bad)
		claim_check(&claim, describe, &error);
	json_decref(describe);
	claim_release(&claim);
	arena_free(&arena);
	return 0;
}
