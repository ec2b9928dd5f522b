// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is a kernel's tmpfs right? Random writes, stores through a mapping, truncates, punches,
 * fallocates (failing ones included, which the kernel must undo) and swap-outs on one file, held
 * against a model in memory: the bytes, and, with 4 KiB folios, exactly how many pages the inode
 * owns. At the end nothing may be left: the memory cgroup's charge, Shmem, the mount's blocks.
 *
 * shmem_model MOUNT_DIR huge=never|always SWAPS(0|1) SEED STEPS
 *
 * Runs as root in a guest (ci/boot.sh): it mounts a tmpfs and makes a cgroup of its own.
 * Prints one line; exit 0 right, 1 wrong (with the step), 2 usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 2048	 /* of the largest file */
#define LIMIT_PAGES 1536 /* of the mount: a fallocate of more fails and is undone */
#define CGROUP "/sys/fs/cgroup/shmem-model"

static unsigned char model[PAGES * PAGE];
static unsigned char owned[PAGES]; /* the inode has this page */
static size_t size;		   /* of the file, bytes */
static long step;
static const char *last_op = "start";
static uint64_t seed;

static __attribute__((noreturn, format(printf, 1, 2))) void wrong(const char *fmt, ...)
{
	va_list ap;

	printf("not ok - step %ld (%s): ", step, last_op);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	exit(1);
}

static size_t pick(size_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static long owned_pages(void)
{
	long n = 0;

	for (int i = 0; i < PAGES; i++)
		n += owned[i];
	return n;
}

static void own(size_t from, size_t to)
{
	for (size_t i = from / PAGE; i < (to + PAGE - 1) / PAGE; i++)
		owned[i] = 1;
}

/* Pages wholly inside [from, to) go; the ends are zeroed. */
static void disown(size_t from, size_t to)
{
	for (size_t i = (from + PAGE - 1) / PAGE; i < to / PAGE; i++)
		owned[i] = 0;
	if (to > from)
		memset(model + from, 0, to - from);
}

/* A step that allocates may meet the mount's limit: then it tells how much was done. */
static void do_write(int fd)
{
	size_t from = pick(PAGES * PAGE), len = 1 + pick(64 * PAGE);
	static unsigned char buf[64 * PAGE];
	ssize_t n;

	if (from + len > sizeof(model))
		len = sizeof(model) - from;
	for (size_t i = 0; i < len; i++)
		buf[i] = (unsigned char)(step * 31 + i);
	n = pwrite(fd, buf, len, from);
	if (n < 0 && errno != ENOSPC)
		wrong("pwrite: %s", strerror(errno));
	if (n <= 0)
		return;
	memcpy(model + from, buf, n);
	own(from, from + n);
	if (from + n > size)
		size = from + n;
}

/* exact: a fault takes one page; a large folio could meet the mount's limit, which is a SIGBUS. */
static void do_store(unsigned char *map, int exact)
{
	size_t from, len;

	if (!size)
		return;
	from = pick(size);
	len = 1 + pick(16 * PAGE);
	if (from + len > size)
		len = size - from;
	for (size_t i = from / PAGE; i <= (from + len - 1) / PAGE; i++)
		if (!owned[i] && (!exact || owned_pages() >= LIMIT_PAGES - 64))
			return;
	own(from, from + len);
	for (size_t i = 0; i < len; i++)
		map[from + i] = model[from + i] = (unsigned char)(step * 17 + i);
}

static void do_truncate(int fd)
{
	size_t to = pick(4) ? pick(PAGES * PAGE) : 0;

	if (ftruncate(fd, to))
		wrong("ftruncate: %s", strerror(errno));
	if (to < size) {
		disown(to, PAGES * PAGE);
		memset(model + to, 0, sizeof(model) - to);
	}
	size = to;
}

static void do_punch(int fd)
{
	size_t from = pick(PAGES * PAGE), len = 1 + pick(PAGES * PAGE / 2);

	if (from + len > sizeof(model))
		len = sizeof(model) - from;
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, len))
		wrong("punch: %s", strerror(errno));
	disown(from, from + len);
}

static void do_fallocate(int fd)
{
	size_t from = pick(PAGES * PAGE), len = 1 + pick(PAGES * PAGE);

	if (from + len > sizeof(model))
		len = sizeof(model) - from;
	if (fallocate(fd, 0, from, len)) {
		if (errno != ENOSPC)
			wrong("fallocate: %s", strerror(errno));
		return;
	}
	own(from, from + len);
	if (from + len > size)
		size = from + len;
}

