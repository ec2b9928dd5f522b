// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: perf's JSON, line by line: every counter has a finite value from 0 or a reason. */
#include "case/perf.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *counters = json_object(), *counter, *value, *reason;
	char *text = malloc(size + 1), *save = NULL, *line;
	const char *name;

	if (!text || !counters)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		perf_line(line, counters);
	perf_judge(counters);
	json_object_foreach (counters, name, counter) {
		value = json_object_get(counter, "value");
		reason = json_object_get(counter, "absent");
		if (!value == !reason || (value && !(json_number_value(value) >= 0 &&
						     isfinite(json_number_value(value)))))
			abort();
	}
	json_decref(counters);
	free(text);
	return 0;
}
