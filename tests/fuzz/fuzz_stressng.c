// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: stress-ng's YAML: figures that can be, or one line why there are none. */
#include "sys/stressng.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stressng_result result = {0};
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	bool ok;

	if (!f)
		return 0;
	ok = stressng_parse(f, "vm", &result);
	fclose(f);
	if (ok != result.complete || ok == (result.why[0] != '\0') ||
	    (ok && !(isfinite(result.bogo_ops) && result.bogo_ops_per_s >= 0)))
		abort();
	return 0;
}