static void check(int fd, int exact)
{
	static unsigned char buf[PAGES * PAGE];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		wrong("fstat: %s", strerror(errno));
	if ((size_t)st.st_size != size)
		wrong("size: expected %zu, found %lld", size, (long long)st.st_size);
	if (exact && st.st_blocks != owned_pages() * (PAGE / 512))
		wrong("blocks: expected %ld, found %lld", owned_pages() * (PAGE / 512),
		      (long long)st.st_blocks);
	n = pread(fd, buf, sizeof(buf), 0);
	if (n != (ssize_t)size)
		wrong("read: expected %zu bytes, found %zd", size, n);
	for (size_t i = 0; i < size; i++)
		if (buf[i] != model[i])
			wrong("byte %zu: expected %d, found %d", i, model[i], buf[i]);
}

/* A number after NAME in FILE, or the first of the file without a name. */
static long number(const char *file, const char *name)
{
	char line[256];
	FILE *f = fopen(file, "re");
	long value = -1;

	if (!f)
		wrong("%s: %s", file, strerror(errno));
	while (value < 0 && fgets(line, sizeof(line), f))
		if (!name)
			value = strtol(line, NULL, 10);
		else if (!strncmp(line, name, strlen(name)))
			value = strtol(line + strlen(name), NULL, 10);
	fclose(f);
	return value;
}

/* The kernel's counters lag behind by what each CPU still holds; this adds it up. */
static void settle_counters(void)
{
	FILE *f = fopen("/proc/sys/vm/stat_refresh", "we");

	if (!f || fputs("1", f) < 0 || fclose(f))
		wrong("stat_refresh: %s", strerror(errno));
}

static void enter_cgroup(void)
{
	FILE *f;

	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		wrong("mkdir %s: %s", CGROUP, strerror(errno));
	f = fopen(CGROUP "/cgroup.procs", "we");
	if (!f || fprintf(f, "0") < 0 || fclose(f))
		wrong("%s/cgroup.procs: %s", CGROUP, strerror(errno));
}

static void check_nothing_left(const char *dir, long shmem, int swaps)
{
	struct statfs fs;
	/* Each CPU keeps up to 64 freed swap slots, charged, for a while. */
	const long cached_slots = 64 * PAGE * sysconf(_SC_NPROCESSORS_ONLN);
	long left, charged;

	last_op = "end";
	settle_counters();
	left = number("/proc/meminfo", "Shmem:") - shmem;
	charged = number(CGROUP "/memory.stat", "shmem ");
	if (statfs(dir, &fs) || fs.f_bfree != fs.f_blocks)
		wrong("the mount still holds %lld blocks", (long long)(fs.f_blocks - fs.f_bfree));
	if (left)
		wrong("Shmem is off by %ld kB", left);
	if (charged)
		wrong("the memory cgroup is still charged %ld bytes of shmem", charged);
	if (swaps && number(CGROUP "/memory.swap.current", NULL) > cached_slots)
		wrong("the memory cgroup still owns %ld bytes of swap",
		      number(CGROUP "/memory.swap.current", NULL));
}

int main(int argc, char **argv)
{
	char options[64], path[256];
	int fd, exact, swaps;
	unsigned char *map;
	long steps, shmem;

	if (argc != 6) {
		fprintf(stderr, "usage: shmem_model DIR huge=never|always SWAPS SEED STEPS\n");
		return 2;
	}
	swaps = atoi(argv[3]);
	seed = strtoull(argv[4], NULL, 0) * 2654435761u + 88172645463325252u;
	steps = atol(argv[5]);
	exact = !strcmp(argv[2], "huge=never");
	settle_counters();
	shmem = number("/proc/meminfo", "Shmem:");
	enter_cgroup();
	snprintf(options, sizeof(options), "size=%dk,%s", LIMIT_PAGES * PAGE / 1024, argv[2]);
	if (mount("tmpfs", argv[1], "tmpfs", 0, options))
		wrong("mount tmpfs (%s): %s", options, strerror(errno));
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || map == MAP_FAILED)
		wrong("%s: %s", path, strerror(errno));
	for (step = 1; step <= steps; step++) {
		switch (pick(swaps ? 7 : 6)) {
		case 0:
			last_op = "write";
			do_write(fd);
			break;
		case 1:
			last_op = "store";
			do_store(map, exact);
			break;
		case 2:
			last_op = "truncate";
			do_truncate(fd);
			break;
		case 3:
		case 4:
			last_op = "punch";
			do_punch(fd);
			break;
		case 5:
			last_op = "fallocate";
			do_fallocate(fd);
			break;
		case 6:
			last_op = "pageout";
			if (madvise(map, PAGES * PAGE, MADV_PAGEOUT))
				wrong("pageout: %s", strerror(errno));
			break;
		}
		check(fd, exact);
	}
	munmap(map, PAGES * PAGE);
	close(fd);
	if (unlink(path))
		wrong("unlink: %s", strerror(errno));
	check_nothing_left(argv[1], shmem, swaps);
	if (umount(argv[1]))
		wrong("umount: %s", strerror(errno));
	printf("ok - %ld steps, %s, swap %s\n", steps, argv[2], swaps ? "used" : "unused");
	return 0;
}
