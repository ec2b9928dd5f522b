// SPDX-License-Identifier: GPL-2.0-only
#include "sys/shadows.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/cgroup.h"
#include "sys/end.h"
#include "sys/folios.h"
#include "sys/vmstat.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define THREADS_MAX 2
#define ROUNDS 20

static const uint64_t pageout_chunk = 8 << 20, memcg_chunk = 64 << 20;

struct job {
	int fd;
	uint64_t size, chunk;
	const struct shadows_plan *plan;
	atomic_uint_least64_t next; /* where the next chunk begins */
	atomic_int error;	    /* the first one, and where: */
	const char *step;
	int64_t above_order_0;
};

static bool failed(struct job *job, const char *step, int error)
{
	int none = 0;

	if (error && atomic_compare_exchange_strong(&job->error, &none, error))
		job->step = step;
	return error != 0;
}

/* Maps what is cached of the range, reads in the rest. */
static char *map_populated(struct job *job, uint64_t at, uint64_t length)
{
	char *map = mmap(NULL, length, PROT_READ, MAP_SHARED, job->fd, (off_t)at);

	if (map == MAP_FAILED) {
		failed(job, "mmap", errno);
		return NULL;
	}
	/* Read-around would begin before the range, and reach behind it. */
	if ((!job->plan->fill &&
	     failed(job, "madvise", madvise(map, length, MADV_SEQUENTIAL) ? errno : 0)) ||
	    failed(job, "MADV_POPULATE_READ",
		   madvise(map, length, MADV_POPULATE_READ) ? errno : 0)) {
		munmap(map, length);
		return NULL;
	}
	return map;
}

/* The first chunk that comes along stands for all. */
static void look_at_folios(struct job *job, const char *map, uint64_t length)
{
	if (job->above_order_0 < 0)
		job->above_order_0 = folio_pages_above_order_0(map, length);
}

static uint64_t chunk_length(const struct job *job, uint64_t at)
{
	return job->size - at < job->chunk ? job->size - at : job->chunk;
}

static void pageout(struct job *job, uint64_t at, uint64_t length)
{
	char *map = map_populated(job, at, length);

	if (!map)
		return;
	if (at == 0)
		look_at_folios(job, map, length);
	failed(job, "MADV_PAGEOUT", madvise(map, length, MADV_PAGEOUT) ? errno : 0);
	munmap(map, length);
}

/* One of several threads, each on a CPU of its own: the next chunk, until there is none. */
static void *pageout_chunks_of(void *arg)
{
	struct job *job = arg;
	uint64_t at;

	while (!atomic_load(&job->error) &&
	       (at = atomic_fetch_add(&job->next, job->chunk)) < job->size) {
		uint64_t length = chunk_length(job, at);

		if (job->plan->fill &&
		    failed(job, "fill", job->plan->fill(job->fd, at, length, sched_getcpu())))
			break;
		pageout(job, at, length);
	}
	return NULL;
}

/* The CPUs that this process may use, one a thread. */
static unsigned int threads(const struct shadows_plan *plan, cpu_set_t *allowed)
{
	unsigned int wanted = plan->threads ? plan->threads : THREADS_MAX, cpus;

	if (sched_getaffinity(0, sizeof(*allowed), allowed))
		run_broken("sched_getaffinity: %s", strerror(errno));
	cpus = (unsigned int)CPU_COUNT(allowed);
	if (wanted > THREADS_MAX)
		wanted = THREADS_MAX;
	return wanted < cpus ? wanted : cpus;
}

static void by_pageout(struct job *job)
{
	pthread_t thread[THREADS_MAX];
	cpu_set_t allowed, one;
	unsigned int count = threads(job->plan, &allowed), i, started = 0;
	size_t cpu = 0;
	int error;

	for (i = 0; i < count; i++, cpu++) {
		pthread_attr_t attr;

		while (!CPU_ISSET(cpu, &allowed))
			cpu++;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
		error = pthread_create(&thread[i], &attr, pageout_chunks_of, job);
		pthread_attr_destroy(&attr);
		if (failed(job, "pthread_create", error))
			break;
		started++;
	}
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}

/* As many pages, on the memcg's unevictable list, as keep its nodes below the shrinker's limit. */
static void *hold(const char *memcg, uint64_t length)
{
	int64_t available = meminfo("MemAvailable"), locked;
	void *map;

	if (available >= 0 && (uint64_t)available < length + memcg_chunk)
		run_skip("wanted %" PRIu64 " MiB of available memory to keep the memcg's shadow "
			 "entries, found %" PRId64 " MiB",
			 (length + memcg_chunk) >> 20, available >> 20);
	map = mmap(NULL, length, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1, 0);
	/* Asking also brings the counts up to date that the shrinker uses; they may be seconds old. */
	locked = memcg_stat(memcg, "unevictable");
	if (map == MAP_FAILED || locked < (int64_t)length)
		run_skip("wanted %" PRIu64 " MiB of locked memory in %s, found %" PRId64 " MiB",
			 length >> 20, memcg, locked >> 20);
	return map;
}

static void reclaim_chunk(struct job *job, uint64_t at, uint64_t length)
{
	char *map;
	int round;

	if (job->plan->fill && failed(job, "fill", job->plan->fill(job->fd, at, length, -1)))
		return;
	if (at == 0 || !job->plan->fill) {
		map = map_populated(job, at, length);
		if (!map)
			return;
		look_at_folios(job, map, length);
		munmap(map, length);
	}
	for (round = 0; round < ROUNDS; round++) {
		memcg_reclaim(job->plan->memcg, length);
		if (!cachestat_of(job->fd, at, length).cached)
			break;
	}
}

static void by_memcg(struct job *job)
{
	/* An eighth, a bit for the nodes above the lowest level, and for what is counted late. */
	uint64_t length = job->size / 8 + job->size / 256 + (8 << 20), at;
	void *held = hold(job->plan->memcg, length);

	for (at = 0; at < job->size && !job->error; at += job->chunk)
		reclaim_chunk(job, at, chunk_length(job, at));
	munmap(held, length);
}

/* Halves the range until what is cached is all of it; pages there are mapped without reading. */
static void pageout_rest(struct job *job, uint64_t at, uint64_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t cached = cachestat_of(job->fd, at, length).cached, half;

	if (!cached || job->error)
		return;
	if (cached == length / page) {
		pageout(job, at, length);
		return;
	}
	half = length / page / 2 * page;
	pageout_rest(job, at, half);
	pageout_rest(job, at + half, length - half);
}

struct shadows shadows_make(int fd, uint64_t size, const struct shadows_plan *plan)
{
	struct job job = {.fd = fd, .size = size, .plan = plan, .above_order_0 = -1};
	struct shadows made;
	int round;

	job.chunk = plan->chunk ? plan->chunk : plan->memcg ? memcg_chunk : pageout_chunk;
	if (plan->memcg)
		by_memcg(&job);
	else
		by_pageout(&job);
	for (round = 0; round < ROUNDS && !job.error; round++) {
		made.now = cachestat_of(fd, 0, size);
		if (!made.now.cached)
			break;
		pageout_rest(&job, 0, size);
	}
	if (job.error)
		run_broken("%s of a file of %" PRIu64 " bytes: %s", job.step, size,
			   strerror(job.error));
	made.above_order_0 = job.above_order_0;
	return made;
}
