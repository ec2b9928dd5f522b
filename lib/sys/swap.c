// SPDX-License-Identifier: GPL-2.0-only
#include "sys/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/end.h"
#include "sys/io.h"
#include "sys/kinds.h"
#include "sys/place.h"
#include "sys/vmstat.h"

#define ZRAM "/sys/class/zram-control"

static const char file_prefix[] = "before-after-swap-";

int64_t swap_used(void)
{
	int64_t total = meminfo("SwapTotal"), left = meminfo("SwapFree");

	return total < 0 || left < 0 ? 0 : total - left;
}

static bool swap_undo(const json_t *entry, char *why, size_t size)
{
	const char *path = json_string_value(json_object_get(entry, "path"));
	int rc;

	/* It ends early when a signal comes, with what is not yet read in still there. */
	while ((rc = path ? swapoff(path) : 0) && errno == EINTR)
		;
	/* EINVAL: not turned on, or not yet. */
	if (path && (!rc || errno == EINVAL || errno == ENOENT))
		return true;
	snprintf(why, size, "swapoff %s: %s", path ? path : "?", strerror(errno));
	return false;
}

const struct undo_kind swap_kind = {.name = "swap", .outlives = true, .undo = swap_undo};

static bool write_number(const char *path, uint64_t value)
{
	char text[32];
	int fd = io_open(path, O_WRONLY, 0), err;
	bool ok;

	snprintf(text, sizeof(text), "%" PRIu64, value);
	ok = fd >= 0 && io_write_once(fd, text);
	err = errno;

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
	if ((stat(path, &st) && errno == ENOENT) ||
	    write_number(ZRAM "/hot_remove", (uint64_t)number))
		return true;
	snprintf(why, size, "%s: cannot be removed: %s", path, strerror(errno));
	return false;
}

const struct undo_kind zram_kind = {.name = "zram", .outlives = true, .undo = zram_undo};

static void zram_require(void)
{
	int remove;

	if (access(ZRAM, F_OK))
		run_skip("wanted a zram device, found no %s: modprobe zram", ZRAM);
	/* Adding is a read, which a read-only /sys allows: then it could not be removed again. */
	remove = io_open(ZRAM "/hot_remove", O_WRONLY, 0);
	if (remove < 0)
		run_skip("wanted a zram device, found %s/hot_remove not writable: %s", ZRAM,
			 strerror(errno));
	close(remove);
}

/*
 * hot_add makes a device before it tells which, too late for the journal; but it takes the lowest
 * free number, so that one is journalled first. The lock keeps two of us, with run directories of
 * their own, from journalling the same number.
 */
