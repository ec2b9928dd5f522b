// SPDX-License-Identifier: GPL-2.0-only
#include "sys/knob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/io.h"
#include "sys/kinds.h"

bool knob_read(const char *path, char *value, size_t size)
{
	char buf[4096], *word = buf, *end;
	int fd = io_open(path, O_RDONLY, 0);
	ssize_t len;

	if (fd < 0)
		return false;
	len = io_read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (len < 0)
		return false;
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	/* Only a bracket that begins a word is a choice: "[never]", not "a[0]". */
	for (end = buf; (end = strchr(end, '[')); end++)
		if (end == buf || end[-1] == ' ')
			break;
	if (end) {
		word = end + 1;
		word[strcspn(word, "]")] = '\0';
	}
	snprintf(value, size, "%s", word);
	return true;
}

static bool knob_write(const char *path, const char *value)
{
	int fd = io_open(path, O_WRONLY, 0);
	bool ok;
	int err;

	if (fd < 0)
		return false;
	ok = io_write_once(fd, value);
	err = errno;
	close(fd);
	errno = err;
	return ok;
}

static bool knob_undo(const json_t *entry, char *why, size_t size)
{
	const char *path = json_string_value(json_object_get(entry, "path"));
	const char *old = json_string_value(json_object_get(entry, "old"));
	const char *set = json_string_value(json_object_get(entry, "set"));
	char now[4096];

	if (!path || !old || !set) {
		snprintf(why, size, "wanted path, old and set");
		return false;
	}
	if (!knob_read(path, now, sizeof(now))) {
		/* A knob that went away (module unloaded, CPU unplugged) has nothing to restore. */
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return errno == ENOENT;
	}
	if (strcmp(now, set) || !strcmp(now, old) || knob_write(path, old))
		return true;
	snprintf(why, size, "%s: wanted %s, found %s: %s", path, old, now, strerror(errno));
	return false;
}

const struct undo_kind knob_kind = {.name = "knob", .outlives = true, .undo = knob_undo};

void knob_set(const char *path, const char *value)
{
	char old[4096], now[4096];

	if (!knob_read(path, old, sizeof(old)))
		run_skip("%s: wanted %s, found: %s", path, value, strerror(errno));
	if (!strcmp(old, value))
		return;
	own(&knob_kind, json_pack("{s:s, s:s, s:s}", "path", path, "old", old, "set", value));
	if (!knob_write(path, value)) {
		if (errno == EACCES || errno == EPERM || errno == EROFS)
			run_skip("%s: wanted %s, found %s, not writable: %s", path, value, old,
				 strerror(errno));
		run_broken("%s: wanted %s, found %s, cannot be set: %s", path, value, old,
			   strerror(errno));
	}
	if (!knob_read(path, now, sizeof(now)) || strcmp(now, value))
		run_skip("%s: wanted %s, found %s after setting it", path, value, now);
}
