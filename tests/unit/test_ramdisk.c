// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ramdisk and what it stands on, for real where the tests run as root: the loop device, the
 * mark that tells ours from others', the wipe, and the order and the count of cached pages.
 */
#include "sys/ramdisk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "case/quantile.h"
#include "compare/stats.h"
#include "sys/brd.h"
#include "sys/cached.h"
#include "sys/kinds.h"
#include "sys/loop.h"
#include "sys/pageout.h"
#include "sys/tmpfs.h"

#define DISK (UINT64_C(1) << 20)

static char run_dir[] = "/tmp/before-after-test-XXXXXX";
static char why[256];

/* As root, in a scratch mount namespace of our own that the whole program shares. */
static int group_setup(void **state)
{
	(void)state;
	if (!mkdtemp(run_dir) || setenv("BEFORE_AFTER_RUN_DIR", run_dir, 1))
		return -1;
	if (geteuid())
		return 0;
	owned_open();
	scratch_enter((const char *const[]){"/tmp", NULL});
	return 0;
}

static int group_teardown(void **state)
{
	char path[300];
	bool ok = owned_release(why, sizeof(why));

	(void)state;
	if (!ok)
		print_message("%s\n", why);
	owned_path(path, sizeof(path), "journal.jsonl");
	unlink(path);
	owned_path(path, sizeof(path), "lock");
	unlink(path);
	rmdir(run_dir);
	return ok ? 0 : -1;
}

static void need_root(void)
{
	if (geteuid())
		skip();
}

static void release(int count)
{
	while (count-- > 0)
		if (!owned_release_last(why, sizeof(why)))
			fail_msg("%s", why);
}

/* A sparse file in the scratch tmpfs. */
static int disk_file(const char *name)
{
	char path[256];
	int fd;

	scratch_path(path, sizeof(path), name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, DISK), 0);
	return fd;
}

/* The mark that a loop device carries; "" when nothing is attached. */
static const char *mark_of(const char *device)
{
	static struct loop_info64 info;
	int fd = open(device, O_RDONLY | O_CLOEXEC);

	memset(&info, 0, sizeof(info));
	if (fd >= 0) {
		ioctl(fd, LOOP_GET_STATUS64, &info);
		close(fd);
	}
	return (const char *)info.lo_file_name;
}

static bool undo_loop(const char *device, const char *mark)
{
	json_t *entry = json_pack("{s:i, s:s, s:b}", "number", atoi(device + strlen("/dev/loop")),
				  "mark", mark, "added", false);
	bool ok = loop_kind.undo(entry, why, sizeof(why));

	json_decref(entry);
	return ok;
}

static void loop_is_attached_with_its_mark(void **state)
{
	char device[64];
	int backing;

	(void)state;
	need_root();
	backing = disk_file("attached");
	loop_attach(backing, "test mark 1", device, sizeof(device));
	assert_string_equal(mark_of(device), "test mark 1");
	release(1);
	assert_string_equal(mark_of(device), "");
	close(backing);
}

/* What an older entry names may be somebody else's by now. */
static void loop_of_another_mark_is_left_alone(void **state)
{
	char device[64];
	int backing, user;

	(void)state;
	need_root();
	backing = disk_file("others");
	loop_attach(backing, "somebody else", device, sizeof(device));
	user = open(device, O_RDONLY | O_CLOEXEC);
	assert_true(undo_loop(device, "test mark 2"));
	assert_string_equal(mark_of(device), "somebody else");
	/* The same entry with the right mark frees it, as soon as its user is gone. */
	close(user);
	assert_true(undo_loop(device, "somebody else"));
	assert_string_equal(mark_of(device), "");
	/* Once more: nothing to do is no failure. */
	assert_true(undo_loop(device, "somebody else"));
	assert_true(undo_loop("/dev/loop987654", "somebody else"));
	release(1);
	close(backing);
}

static void two_loops_are_two_devices(void **state)
{
	char first[64], second[64];
	int a, b, user;

	(void)state;
	need_root();
	a = disk_file("first");
	b = disk_file("second");
	loop_attach(a, "test first", first, sizeof(first));
	user = open(first, O_RDONLY | O_CLOEXEC);
	loop_in_use();
	loop_attach(b, "test second", second, sizeof(second));
	assert_string_not_equal(first, second);
	assert_string_equal(mark_of(first), "test first");
	assert_string_equal(mark_of(second), "test second");
	close(user);
	release(2);
	assert_string_equal(mark_of(first), "");
	assert_string_equal(mark_of(second), "");
	close(a);
	close(b);
}