static int zram_new(void)
{
	int number = -1, made, lock = io_open(ZRAM, O_RDONLY | O_DIRECTORY, 0);
	char path[64];
	struct stat st;

	if (lock < 0 || !io_lock(lock, LOCK_EX))
		run_skip("wanted a zram device, found %s: %s", ZRAM, strerror(errno));
	do {
		number++;
		snprintf(path, sizeof(path), "/sys/block/zram%d", number);
	} while (!stat(path, &st));
	own(&zram_kind, json_pack("{s:i}", "number", number));
	made = (int)file_number(ZRAM "/hot_add");
	close(lock);
	if (made != number) /* A device of that number is another program's: not ours to undo. */
		owned_forget_last();
	if (made < 0)
		run_skip("wanted a zram device, found %s/hot_add not usable", ZRAM);
	if (made != number) {
		write_number(ZRAM "/hot_remove", (uint64_t)made);
		run_broken(
			"wanted the new device %s, found zram%d: is another program making some?",
			path, made);
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
	/* O_EXCL: not one that is mounted, part of another device or swapped to already. */
	fd = io_open(device, O_RDONLY | O_EXCL, 0);
	if (fd < 0)
		run_skip("%s: wanted a device that is not in use, found: %s", device,
			 strerror(errno));
	size = lseek(fd, 0, SEEK_END);
	close(fd);
	if (size < 0 || (uint64_t)size < bytes)
		run_skip("%s: wanted %" PRIu64 " bytes of swap, found %jd", device, bytes,
			 (intmax_t)size);
}

/*
 * A file is journalled before it is made and known by its name; it is ours to remove in whatever
 * state the kill left it.
 */
static bool swap_file_undo(const json_t *entry, char *why, size_t size)
{
	const char *path = json_string_value(json_object_get(entry, "path"));
	const char *name = path ? strrchr(path, '/') : NULL;

	if (!name || strncmp(name + 1, file_prefix, strlen(file_prefix))) {
		snprintf(why, size, "wanted a file %s*, found %s", file_prefix, path ? path : "?");
		return false;
	}
	if (!unlink(path) || errno == ENOENT)
		return true;
	snprintf(why, size, "%s: cannot be removed: %s", path, strerror(errno));
	return false;
}

const struct undo_kind swap_file_kind = {
	.name = "swap-file", .outlives = true, .undo = swap_file_undo};

static void make_file(const char *dir, char *path, size_t size, uint64_t bytes)
{
	char *real = realpath(dir, NULL);
	int fd, err;

	snprintf(path, size, "%s/%s%d", real ? real : dir, file_prefix, getpid());
	free(real);
	if (!access(path, F_OK))
		run_skip("%s: wanted a name for a swap file, found it taken", path);
	own(&swap_file_kind, json_pack("{s:s}", "path", path));
	fd = io_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		run_skip("%s: wanted a swap file, found: %s", path, strerror(errno));
	/* Not posix_fallocate(): the C library would write where the file system cannot allocate. */
	err = io_allocate(fd, 0, 0, (off_t)bytes) ? 0 : errno;
	close(fd);
	if (err)
		run_skip("%s: wanted %" PRIu64 " bytes for a swap file, found: %s", path, bytes,
			 strerror(err));
}

static void turn_on(const char *path)
{
	char out[256] = "";

	if (command_run((const char *const[]){"mkswap", path, NULL}, out, sizeof(out)))
		run_skip("mkswap %s: %s", path, out);
	own(&swap_kind, json_pack("{s:s}", "path", path));
	if (swapon(path, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK))
		run_skip("swapon %s: %s", path, strerror(errno));
}

static void require_host(uint64_t bytes)
{
	int64_t left = meminfo("SwapFree");

	if (left < (int64_t)bytes)
		run_skip("swap=host: wanted %" PRIu64 " MiB of free swap, found %" PRId64
			 ": swapon an area, or take another swap=",
			 bytes >> 20, left < 0 ? 0 : left >> 20);
}

static void require_directory(const char *given, bool directory)
{
	char why[300];

	if (!directory)
		run_skip("swap=file: wanted a directory that a swap file may be made in "
			 "(run.sh --swap-device DIR), found %s",
			 given && *given ? given : "none");
	/* Whoever can exchange the file chooses what is swapped to. */
	if (!place_private(given, why, sizeof(why)))
		run_skip("%s: wanted a directory for swap that only root can change, found %s",
			 given, why);
}

static void require_device(const char *given, bool directory, uint64_t bytes)
{
	char path[PATH_MAX];

	if (!given || !*given || directory)
		run_skip("swap=device: wanted a block device that may be overwritten "
			 "(run.sh --swap-device DEV), or another swap=, found %s",
			 directory ? given : "none");
	if (!realpath(given, path))
		run_skip("%s: wanted a block device for swap, found: %s", given, strerror(errno));
	check_device(path, bytes);
}

/* The first page of an area is its header. */
static uint64_t with_header(uint64_t bytes)
{
	return bytes + (1 << 20);
}

void swap_require(const char *kind, uint64_t bytes)
{
	const char *given = getenv("BEFORE_AFTER_SWAP_DEVICE");
	struct stat st;
	bool directory = given && *given && !stat(given, &st) && S_ISDIR(st.st_mode);

	bytes = with_header(bytes);
	if (!strcmp(kind, "host"))
		require_host(bytes);
	else if (!strcmp(kind, "zram"))
		zram_require();
	else if (!strcmp(kind, "file"))
		require_directory(given, directory);
	else
		require_device(given, directory, bytes);
}

void swap_use(const char *kind, uint64_t bytes)
{
	const char *given = getenv("BEFORE_AFTER_SWAP_DEVICE");
	char path[PATH_MAX] = "";

	swap_require(kind, bytes);
	bytes = with_header(bytes);
	if (!strcmp(kind, "host"))
		return;
	if (!strcmp(kind, "zram"))
		zram_node(path, sizeof(path), bytes);
	else if (!strcmp(kind, "file"))
		make_file(given, path, sizeof(path), bytes);
	/* The journal may be read from another directory. */
	else if (!realpath(given, path))
		run_skip("%s: wanted a block device for swap, found: %s", given, strerror(errno));
	turn_on(path);
}

static const char *kind_to_add(void)
{
	const char *given = getenv("BEFORE_AFTER_SWAP_DEVICE");

	return !given || !*given ? "zram" : "device";
}

const char *swap_add(uint64_t bytes)
{
	swap_use(kind_to_add(), bytes);
	return kind_to_add();
}

void swap_add_require(uint64_t bytes)
{
	swap_require(kind_to_add(), bytes);
}
