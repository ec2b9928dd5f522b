// SPDX-License-Identifier: GPL-2.0-only
#include "sys/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/io.h"
#include "sys/kinds.h"

#define CONTROL "/dev/loop-control"
#define NUMBER_MAX 256
/* A killed run's mount is taken down asynchronously, and its dirty data may be written first. */
#define PATIENCE_MS 10000

static int held = -1;
static const struct timespec pause_10ms = {.tv_nsec = 10000000};

static bool loop_exists(int number)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/loop%d", number);
	/* Where that cannot be told it is taken for another's, which is never removed. */
	return !access(path, F_OK) || errno != ENOENT;
}

static int open_loop(int number, char *path, size_t size)
{
	snprintf(path, size, "/dev/loop%d", number);
	return io_open(path, O_RDWR, 0);
}

static bool is_free(int fd)
{
	struct loop_info64 info;

	return io_ioctl(fd, LOOP_GET_STATUS64, &info) && errno == ENXIO;
}

/* True: nothing of ours is attached any more. */
static bool detach(int fd, const char *mark)
{
	struct loop_info64 info;
	int waited;

	for (waited = 0; waited < PATIENCE_MS; waited += 10) {
		if (io_ioctl(fd, LOOP_GET_STATUS64, &info))
			return errno == ENXIO;
		if (strncmp((const char *)info.lo_file_name, mark, LO_NAME_SIZE))
			return true;
		io_ioctl(fd, LOOP_CLR_FD, NULL);
		nanosleep(&pause_10ms, NULL);
	}
	return false;
}

/* A device that somebody uses meanwhile is theirs now. False: it cannot be asked for. */
static bool remove_device(int number)
{
	int control = io_open(CONTROL, O_RDWR, 0), waited;

	for (waited = 0; control >= 0 && waited < 1000; waited += 10) {
		if (ioctl(control, LOOP_CTL_REMOVE, number) >= 0 || errno != EBUSY)
			break;
		nanosleep(&pause_10ms, NULL);
	}
	if (control < 0)
		return false;
	close(control);
	return true;
}

void loop_in_use(void)
{
	if (held >= 0)
		close(held);
	held = -1;
}

static bool loop_undo(const json_t *entry, char *why, size_t size)
{
	int number = (int)json_integer_value(json_object_get(entry, "number")), fd;
	const char *mark = json_string_value(json_object_get(entry, "mark"));
	char path[64];
	bool ok = true;

	loop_in_use();
	fd = open_loop(number, path, sizeof(path));
	if (fd < 0 && errno != ENOENT && errno != ENXIO) {
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return false;
	}
	if (fd >= 0) {
		ok = mark && detach(fd, mark);
		close(fd);
	}
	if (!ok) {
		snprintf(why, size, "%s: still attached to %s", path, mark ? mark : "?");
		return false;
	}
	if (!json_is_true(json_object_get(entry, "added")) || remove_device(number))
		return true;
	snprintf(why, size, "%s: %s cannot be opened: %s", path, CONTROL, strerror(errno));
	return false;
}

const struct undo_kind loop_kind = {.name = "loop", .outlives = true, .undo = loop_undo};

/* True: attached. False: somebody else was faster. */
static bool configure(int fd, int backing, const char *mark, const char *device)
{
	struct loop_config config = {
		.fd = (__u32)backing,
		.info = {.lo_flags = LO_FLAGS_AUTOCLEAR},
	};

	snprintf((char *)config.info.lo_file_name, LO_NAME_SIZE, "%s", mark);
	if (!io_ioctl(fd, LOOP_CONFIGURE, &config))
		return true;
	if (errno != EBUSY)
		run_skip("%s: wanted LOOP_CONFIGURE (5.8), found: %s", device, strerror(errno));
	return false;
}

static void own_loop(int number, const char *mark, bool added)
{
	own(&loop_kind,
	    json_pack("{s:i, s:s, s:b}", "number", number, "mark", mark, "added", added));
}

/* True: attached and held. False: it is in use. */
static bool try_device(int control, int number, int backing, const char *mark, char *device,
		       size_t size)
{
	bool added = !loop_exists(number);
	char why[256];

	own_loop(number, mark, added);
	if (added && ioctl(control, LOOP_CTL_ADD, number) < 0) {
		if (errno != EEXIST)
			run_skip("wanted a new loop device %d, found: %s", number, strerror(errno));
		/* There is one, though /sys does not show it: it is not ours to remove. */
		owned_forget_last();
		own_loop(number, mark, false);
	}
	held = open_loop(number, device, size);
	if (held >= 0 && is_free(held) && configure(held, backing, mark, device))
		return true;
	if (!owned_release_last(why, sizeof(why)))
		run_broken("%s", why);
	return false;
}

void loop_attach(int backing, const char *mark, char *device, size_t size)
{
	int control = io_open(CONTROL, O_RDWR, 0), number = 0;

	if (control < 0)
		run_skip("wanted %s, found: %s", CONTROL, strerror(errno));
	while (!try_device(control, number, backing, mark, device, size))
		if (++number == NUMBER_MAX)
			run_skip("wanted a free loop device, found %d in use", NUMBER_MAX);
	close(control);
}
