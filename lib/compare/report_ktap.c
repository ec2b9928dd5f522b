// SPDX-License-Identifier: GPL-2.0-only
/* KTAP version 1, Documentation/dev-tools/ktap.rst: claims are tests, their rows subtests. */
#include "compare/report.h"

#include "compare/input.h"
#include "compare/sentences.h"

#include <ctype.h>
#include <string.h>

static void line(FILE *out, const char *indent, const char *text)
{
	char shown[512];

	printable(shown, sizeof(shown), text);
	fprintf(out, "%s# %s\n", indent, shown);
}

/* A description may hold no blank and no "#": both mean something to parsers. */
static const char *test_name(struct arena *arena, const char *name)
{
	char *text = arena_strdup(arena, name);

	for (char *c = text; *c; c++) {
		if (!isgraph((unsigned char)*c) || *c == '#')
			*c = '_';
	}
	return text;
}

static enum gate_outcome put_row(const struct comparison *comparison, size_t number,
				 const struct result_row *row, FILE *out)
{
	struct arena *arena = comparison->arena;
	bool skip = row->outcome == OUTCOME_OPEN ||
		    (row->outcome != OUTCOME_FAIL &&
		     (row->verdict == VERDICT_NOT_MEASURED || !row->judged));
	char verdict[256];

	printable(verdict, sizeof(verdict), sentence_verdict(arena, row));
	if (row->judged)
		line(out, "    ",
		     arena_printf(arena, "%s: measured %s, %s (interval %s)", row->name,
				  cell_measured(arena, row), cell_delta(arena, row->difference.d),
				  cell_interval(arena, row)));
	fprintf(out, "    %sok %zu %s %s%s\n", row->outcome == OUTCOME_FAIL ? "not " : "", number,
		test_name(arena, row->name), skip ? "# SKIP " : "# ", verdict);
	return skip ? OUTCOME_OPEN : row->outcome;
}

static void put_claim(const struct comparison *comparison, size_t number,
		      const struct claim_result *result, FILE *out)
{
	const char *name = test_name(comparison->arena, result->claim->name);
	const char *path = sentence_path(comparison, result);
	bool failed = false, passed = false;

	if (!result->recorded) {
		fprintf(out, "ok %zu %s # SKIP no record of the case %s\n", number, name,
			result->claim->case_name);
		return;
	}
	fprintf(out, "    KTAP version 1\n    # Subtest: %s\n    1..%zu\n", name, result->nrows);
	if (path)
		line(out, "    ", path);
	for (size_t i = 0; i < result->nrows; i++) {
		enum gate_outcome outcome = put_row(comparison, i + 1, result->rows[i], out);

		failed = failed || outcome == OUTCOME_FAIL;
		passed = passed || outcome == OUTCOME_PASS;
	}
	fprintf(out, "%sok %zu %s%s\n", failed ? "not " : "", number, name,
		failed || passed ? "" : " # SKIP inconclusive");
}

/* Rows without a claim that gate are one test more. */
static void put_others(const struct comparison *comparison, size_t number, FILE *out)
{
	bool failed = false;

	fprintf(out, "    KTAP version 1\n    # Subtest: without-a-claim\n    1..%zu\n",
		comparison->nothers);
	for (size_t i = 0; i < comparison->nothers; i++)
		failed = put_row(comparison, i + 1, comparison->others[i], out) == OUTCOME_FAIL ||
			 failed;
	fprintf(out, "%sok %zu without-a-claim\n", failed ? "not " : "", number);
}

void report_ktap(const struct comparison *comparison, FILE *out)
{
	size_t tests = comparison->nclaims + (comparison->nothers ? 1 : 0);

	fputs("KTAP version 1\n", out);
	fprintf(out, "1..%zu\n", tests);
	line(out, "", comparison->headline);
	if (comparison->method)
		line(out, "", comparison->method);
	for (size_t i = 0; i < comparison->notes.count; i++) {
		const struct note *note = &comparison->notes.items[i];

		line(out, "",
		     arena_printf(comparison->arena, "%s%s%s%s", note->warning ? "warning: " : "",
				  note->subject ? note->subject : "", note->subject ? ": " : "",
				  note->text));
	}
	for (size_t i = 0; i < comparison->nclaims; i++)
		put_claim(comparison, i + 1, &comparison->claims[i], out);
	if (comparison->nothers)
		put_others(comparison, tests, out);
}
