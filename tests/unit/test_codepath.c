// SPDX-License-Identifier: GPL-2.0-only
/* Which code ran: rates from counted calls, held against a claim. Every number is worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/codepath.h"

static struct arena arena;
static struct claim claim;
static struct dataset dataset;
static struct probe_run runs[8];

static json_t *decode(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

/* Two rows of 4k folios and one of large ones, which the mechanism is not about. */
static const char CLAIM[] =
	"{'schema':1,'claim':'batch','case':'shmem-truncate','origin':'ours','source':{'title':'t'},"
	"'method':{},'rows':["
	"{'id':'cut','kind':'change','where':{'op':'ftruncate','folio':'4k'},'metric':'time',"
	"'unit':'ms','before':{'value':4},'after':{'value':2}},"
	"{'id':'punch','kind':'change','where':{'op':'punch','folio':'4k'},'metric':'time',"
	"'unit':'ms','before':{'value':4},'after':{'value':2}},"
	"{'id':'pmd','kind':'unchanged','where':{'op':'ftruncate','folio':'pmd'},'metric':'time',"
	"'unit':'ms'}],"
	"'mechanism':["
	"{'function':['old_name','single'],'per':'page','before':1,'after':0,'tolerance':0.01},"
	"{'function':['batch'],'per':'page','before':0,'after':0.0323,'tolerance':0.003}]}";

static void read_claim(const char *text)
{
	struct input_error error = {0};
	struct input in = {.file = "claim", .error = &error};
	char *quoted = strdup(text);

	for (char *c = quoted; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	claim_parse(&arena, &in, input_decode(&in, quoted, strlen(quoted)), &claim);
	assert_string_equal(error.text, "");
	free(quoted);
}

static int setup(void **state)
{
	(void)state;
	arena = (struct arena){0};
	read_claim(CLAIM);
	dataset = (struct dataset){.kernel = "base", .probes = runs};
	return 0;
}

static void forget_runs(void)
{
	for (size_t i = 0; i < dataset.nprobes; i++) {
		json_decref(runs[i].options);
		json_decref(runs[i].functions);
		json_decref(runs[i].per);
	}
	dataset.nprobes = 0;
}

static int teardown(void **state)
{
	(void)state;
	forget_runs();
	claim_release(&claim);
	arena_free(&arena);
	return 0;
}

static struct probe_run *add(const char *options, double pages, const char *functions)
{
	struct probe_run *run = &runs[dataset.nprobes++];

	*run = (struct probe_run){.case_name = "shmem-truncate",
				  .scale = "smoke",
				  .options = decode(options),
				  .functions = decode(functions),
				  .pages = pages};
	return run;
}

static struct path_side side(const struct claim_row *row)
{
	return codepath_side(&arena, &dataset, ALL_BOOTS, &claim, row);
}

#define CUT "{\"op\":\"ftruncate\",\"folio\":\"4k\"}"
#define PUNCH "{\"op\":\"punch\",\"folio\":\"4k\"}"
#define PMD "{\"op\":\"ftruncate\",\"folio\":\"pmd\"}"
#define CALLS(n) "{\"value\":" #n ",\"by\":\"kprobe\",\"scope\":\"task\"}"
#define NONE "{\"absent\":\"not a function of this kernel\"}"

/* 4096 calls for 4096 pages are one a page; 133 = 4096/31 rounded up are 0.032470703125. */
static void test_before_and_after(void **state)
{
	struct path_side found;

	(void)state;
	add(CUT, 4096, "{\"single\":" CALLS(4096) ",\"batch\":" CALLS(0) "}");
	found = side(NULL);
	assert_int_equal(found.path, PATH_BEFORE);
	assert_int_equal(found.runs, 1);
	assert_string_equal(codepath_text(&arena, &found),
			    "before (single 1.000, batch 0.000 a page)");
	assert_null(codepath_missing(&arena, &found));
	forget_runs();
	add(CUT, 4096, "{\"single\":" CALLS(0) ",\"batch\":" CALLS(133) "}");
	found = side(NULL);
	assert_int_equal(found.path, PATH_AFTER);
	assert_true(found.rates[1].low == 0.032470703125);
	assert_string_equal(codepath_text(&arena, &found),
			    "after (single 0.000, batch 0.032 a page)");
}

/* The border itself is in: 41 of 4100 is a hundredth more than none. */
static void test_tolerance(void **state)
{
	(void)state;
	add(CUT, 4100, "{\"single\":" CALLS(4059) ",\"batch\":" CALLS(0) "}");
	assert_int_equal(side(NULL).path, PATH_BEFORE);
	forget_runs();
	add(CUT, 4100, "{\"single\":" CALLS(4058) ",\"batch\":" CALLS(0) "}");
	assert_int_equal(side(NULL).path, PATH_NEITHER);
}

/* One function says before, the other after: neither. */
static void test_neither(void **state)
{
	struct path_side found;

	(void)state;
	add(CUT, 1000, "{\"single\":" CALLS(1000) ",\"batch\":" CALLS(33) "}");
	found = side(NULL);
	assert_int_equal(found.path, PATH_NEITHER);
	assert_string_equal(codepath_text(&arena, &found),
			    "neither (single 1.000, batch 0.033 a page)");
}

/* Rows apart are each of one path, together they are of none. Large folios have no say. */
static void test_rows(void **state)
{
	struct path_side found;

	(void)state;
	add(CUT, 4096, "{\"single\":" CALLS(4096) ",\"batch\":" CALLS(0) "}");
	add(PUNCH, 4096, "{\"single\":" CALLS(0) ",\"batch\":" CALLS(133) "}");
	add(PMD, 4096, "{\"single\":" CALLS(8) ",\"batch\":" CALLS(0) "}");
	assert_int_equal(side(&claim.rows[0]).path, PATH_BEFORE);
	assert_int_equal(side(&claim.rows[1]).path, PATH_AFTER);
	assert_false(codepath_applies(&claim, &claim.rows[2]));
	found = side(NULL);
	assert_int_equal(found.path, PATH_NEITHER);
	assert_string_equal(codepath_text(&arena, &found),
			    "neither (single 0.000-1.000, batch 0.000-0.032 a page)");
}

/* The first alternative that was counted; what is not to be had does not decide. */
static void test_alternatives(void **state)
{
	struct path_side found;

	(void)state;
	add(CUT, 10, "{\"old_name\":" NONE ",\"single\":" CALLS(10) ",\"batch\":" NONE "}");
	found = side(NULL);
	assert_int_equal(found.path, PATH_BEFORE);
	assert_string_equal(found.rates[0].function, "single");
	assert_string_equal(codepath_text(&arena, &found), "before (single 1.000 a page)");
	assert_string_equal(codepath_missing(&arena, &found),
			    "batch not counted (not a function of this kernel)");
}

static void test_absent(void **state)
{
	struct path_side found = side(NULL);
	struct probe_run *run;

	(void)state;
	assert_int_equal(found.path, PATH_ABSENT);
	assert_string_equal(codepath_text(&arena, &found), "absent (no probe run)");
	add(CUT, NAN, "{\"single\":" CALLS(10) ",\"batch\":" CALLS(0) "}");
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found),
			    "absent (the run does not say how many pages)");
	forget_runs();
	run = add(CUT, 10, "{\"single\":" CALLS(10) "}");
	run->status = RUN_SKIP;
	run->reason = "probe: kprobe: none here";
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found), "absent (probe: kprobe: none here)");
	forget_runs();
	add(CUT, 10, "{\"another\":" CALLS(10) "}");
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found),
			    "absent (not among the functions probed)");
}

