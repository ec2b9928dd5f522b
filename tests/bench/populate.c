// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast the state of shadow-entries is made: GiB of file a second for each way tried, beside the
 * naive recipe (read the file through, reclaim the memcg) and beside filling a tmpfs with as many
 * pages. Ways are interleaved, each run on a mount of its own; medians over rounds.
 *
 *	populate [GIB [ROUNDS]]		default 4 GiB, 3 rounds
 */
#define FUSE_USE_VERSION 31

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/cachestat.h"
#include "sys/cgroup.h"
#include "sys/end.h"
#include "sys/fuse_server.h"
#include "sys/owned.h"
#include "sys/shadows.h"
#include "sys/tmpfs.h"

#define ROUNDS_MAX 31

enum way { TMPFS, NAIVE, FAULTS, STORE, STORE_TWO, STORE_MEMCG, READ_MEMCG, REFUSE_MEMCG, WAYS };

static const char *const names[WAYS] = {
	[TMPFS] = "fill a tmpfs (fallocate)",
	[NAIVE] = "naive: cat, plain libfuse server, reclaim",
	[FAULTS] = "faults, MADV_PAGEOUT, 1 thread, 64 MiB",
	[STORE] = "NOTIFY_STORE, MADV_PAGEOUT, 1 thread, 64 MiB",
	[STORE_TWO] = "NOTIFY_STORE, MADV_PAGEOUT: as evict=pageout",
	[STORE_MEMCG] = "NOTIFY_STORE, reclaim the memcg",
	[READ_MEMCG] = "readahead(2), answered, reclaim the memcg",
	[REFUSE_MEMCG] = "readahead(2), refused, reclaim: as evict=memcg",
};

/* What a run says of itself: shared with the process that does it. */
static struct outcome {
	double seconds;
	double kept; /* of the pages, the share whose shadow entries are there */
	char reason[512];
} * outcome;

static uint64_t size;
static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	interrupted = signal;
}

static void on_end(enum run_end how, const char *reason)
{
	(void)how;
	snprintf(outcome->reason, sizeof(outcome->reason), "%s", reason);
	_exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the plain server of the naive recipe: libfuse's high-level interface, all as by default --- */

static int plain_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	st->st_mode = strcmp(path, "/") ? S_IFREG | 0600 : S_IFDIR | 0700;
	st->st_size = strcmp(path, "/") ? (off_t)size : 0;
	return 0;
}

static int plain_read(const char *path, char *buf, size_t length, off_t offset,
		      struct fuse_file_info *fi)
{
	(void)path;
	(void)fi;
	if ((uint64_t)offset >= size)
		return 0;
	if (size - (uint64_t)offset < length)
		length = (size_t)(size - (uint64_t)offset);
	memset(buf, 0, length);
	return (int)length;
}

static const struct fuse_operations plain = {.getattr = plain_getattr, .read = plain_read};

/* Serves SCRATCH/NAME/file; returns when it is there. */
static pid_t plain_start(const char *name, const char *memcg)
{
	char dir[256], path[300];
	struct stat st;
	pid_t pid;
	int tries;

	scratch_mountpoint(dir, sizeof(dir), name);
	snprintf(path, sizeof(path), "%s/file", dir);
	pid = fork();
	if (pid == 0) {
		char *argv[] = {(char[]){"plain"}, (char[]){"-f"}, dir, NULL};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memcg_join(memcg);
		_exit(fuse_main(3, argv, &plain, NULL));
	}
	for (tries = 0; tries < 1000 && stat(path, &st); tries++)
		usleep(10000);
	if (pid < 0 || tries == 1000)
		run_broken("the plain FUSE server does not start");
	return pid;
}

/* --- one run -------------------------------------------------------------------------------- */

static void fill_tmpfs(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	double start = now();

	if (fd < 0 || fallocate(fd, 0, 0, (off_t)size))
		run_broken("%s: %s", path, strerror(errno));
	outcome->seconds = now() - start;
	outcome->kept = 0;
}

static void read_through(int fd, const char *memcg)
{
	static char buf[128 << 10];
	ssize_t got;

	while ((got = read(fd, buf, sizeof(buf))) > 0)
		;
	if (got < 0)
		run_broken("read: %s", strerror(errno));
	memcg_reclaim(memcg, size);
}

