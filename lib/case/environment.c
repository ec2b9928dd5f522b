// SPDX-License-Identifier: GPL-2.0-only
#include "case/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "case/record.h"
#include "measure_hash.h"
#include "sys/boot.h"
#include "sys/command.h"
#include "sys/end.h"
#include "sys/io.h"
#include "sys/knob.h"
#include "sys/place.h"
#include "sys/vmstat.h"

#define THP "/sys/kernel/mm/transparent_hugepage"

static json_t *absent(const char *reason)
{
	return json_pack("{s:s}", "absent", reason);
}

/* FNV-1a, 64 bits: names a machine or a configuration, protects nothing. */
static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3u;
	return h;
}

#define HASH_START 0xcbf29ce484222325u

static json_t *hex(uint64_t h)
{
	char text[32];

	snprintf(text, sizeof(text), "%016" PRIx64, h);
	return json_string(text);
}

/* A knob's chosen value, or the reason why there is none. */
static json_t *knob(const char *path, const char *reason)
{
	char value[4096];

	return knob_read(path, value, sizeof(value)) ? json_string(value) : absent(reason);
}

/* Every file of the pattern by its last path component (or the last but one). */
static json_t *knobs(const char *pattern, int component)
{
	json_t *object = json_object();
	glob_t found;
	size_t i;

	if (glob(pattern, 0, NULL, &found))
		found.gl_pathc = 0;
	for (i = 0; i < found.gl_pathc; i++) {
		char *path = strdup(found.gl_pathv[i]), *name = strrchr(path, '/');

		if (component == 2) {
			*name = '\0';
			name = strrchr(path, '/');
		}
		json_object_set_new(object, name + 1, knob(found.gl_pathv[i], "unreadable"));
		free(path);
	}
	globfree(&found);
	return object;
}

static json_t *config_hash(const char *release)
{
	uint64_t h = HASH_START;
	char buf[65536], path[256];
	size_t got, all = 0;
	FILE *f = fopen("/proc/config.gz", "re");

	if (!f) {
		snprintf(path, sizeof(path), "/boot/config-%s", release);
		f = fopen(path, "re");
	}
	if (!f)
		return absent("no /proc/config.gz and no /boot/config");
	while ((got = fread(buf, 1, sizeof(buf), f)) > 0) {
		h = hash(h, buf, got);
		all += got;
	}
	fclose(f);
	return all ? hex(h) : absent("empty configuration");
}

/* The value of a row of /proc/cpuinfo's first processor; "" when there is none. */
static void cpuinfo(const char *name, char *buf, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char row[8192];
	size_t len = strlen(name);

	buf[0] = '\0';
	while (f && fgets(row, sizeof(row), f)) {
		const char *colon = strchr(row, ':');

		if (row[0] == '\n')
			break;
		if (!strncmp(row, name, len) && (row[len] == '\t' || row[len] == ':') && colon &&
		    colon[1]) {
			snprintf(buf, size, "%s", colon + 2);
			buf[strcspn(buf, "\n")] = '\0';
			break;
		}
	}
	if (f)
		fclose(f);
}

/*
 * Memory of the machine, not of the kernel: MemTotal depends on the kernel's own size, so two
 * kernels on one machine would differ. The firmware's map does not.
 */