/* A count of the run's own, other options than the row's, calls of other tasks in it. */
static void test_units(void **state)
{
	struct path_side found;
	struct probe_run *run;

	(void)state;
	claim_release(&claim);
	read_claim("{'schema':1,'claim':'t','case':'shmem-truncate','origin':'ours','source':"
		   "{'title':'t'},'method':{},'rows':[{'id':'r','kind':'change','where':{'op':"
		   "'ftruncate','folio':'4k'},'metric':'time','unit':'ms','before':{'value':4},"
		   "'after':{'value':2}}],'mechanism':[{'function':['flush'],'per':'stolen page',"
		   "'before':1,'after':0.1,'tolerance':0.2,'where':{'op':'punch'}}]}");
	add(CUT, 10, "{\"flush\":" CALLS(10) "}");
	run = add(PUNCH, 10,
		  "{\"flush\":{\"value\":3,\"by\":\"function profiler\",\"scope\":\"cpus\"}}");
	run->per = decode("{\"stolen page\":20}");
	found = side(&claim.rows[0]);
	assert_int_equal(found.path, PATH_AFTER);
	assert_int_equal(found.runs, 1);
	assert_string_equal(codepath_text(&arena, &found),
			    "after (flush 0.150 a stolen page, counted on every CPU)");
}

