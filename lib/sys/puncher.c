// SPDX-License-Identifier: GPL-2.0-only
#include "sys/puncher.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sys/cpus.h"
#include "sys/end.h"
#include "sys/io.h"

static struct puncher {
	pthread_t thread;
	int fd, cpu;
	uint64_t from, bytes, piece;
	char *map; /* of the range, where pages come back by faults */
	int error; /* of the call that failed, which ends the thread */
	struct punched done;
} punchers[PUNCHERS_MAX];
static int count;
static atomic_bool stop;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void touch(char *map, uint64_t bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at;

	for (at = 0; at < bytes; at += page)
		*(volatile char *)(map + at) = 1;
}

static void *punch(void *arg)
{
	const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	struct puncher *p = arg;
	uint64_t at = 0;
	double begin;

	cpu_pin(p->cpu);
	begin = now();
	while (!stop && !p->error) {
		off_t from = (off_t)(p->from + at), piece = (off_t)p->piece;

		if (!io_allocate(p->fd, hole, from, piece) ||
		    (!p->map && !io_allocate(p->fd, 0, from, piece)))
			p->error = errno;
		else if (p->map)
			touch(p->map + at, p->piece);
		p->done.punches++;
		at = (at + p->piece) % p->bytes;
	}
	p->done.per_second = (double)p->done.punches / (now() - begin);
	return NULL;
}

void puncher_start(int fd, uint64_t from, uint64_t bytes, uint64_t piece, enum refill refill,
		   int cpu)
{
	struct puncher *p = &punchers[count];

	if (count == PUNCHERS_MAX)
		run_broken("wanted at most %d threads that punch", PUNCHERS_MAX);
	stop = false;
	*p = (struct puncher){.fd = fd, .cpu = cpu, .from = from, .bytes = bytes, .piece = piece};
	if (refill == REFILL_TOUCH) {
		p->map = mmap(NULL, bytes, PROT_WRITE, MAP_SHARED, fd, (off_t)from);
		if (p->map == MAP_FAILED)
			run_broken("mapping %" PRIu64 " bytes: %s", bytes, strerror(errno));
	}
	if (pthread_create(&p->thread, NULL, punch, p))
		run_broken("the thread that punches cannot be started");
	count++;
}

struct punched puncher_stop(void)
{
	struct punched all = {0};
	int i;

	stop = true;
	for (i = 0; i < count; i++) {
		struct puncher *p = &punchers[i];

		pthread_join(p->thread, NULL);
		if (p->map)
			munmap(p->map, p->bytes);
		if (p->error)
			run_fail("punch or refill %" PRIu64 ": wanted success, found: %s",
				 p->done.punches, strerror(p->error));
		all.punches += p->done.punches;
	}
	all.per_second = punchers[0].done.per_second;
	count = 0;
	return all;
}
