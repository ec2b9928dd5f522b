// SPDX-License-Identifier: GPL-2.0-only
/*
 * Giving back anonymous memory in pages of 4K. Copy this file to cases/NAME.c, and say here what the
 * kernel does in this operation and what the patch changes of it.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case/case.h"

static char *memory;
static uint64_t size, page;

/* Pages of the area that are in memory; none where it is no longer mapped. */
static int64_t resident(void)
{
	static unsigned char in_core[1 << 18];
	uint64_t i, n = size / page;
	int64_t count = 0;

	if (n > sizeof(in_core))
		run_broken("wanted at most %zu pages, found %ju", sizeof(in_core), (uintmax_t)n);
	if (mincore(memory, size, in_core))
		return 0;
	for (i = 0; i < n; i++)
		count += in_core[i] & 1;
	return count;
}

/* Not counted: the state that the variant's name promises, and the proof that it is there. */
static void prepare(void)
{
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	size = param("size");
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, size, MADV_NOHUGEPAGE))
		run_broken("wanted %ju bytes of small pages, found none", (uintmax_t)size);
	memset(memory, 1, size);
	pages(size / page);
	check_equal("pages_filled", (int64_t)(size / page), resident());
}

/* Counted and timed: the operation and nothing else. */
static void measure(void)
{
	bool unmap = opt_is("op", "munmap");
	int error;

	region_begin();
	error = unmap ? munmap(memory, size) : madvise(memory, size, MADV_DONTNEED);
	region_end();
	check_call(opt("op"), error, 0);
	metric_times();
}

/* The proof that the operation did its work. */
static void verify(void)
{
	check_equal("pages_left", 0, resident());
}

static const struct case_decl template = {
	.name = "template",
	.summary = "give back anonymous memory",
	.needs = {.memory = {"size", 1010, 16 << 20}},
	.options = {{"op", "how it is given back", LIST("dontneed", "munmap")}},
	.variants = LIST("op=dontneed", "op=munmap"),
	.params = {{"size", "bytes", 16 << 20, 256 << 20, 1ULL << 30, 4096}},
	.metrics = case_time_metrics,
	.functions = LIST("zap_page_range_single", "unmap_vmas"),
	.prepare = prepare,
	.measure = measure,
	.verify = verify,
};
CASE_MAIN(template)
