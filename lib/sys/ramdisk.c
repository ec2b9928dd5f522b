// SPDX-License-Identifier: GPL-2.0-only
#include "sys/ramdisk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/brd.h"
#include "sys/command.h"
#include "sys/end.h"
#include "sys/io.h"
#include "sys/loop.h"
#include "sys/tmpfs.h"

#define MIB (UINT64_C(1) << 20)

/* Room for data, a journal or log, inode tables: what mkfs accepts, with a little to spare. */
static uint64_t device_bytes(bool xfs, uint64_t bytes)
{
	return (bytes + bytes / 16 + (xfs ? 320 : 15) * MIB) & ~(MIB - 1);
}

static const char *first_line(char *said)
{
	said[strcspn(said, "\n")] = '\0';
	return *said ? said : "it cannot be run";
}

/*
 * Every feature is named, so that neither the version of the tools nor the box's configuration
 * decides what is measured. The set of ext4 is the default of the years around the first claim.
 * Nothing is left for the kernel to do later, in the background.
 */
static void make_ext4(const char *device, uint64_t bytes)
{
	static const char features[] =
		"none,has_journal,ext_attr,dir_index,filetype,extent,64bit,flex_bg,sparse_super,"
		"large_file,huge_file,dir_nlink,extra_isize,metadata_csum";
	char said[512] = "", size[32];

	snprintf(size, sizeof(size), "%" PRIu64 "k", bytes >> 10);
	if (command_run((const char *const[]){"mkfs.ext4",
					      "-q",
					      "-F",
					      "-b",
					      "4096",
					      "-I",
					      "256",
					      "-N",
					      "256",
					      "-m",
					      "0",
					      "-J",
					      "size=4",
					      "-O",
					      features,
					      "-E",
					      "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
					      device,
					      size,
					      NULL},
			said, sizeof(said)))
		run_skip("wanted ext4 on %s, found mkfs.ext4: %s", device, first_line(said));
}

static void make_xfs(const char *device, uint64_t bytes)
{
	char said[512] = "", size[64];

	snprintf(size, sizeof(size), "size=%" PRIu64 ",agcount=4", bytes);
	if (command_run((const char *const[]){"mkfs.xfs", "-q", "-f", "-K", "-m",
					      "crc=1,finobt=1,rmapbt=0,reflink=0", "-d", size,
					      device, NULL},
			said, sizeof(said)))
		run_skip("wanted xfs on %s, found mkfs.xfs: %s", device, first_line(said));
}

/* Unique, so that it can be no other's. */
static void new_mark(char *mark, size_t size)
{
	char uuid[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/uuid", "re");

	if (!f || fscanf(f, "%63s", uuid) != 1)
		run_broken("/proc/sys/kernel/random/uuid: cannot be read");
	fclose(f);
	snprintf(mark, size, "before-after %s", uuid);
}

/* The file is sparse: of the tmpfs only what is written is taken. */
static void loop_on_tmpfs(uint64_t bytes, const char *mark, char *device, size_t size)
{
	char path[256];
	int backing;

	tmpfs_mount("ramdisk-file", bytes + MIB, "never");
	scratch_path(path, sizeof(path), "ramdisk-file/disk");
	backing = io_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (backing < 0 || !io_truncate(backing, (off_t)bytes))
		run_broken("%s: %s", path, strerror(errno));
	loop_attach(backing, mark, device, size);
	close(backing);
}

const char *ramdisk_mount(const char *fs, uint64_t bytes)
{
	bool xfs = !strcmp(fs, "xfs"), brd;
	uint64_t disk = device_bytes(xfs, bytes);
	char mark[128], device[64];

	if (!strcmp(fs, "tmpfs")) {
		tmpfs_mount("ramdisk", disk, "never");
		return "tmpfs";
	}
	new_mark(mark, sizeof(mark));
	brd = brd_take(disk, mark, device, sizeof(device));
	if (!brd)
		loop_on_tmpfs(disk, mark, device, sizeof(device));
	if (xfs)
		make_xfs(device, disk);
	else
		make_ext4(device, disk);
	scratch_mount("ramdisk", device, fs);
	loop_in_use();
	return brd ? "brd" : "loop";
}

int ramdisk_file(void)
{
	char path[256];
	int fd;

	scratch_path(path, sizeof(path), "ramdisk/XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		run_fail("%s: %s", path, strerror(errno));
	return fd;
}