static int64_t machine_memory(void)
{
	FILE *f = fopen("/proc/iomem", "re");
	uint64_t start, end, sum = 0;
	char row[256];

	while (f && fgets(row, sizeof(row), f))
		if (row[0] != ' ' && sscanf(row, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    strstr(row, "System RAM") && end > start)
			sum += end - start + 1;
	if (f)
		fclose(f);
	return sum ? (int64_t)sum : meminfo("MemTotal") >> 26 << 26;
}

static json_t *match(void)
{
	/* Not the flags: that row changes with the kernel's version. */
	static const char *const identity[] = {
		"vendor_id", "cpu family", "model", "model name", "stepping",
		/* arm64, which has none of the above */
		"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision"};
	int64_t memory = machine_memory();
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t h = HASH_START;
	char row[8192];
	size_t i;

	for (i = 0; i < sizeof(identity) / sizeof(identity[0]); i++) {
		cpuinfo(identity[i], row, sizeof(row));
		h = hash(h, row, strlen(row) + 1);
	}
	return json_pack("{s:s, s:n, s:I, s:I, s:o, s:s}", "engine", "native", "icount_shift",
			 "cpus", (json_int_t)cpus, "memory", (json_int_t)memory, "machine", hex(h),
			 "measure_hash", MEASURE_HASH);
}

static json_t *hypervisor(void)
{
	char flags[8192], vendor[256];

	cpuinfo("flags", flags, sizeof(flags));
	if (!*flags)
		return absent("only x86 tells");
	if (!strstr(flags, " hypervisor"))
		return json_string("none seen");
	if (knob_read("/sys/hypervisor/type", vendor, sizeof(vendor)) ||
	    knob_read("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor)))
		return json_string(vendor);
	return json_string("unnamed");
}

static const char *cgroup_version(void)
{
	if (!access("/sys/fs/cgroup/cgroup.controllers", F_OK))
		return "v2";
	if (!access("/sys/fs/cgroup/memory", F_OK))
		return access("/sys/fs/cgroup/unified", F_OK) ? "v1" : "hybrid, memory on v1";
	return "none";
}

static json_t *lines(const char *path, int skip)
{
	json_t *array = json_array();
	FILE *f = fopen(path, "re");
	char row[512];

	while (f && fgets(row, sizeof(row), f)) {
		row[strcspn(row, "\n")] = '\0';
		if (skip-- <= 0)
			json_array_append_new(array, json_string(row));
	}
	if (f)
		fclose(f);
	return array;
}

static json_t *numa(void)
{
	json_t *array = json_array();
	int node;

	for (node = 0; node_meminfo(node, "MemTotal") >= 0; node++)
		json_array_append_new(array, json_integer(node_meminfo(node, "MemTotal")));
	return array;
}

static json_t *tools(void)
{
	static const char *const names[] = {"perf", "stress-ng", "fio"};
	json_t *object = json_object();
	char said[256], path[4096];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!command_find(names[i], path, sizeof(path)) ||
		    command_run((const char *const[]){path, "--version", NULL}, said,
				sizeof(said))) {
			json_object_set_new(object, names[i], absent("not found"));
			continue;
		}
		said[strcspn(said, "\n")] = '\0';
		json_object_set_new(object, names[i], json_string(said));
	}
	return object;
}

static json_t *info(void)
{
	struct utsname u;
	json_t *o = json_object();
	char model[512];

	uname(&u);
	cpuinfo("model name", model, sizeof(model));
	json_object_set_new(o, "release", json_string(u.release));
	json_object_set_new(o, "version", json_string(u.version));
	json_object_set_new(o, "arch", json_string(u.machine));
	json_object_set_new(o, "cpu", *model ? json_string(model) : absent("no model name"));
	json_object_set_new(o, "config_hash", config_hash(u.release));
	json_object_set_new(o, "cmdline", knob("/proc/cmdline", "unreadable"));
	json_object_set_new(o, "mitigations",
			    knobs("/sys/devices/system/cpu/vulnerabilities/*", 1));
	json_object_set_new(o, "thp", knobs(THP "/*enabled", 1));
	json_object_set_new(o, "mthp_shmem", knobs(THP "/hugepages-*/shmem_enabled", 2));
	json_object_set_new(o, "mglru", knob("/sys/kernel/mm/lru_gen/enabled", "no LRU_GEN"));
	json_object_set_new(o, "cgroup", json_string(cgroup_version()));
	json_object_set_new(o, "hypervisor", hypervisor());
	json_object_set_new(o, "numa", numa());
	json_object_set_new(o, "mem_total", json_integer(meminfo("MemTotal")));
	json_object_set_new(o, "swap", lines("/proc/swaps", 1));
	json_object_set_new(
		o, "governor",
		knob("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "no cpufreq"));
	json_object_set_new(o, "clocksource",
			    knob("/sys/devices/system/clocksource/clocksource0/current_clocksource",
				 "unreadable"));
	json_object_set_new(o, "tools", tools());
	return o;
}

static void add_engine_info(json_t *invocation)
{
	static const char *const parts[] = {"match", "info"};
	const char *path = getenv("BEFORE_AFTER_ENGINE_INFO");
	json_error_t error;
	json_t *file;
	size_t i;

	if (!path || !*path)
		return;
	file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!file)
		run_broken("%s:%d: wanted engine info as JSON, found: %s", path, error.line,
			   error.text);
	for (i = 0; i < 2; i++)
		json_object_update(json_object_get(invocation, parts[i]),
				   json_object_get(file, parts[i]));
	json_decref(file);
}

static void replace(int dir, const char *name, const char *path, const json_t *all)
{
	char temporary[4200], *text = json_dumps(all, JSON_INDENT(1));
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.new", name);
	unlinkat(dir, temporary, 0);
	fd = io_openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
	if (fd < 0 || !text || !io_write(fd, text, strlen(text)) || !io_sync(fd) ||
	    (close(fd) && errno != EINTR) || renameat(dir, temporary, dir, name)) {
		int err = errno;

		unlinkat(dir, temporary, 0);
		run_broken("%s: cannot be written: %s", path, strerror(err));
	}
	free(text);
}

/* What is in it; NULL where there is none. A link or a pipe of that name is not followed. */
static json_t *load(int dir, const char *name, const char *path)
{
	int fd = io_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	json_error_t error;
	struct stat st;
	json_t *all;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (!f || fstat(fd, &st))
		run_broken("%s: wanted an environment file, found: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		run_broken("%s: wanted an environment file, found another kind", path);
	all = json_loadf(f, JSON_REJECT_DUPLICATES, &error);
	fclose(f);
	if (!all || !json_is_object(json_object_get(all, "invocations")))
		run_broken("%s:%d: wanted an environment file, found: %s", path,
			   all ? 1 : error.line, all ? "no invocations" : error.text);
	return all;
}

void environment_write(const char *records, const char *invocation)
{
	const char *suffix = strrchr(records, '.');
	size_t stem =
		suffix && !strcmp(suffix, ".jsonl") ? (size_t)(suffix - records) : strlen(records);
	json_t *all, *invocations, *one;
	const char *name;
	char path[4096];
	int dir;

	snprintf(path, sizeof(path), "%.*s.env.json", (int)stem, records);
	dir = place_of(path, false, &name);
	if (dir < 0)
		run_broken("%s: %s", path, place_error(errno));
	all = load(dir, name, path);
	if (!all)
		all = json_pack("{s:i, s:s, s:{}}", "schema", 1, "boot", boot_id(), "invocations");
	invocations = json_object_get(all, "invocations");
	if (!json_object_get(invocations, invocation)) {
		one = json_pack("{s:o, s:o}", "match", match(), "info", info());
		add_engine_info(one);
		json_object_set_new(invocations, invocation, one);
		replace(dir, name, path, all);
	}
	json_decref(all);
	close(dir);
}
