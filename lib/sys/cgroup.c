// SPDX-License-Identifier: GPL-2.0-only
#include "sys/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/io.h"
#include "sys/kinds.h"
#include "sys/vmstat.h"

/* A killed process leaves its cgroup when it exits, which can take a while with much memory. */
#define EMPTY_TRIES 500
#define EMPTY_WAIT_US 10000

static const char prefix[] = "before-after";

/* The hierarchy that has the memory controller, and where in it this process is. */
struct hierarchy {
	bool v2;
	char root[PATH_MAX / 4]; /* the mount */
	char own[PATH_MAX / 2];	 /* ROOT/... */
};

static bool read_word(const char *dir, const char *file, const char *word)
{
	char path[PATH_MAX], row[1024] = "", *each, *rest = row;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	if (f && fgets(row, sizeof(row), f))
		while (!found && (each = strsep(&rest, " \n")))
			found = !strcmp(each, word);
	if (f)
		fclose(f);
	return found;
}

/* 0, or the error. */
static int write_file(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = io_open(path, O_WRONLY, 0);
	if (fd < 0)
		return errno;
	if (!io_write_once(fd, text))
		err = errno;
	close(fd);
	return err;
}

static bool has_option(char *options, const char *wanted)
{
	char *each;

	while ((each = strsep(&options, ",\n")))
		if (!strcmp(each, wanted))
			return true;
	return false;
}

/* Fields of mountinfo: id parent device root mountpoint options [tags] - type source options. */
static bool find_mount(struct hierarchy *h, char *below, size_t size)
{
	char row[PATH_MAX], root[PATH_MAX / 4], point[PATH_MAX / 4], type[32], options[1024];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool found = false;

	while (f && !found && fgets(row, sizeof(row), f)) {
		const char *tail = strstr(row, " - ");

		if (!tail || sscanf(row, "%*s %*s %*s %1023s %1023s", root, point) != 2 ||
		    sscanf(tail, " - %31s %*s %1023s", type, options) != 2)
			continue;
		h->v2 = !strcmp(type, "cgroup2");
		found = h->v2 ? read_word(point, "cgroup.controllers", "memory")
			      : !strcmp(type, "cgroup") && has_option(options, "memory");
	}
	if (f)
		fclose(f);
	snprintf(h->root, sizeof(h->root), "%s", point);
	snprintf(below, size, "%s", strcmp(root, "/") ? root : "");
	return found;
}

/* Rows of /proc/self/cgroup: number:controllers:path; v2 has number 0 and no controllers. */
static bool find_own(struct hierarchy *h, const char *below)
{
	char row[PATH_MAX], *controllers, *path = NULL;
	FILE *f = fopen("/proc/self/cgroup", "re");
	size_t len = strlen(below);
	bool found = false;

	while (f && !found && fgets(row, sizeof(row), f)) {
		row[strcspn(row, "\n")] = '\0';
		controllers = strchr(row, ':');
		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		found = h->v2 ? !strncmp(row, "0:", 2) : has_option(controllers + 1, "memory");
	}
	if (f)
		fclose(f);
	/* A mount that shows a part of the hierarchy only: the path is from the real root. */
	if (found && !strncmp(path, below, len))
		snprintf(h->own, sizeof(h->own), "%s%s", h->root,
			 strcmp(path + len, "/") ? path + len : "");
	return found && !access(h->own, F_OK);
}

static bool undo_controller(const json_t *entry, char *why, size_t size)
{
	const char *dir = json_string_value(json_object_get(entry, "dir"));
	int err = dir ? write_file(dir, "cgroup.subtree_control", "-memory") : EINVAL;

	/* EBUSY: others have made cgroups that use it meanwhile; it is theirs now. */
	if (!err || err == EBUSY || err == ENOENT)
		return true;
	snprintf(why, size, "%s/cgroup.subtree_control: %s", dir ? dir : "?", strerror(err));
	return false;
}

const struct undo_kind memcg_controller_kind = {
	.name = "memcg-controller", .outlives = true, .undo = undo_controller};

static void kill_members(const char *dir)
{
	char path[PATH_MAX];
	FILE *f;
	int pid;

	if (!write_file(dir, "cgroup.kill", "1"))
		return;
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 0 && pid != getpid())
			kill(pid, SIGKILL);
	if (f)
		fclose(f);
}

static bool undo_memcg(const json_t *entry, char *why, size_t size)
{
	const char *dir = json_string_value(json_object_get(entry, "dir"));
	const char *name = dir ? strrchr(dir, '/') : NULL;
	int tries, err = EINVAL;

	if (!name || strncmp(name + 1, prefix, strlen(prefix))) {
		snprintf(why, size, "wanted a directory %s-*, found %s", prefix, dir ? dir : "?");
		return false;
	}
	for (tries = 0; tries < EMPTY_TRIES; tries++) {
		if (!rmdir(dir) || errno == ENOENT)
			return true;
		err = errno;
		if (err != EBUSY)
			break;
		kill_members(dir);
		usleep(EMPTY_WAIT_US);
	}
	snprintf(why, size, "%s: cannot be removed: %s", dir, strerror(err));
	return false;
}

const struct undo_kind memcg_kind = {.name = "memcg", .outlives = true, .undo = undo_memcg};

/* Leaves in h->own the cgroup to make a child of. */
static bool find_parent(struct hierarchy *h, char *why, size_t size)
{
	size_t root = strlen(h->root);
	int err;

	if (!h->v2)
		return true;
	while (!read_word(h->own, "cgroup.subtree_control", "memory")) {
		if (strlen(h->own) > root) {
			*strrchr(h->own, '/') = '\0';
			continue;
		}
		own(&memcg_controller_kind, json_pack("{s:s}", "dir", h->root));
		err = write_file(h->root, "cgroup.subtree_control", "+memory");
		if (!err)
			return true;
		owned_release_last(why, size);
		snprintf(why, size, "wanted the memory controller for children of %s, found: %s",
			 h->root, strerror(err));
		return false;
	}
	return true;
}

