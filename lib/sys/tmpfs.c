// SPDX-License-Identifier: GPL-2.0-only
#include "sys/tmpfs.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/owned.h"

static const char scratch_variable[] = "BEFORE_AFTER_SCRATCH";

static bool mount_undo(const json_t *entry, char *why, size_t size)
{
	const char *dir = json_string_value(json_object_get(entry, "dir"));

	/* The namespace is ours alone, so what keeps it busy is a process of ours. */
	if (!umount2(dir, 0) || errno == EINVAL || errno == ENOENT || !umount2(dir, MNT_DETACH))
		return true;
	snprintf(why, size, "%s: cannot be unmounted: %s", dir, strerror(errno));
	return false;
}

/* Dies with the mount namespace: not journalled. */
static const struct undo_kind mount_kind = {.name = "mount", .outlives = false, .undo = mount_undo};

static bool covers(const char *dir, const char *const *avoid)
{
	size_t len = strlen(dir);

	for (; *avoid; avoid++)
		if (!strncmp(*avoid, dir, len) && ((*avoid)[len] == '/' || !(*avoid)[len]))
			return true;
	return false;
}

static const char *place(const char *const *avoid)
{
	static const char *const places[] = {"/mnt", "/media", "/srv", "/opt", "/tmp"};
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!stat(places[i], &st) && S_ISDIR(st.st_mode) && !covers(places[i], avoid))
			return places[i];
	run_broken("wanted one of /mnt /media /srv /opt /tmp to mount on, found none that is free");
}

const char *scratch_enter(const char *const *avoid)
{
	const char *dir = place(avoid);

	if (unshare(CLONE_NEWNS))
		run_skip("wanted a private mount namespace, found: %s", strerror(errno));
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		run_skip("wanted private mounts, found: %s", strerror(errno));
	own(&mount_kind, json_pack("{s:s}", "dir", dir));
	if (mount("before-after", dir, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=0700"))
		run_skip("wanted the right to mount a tmpfs on %s, found: %s", dir,
			 strerror(errno));
	if (setenv(scratch_variable, dir, 1))
		run_broken("environment: %s", strerror(errno));
	return dir;
}

const char *scratch_dir(void)
{
	return getenv(scratch_variable);
}

void scratch_path(char *buf, size_t size, const char *name)
{
	snprintf(buf, size, "%s/%s", scratch_dir(), name);
}

void scratch_mountpoint(char *dir, size_t size, const char *name)
{
	scratch_path(dir, size, name);
	if (mkdir(dir, 0700))
		run_broken("%s: cannot be made: %s", dir, strerror(errno));
	own(&mount_kind, json_pack("{s:s}", "dir", dir));
}

void scratch_mount(const char *name, const char *device, const char *fs)
{
	char dir[256];

	scratch_mountpoint(dir, sizeof(dir), name);
	if (mount(device, dir, fs, MS_NOSUID | MS_NODEV | MS_NOATIME, NULL))
		run_skip("wanted %s mounted from %s, found: %s", fs, device, strerror(errno));
}

void tmpfs_mount(const char *name, uint64_t size, const char *huge)
{
	char dir[256], options[128];

	scratch_mountpoint(dir, sizeof(dir), name);
	snprintf(options, sizeof(options), "size=%" PRIu64 ",mode=0700,huge=%s", size, huge);
	if (!mount("before-after", dir, "tmpfs", MS_NOSUID | MS_NODEV, options))
		return;
	if (errno == EINVAL && !strcmp(huge, "never")) {
		*strstr(options, ",huge=") = '\0';
		if (!mount("before-after", dir, "tmpfs", MS_NOSUID | MS_NODEV, options))
			return;
	}
	run_skip("wanted a tmpfs with %s, found: %s", options, strerror(errno));
}
