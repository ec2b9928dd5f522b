// SPDX-License-Identifier: GPL-2.0-only
/*
 * What removing pages costs others. Pages leave the page cache under the lock of the file's tree
 * (i_pages) with interrupts off; in larger batches it is held longer at a time. While a thread on
 * one CPU punches and refills three quarters of a tmpfs file, fio on another touches the holes of
 * the first quarter for the first time through a mapping: each fault inserts a folio under that lock.
 * (Reads, and faults on pages that are there, never take it.) fio does so in rounds, each on fresh
 * holes; the metrics are the medians of its rounds.
 *
 * With inserters, threads on CPUs of their own punch the last quarters and fault them in again: more
 * for that lock, for a boot that counts who waits for it (make ab LOCKS=1).
 */
#include <stdlib.h>
#include <unistd.h>

#include "case/case.h"
#include "sys/cpus.h"
#include "sys/fio.h"
#include "sys/puncher.h"
#include "sys/shmem.h"

#define ROUNDS_MAX 31

static int fd, cpu[4], inserters; /* CPUs: the puncher's, fio's, the inserters' */
/* Bytes: what fio has, behind it what is punched, and at the end what the inserters have. */
static uint64_t touched, punched, inserted;
static int64_t held; /* the most bytes that the file held before a round */
static struct punched done;
static struct fio_result rounds[ROUNDS_MAX];

static void chosen(void)
{
	int wanted = 2 + atoi(opt("inserters")), found = cpus_first(cpu, wanted);

	if (found < wanted)
		run_skip("wanted %d CPUs, found %d: give the guest or the cpuset more", wanted,
			 found);
}

static void setup(void)
{
	shmem_place(false, param("size") + (1 << 20), false);
	identity("backing", "tmpfs");
	identity("fio", fio_version());
}

static void prepare(void)
{
	inserters = atoi(opt("inserters"));
	cpus_first(cpu, 2 + inserters);
	touched = param("size") / 4;
	inserted = (uint64_t)inserters * touched;
	punched = param("size") - touched - inserted;
	fd = shmem_create(false);
	shmem_fill(fd, param("size"), false);
}

static void measure(void)
{
	char why[300];
	uint64_t i, at = touched + punched;
	int n;

	region_begin();
	puncher_start(fd, touched, punched, param("piece"), REFILL_FALLOCATE, cpu[0]);
	for (n = 0; n < inserters; n++, at += touched)
		puncher_start(fd, at, touched, param("piece"), REFILL_TOUCH, cpu[2 + n]);
	for (i = 0; i < param("rounds"); i++) {
		shmem_punch(fd, 0, touched);
		held = shmem_file_bytes(fd) > held ? shmem_file_bytes(fd) : held;
		if (!fio_touch(shmem_path(), touched, cpu[1], &rounds[i], why, sizeof(why)))
			run_fail("round %d: %s", (int)i + 1, why);
	}
	done = puncher_stop();
	region_end();
}

static void verify(void)
{
	struct fio_result all = fio_median(rounds, param("rounds"));
	uint64_t bytes = done.punches * param("piece") + param("rounds") * touched;

	metric("fault_p50", all.p50_ns);
	metric("fault_p99", all.p99_ns);
	metric("fault_p999", all.p999_ns);
	metric("faults_per_second", all.per_second);
	metric("punches_per_second", done.per_second);
	/* Removed by the thread, and by us before each round. */
	worked_on("page", bytes / (uint64_t)sysconf(_SC_PAGESIZE));
	/* Each write was the first to its page: there was none, and now there is. */
	check_at_most("bytes_before_a_round", (int64_t)(punched + inserted), held);
	check_equal("pages_written", (int64_t)touched / sysconf(_SC_PAGESIZE), all.operations);
	check_equal("bytes_at_the_end", (int64_t)param("size"), shmem_file_bytes(fd));
	check_at_least("punches", (int64_t)param("rounds"), (int64_t)done.punches);
}

static const struct case_decl truncate_neighbour = {
	.name = "truncate-neighbour",
	.summary = "first touches of a tmpfs file (fio) while its other pages are punched out",
	.needs = {.root = true,
		  .memory = {"size", 1030, 128 << 20},
		  .commands = LIST("fio"),
		  .chosen = chosen},
	.options = {{"inserters", "threads that punch quarters of it and fault them in again",
		     LIST("0", "2")}},
	.params = {{"size", "bytes", 64 << 20, 1 << 30, 4ULL << 30, 64 << 20},
		   {"piece", "bytes", 4 << 20, 16 << 20, 16 << 20, 4096},
		   {"rounds", "rounds", 1, 5, 11, 1}},
	.metrics =
		(const struct case_metric[]){
			{"fault_p50", "ns", BETTER_LOWER, NULL},
			{"fault_p99", "ns", BETTER_LOWER, NULL},
			{"fault_p999", "ns", BETTER_LOWER, NULL},
			{"faults_per_second", "faults/s", BETTER_HIGHER, NULL},
			{"punches_per_second", "punches/s", BETTER_HIGHER, NULL},
			{0}},
	.touches = LIST("a tmpfs in the mount namespace of the run"),
	.functions = LIST("shmem_undo_range", "shmem_add_to_page_cache", "shmem_fault"),
	.per = LIST("page"),
	.setup = setup,
	.prepare = prepare,
	.measure = measure,
	.verify = verify,
};
CASE_MAIN(truncate_neighbour)
