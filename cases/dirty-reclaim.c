// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim of dirty anonymous memory: stress-ng's vm workers write four times what their memcg may
 * hold. Before a page goes to swap, the TLB entries through which it could still be written are
 * flushed: once a page or, patched, once a batch. Shootdowns, interrupts, scans are the box's. The
 * documented run takes all methods in turn, so its work depends on its length; smaller scales take
 * one, and records say so.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "sys/cgroup.h"
#include "sys/reclaim.h"
#include "sys/reclaim_counts.h"
#include "sys/stressng.h"
#include "sys/swap.h"

#define LIMIT (param("size") / 4) /* of the memcg: documented are 512 MiB for 2 GiB */

static struct stressng_result result;

static void chosen(void)
{
	reclaim_lru_require(opt("lru"));
	swap_require(opt("swap"), param("size"));
}

static void setup(void)
{
	const char *method = strcmp(scale_name(), "documented") ? "rand-set" : "all";
	char *made;

	reclaim_single_pages(opt("lru"));
	swap_use(opt("swap"), param("size"));
	made = memcg_create("dirty-reclaim");
	memcg_limit(made, LIMIT);
	pass("memcg", made);
	pass("method", opt_is("method", "by-scale") ? method : opt("method"));
	identity("method", passed("method"));
	identity("arguments", stressng_fixed);
	identity("stress-ng", stressng_version());
	free(made);
}

static void measure(void)
{
	struct stressng_vm vm = {.workers = (unsigned int)param("workers"),
				 .bytes = param("size"),
				 .method = passed("method"),
				 .seconds = param("seconds"),
				 .ops = opt_is("end", "ops") ? param("end_ops") : 0};

	reclaim_counts_begin(passed("memcg"));
	region_begin();
	stressng_vm(passed("memcg"), &vm, &result);
	region_end();
	reclaim_counts_end(passed("memcg"));
}

static void verify(void)
{
	const struct reclaim_figure *f;
	bool by_time = opt_is("end", "time");

	metric_or("bogo_ops_per_second", result.bogo_ops_per_s,
		  by_time ? result.why : "the run ends by work");
	metric_or("time", (double)region_ns(), by_time ? "the run ends by time" : "");
	for (f = reclaim_figures(); f->name; f++)
		metric_or(f->name, f->value, f->why);
	worked_on("stolen page", reclaim_figure("pgsteal_anon"));
	check_equal("oom_kills", 0, memcg_oom_kills(passed("memcg")));
	check_equal("stress_ng", 0, result.exit);
	check_equal("stress_ng_metrics", 1, result.complete);
	check_at_least("limit_hits", 1, memcg_limit_hits(passed("memcg")));
	check_at_least("pswpout", (int64_t)LIMIT / sysconf(_SC_PAGESIZE),
		       reclaim_figure("pswpout"));
	check_at_most("thp_swpout", 0, reclaim_figure("thp_swpout"));
}

static const struct case_decl dirty_reclaim = {
	.name = "dirty-reclaim",
	.summary = "reclaim dirty anonymous memory: stress-ng in a memcg a quarter its size",
	.needs = {.root = true,
		  .memory = {"size", 600, 64 << 20},
		  .commands = LIST("stress-ng", "mkswap", "blkid"),
		  .kconfig = LIST("CONFIG_ARCH_WANT_BATCHED_UNMAP_TLB_FLUSH"), /* not UML */
		  .controllers = LIST("memory"),
		  .chosen = chosen},
	.options = {{"swap", "where it is swapped to", LIST("device", "file", "zram", "host")},
		    {"lru", "which LRU reclaim works on", LIST("mglru", "classic")},
		    {"end", "what ends the run", LIST("time", "ops")},
		    {"method", "stress-ng's; by-scale: all if documented, else rand-set",
		     LIST("by-scale", "all", "rand-set", "write64")}},
	.params = {{"size", "bytes", 128 << 20, 256 << 20, 2ULL << 30, 4 << 20},
		   {"workers", "processes", 2, 2, 16, 1},
		   {"seconds", "s", 20, 30, 60, 1},
		   {"end_ops", "bogo ops", 8192, 8192, 131072, 1}},
	.metrics =
		(const struct case_metric[]){
			{"bogo_ops_per_second", "bogo ops/s", BETTER_HIGHER, NULL},
			{"time", "ns", BETTER_LOWER, NULL},
			{"shootdowns", "shootdowns", BETTER_LOWER, NULL},
			{"shootdowns_per_stolen_page", "shootdowns/page", BETTER_LOWER, NULL},
			{"function_call_ipis", "IPIs", BETTER_LOWER, NULL},
			{"ipis_per_stolen_page", "IPIs/page", BETTER_LOWER, NULL},
			{"pgscan_anon", "pages", BETTER_NEITHER, NULL},
			{"pgsteal_anon", "pages", BETTER_NEITHER, NULL},
			{"pswpout", "pages", BETTER_NEITHER, NULL},
			{"pgmajfault", "faults", BETTER_NEITHER, NULL},
			{"workingset_refault_anon", "pages", BETTER_NEITHER, NULL},
			{"thp_swpout", "folios", BETTER_NEITHER, NULL},
			{"psi_some", "us", BETTER_NEITHER, NULL},
			{"psi_full", "us", BETTER_NEITHER, NULL},
			{0}},
	.touches = LIST("THP, mTHP, zswap, lru_gen: knobs, restored",
			"a swap area (see --swap-device) and a memory cgroup, removed"),
	.functions = LIST("shrink_folio_list", "try_to_unmap_flush_dirty", "swap_writepage"),
	.per = LIST("stolen page"),
	.timeout_s = {300, 900, 3600},
	.setup = setup,
	.prepare = reclaim_counts_probe,
	.measure = measure,
	.verify = verify,
};
CASE_MAIN(dirty_reclaim)
