// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: the reader of a boot's environment. */
#include "compare/envfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input_error error = {0};
	struct input in = {.file = "environment", .error = &error};
	json_t *env = envfile_check(&in, input_decode(&in, (const char *)data, size), NULL);

	if (env ? !input_ok(&in) : input_ok(&in) || strchr(error.text, '\n') != NULL)
		abort();
	envfile_match(env, "i1");
	envfile_info(env, "i1");
	json_decref(env);
	return 0;
}