/* No undo runs in a process that is killed: autoclear frees the device. */
static void loop_of_a_killed_process_is_freed(void **state)
{
	char device[64] = "";
	int said[2], status, i;
	pid_t pid;

	(void)state;
	need_root();
	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (pid == 0) {
		loop_attach(disk_file("killed"), "test killed", device, sizeof(device));
		if (write(said[1], device, sizeof(device)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(said[1]);
	assert_int_equal(read(said[0], device, sizeof(device)), sizeof(device));
	close(said[0]);
	assert_string_equal(mark_of(device), "test killed");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	for (i = 0; i < 500 && *mark_of(device); i++)
		usleep(10000);
	assert_string_equal(mark_of(device), "");
}

static void mounted(const char *fs, long magic, const char *on)
{
	char dir[256];
	struct statfs st;

	assert_string_equal(ramdisk_mount(fs, 4 << 20), on);
	scratch_path(dir, sizeof(dir), "ramdisk");
	assert_int_equal(statfs(dir, &st), 0);
	assert_int_equal(st.f_type, magic);
	assert_true((uint64_t)st.f_bavail * (uint64_t)st.f_bsize >= 4 << 20);
}

static const char *device_kind(void)
{
	return access("/sys/block/ram0", F_OK) ? "loop" : "brd";
}

static void ramdisk_of_tmpfs_is_a_tmpfs(void **state)
{
	char dir[256];

	(void)state;
	need_root();
	mounted("tmpfs", 0x01021994, "tmpfs");
	release(1);
	scratch_path(dir, sizeof(dir), "ramdisk");
	assert_int_equal(rmdir(dir), 0);
}

/* What is written is on the device: it comes back when it is not cached any more. */
static void ramdisk_ext4_holds_data(void **state)
{
	static char data[65536], back[65536];
	int fd;

	(void)state;
	need_root();
	mounted("ext4", 0xEF53, device_kind());
	memset(data, 0x5a, sizeof(data));
	fd = ramdisk_file();
	assert_int_equal(pwrite(fd, data, sizeof(data), 1 << 20), sizeof(data));
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	assert_int_equal(pread(fd, back, sizeof(back), 1 << 20), sizeof(back));
	assert_memory_equal(data, back, sizeof(data));
	close(fd);
}

/* On the ext4 of the test before, whose mount and device the group's end releases. */
static void cached_pages_are_counted(void **state)
{
	struct cached seen = {0};
	uint64_t size = 1 << 20;
	int64_t pages = (int64_t)size / sysconf(_SC_PAGESIZE);
	int fd;

	(void)state;
	need_root();
	fd = ramdisk_file();
	cached_read_hole(fd, size);
	cached_add(&seen, fd, size);
	assert_int_equal(seen.wanted, pages);
	assert_int_equal(seen.pages, pages);
	assert_true(seen.dirty == 0 || seen.dirty == -1);
	assert_true(seen.above_order_0 == 0 || seen.above_order_0 == -1);
	/* Half of it dropped: seen both ways. */
	assert_int_equal(posix_fadvise(fd, 0, (off_t)size / 2, POSIX_FADV_DONTNEED), 0);
	cached_add_left(&seen, fd, size);
	assert_int_equal(seen.left, pages / 2);
	assert_int_equal(ftruncate(fd, 0), 0);
	cached_add_left(&seen, fd, size);
	assert_int_equal(seen.left, pages / 2);

	/* What was reclaimed is told from what was never read. */
	seen = (struct cached){0};
	cached_read_hole(fd, size);
	assert_int_equal(pageout_chunks(fd, size, (size_t)(size / (uint64_t)pages), size / 2), 2);
	cached_add(&seen, fd, size);
	assert_int_equal(seen.pages, pages - 2);
	assert_int_equal(seen.evicted, seen.dirty == -1 ? 0 : 2);
	assert_int_equal(ftruncate(fd, 0), 0);

	seen = (struct cached){0};
	cached_write(fd, size);
	cached_add(&seen, fd, size);
	assert_int_equal(seen.pages, pages);
	assert_true(seen.dirty == pages || seen.dirty == -1);
	assert_true(seen.above_order_0 == 0 || seen.above_order_0 == -1);
	close(fd);
}

/* The check of the order sees a large folio where the kernel makes one. */
static void large_folios_are_seen(void **state)
{
	static char data[1 << 20];
	struct cached seen = {0};
	char path[256];
	int fd;

	(void)state;
	need_root();
	tmpfs_mount("large", 16 << 20, "always");
	scratch_path(path, sizeof(path), "large/file");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, sizeof(data), 0), sizeof(data));
	cached_add(&seen, fd, sizeof(data));
	print_message("1 MiB written to a tmpfs with huge=always: %jd pages above order 0\n",
		      (intmax_t)seen.above_order_0);
	assert_int_equal(seen.pages, (int64_t)sizeof(data) / sysconf(_SC_PAGESIZE));
	/* -1: not told here. 0: this kernel makes none, and then there is nothing to be seen. */
	if (seen.above_order_0 > 0)
		assert_int_equal(seen.above_order_0, seen.pages);
	assert_int_equal(seen.dirty, -1);
	close(fd);
	release(1);
}

static bool undo_brd(const char *device, const char *mark)
{
	json_t *entry = json_pack("{s:s, s:s}", "device", device, "mark", mark);
	bool ok = brd_kind.undo(entry, why, sizeof(why));

	json_decref(entry);
	return ok;
}

static int64_t bytes_not_zero(int fd)
{
	static unsigned char data[DISK];
	int64_t count = 0;
	size_t i;

	assert_int_equal(pread(fd, data, sizeof(data), 0), sizeof(data));
	for (i = 0; i < sizeof(data); i++)
		count += data[i] != 0;
	return count;
}

/* The wipe goes by the mark alone; any file will do as the device. */
static void ram_disk_is_wiped_by_its_mark(void **state)
{
	static const char mark[] = "before-after test";
	char path[256];
	int fd;

	(void)state;
	need_root();
	fd = disk_file("ram");
	scratch_path(path, sizeof(path), "ram");
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(pwrite(fd, "data", 4, 700001), 4);
	/* No mark: somebody else's. */
	assert_true(undo_brd(path, mark));
	assert_int_equal(bytes_not_zero(fd), 5);
	assert_int_equal(pwrite(fd, mark, strlen(mark), DISK - BRD_MARK_BYTES), strlen(mark));
	/* Another run's mark. */
	assert_true(undo_brd(path, "before-after other"));
	assert_int_equal(bytes_not_zero(fd), 5 + (int64_t)strlen(mark));
	/* A mark that begins as ours is not ours. */
	assert_true(undo_brd(path, "before-after"));
	assert_int_equal(bytes_not_zero(fd), 5 + (int64_t)strlen(mark));
	assert_true(undo_brd(path, mark));
	assert_int_equal(bytes_not_zero(fd), 0);
	assert_true(undo_brd(path, mark));
	assert_true(undo_brd("/dev/ram987654", mark));
	close(fd);
}

/* Of a run's samples as the comparator has them: type 7. */
static void quantiles_are_type_7(void **state)
{
	/* The 15 to 50 of a textbook example: 15 20 35 40 50, p = 0.05, 0.3, 0.4, 0.5, 1. */
	uint64_t five[] = {35, 20, 15, 50, 40}, many[997];
	double as_doubles[997];
	size_t i;

	(void)state;
	quantile_sort(five, 5);
	assert_float_equal(quantile(five, 5, 0.05), 16, 1e-9);
	assert_float_equal(quantile(five, 5, 0.3), 23, 1e-9);
	assert_float_equal(quantile(five, 5, 0.4), 29, 1e-9);
	assert_float_equal(quantile(five, 5, 0.5), 35, 1e-9);
	assert_float_equal(quantile(five, 5, 0), 15, 1e-9);
	assert_float_equal(quantile(five, 5, 1), 50, 1e-9);
	assert_float_equal(quantile(five, 1, 0.95), 15, 1e-9);
	assert_true(isnan(quantile(five, 0, 0.5)));
	for (i = 0; i < 997; i++) {
		many[i] = i * i % 7919 * 1000003;
		as_doubles[i] = (double)many[i];
	}
	quantile_sort(many, 997);
	stats_sort(as_doubles, 997);
	for (i = 0; i <= 100; i++)
		assert_float_equal(quantile(many, 997, (double)i / 100),
				   stats_quantile_sorted(as_doubles, 997, (double)i / 100), 1e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_type_7),
		cmocka_unit_test(loop_is_attached_with_its_mark),
		cmocka_unit_test(loop_of_another_mark_is_left_alone),
		cmocka_unit_test(two_loops_are_two_devices),
		cmocka_unit_test(loop_of_a_killed_process_is_freed),
		cmocka_unit_test(ram_disk_is_wiped_by_its_mark),
		cmocka_unit_test(large_folios_are_seen),
		cmocka_unit_test(ramdisk_of_tmpfs_is_a_tmpfs),
		cmocka_unit_test(ramdisk_ext4_holds_data),
		cmocka_unit_test(cached_pages_are_counted),
	};

	return cmocka_run_group_tests_name("ramdisk", tests, group_setup, group_teardown);
}
