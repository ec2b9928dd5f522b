// SPDX-License-Identifier: GPL-2.0-only
#include "sys/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sys/io.h"

static const char *tracing = "/sys/kernel/tracing";

void tracefs_use(const char *dir)
{
	tracing = dir;
}

bool tracefs_mount(char *why, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/events", tracing);
	if (!access(path, F_OK) || !mount("before-after", tracing, "tracefs", 0, NULL))
		return true;
	snprintf(why, size, "wanted tracefs on %s, found: %s", tracing, strerror(errno));
	return false;
}

int tracefs_open(const char *name, int flags)
{
	char path[256];
	int fd, fs, dir;

	snprintf(path, sizeof(path), "%s/%s", tracing, name);
	fd = io_open(path, flags, 0);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -1;
	fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	dir = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	fd = dir < 0 ? -1 : io_openat(dir, name, flags, 0);
	if (dir >= 0)
		close(dir);
	close(fs);
	return fd;
}

bool tracefs_write(const char *name, int flags, const char *text)
{
	int fd = tracefs_open(name, O_WRONLY | flags), err;
	/* set_ftrace_filter takes a word at a time. */
	bool ok = fd >= 0 && io_write(fd, text, strlen(text));

	err = errno;
	/* It takes effect, and may fail, when it is closed. */
	if (fd >= 0 && close(fd) && ok) {
		ok = false;
		err = errno;
	}
	errno = err;
	return ok;
}

char *tracefs_read(const char *name)
{
	int fd = tracefs_open(name, O_RDONLY), err;
	char *text = fd < 0 ? NULL : io_read_all(fd);

	err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	return text;
}
