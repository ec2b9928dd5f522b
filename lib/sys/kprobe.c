// SPDX-License-Identifier: GPL-2.0-only
#include "sys/kprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sys/kinds.h"
#include "sys/tracefs.h"

static const char events[] = "kprobe_events", group[] = "before_after";

static bool kprobe_undo(const json_t *entry, char *why, size_t size)
{
	const char *function = json_string_value(json_object_get(entry, "function"));
	char line[256];

	snprintf(line, sizeof(line), "-:%s/%s", group, function ? function : "?");
	/* ENOENT: it was never defined, or there are no kprobe events at all. */
	if (tracefs_write(events, O_APPEND, line) || errno == ENOENT || errno == ENODEV)
		return true;
	snprintf(why, size, "%s: %s", line, strerror(errno));
	return false;
}

const struct undo_kind kprobe_kind = {.name = "kprobe", .outlives = true, .undo = kprobe_undo};

bool kprobe_open(char *why, size_t size)
{
	if (!tracefs_mount(why, size))
		return false;
	if (tracefs_write(events, O_APPEND, ""))
		return true;
	snprintf(why, size, "wanted kprobe_events in tracefs, found: %s", strerror(errno));
	return false;
}

bool kprobe_define(const char *function, char *event, size_t event_size, char *why, size_t size)
{
	char line[256];

	snprintf(event, event_size, "%s:%s", group, function);
	own(&kprobe_kind, json_pack("{s:s}", "function", function));
	snprintf(line, sizeof(line), "p:%s/%s %s", group, function, function);
	if (tracefs_write(events, O_APPEND, line))
		return true;
	if (errno == ENOENT || errno == EINVAL)
		snprintf(why, size, "not a function of this kernel (absent or inlined)");
	else
		snprintf(why, size, "no kprobe on it: %s", strerror(errno));
	return false;
}
