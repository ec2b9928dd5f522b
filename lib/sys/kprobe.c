// SPDX-License-Identifier: GPL-2.0-only
#include "sys/kprobe.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/kinds.h"

static const char tracing[] = "/sys/kernel/tracing";

/*
 * kprobe_events of a mounted tracefs or, where none is mounted (a recovery at the start of a run),
 * of one that is attached nowhere and goes with the descriptor.
 */
static int open_events(void)
{
	char path[128];
	int fd, fs, dir;

	snprintf(path, sizeof(path), "%s/kprobe_events", tracing);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -1;
	fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	dir = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	fd = dir < 0 ? -1 : openat(dir, "kprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (dir >= 0)
		close(dir);
	close(fs);
	return fd;
}

static bool write_line(const char *line)
{
	int fd = open_events(), err;
	bool ok = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);

	err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	return ok;
}

static bool kprobe_undo(const json_t *entry, char *why, size_t size)
{
	const char *function = json_string_value(json_object_get(entry, "function"));
	char line[256];

	snprintf(line, sizeof(line), "-:%s/%s", KPROBE_GROUP, function ? function : "?");
	/* ENOENT: it was never defined, or there are no kprobe events at all. */
	if (write_line(line) || errno == ENOENT || errno == ENODEV)
		return true;
	snprintf(why, size, "%s: %s", line, strerror(errno));
	return false;
}

const struct undo_kind kprobe_kind = {.name = "kprobe", .outlives = true, .undo = kprobe_undo};

bool kprobe_open(char *why, size_t size)
{
	char path[128];

	/* In our namespace: perf looks for its events there. */
	snprintf(path, sizeof(path), "%s/events", tracing);
	if (access(path, F_OK) && mount("before-after", tracing, "tracefs", 0, NULL)) {
		snprintf(why, size, "no kprobes: wanted tracefs on %s, found: %s", tracing,
			 strerror(errno));
		return false;
	}
	snprintf(path, sizeof(path), "%s/kprobe_events", tracing);
	if (access(path, W_OK)) {
		snprintf(why, size, "no kprobes: wanted %s, found: %s", path, strerror(errno));
		return false;
	}
	return true;
}

bool kprobe_define(const char *function, char *why, size_t size)
{
	char line[256];
	const char *c;

	for (c = function; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_') {
			snprintf(why, size, "wanted the name of a function");
			return false;
		}
	own(&kprobe_kind, json_pack("{s:s}", "function", function));
	snprintf(line, sizeof(line), "p:%s/%s %s", KPROBE_GROUP, function, function);
	if (write_line(line))
		return true;
	if (errno == ENOENT || errno == EINVAL)
		snprintf(why, size, "not a function of this kernel (absent or inlined)");
	else
		snprintf(why, size, "no kprobe on it: %s", strerror(errno));
	return false;
}
