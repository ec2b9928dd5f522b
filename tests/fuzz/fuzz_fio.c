// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: fio's JSON: figures that can be, or one line why there are none. */
#include "sys/fio.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fio_result result = {0};
	char why[300] = "";
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	bool ok;

	if (!f)
		return 0;
	ok = fio_parse(f, &result, why, sizeof(why));
	fclose(f);
	if (ok ? !(result.operations >= 0 && result.per_second >= 0 && result.p50_ns >= 0 &&
		   result.p99_ns >= 0 && result.p999_ns >= 0)
	       : !why[0])
		abort();
	return 0;
}
