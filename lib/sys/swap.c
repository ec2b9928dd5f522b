// SPDX-License-Identifier: GPL-2.0-only
#include "sys/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/end.h"
#include "sys/kinds.h"
#include "sys/vmstat.h"

#define ZRAM "/sys/class/zram-control"

uint64_t swap_used(void)
{
	int64_t total = meminfo("SwapTotal"), left = meminfo("SwapFree");

	return total < 0 || left < 0 ? 0 : (uint64_t)(total - left);
}

static bool swap_undo(const json_t *entry, char *why, size_t size)
{
	const char *path = json_string_value(json_object_get(entry, "path"));

	/* EINVAL: not turned on, or not yet. */
	if (path && (!swapoff(path) || errno == EINVAL || errno == ENOENT))
		return true;
	snprintf(why, size, "swapoff %s: %s", path ? path : "?", strerror(errno));
	return false;
}

const struct undo_kind swap_kind = {.name = "swap", .outlives = true, .undo = swap_undo};

static bool write_number(const char *path, uint64_t value)
{
	char text[32];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = snprintf(text, sizeof(text), "%" PRIu64, value);
	bool ok = fd >= 0 && write(fd, text, (size_t)len) == len;
	int err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return ok;
}

static bool zram_undo(const json_t *entry, char *why, size_t size)
{
	json_int_t number = json_integer_value(json_object_get(entry, "number"));
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/block/zram%" JSON_INTEGER_FORMAT, number);
	if (stat(path, &st) || write_number(ZRAM "/hot_remove", (uint64_t)number))
		return true;
	snprintf(why, size, "%s: cannot be removed: %s", path, strerror(errno));
	return false;
}

const struct undo_kind zram_kind = {.name = "zram", .outlives = true, .undo = zram_undo};

/*
 * hot_add makes a device before it tells which, too late for the journal; but it takes the lowest
 * free number, so that one is journalled first.
 */
static int zram_new(void)
{
	char path[64], text[32];
	struct stat st;
	int number = -1, made;

	do {
		number++;
		snprintf(path, sizeof(path), "/sys/block/zram%d", number);
	} while (!stat(path, &st));
	own(&zram_kind, json_pack("{s:i}", "number", number));
	made = (int)file_number(ZRAM "/hot_add");
	if (made < 0)
		run_skip("wanted a zram device, found %s/hot_add not usable", ZRAM);
	if (made != number) {
		write_number(ZRAM "/hot_remove", (uint64_t)made);
		snprintf(text, sizeof(text), "zram%d", made);
		run_broken("wanted the new device %s, found %s: is another program making some?",
			   path, text);
	}
	return number;
}

static void zram_node(char *path, size_t size, uint64_t bytes)
{
	int number = zram_new();
	char knob[64];

	snprintf(knob, sizeof(knob), "/sys/block/zram%d/disksize", number);
	if (!write_number(knob, bytes))
		run_skip("%s: wanted %" PRIu64 " bytes, found: %s", knob, bytes, strerror(errno));
	snprintf(path, size, "/dev/zram%d", number);
}

/* Only a device that is empty or a swap area already is ours to overwrite. */
static void check_device(const char *device, uint64_t bytes)
{
	char out[256] = "";
	struct stat st;
	int fd, rc;
	off_t size;

	if (stat(device, &st) || !S_ISBLK(st.st_mode))
		run_skip("%s: wanted a block device for swap, found none", device);
	rc = command_run(
		(const char *const[]){"blkid", "-p", "-o", "value", "-s", "TYPE", device, NULL},
		out, sizeof(out));
	if (rc != 2 && (rc != 0 || strcmp(out, "swap\n")))
		run_skip("%s: wanted an empty device or a swap area, found %s (blkid %d)", device,
			 *out ? out : "something else", rc);
	fd = open(device, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	if (fd >= 0)
		close(fd);
	if (size < 0 || (uint64_t)size < bytes)
		run_skip("%s: wanted %" PRIu64 " bytes of swap, found %jd", device, bytes,
			 (intmax_t)size);
}

const char *swap_add(uint64_t bytes)
{
	const char *device = getenv("BEFORE_AFTER_SWAP_DEVICE");
	bool zram = !device || !*device;
	char path[128], out[256] = "";

	/* The first page of an area is its header. */
	bytes += 1 << 20;
	if (zram) {
		zram_node(path, sizeof(path), bytes);
	} else {
		check_device(device, bytes);
		snprintf(path, sizeof(path), "%s", device);
	}
	if (command_run((const char *const[]){"mkswap", path, NULL}, out, sizeof(out)))
		run_skip("mkswap %s: %s", path, out);
	own(&swap_kind, json_pack("{s:s}", "path", path));
	if (swapon(path, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK))
		run_skip("swapon %s: %s", path, strerror(errno));
	return zram ? "zram" : "device";
}
