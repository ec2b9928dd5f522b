// SPDX-License-Identifier: GPL-2.0-only
#include "sys/brd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/end.h"
#include "sys/io.h"
#include "sys/kinds.h"
#include "sys/vmstat.h"

#define MODULE "/sys/module/brd"
#define CHUNK 65536
/* A killed run's mount is taken down asynchronously. */
#define PATIENCE_MS 10000

static const struct timespec pause_10ms = {.tv_nsec = 10000000};

/* --- the module --- */

static bool module_undo(const json_t *entry, char *why, size_t size)
{
	int64_t kib = json_integer_value(json_object_get(entry, "rd_size")), waited;

	for (waited = 0; waited < PATIENCE_MS; waited += 10) {
		/* One of another size was loaded by somebody else; none: not loaded, or unloaded. */
		if (file_number(MODULE "/parameters/rd_size") != kib)
			return true;
		if (!syscall(SYS_delete_module, "brd", O_NONBLOCK) || errno == ENOENT)
			return true;
		nanosleep(&pause_10ms, NULL);
	}
	snprintf(why, size, "brd: cannot be unloaded: %s", strerror(errno));
	return false;
}

const struct undo_kind brd_module_kind = {
	.name = "brd-module", .outlives = true, .undo = module_undo};

static void load_module(uint64_t bytes)
{
	char kib[64], why[256];

	snprintf(kib, sizeof(kib), "rd_size=%" PRIu64, bytes >> 10);
	own(&brd_module_kind, json_pack("{s:I}", "rd_size", (json_int_t)(bytes >> 10)));
	if (command_run((const char *const[]){"modprobe", "brd", "rd_nr=1", kib, NULL}, NULL, 0) &&
	    !owned_release_last(why, sizeof(why)))
		run_broken("%s", why);
}

/* --- a device --- */

static bool is_zero(const char *buf, size_t size)
{
	return !buf[0] && !memcmp(buf, buf + 1, size - 1);
}

/* Where the first chunk stands that is not all zeroes; `end`: there is none. -1: not readable. */
static off_t first_content(int fd, off_t at, off_t end)
{
	static char buf[CHUNK];

	for (; at < end; at += CHUNK) {
		size_t len = end - at < CHUNK ? (size_t)(end - at) : CHUNK;

		if (!io_pread(fd, buf, len, at))
			return -1;
		if (!is_zero(buf, len))
			return at;
	}
	return end;
}

/* Newer kernels give the memory back when discarded; all have it zeroed. */
static bool wipe(int fd, off_t end)
{
	static const char zeroes[CHUNK];
	uint64_t range[2] = {0, (uint64_t)end};
	off_t at;

	io_ioctl(fd, BLKDISCARD, range);
	for (at = first_content(fd, 0, end); at < end; at = first_content(fd, at, end)) {
		size_t len = end - at < CHUNK ? (size_t)(end - at) : CHUNK;

		if (at < 0 || !io_pwrite(fd, zeroes, len, at))
			return false;
	}
	return io_sync(fd);
}

/* An exclusive open; waits while a mount that is going away still holds the device. */
static int open_exclusive(const char *device)
{
	int fd = -1, waited;

	for (waited = 0; fd < 0 && waited < PATIENCE_MS; waited += 10) {
		fd = io_open(device, O_RDWR | O_EXCL, 0);
		if (fd >= 0 || errno != EBUSY)
			break;
		nanosleep(&pause_10ms, NULL);
	}
	return fd;
}

static bool brd_undo(const json_t *entry, char *why, size_t size)
{
	const char *device = json_string_value(json_object_get(entry, "device"));
	const char *mark = json_string_value(json_object_get(entry, "mark"));
	int fd = device && mark ? open_exclusive(device) : -1;
	static const char zeroes[BRD_MARK_BYTES];
	char found[BRD_MARK_BYTES];
	bool ok = false;
	off_t end;

	if (fd < 0 && (errno == ENOENT || errno == ENXIO))
		return true;
	if (fd >= 0) {
		end = lseek(fd, 0, SEEK_END) - BRD_MARK_BYTES;
		if (io_pread(fd, found, sizeof(found), end))
			/* The mark goes last: until then the rest is known to be ours. */
			ok = strncmp(found, mark, sizeof(found)) ||
			     (wipe(fd, end) && io_pwrite(fd, zeroes, sizeof(zeroes), end) &&
			      io_sync(fd));
	}
	if (!ok)
		snprintf(why, size, "%s: cannot be wiped: %s", device ? device : "?",
			 strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

const struct undo_kind brd_kind = {.name = "brd", .outlives = true, .undo = brd_undo};

/* Takes it if it is large enough, nobody's and empty. */
static bool take_device(const char *device, uint64_t bytes, const char *mark)
{
	int fd = io_open(device, O_RDWR | O_EXCL, 0);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END) - BRD_MARK_BYTES;
	bool taken = end > 0 && (uint64_t)end >= bytes &&
		     first_content(fd, 0, end + BRD_MARK_BYTES) == end + BRD_MARK_BYTES;

	if (taken) {
		own(&brd_kind, json_pack("{s:s, s:s}", "device", device, "mark", mark));
		if (!io_pwrite(fd, mark, strlen(mark), end) || !io_sync(fd))
			run_broken("%s: cannot be written: %s", device, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	return taken;
}

bool brd_take(uint64_t bytes, const char *mark, char *device, size_t size)
{
	char path[64];
	int number;

	if (access(MODULE, F_OK) && access("/sys/block/ram0", F_OK))
		load_module(bytes + BRD_MARK_BYTES);
	for (number = 0;; number++) {
		snprintf(path, sizeof(path), "/sys/block/ram%d", number);
		if (access(path, F_OK))
			return false;
		snprintf(device, size, "/dev/ram%d", number);
		if (take_device(device, bytes, mark))
			return true;
	}
}
