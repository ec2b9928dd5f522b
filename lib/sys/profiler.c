// SPDX-License-Identifier: GPL-2.0-only
#include "sys/profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/kinds.h"
#include "sys/tracefs.h"
#include "sys/vmstat.h"

static const char enabled[] = "function_profile_enabled", filter[] = "set_ftrace_filter";

/* trace_stat shows this much of a name. */
enum { NAME_SHOWN = 30, FUNCTIONS_MAX = 64 };

static char functions[FUNCTIONS_MAX][128];
static size_t count;

static bool profiler_undo(const json_t *entry, char *why, size_t size)
{
	const char *old = json_string_value(json_object_get(entry, "filter"));

	/* ENOENT: this kernel has none, so there is nothing to put back. */
	if (tracefs_write(enabled, 0, "0") && tracefs_write(filter, O_TRUNC, old ? old : ""))
		return true;
	snprintf(why, size, "function profiler: %s", strerror(errno));
	return errno == ENOENT || errno == ENODEV;
}

const struct undo_kind profiler_kind = {
	.name = "profiler", .outlives = true, .undo = profiler_undo};

/* The functions somebody set, a line each; "" where the filter says that all are traced. */
static char *filter_text(void)
{
	char *text = tracefs_read(filter);

	if (text && text[0] == '#')
		text[0] = '\0';
	return text;
}

/* Whether nobody uses ftrace here, going by the profiler's switch and the filter that is set. */
static bool is_free(const char *on, const char *set)
{
	char *tracer = tracefs_read("current_tracer");
	/* A line with a colon is a command, "schedule:traceoff", which would be set twice. */
	bool so = on[0] == '0' && tracer && !strncmp(tracer, "nop", 3) && !strchr(set, ':');

	free(tracer);
	return so;
}

bool profiler_open(char *why, size_t size)
{
	char *on, *set = NULL;
	bool ok = false;

	if (!tracefs_mount(why, size))
		return false;
	count = 0;
	on = tracefs_read(enabled);
	if (on)
		set = filter_text();
	if (!set) {
		snprintf(why, size, "wanted %s in tracefs, found: %s", on ? filter : enabled,
			 strerror(errno));
	} else if (!is_free(on, set)) {
		snprintf(why, size, "somebody else traces functions here");
	} else if (file_number("/proc/sys/kernel/ftrace_enabled") == 0) {
		/* All functions would read as never called. */
		snprintf(why, size, "wanted kernel.ftrace_enabled 1, found 0");
	} else {
		own(&profiler_kind, json_pack("{s:s}", "filter", set));
		ok = tracefs_write(filter, O_TRUNC, "");
		if (!ok)
			snprintf(why, size, "%s: %s", filter, strerror(errno));
	}
	free(on);
	free(set);
	return ok;
}

bool profiler_define(const char *function, char *why, size_t size)
{
	char line[160];
	size_t i;

	for (i = 0; i < count; i++)
		if (!strncmp(functions[i], function, NAME_SHOWN)) {
			snprintf(why, size, "the profiler shows it as it shows %s", functions[i]);
			return false;
		}
	if (count == FUNCTIONS_MAX) {
		snprintf(why, size, "more than %d functions", FUNCTIONS_MAX);
		return false;
	}
	snprintf(line, sizeof(line), "%s\n", function);
	if (!tracefs_write(filter, O_APPEND, line)) {
		snprintf(why, size,
			 errno == EINVAL ? "not a function that this kernel traces (absent or "
					   "inlined)"
					 : "not taken by the profiler: %s",
			 strerror(errno));
		return false;
	}
	snprintf(functions[count++], sizeof(functions[0]), "%s", function);
	return true;
}

static bool set(const char *value, char *why, size_t size)
{
	if (tracefs_write(enabled, 0, value))
		return true;
	snprintf(why, size, "%s: wanted %s, found: %s", enabled, value, strerror(errno));
	return false;
}

bool profiler_start(char *why, size_t size)
{
	/* An empty filter would count every function of the kernel. */
	if (!count) {
		snprintf(why, size, "no function to count");
		return false;
	}
	return set("1", why, size);
}

bool profiler_stop(char *why, size_t size)
{
	return set("0", why, size);
}

/*
 * "  filemap_remove_folio               4096    1234.5 us  .." of one CPU; 0 where it is not.
 * Functions of one name, static ones, have a row each.
 */
static int64_t calls_in(char *text, const char *function)
{
	char *save = NULL, *line, name[128];
	long long calls, sum = 0;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, " %127s %lld", name, &calls) == 2 &&
		    !strncmp(name, function, NAME_SHOWN))
			sum += calls;
	return sum;
}

int64_t profiler_calls(const char *function, char *why, size_t size)
{
	char name[64], *text;
	int64_t sum = 0;
	int cpu;

	/* A file for every CPU that can be, numbered without a gap. */
	for (cpu = 0;; cpu++) {
		snprintf(name, sizeof(name), "trace_stat/function%d", cpu);
		text = tracefs_read(name);
		if (!text)
			break;
		sum += calls_in(text, function);
		free(text);
	}
	if (cpu && errno == ENOENT)
		return sum;
	snprintf(why, size, "%s: %s", name, strerror(errno));
	return -1;
}
