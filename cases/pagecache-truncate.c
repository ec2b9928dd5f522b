// SPDX-License-Identifier: GPL-2.0-only
/*
 * Truncating a file of 1024 cached pages to 0, ten thousand times, on a ramdisk: the folios leave
 * the page cache tree one by one or, since 4.15, in batches. Only the ftruncate() is timed; each is
 * a sample, none is left out. All folios are of order 0: that, and all cached before and none
 * after, is looked at in iterations in between.
 * state=hole-read: a sparse file read in, so that the truncate finds neither blocks nor buffers;
 * by our inference the nearest to the documented "the file system is barely visible".
 * counted=yes: perf counters of 32 truncates in a row, of files filled before. Around the loop that
 * times they would count mostly the filling, around each truncate mostly perf itself.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "sys/cached.h"
#include "sys/ramdisk.h"

enum { HOLE_READ, WRITTEN_CLEAN, DIRTY };
enum { FILES = 32, LOOKS = 16 };

static int state, files, count, fds[FILES]; /* count: of truncates */
static uint64_t size;
static struct cached seen;

static void plan(void)
{
	state = opt_index("state");
	files = opt_is("counted", "yes") ? FILES : 1;
	count = files > 1 ? files : (int)param("count");
	size = param("pages") * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void setup(void)
{
	plan();
	identity("ramdisk",
		 ramdisk_mount(opt("fs"), state == HOLE_READ ? 0 : (uint64_t)files * size));
}

static void fill(int fd)
{
	(state == HOLE_READ ? cached_read_hole : cached_write)(fd, size);
	if (state == WRITTEN_CLEAN && fsync(fd))
		run_fail("fsync: %s", strerror(errno));
}

static void look(int fd)
{
	fill(fd);
	cached_add(&seen, fd, size);
	if (!ftruncate(fd, 0))
		cached_add_left(&seen, fd, size);
}

static void prepare(void)
{
	int i;

	plan();
	pages((uint64_t)files * param("pages"));
	worked_on("truncate", count);
	worked_on("page", count * (int64_t)param("pages"));
	for (i = 0; i < files; i++) {
		look(fds[i] = ramdisk_file());
		if (files > 1)
			fill(fds[i]);
	}
}

static void measure(void)
{
	int i, failed = 0, error = 0, returned;

	if (files == 1)
		region_uncounted("counted=yes");
	region_begin();
	for (i = 0; i < count && files > 1; i++) {
		if (ftruncate(fds[i], 0)) {
			failed++;
			error = errno;
		}
	}
	for (i = 0; i < count && files == 1; i++) {
		if (i % (count / LOOKS + 1) == 0)
			look(fds[0]);
		fill(fds[0]);
		sample_begin();
		returned = ftruncate(fds[0], 0);
		sample_end();
		if (returned) {
			failed++;
			error = errno;
		}
	}
	region_end();
	/* It is timed, so it is not called again; and that it was stopped is not the kernel's failure. */
	if (error == EINTR)
		run_broken("ftruncate: wanted to be left alone, found: %s", strerror(error));
	check_equal("failed_truncates", 0, failed);
	metric_samples("timed in a run of its own, counted=no");
}

static void verify(void)
{
	while (files-- > 0)
		cached_add_left(&seen, fds[files], size);
	check_cached(&seen, state == DIRTY);
}

static const struct case_decl pagecache_truncate = {
	.name = "pagecache-truncate",
	.summary = "truncate a file of 1024 cached pages, many times",
	.needs = {.root = true, .memory = {.plus = 448 << 20}},
	.options = {{"fs", "on a ramdisk", LIST("ext4", "xfs", "tmpfs")},
		    {"state", "of the pages", LIST("hole-read", "written-clean", "dirty")},
		    {"counted", "by perf, and not timed", LIST("no", "yes")}},
	.variants = LIST("", "counted=yes", "state=written-clean", "state=dirty", "fs=xfs",
			 "fs=tmpfs,state=dirty"),
	.senseless = LIST("fs=tmpfs,state=hole-read", "fs=tmpfs,state=written-clean"),
	.params = {{"pages", "pages", 1024, 1024, 1024, 0},
		   {"count", "truncates", 50, 250, 10000, 0}},
	.metrics = case_sample_metrics,
	.touches = LIST("an empty /dev/ramN (may load brd), else a loop device, given back"),
	.functions = LIST("truncate_inode_pages_range", "delete_from_page_cache_batch"),
	.per = LIST("page", "truncate"),
	.setup = setup,
	.prepare = prepare,
	.measure = measure,
	.verify = verify,
};
CASE_MAIN(pagecache_truncate)
