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

static const uint64_t pageout_chunk = 8 << 20, memcg_chunk = 128 << 20, sample_size = 2 << 20;

struct job {
	int fd;
	uint64_t size, chunk;
	const struct shadows_plan *plan;
	atomic_uint_least64_t next; /* where the next chunk begins */
	atomic_uint_least64_t cached, evicted;
	atomic_int error; /* the first one, and where: */
	const char *step;
	int64_t above_order_0;
	unsigned int threads;
	pthread_barrier_t barrier;
};

struct member {
	struct job *job;
	uint64_t number; /* from 0 */
	pthread_t thread;
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

static uint64_t chunk_length(const struct job *job, uint64_t at)
{
	return job->size - at < job->chunk ? job->size - at : job->chunk;
}

static void pageout(struct job *job, uint64_t at, uint64_t length)
{
	char *map = map_populated(job, at, length);

	if (!map)
		return;
	/* The first chunk stands for all. */
	if (at == 0 && job->above_order_0 < 0)
		job->above_order_0 = folio_pages_above_order_0(map, length);
	failed(job, "MADV_PAGEOUT", madvise(map, length, MADV_PAGEOUT) ? errno : 0);
	munmap(map, length);
}

/* One of several threads, each on a CPU of its own: the next chunk, until there is none. */
static void *pageout_chunks_of(void *arg)
{
	struct job *job = ((struct member *)arg)->job;
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

/* Runs `work` in as many threads, each on a CPU of its own. */
static void run_threads(struct job *job, void *(*work)(void *))
{
	struct member member[THREADS_MAX];
	cpu_set_t allowed, one;
	unsigned int i;
	size_t cpu = 0;
	int error;

	job->threads = threads(job->plan, &allowed);
	pthread_barrier_init(&job->barrier, NULL, job->threads);
	for (i = 0; i < job->threads; i++, cpu++) {
		pthread_attr_t attr;

		while (!CPU_ISSET(cpu, &allowed))
			cpu++;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		member[i].job = job;
		member[i].number = i;
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
		error = pthread_create(&member[i].thread, &attr, work, &member[i]);
		pthread_attr_destroy(&attr);
		if (error)
			run_broken("pthread_create: %s", strerror(error));
	}
	for (i = 0; i < job->threads; i++)
		pthread_join(member[i].thread, NULL);
	pthread_barrier_destroy(&job->barrier);
}

/* The order of the folios that are read in, by such as can be mapped, before all others. */
static void see_folios(struct job *job)
{
	uint64_t length = job->size < sample_size ? job->size : sample_size;
	char *map;

	if (failed(job, "fill", job->plan->fill_sample(job->fd, 0, length, -1)))
		return;
	map = map_populated(job, 0, length);
	if (!map)
		return;
	job->above_order_0 = folio_pages_above_order_0(map, length);
	munmap(map, length);
}

/*
 * Reclaim takes what is oldest in the memcg, whoever put it there: so all threads fill, then all
 * reclaim. Thread `i` of `count` has every count-th chunk.
 */
static void *reclaim_chunks_of(void *arg)
{
	struct member *me = arg;
	struct job *job = me->job;
	uint64_t at = me->number * job->chunk;

	for (; at - me->number * job->chunk < job->size; at += job->threads * job->chunk) {
		if (at < job->size)
			failed(job, "fill",
			       job->plan->fill(job->fd, at, chunk_length(job, at), sched_getcpu()));
		pthread_barrier_wait(&job->barrier);
		if (job->error)
			break;
		memcg_reclaim(job->plan->memcg, at < job->size ? chunk_length(job, at) : 0);
		pthread_barrier_wait(&job->barrier);
	}
	return NULL;
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

/* Halves the range until all of it is missing or it is small, and fills it again. */
static void fill_gaps(struct job *job, uint64_t at, uint64_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), half = length / page / 2 * page;
	struct cached now = cachestat_of(job->fd, at, length);

	if (now.cached + now.evicted >= length / page || job->error)
		return;
	if (length <= sample_size) {
		failed(job, "fill", job->plan->fill(job->fd, at, length, -1));
		return;
	}
	fill_gaps(job, at, half);
	fill_gaps(job, at + half, length - half);
}

/* One of several threads: counts its part of the file; a walk of 200 GiB takes seconds. */
static void *count(void *arg)
{
	struct member *me = arg;
	struct job *job = me->job;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t part = job->size / page / job->threads * page, from = me->number * part;
	struct cached found;

	if (me->number == job->threads - 1)
		part = job->size - from;
	if (!part)
		return NULL;
	found = cachestat_of(job->fd, from, part);
	atomic_fetch_add(&job->cached, found.cached);
	atomic_fetch_add(&job->evicted, found.evicted);
	return NULL;
}

struct shadows shadows_make(int fd, uint64_t size, const struct shadows_plan *plan)
{
	struct job job = {.fd = fd, .size = size, .plan = plan, .above_order_0 = -1};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct shadows made = {0};
	int round;

	job.chunk = plan->chunk ? plan->chunk : plan->memcg ? memcg_chunk : pageout_chunk;
	if (plan->memcg)
		see_folios(&job);
	run_threads(&job, plan->memcg ? reclaim_chunks_of : pageout_chunks_of);
	for (round = 0; round < ROUNDS && !job.error; round++) {
		job.cached = job.evicted = 0;
		run_threads(&job, count);
		if (!job.cached && (!plan->memcg || job.evicted == size / page))
			break;
		if (plan->memcg) {
			fill_gaps(&job, 0, size);
			memcg_reclaim(plan->memcg, job.chunk);
		} else {
			pageout_rest(&job, 0, size);
		}
	}
	if (job.error)
		run_broken("%s of a file of %" PRIu64 " bytes: %s", job.step, size,
			   strerror(job.error));
	made.cached = job.cached;
	made.evicted = job.evicted;
	made.above_order_0 = job.above_order_0;
	return made;
}