char *memcg_try_create(const char *name, char *why, size_t size)
{
	struct hierarchy h = {.v2 = false};
	char below[PATH_MAX / 4], *dir = NULL;
	int number = 0;

	if (!find_mount(&h, below, sizeof(below)) || !find_own(&h, below)) {
		snprintf(why, size,
			 "wanted a mounted cgroup hierarchy with the memory controller, "
			 "found none");
		return NULL;
	}
	if (!find_parent(&h, why, size))
		return NULL;
	do {
		free(dir);
		if (asprintf(&dir, "%s/%s-%d-%s-%d", h.own, prefix, getpid(), name, number++) < 0)
			run_broken("memcg: %s", strerror(errno));
	} while (!access(dir, F_OK));
	own(&memcg_kind, json_pack("{s:s}", "dir", dir));
	if (!mkdir(dir, 0755))
		return dir;
	snprintf(why, size, "wanted a cgroup %s, found: %s", dir, strerror(errno));
	owned_release_last(below, sizeof(below));
	free(dir);
	return NULL;
}

char *memcg_create(const char *name)
{
	char why[256];
	char *memcg = memcg_try_create(name, why, sizeof(why));

	if (!memcg)
		run_skip("%s", why);
	return memcg;
}

bool memcg_is_v2(const char *memcg)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cgroup.controllers", memcg);
	return !access(path, F_OK);
}

void memcg_join(const char *memcg)
{
	/* 0 is the writer, in whatever pid namespace. */
	int err = write_file(memcg, "cgroup.procs", "0");

	if (err)
		run_broken("%s/cgroup.procs: cannot be joined: %s", memcg, strerror(err));
}

int memcg_procs(const char *memcg)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", memcg);
	fd = io_open(path, O_WRONLY, 0);
	if (fd < 0)
		run_broken("%s: cannot be opened: %s", path, strerror(errno));
	return fd;
}

void memcg_limit(const char *memcg, uint64_t bytes)
{
	bool v2 = memcg_is_v2(memcg);
	const char *file = v2 ? "memory.max" : "memory.limit_in_bytes";
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	err = write_file(memcg, file, bytes != MEMCG_UNLIMITED ? text : v2 ? "max" : "-1");
	if (err)
		run_skip("%s/%s: wanted %s, found: %s", memcg, file, text, strerror(err));
}

static int64_t number_in(const char *memcg, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", memcg, file);
	return file_number(path);
}

static int64_t row_in(const char *memcg, const char *file, const char *row)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", memcg, file);
	return file_row(path, row);
}

uint64_t memcg_usage(const char *memcg)
{
	const char *file = memcg_is_v2(memcg) ? "memory.current" : "memory.usage_in_bytes";
	int64_t bytes = number_in(memcg, file);

	if (bytes < 0)
		run_broken("%s/%s: cannot be read", memcg, file);
	return (uint64_t)bytes;
}

static uint64_t room_in(const char *memcg, bool v2)
{
	int64_t limit = number_in(memcg, v2 ? "memory.max" : "memory.limit_in_bytes");
	int64_t used = number_in(memcg, v2 ? "memory.current" : "memory.usage_in_bytes");
	int64_t active = memcg_stat(memcg, v2 ? "active_file" : "total_active_file");
	int64_t inactive = memcg_stat(memcg, v2 ? "inactive_file" : "total_inactive_file");

	/* "max" is no number; the root of v2 has no such file. */
	if (limit < 0 || used < 0)
		return MEMCG_UNLIMITED;
	if (active > 0)
		used -= active;
	if (inactive > 0)
		used -= inactive;
	return used > limit ? 0 : (uint64_t)(used > 0 ? limit - used : limit);
}

uint64_t memcg_room(void)
{
	struct hierarchy h = {.v2 = false};
	uint64_t least = MEMCG_UNLIMITED, room;
	char below[PATH_MAX / 4];

	if (!find_mount(&h, below, sizeof(below)) || !find_own(&h, below))
		return least;
	for (;;) {
		room = room_in(h.own, h.v2);
		least = room < least ? room : least;
		if (strlen(h.own) <= strlen(h.root))
			return least;
		*strrchr(h.own, '/') = '\0';
	}
}

int64_t memcg_stat(const char *memcg, const char *row)
{
	return row_in(memcg, "memory.stat", row);
}

int64_t memcg_oom_kills(const char *memcg)
{
	return row_in(memcg, memcg_is_v2(memcg) ? "memory.events" : "memory.oom_control",
		      "oom_kill");
}

int64_t memcg_limit_hits(const char *memcg)
{
	return memcg_is_v2(memcg) ? row_in(memcg, "memory.events", "max")
				  : number_in(memcg, "memory.failcnt");
}

bool memcg_reclaim(const char *memcg, uint64_t bytes)
{
	bool v2 = memcg_is_v2(memcg);
	const char *file = v2 ? "memory.reclaim" : "memory.force_empty";
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	err = write_file(memcg, file, v2 ? text : "0");
	if (err == ENOENT)
		run_skip("%s: wanted %s, found: %s", memcg, file, strerror(err));
	/* v2: less than asked for. v1: something stayed. */
	if (err && err != EAGAIN && err != EBUSY && err != EINTR)
		run_broken("%s/%s: %s", memcg, file, strerror(err));
	return !err;
}