static void make_shadows(enum way way, const char *path, const char *memcg)
{
	struct shadows_plan plan = {0};
	int fd = open(path, O_RDWR);
	double start = now();

	if (fd < 0)
		run_broken("%s: %s", path, strerror(errno));
	if (way == FAULTS || way == STORE) {
		plan.threads = 1;
		plan.chunk = 64 << 20;
	}
	if (way != FAULTS)
		plan.fill = fuse_server_store;
	if (way == READ_MEMCG)
		plan.fill = fuse_server_read;
	if (way == REFUSE_MEMCG)
		plan.fill = fuse_server_refuse;
	if (way >= STORE_MEMCG) {
		plan.fill_sample = way == STORE_MEMCG ? fuse_server_store : fuse_server_read;
		plan.memcg = memcg;
	}
	if (way == NAIVE)
		read_through(fd, memcg);
	else
		shadows_make(fd, size, &plan);
	outcome->seconds = now() - start;
	outcome->kept = (double)cachestat_of(fd, 0, size).evicted * (double)sysconf(_SC_PAGESIZE) /
			(double)size;
}

/* One run, in a process, mount and memcg of its own. */
static void run_way(enum way way)
{
	static int number;
	char name[32], path[256], why[256];
	char *memcg = memcg_create("populate");
	char *pages = way >= STORE_MEMCG ? memcg_create("populate-pages") : NULL;
	pid_t server = -1, pid;

	snprintf(name, sizeof(name), "populate%d", number++);
	if (way == TMPFS) {
		tmpfs_mount(name, size + (1 << 20), "never");
		scratch_path(why, sizeof(why), name);
		snprintf(path, sizeof(path), "%.200s/file", why);
	} else {
		server = way == NAIVE ? plain_start(name, memcg)
				      : fuse_server_start(name, size, memcg, pages);
		fuse_server_file(path, sizeof(path), name);
	}
	memset(outcome, 0, sizeof(*outcome));
	pid = fork();
	if (pid == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		end_set_handler(on_end);
		memcg_join(memcg);
		if (way == TMPFS)
			fill_tmpfs(path);
		else
			make_shadows(way, path, pages ? pages : memcg);
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		kill(pid, SIGKILL);
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	if (!owned_release_last(why, sizeof(why)) || !owned_release_last(why, sizeof(why)) ||
	    (pages && !owned_release_last(why, sizeof(why))))
		run_broken("%s", why);
	free(memcg);
	free(pages);
	if (interrupted)
		run_broken("interrupted: %s", strsignal(interrupted));
	if (!outcome->seconds && !*outcome->reason)
		run_broken("%s: died", names[way]);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), ascending);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void give_back(enum run_end how, const char *reason)
{
	char why[256];

	fprintf(stderr, "populate: %s\n", reason);
	if (!owned_release(why, sizeof(why)))
		fprintf(stderr, "populate: not restored: %s\n", why);
	exit(end_exit_code(how));
}

int main(int argc, char **argv)
{
	static double speed[WAYS][ROUNDS_MAX], kept[WAYS][ROUNDS_MAX];
	static char missing[WAYS][512];
	static const char *const avoid[] = {NULL};
	int rounds = argc > 2 ? atoi(argv[2]) : 3, round, way;
	double naive, tmpfs, each;
	char why[256];

	size = (argc > 1 ? strtoull(argv[1], NULL, 10) : 4) << 30;
	if (argc > 3 || !size || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: populate [GIB [ROUNDS]], ROUNDS from 1 to %d\n",
			ROUNDS_MAX);
		return 2;
	}
	end_set_handler(give_back);
	sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	owned_open();
	owned_recover();
	scratch_enter(avoid);
	for (round = 0; round < rounds; round++)
		for (way = 0; way < WAYS; way++) {
			run_way((enum way)way);
			if (*outcome->reason) {
				memcpy(missing[way], outcome->reason, sizeof(missing[way]));
				continue;
			}
			speed[way][round] = (double)(size >> 30) / outcome->seconds;
			kept[way][round] = outcome->kept;
			fprintf(stderr, "round %d of %d: %-48s %6.2f GiB/s\n", round + 1, rounds,
				names[way], speed[way][round]);
		}
	if (!owned_release(why, sizeof(why)))
		run_broken("%s", why);
	naive = median(speed[NAIVE], rounds);
	tmpfs = median(speed[TMPFS], rounds);
	printf("Shadow entries of a %" PRIu64 " GiB file, medians of %d rounds:\n\n", size >> 30,
	       rounds);
	printf("| way | GiB/s | of naive | of tmpfs | entries kept |\n|---|---|---|---|---|\n");
	for (way = 0; way < WAYS; way++) {
		if (*missing[way]) {
			printf("| %s | absent: %s | | | |\n", names[way], missing[way]);
			continue;
		}
		each = median(speed[way], rounds);
		printf("| %s | %.2f | %.2f | %.2f | ", names[way], each, each / naive,
		       each / tmpfs);
		if (way == TMPFS)
			printf("|\n");
		else
			printf("%.2f %% |\n", 100 * median(kept[way], rounds));
	}
	return 0;
}
