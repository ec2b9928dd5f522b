// SPDX-License-Identifier: GPL-2.0-only
#include "sys/puncher.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "sys/cpus.h"
#include "sys/end.h"
#include "sys/io.h"

static struct {
	pthread_t thread;
	int fd, cpu;
	uint64_t from, bytes, piece;
	atomic_bool stop;
	int error; /* of the call that failed, which ends the thread */
	struct punched done;
} puncher;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *punch(void *unused)
{
	const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	uint64_t at = 0;
	double begin;

	(void)unused;
	cpu_pin(puncher.cpu);
	begin = now();
	while (!puncher.stop && !puncher.error) {
		off_t from = (off_t)(puncher.from + at), piece = (off_t)puncher.piece;

		if (!io_allocate(puncher.fd, hole, from, piece) ||
		    !io_allocate(puncher.fd, 0, from, piece))
			puncher.error = errno;
		puncher.done.punches++;
		at = (at + puncher.piece) % puncher.bytes;
	}
	puncher.done.per_second = (double)puncher.done.punches / (now() - begin);
	return NULL;
}

void puncher_start(int fd, uint64_t from, uint64_t bytes, uint64_t piece, int cpu)
{
	memset(&puncher, 0, sizeof(puncher));
	puncher.fd = fd;
	puncher.cpu = cpu;
	puncher.from = from;
	puncher.bytes = bytes;
	puncher.piece = piece;
	if (pthread_create(&puncher.thread, NULL, punch, NULL))
		run_broken("the thread that punches cannot be started");
}

struct punched puncher_stop(void)
{
	puncher.stop = true;
	pthread_join(puncher.thread, NULL);
	if (puncher.error)
		run_fail("punch or refill %" PRIu64 ": wanted success, found: %s",
			 puncher.done.punches, strerror(puncher.error));
	return puncher.done;
}
