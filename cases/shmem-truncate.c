// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dropping all pages of a tmpfs file or memfd. All ops end in shmem_undo_range(), which takes folios
 * out of the page cache one by one or, patched, in batches. A file of PMD-sized folios has 1/512 as
 * many and must not change. op=undo is its other caller, a fallocate() that runs out of space at its
 * last page: what was written before must stay, what it added must go; its time includes allocating.
 * state=swapped-half: every other 16 pages are swap entries, which stay out of batches.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "case/case.h"
#include "sys/folios.h"
#include "sys/pageout.h"
#include "sys/shmem.h"
#include "sys/swap.h"
#include "sys/vmstat.h"

enum op { FTRUNCATE, PUNCH, CLOSE, UNLINK, UNDO };

static const uint64_t stride = 8; /* op=undo: every 8th page is written before */
static enum op op;
static int fd;
static uint64_t size, page;
static int64_t taken, swap, freed, kept; /* before: bytes; pages freed; bytes op=undo must leave */

static void chosen(void)
{
	shmem_require(opt_is("op", "close"), param("size") + (1 << 20), opt_is("folio", "pmd"));
	if (opt_is("state", "swapped-half"))
		swap_add_require(param("size") / 2);
}

static void setup(void)
{
	op = (enum op)opt_index("op");
	/* op=undo: as many blocks as the fallocate asks for, and one of them is taken. */
	size = param("size") + (op == UNDO ? 0 : 1 << 20);
	shmem_place(op == CLOSE, size, opt_is("folio", "pmd"));
	identity("backing", op == CLOSE ? "memfd" : "tmpfs");
	if (opt_is("state", "swapped-half"))
		identity("swap", swap_add(param("size") / 2));
}

static void prepare(void)
{
	struct folio_counts start = folio_counts();

	op = (enum op)opt_index("op");
	size = param("size");
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	kept = op == UNDO ? (int64_t)(size / stride + page) : 0;
	taken = shmem_taken(op == CLOSE);
	swap = swap_used();
	fd = shmem_create(op == CLOSE);
	if (op == UNDO)
		shmem_write(fd, size + page, stride); /* the page behind `size` takes the block */
	else
		shmem_fill(fd, size, opt_is("fill", "write"));
	pages((size - (uint64_t)kept) / page);
	check_equal("filled_bytes", op == UNDO ? kept : (int64_t)size, shmem_file_bytes(fd));
	check_folio_order(&start, opt_is("folio", "pmd") ? size : 0);
	if (opt_is("state", "swapped-half"))
		check_equal("swapped_pages", size / page / 2,
			    pageout_chunks(fd, size, 16 * page, 32 * page));
	else
		check_at_most("swapped_bytes", size / 100, swap_used() - swap);
	if (op == UNLINK)
		close(fd);
	freed = vmstat("pgfree");
}

static void measure(void)
{
	int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, error;

	region_begin();
	error = op == FTRUNCATE ? ftruncate(fd, 0)
		: op == CLOSE	? close(fd)
		: op == UNLINK	? unlink(shmem_path())
				: fallocate(fd, op == PUNCH ? punch : 0, 0, (off_t)size);
	region_end();
	check_call(opt("op"), error, op == UNDO ? ENOSPC : 0);
	metric_times();
}

static void verify(void)
{
	/* That op=undo did not fail at its first page: half of them may have been in swap. */
	check_at_least("pages_freed", (size - kept) / page * 9 / 20, vmstat("pgfree") - freed);
	check_at_most("swap_left", size / 4, swap_used() - swap);
	/* What other programs do with tmpfs shows where only the box's sum can be asked. */
	check_at_most("bytes_left", kept + (op == CLOSE ? (int64_t)size / 100 : 0),
		      shmem_taken(op == CLOSE) - taken);
	if (op == UNDO)
		check_equal("pages_kept", kept / page,
			    shmem_count_written(fd, size + page, stride));
}

static const struct case_decl shmem_truncate = {
	.name = "shmem-truncate",
	.summary = "drop all pages of a tmpfs file or memfd",
	.needs = {.root = true, .memory = {"size", 1030, 64 << 20}, .chosen = chosen},
	.options = {{"op", "how they are dropped",
		     LIST("ftruncate", "punch", "close", "unlink", "undo")},
		    {"folio", "order of the folios", LIST("4k", "pmd")},
		    {"fill", "how the file is filled", LIST("fallocate", "write")},
		    {"state", "all in memory, or half in swap", LIST("resident", "swapped-half")}},
	.variants = LIST("op=ftruncate", "op=punch", "op=close", "op=unlink",
			 "op=ftruncate,folio=pmd", "op=punch,folio=pmd", "op=close,folio=pmd",
			 "op=unlink,folio=pmd", "op=ftruncate,fill=write", "op=undo,fill=write",
			 "op=ftruncate,state=swapped-half"),
	.senseless = LIST("op=undo,folio=pmd", "op=undo,fill=fallocate",
			  "op=undo,state=swapped-half", "folio=pmd,state=swapped-half"),
	.params = {{"size", "bytes", 16 << 20, 1 << 30, 8ULL << 30, 2 << 20}},
	.metrics = case_time_metrics,
	.touches = LIST("op=close: /sys/kernel/mm/transparent_hugepage/shmem_enabled, restored",
			"state=swapped-half: a swap area (zram, or --swap-device), removed"),
	.functions = LIST("shmem_undo_range", "shmem_fallocate", "shmem_evict_inode"),
	.per = LIST("page"),
	.setup = setup,
	.prepare = prepare,
	.measure = measure,
	.verify = verify,
};
CASE_MAIN(shmem_truncate)
