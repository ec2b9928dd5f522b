// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: the readers of a night and of a comparison, and all that is made of them. The input is
 * night.json, a 0 byte, and a compare file that stands for every comparison of the night.
 */
#include "history/export.h"
#include "history/index.h"
#include "history/plots.h"
#include "history/states_report.h"

#include <gsl/gsl_errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(struct arena *arena, struct night *night, FILE *out)
{
	struct states states;
	struct nights nights = {.directory = ".", .nights = night, .states = &states, .count = 1};
	struct trends trends;

	states_build(arena, night, NULL, &states);
	states_json(&states, out);
	states_markdown(arena, &states, out);
	states_build(arena, night, &states.known, &states);
	trends_build(arena, &nights, &trends);
	index_markdown(arena, &nights, out);
	trends_markdown(arena, &trends, true, out);
	for (size_t i = 0; i < trends.count; i++)
		plot_script(arena, &trends, &trends.items[i], "plots", out);
	for (size_t i = 0; nights_newest_done(&nights) && i < nexports; i++)
		exports[i].write(arena, &trends, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *second = memchr(data, 0, size);
	size_t length = second ? (size_t)(second - data) : size;
	struct input_error error = {0}, other = {0};
	struct input in = {.file = "night", .error = &error};
	struct input again = {.file = "compare", .error = &other};
	struct arena arena = {0};
	struct compared compared;
	struct night night;
	json_t *root = input_decode(&in, (const char *)data, length), *json;
	bool is_night = root && !night_parse(&arena, &in, root, &night);
	FILE *out = fopen("/dev/null", "w");

	gsl_set_error_handler_off();
	if (is_night != input_ok(&in) || strchr(error.text, '\n') || !out)
		abort();
	json = second ? input_decode(&again, (const char *)second + 1, size - length - 1) : NULL;
	if (second &&
	    (json && !compared_parse(&arena, &again, json, &compared)) != input_ok(&again))
		abort();
	for (size_t i = 0; is_night && i < night.ncomparisons; i++) {
		bool done = night.comparisons[i].state == COMPARISON_DONE;

		/* The reader never leaves one without the other. */
		is_night = !done || (second && input_ok(&again));
		if (done && is_night)
			night.comparisons[i].compared = &compared;
		if (done && is_night && night.comparisons[i].confirm)
			night.comparisons[i].confirmed = &compared;
	}
	if (is_night)
		write_all(&arena, &night, out);
	fclose(out);
	json_decref(json);
	json_decref(root);
	arena_free(&arena);
	return 0;
}
