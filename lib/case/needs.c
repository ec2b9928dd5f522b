// SPDX-License-Identifier: GPL-2.0-only
/* What a case needs, checked before anything is changed: what was wanted, what was found. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "case/run.h"
#include "sys/cgroup.h"
#include "sys/command.h"
#include "sys/vmstat.h"

/* A check: true when met (`line` says what was found), false when not (`line`: wanted, found). */
struct need {
	const char *name;
	bool (*met)(char *line, size_t size);
};

static bool root(char *line, size_t size)
{
	if (!run.decl->needs.root || geteuid() == 0)
		return true;
	snprintf(line, size, "wanted root, found uid %u", geteuid());
	return false;
}

static bool kernel(char *line, size_t size)
{
	const char *wanted = run.decl->needs.kernel;
	unsigned int want[2] = {0, 0}, have[2] = {0, 0};
	struct utsname u;

	if (!wanted)
		return true;
	uname(&u);
	sscanf(wanted, "%u.%u", &want[0], &want[1]);
	sscanf(u.release, "%u.%u", &have[0], &have[1]);
	snprintf(line, size, "wanted kernel %s or newer, found %s", wanted, u.release);
	return have[0] > want[0] || (have[0] == want[0] && have[1] >= want[1]);
}

static bool memory(char *line, size_t size)
{
	const struct case_needs *n = &run.decl->needs;
	const char *node = getenv("BEFORE_AFTER_NODE");
	uint64_t want = n->memory.plus, room = memcg_room();
	int64_t have;

	if (n->memory.param)
		want += param(n->memory.param) / 1000 * n->memory.permille;
	have = node && *node ? node_meminfo(atoi(node), "MemFree") : meminfo("MemAvailable");
	if (room < want) {
		snprintf(line, size,
			 "wanted %" PRIu64
			 " MiB below the memory limit of this cgroup, found %" PRIu64 " MiB",
			 want >> 20, room >> 20);
		return false;
	}
	snprintf(line, size, "wanted %" PRIu64 " MiB of %s, found %" PRId64 " MiB", want >> 20,
		 node && *node ? "free memory on the node" : "available memory", have / (1 << 20));
	return have >= 0 && (uint64_t)have >= want;
}

static bool commands(char *line, size_t size)
{
	const char *const *c = run.decl->needs.commands;
	char path[4096];

	for (; c && *c; c++)
		if (!command_find(*c, path, sizeof(path))) {
			snprintf(
				line, size,
				"wanted the command %s, found none in PATH: sh ci/setup.sh installs it",
				*c);
			return false;
		}
	return true;
}

static bool devices(char *line, size_t size)
{
	const char *const *d = run.decl->needs.devices;

	for (; d && *d; d++)
		if (access(*d, R_OK | W_OK)) {
			snprintf(line, size, "wanted %s, found: %s", *d, strerror(errno));
			return false;
		}
	return true;
}

/* Where the kernel does not show its configuration nothing can be said, and nothing is. */
static bool kconfig(char *line, size_t size)
{
	const char *const *k = run.decl->needs.kconfig;
	char row[4096];
	gzFile config;

	for (; k && *k; k++) {
		size_t len = strlen(*k);
		bool found = false;

		config = gzopen("/proc/config.gz", "re");
		if (!config)
			return true;
		while (!found && gzgets(config, row, sizeof(row)))
			found = !strncmp(row, *k, len) && row[len] == '=' && row[len + 1] != 'n';
		gzclose(config);
		if (!found) {
			snprintf(line, size, "wanted a kernel with %s, found it not set", *k);
			return false;
		}
	}
	return true;
}

/* /proc/cgroups has a row for every controller of the kernel, v1 or v2; its last field: enabled. */
static bool controllers(char *line, size_t size)
{
	const char *const *c = run.decl->needs.controllers;
	char row[256], name[64];
	int enabled;

	for (; c && *c; c++) {
		FILE *f = fopen("/proc/cgroups", "re");
		bool found = false;

		while (f && !found && fgets(row, sizeof(row), f))
			found = sscanf(row, "%63s %*d %*d %d", name, &enabled) == 2 && enabled &&
				!strcmp(name, *c);
		if (f)
			fclose(f);
		if (!found) {
			snprintf(
				line, size,
				"wanted the cgroup controller %s, found it not enabled: boot without cgroup_disable=%s",
				*c, *c);
			return false;
		}
	}
	return true;
}

static bool sense(char *line, size_t size)
{
	const char *none = options_senseless();

	if (none)
		snprintf(line, size, "%s is no workload", none);
	return !none;
}

static const struct need all[] = {
	{"sense", sense},
	{"root", root},
	{"kernel", kernel},
	{"commands", commands},
	{"devices", devices},
	{"kconfig", kconfig},
	{"controllers", controllers},
	{"memory", memory},
};

void needs_require(void)
{
	char line[512] = "";
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!all[i].met(line, sizeof(line)))
			run_skip("%s", line);
	if (run.decl->needs.chosen)
		run.decl->needs.chosen();
}

/* What the chosen options need is not here, or could not be looked at. */
static _Noreturn void not_met(enum run_end how, const char *reason)
{
	bool skip = how == END_SKIP;

	printf("# variant: not met: %s\n%s 1 %s %s # %s\n", reason, skip ? "ok" : "not ok",
	       run.decl->name, run.variant,
	       skip ? "SKIP a need is not met" : "ERROR a need cannot be told");
	exit(end_exit_code(how));
}

int needs_report(void)
{
	bool met = true;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char line[512] = "";
		bool ok = all[i].met(line, sizeof(line));

		printf("# %s: %s%s%s\n", all[i].name, ok ? "met" : "not met", *line ? ": " : "",
		       line);
		met = met && ok;
	}
	if (!met) {
		printf("ok 1 %s %s # SKIP a need is not met\n", run.decl->name, run.variant);
		return end_exit_code(END_SKIP);
	}
	if (run.decl->needs.chosen) {
		end_set_handler(not_met);
		run.decl->needs.chosen();
		printf("# variant: met\n");
	}
	printf("# a run may still skip: what must be changed on the box is tried there only\n"
	       "ok 1 %s %s\n",
	       run.decl->name, run.variant);
	return 0;
}