/* Counted for each call of another function. */
static void test_per_call(void **state)
{
	struct path_side found;

	(void)state;
	claim_release(&claim);
	read_claim("{'schema':1,'claim':'t','case':'shmem-truncate','origin':'ours','source':"
		   "{'title':'t'},'method':{},'rows':[{'id':'r','kind':'change','where':{},"
		   "'metric':'time','unit':'ms','before':{'value':4},'after':{'value':2}}],"
		   "'mechanism':[{'function':['flush'],'per':'write()','before':1,'after':0.25,"
		   "'tolerance':0.25},{'function':['flush'],'per':'writeout()','before':1,"
		   "'after':0.25,'tolerance':0.25}]}");
	add(CUT, 10, "{\"flush\":" CALLS(50) ",\"write\":" CALLS(50) ",\"writeout\":" NONE "}");
	found = side(NULL);
	assert_int_equal(found.path, PATH_BEFORE);
	assert_string_equal(codepath_text(&arena, &found),
			    "before (flush 1.000 a call of write())");
	assert_null(codepath_missing(&arena, &found));
	forget_runs();
	add(CUT, 10, "{\"flush\":" CALLS(0) ",\"write\":" CALLS(0) "}");
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found), "absent (no calls of write())");
}

/* One call of 10000 pages is not none. */
static void test_small(void **state)
{
	struct path_side found;

	(void)state;
	add(CUT, 10000, "{\"single\":" CALLS(10000) ",\"batch\":" CALLS(1) "}");
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found),
			    "before (single 1.000, batch 1.0e-04 a page)");
}

/* A run whose checks failed has called what it called; one that went well is believed before it. */
static void test_failed(void **state)
{
	struct probe_run *run;
	struct path_side found;

	(void)state;
	run = add(CUT, 10, "{\"single\":" CALLS(10) "}");
	run->status = RUN_FAIL;
	run->reason = "oom_kills: wanted 0, found 1";
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found),
			    "before (single 1.000 a page, in a run that failed: oom_kills: wanted "
			    "0, found 1)");
	add(CUT, 10, "{\"single\":" CALLS(0) "}");
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found), "after (single 0.000 a page)");
	forget_runs();
	run = add(CUT, 10, "{\"single\":" CALLS(10) "}");
	run->status = RUN_BROKEN;
	run->reason = "timed out";
	found = side(NULL);
	assert_string_equal(codepath_text(&arena, &found), "absent (timed out)");
}

static void test_boots(void **state)
{
	(void)state;
	add(CUT, 10, "{\"single\":" CALLS(10) "}");
	add(CUT, 10, "{\"single\":" CALLS(0) "}")->boot = 1;
	assert_int_equal(codepath_side(&arena, &dataset, 0, &claim, NULL).path, PATH_BEFORE);
	assert_int_equal(codepath_side(&arena, &dataset, 1, &claim, NULL).path, PATH_AFTER);
	assert_int_equal(side(NULL).path, PATH_NEITHER);
}

static void says(enum verdict verdict, enum path before, enum path after, bool wanted,
		 const char *text)
{
	bool warning;
	const char *found = codepath_contradiction(&arena, verdict, before, after, &warning);

	if (text)
		assert_non_null(found);
	else
		assert_null(found);
	if (text)
		assert_non_null(strstr(found, text));
	assert_int_equal(warning, wanted);
}

static void test_contradictions(void **state)
{
	(void)state;
	says(VERDICT_REPRODUCED, PATH_BEFORE, PATH_AFTER, false, NULL);
	says(VERDICT_REPRODUCED, PATH_BEFORE, PATH_BEFORE, true, "both sides run");
	says(VERDICT_PARTLY, PATH_AFTER, PATH_AFTER, true, "both sides run");
	says(VERDICT_DIRECTION, PATH_BEFORE, PATH_BEFORE, true, "both sides run");
	says(VERDICT_REPRODUCED, PATH_AFTER, PATH_BEFORE, true, "exchanged");
	says(VERDICT_OPPOSITE, PATH_AFTER, PATH_BEFORE, false, "exchanged");
	says(VERDICT_ABSENT, PATH_BEFORE, PATH_AFTER, false, "although");
	says(VERDICT_ABSENT, PATH_BEFORE, PATH_BEFORE, false, NULL);
	says(VERDICT_UNCHANGED, PATH_BEFORE, PATH_BEFORE, false, "says nothing");
	says(VERDICT_UNCHANGED, PATH_BEFORE, PATH_AFTER, false, NULL);
	says(VERDICT_REPRODUCED, PATH_ABSENT, PATH_BEFORE, false, NULL);
	says(VERDICT_REPRODUCED, PATH_NEITHER, PATH_NEITHER, false, NULL);
	says(VERDICT_INCONCLUSIVE, PATH_BEFORE, PATH_BEFORE, false, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_before_and_after),
		TEST(test_tolerance),
		TEST(test_neither),
		TEST(test_rows),
		TEST(test_alternatives),
		TEST(test_absent),
		TEST(test_units),
		TEST(test_small),
		TEST(test_boots),
		TEST(test_contradictions),
		TEST(test_failed),
		TEST(test_per_call),
	};

	return cmocka_run_group_tests_name("codepath", tests, NULL, NULL);
}
