// SPDX-License-Identifier: GPL-2.0-only
/* perf's JSON as versions 5.18 to 6.16 print it, and as no version should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "case/perf.h"

static double value(const json_t *counters, const char *event)
{
	return json_number_value(json_object_get(json_object_get(counters, event), "value"));
}

static const char *reason(const json_t *counters, const char *event)
{
	return json_string_value(json_object_get(json_object_get(counters, event), "absent"));
}

static void counted(void **state)
{
	json_t *c = json_object();

	(void)state;
	assert_true(
		perf_line("{\"counter-value\" : \"130.900000\", \"unit\" : \"msec\", \"event\" : "
			  "\"task-clock\", \"event-runtime\" : 883458, \"pcnt-running\" : 100.00, "
			  "\"metric-value\" : 0.089802, \"metric-unit\" : \"CPUs utilized\"}\n",
			  c));
	/* Newer versions leave the metric out, print integers and add an interval. */
	assert_true(perf_line("{\"interval\" : 1.0, \"counter-value\" : \"52\", \"unit\" : \"\", "
			      "\"event\" : \"page-faults\", \"pcnt-running\" : 49.50}",
			      c));
	assert_float_equal(value(c, "task-clock"), 130.9, 1e-12);
	assert_float_equal(value(c, "page-faults"), 52, 0);
	assert_float_equal(
		json_number_value(json_object_get(json_object_get(c, "page-faults"), "running")),
		49.5, 0);
	json_decref(c);
}

static void absent(void **state)
{
	json_t *c = json_object();

	(void)state;
	perf_line("{\"counter-value\" : \"<not supported>\", \"event\" : \"cycles\"}", c);
	perf_line("{\"counter-value\" : \"<not counted>\", \"event\" : \"cache-misses\"}", c);
	perf_line("{\"counter-value\" : \"many\", \"event\" : \"page-faults\"}", c);
	assert_string_equal(reason(c, "cycles"), "not supported: no PMU");
	assert_string_equal(reason(c, "cache-misses"), "not counted");
	assert_string_equal(reason(c, "page-faults"), "perf printed no number");
	json_decref(c);
}

/* A string since perf 5.13; another version may print a number. */
static void number(void **state)
{
	json_t *c = json_object();

	(void)state;
	assert_true(perf_line("{\"counter-value\" : 5, \"event\" : \"cycles\"}", c));
	assert_int_equal(json_object_size(c), 1);
	json_decref(c);
}

static void no_counter(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"# started on Mon Nov 30 12:44:19 2026\n",
		"{",
		"{}",
		"[]",
		"null",
		"7",
		"{\"event\" : \"cycles\"}",
		"{\"counter-value\" : \"5\"}",
		"{\"metric-value\" : \"0.5\", \"metric-unit\" : \"GHz\"}",
	};
	json_t *c = json_object();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(perf_line(lines[i], c));
	assert_int_equal(json_object_size(c), 0);
	json_decref(c);
}

static void broken_pmu(void **state)
{
	json_t *c = json_object();

	(void)state;
	perf_line("{\"counter-value\" : \"0\", \"event\" : \"cycles\"}", c);
	perf_line("{\"counter-value\" : \"0\", \"event\" : \"page-faults\"}", c);
	perf_line("{\"counter-value\" : \"0\", \"event\" : \"cache-misses\"}", c);
	perf_judge(c);
	/* Without a clock that ran, zero may be the truth. */
	assert_null(reason(c, "cycles"));
	perf_line("{\"counter-value\" : \"1.5\", \"unit\" : \"msec\", \"event\" : \"task-clock\"}",
		  c);
	perf_judge(c);
	assert_string_equal(reason(c, "cycles"), "the PMU counted 0 while the task ran");
	assert_non_null(reason(c, "cache-misses"));
	assert_null(reason(c, "page-faults"));
	json_decref(c);
	/* With cycles that count, no cache miss is no cache miss. */
	c = json_object();
	perf_line("{\"counter-value\" : \"9\", \"event\" : \"cycles\"}", c);
	perf_line("{\"counter-value\" : \"0\", \"event\" : \"cache-misses\"}", c);
	perf_line("{\"counter-value\" : \"1.5\", \"event\" : \"task-clock\"}", c);
	perf_judge(c);
	assert_null(reason(c, "cache-misses"));
	json_decref(c);
}

/* What perf did not print is absent, and so is everything when the file is not there. */
static void every_event_is_answered(void **state)
{
	struct perf perf = {.path = "/usr/bin/perf",
			    .events = "task-clock,cycles,instructions,page-faults:u"};
	FILE *f;
	json_t *c;
	int fd;

	(void)state;
	strcpy(perf.output, "/tmp/test_perf.XXXXXX");
	fd = mkstemp(perf.output);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	fprintf(f, "# started\n\n{\"counter-value\" : \"2.5\", \"event\" : \"task-clock\"}\n");
	fprintf(f, "{\"counter-value\" : \"17\", \"event\" : \"instructions:u\"}\n");
	fprintf(f, "{\"counter-value\" : \"18\", \"event\" : \"page-faults:u\"}\n");
	fclose(f);
	perf.dropped = json_pack("{s:{s:s}}", "nonsense", "absent", "event syntax error");
	c = perf_counters(&perf);
	assert_float_equal(value(c, "task-clock"), 2.5, 0);
	assert_string_equal(reason(c, "cycles"), "perf printed no such row");
	assert_string_equal(reason(c, "nonsense"), "event syntax error");
	/* Narrowed to user space: under the name that was asked for, and not as a number. */
	assert_non_null(strstr(reason(c, "instructions"), "leaves only user space"));
	assert_null(json_object_get(c, "instructions:u"));
	assert_float_equal(value(c, "page-faults:u"), 18, 0);
	json_decref(c);
	unlink(perf.output);
	c = perf_counters(&perf);
	assert_string_equal(reason(c, "task-clock"), "perf printed no such row");
	json_decref(c);
	json_decref(perf.dropped);
}

/* Groups and a PMU's terms are one event each, whatever commas they hold. */
static void events_hold_commas(void **state)
{
	struct perf perf = {.path = "/usr/bin/perf"};
	json_t *c;

	(void)state;
	strcpy(perf.events,
	       "{cycles,instructions}:D,cpu/event=0xc0,umask=1/,{cpu/config=1,name=a/,b},"
	       "cpu/config=2,name=c/,task-clock,");
	strcpy(perf.output, "/nowhere/perf.json");
	perf.dropped = json_object();
	c = perf_counters(&perf);
	assert_int_equal(json_object_size(c), 2);
	assert_string_equal(reason(c, "cpu/event=0xc0,umask=1/"), "perf printed no such row");
	assert_string_equal(reason(c, "task-clock"), "perf printed no such row");
	json_decref(c);
	json_decref(perf.dropped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted),
		cmocka_unit_test(absent),
		cmocka_unit_test(number),
		cmocka_unit_test(no_counter),
		cmocka_unit_test(broken_pmu),
		cmocka_unit_test(every_event_is_answered),
		cmocka_unit_test(events_hold_commas),
	};

	return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
