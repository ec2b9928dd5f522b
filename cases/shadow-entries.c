// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dropping a file's shadow entries, what reclaim left in the page cache tree in the place of its
 * pages: truncate to 0, POSIX_FADV_DONTNEED, and invalidation as a FUSE server can ask for it.
 * Unpatched, each entry is removed by a walk of its own from the root of the tree; patched, one
 * walk removes a batch's. The file is on FUSE, without storage, and of any size.
 * op=inval opens it again, without keep_cache: that invalidates as the server's notification does.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "sys/cachestat.h"
#include "sys/cgroup.h"
#include "sys/fuse_server.h"
#include "sys/io.h"
#include "sys/shadows.h"

static enum { TRUNCATE, DONTNEED, INVAL } op; /* in the order of the option's values */
static int fd;
static char path[256];
static uint64_t size;
static int64_t nodes_reclaimed;

static void setup(void)
{
	char why[256], *memcg, *reclaimed = NULL;

	memcg = memcg_try_create("shadow-entries", why, sizeof(why));
	if (opt_is("evict", "memcg"))
		reclaimed = memcg_try_create("shadow-entries-pages", why, sizeof(why));
	if (opt_is("evict", "memcg") && !reclaimed)
		run_skip("%s; evict=pageout does without", why);
	identity("memcg", !memcg ? "none" : memcg_is_v2(memcg) ? "v2" : "v1");
	pass("memcg", memcg ? memcg : "");
	pass("reclaimed", reclaimed ? reclaimed : "");
	owns_server(fuse_server_start("fuse", param("size"), memcg, reclaimed), "fuse-server");
}

/* Nodes that the shrinker freed; -1: not told, on v1 and without a memcg. */
static int64_t nodereclaim(void)
{
	return *passed("memcg") ? memcg_stat(passed("memcg"), "workingset_nodereclaim") : -1;
}

static void prepare(void)
{
	struct shadows_plan plan = {fuse_server_store, NULL, NULL, 0, 0};
	struct shadows made;
	uint64_t all;

	op = opt_index("op");
	size = param("size");
	all = size / (uint64_t)sysconf(_SC_PAGESIZE);
	if (*passed("memcg"))
		memcg_join(passed("memcg"));
	if (*passed("reclaimed"))
		plan = (struct shadows_plan){fuse_server_refuse, fuse_server_read,
					     passed("reclaimed"), 0, 0};
	fuse_server_file(path, sizeof(path), "fuse");
	fd = io_open(path, O_RDWR, 0);
	if (fd < 0)
		run_broken("%s: %s", path, strerror(errno));
	made = shadows_make(fd, size, &plan);
	nodes_reclaimed = nodereclaim();
	pages(all);
	check_equal("cached_before", 0, (int64_t)made.cached);
	check_at_least("evicted_before", (int64_t)(all / 1000 * 999), (int64_t)made.evicted);
	check_at_most("pages_above_order_0", 0, made.above_order_0);
}

static void measure(void)
{
	int error;

	region_begin();
	error = op == TRUNCATE	 ? ftruncate(fd, 0)
		: op == DONTNEED ? (errno = posix_fadvise(fd, 0, (off_t)size, POSIX_FADV_DONTNEED))
				 : open(path, O_RDONLY | O_CLOEXEC) < 0;
	region_end();
	if (error)
		run_broken("%s: %s", opt("op"), strerror(errno));
	metric_times();
}

static void verify(void)
{
	struct cached left = cachestat_of(fd, 0, size);

	check_equal("cached_after", 0, (int64_t)left.cached);
	check_equal("evicted_after", 0, (int64_t)left.evicted);
	check_at_most("nodes_reclaimed", 0,
		      nodes_reclaimed < 0 ? -1 : nodereclaim() - nodes_reclaimed);
}

static const struct case_decl shadow_entries = {
	.name = "shadow-entries",
	.summary = "drop the shadow entries of a large file whose pages were reclaimed",
	.needs = {.root = true,
		  .kernel = "6.5",
		  .memory = {"size", 3, 320 << 20},
		  .devices = LIST("/dev/fuse")},
	.options = {{"op", "how they are dropped", LIST("truncate", "dontneed", "inval")},
		    {"evict", "how the pages were reclaimed", LIST("memcg", "pageout")}},
	.variants = LIST("op=truncate", "op=dontneed", "op=inval"),
	.params = {{"size", "bytes", 64 << 20, 4ULL << 30, 200ULL << 30, 2 << 20}},
	.metrics = case_time_metrics,
	.touches = LIST("makes a memory cgroup, removed"),
	.functions = LIST("truncate_inode_pages_range", "mapping_try_invalidate",
			  "invalidate_inode_pages2_range"),
	.per = LIST("page"),
	.setup = setup,
	.prepare = prepare,
	.measure = measure,
	.verify = verify,
};
CASE_MAIN(shadow_entries)
