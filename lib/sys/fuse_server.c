// SPDX-License-Identifier: GPL-2.0-only
#define FUSE_USE_VERSION 35

#include "sys/fuse_server.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/cgroup.h"
#include "sys/end.h"
#include "sys/io.h"
#include "sys/tmpfs.h"
#include "sys/vmstat.h"

#define FILE_INO 2
#define FILE_NAME "file"

/* One request or notification; 256 pages is the largest that libfuse 3 asks for. */
static const size_t buffer_size = 1 << 20;
/* readahead(2) goes by no larger steps. */
static const uint64_t window_max = 2 << 20;
/* Seconds: longer than any run, so that attributes are asked for once. */
static const double forever = 1e9;

/* How pages get into the page cache. */
enum fill { STORED, READ, REFUSED };

struct fill_range {
	uint64_t offset, length;
	int64_t cpu; /* to do it on; -1: any */
	int64_t how; /* enum fill */
};

/* What the file's owner asks of the server, through the file. */
#define CONTROL_FILL _IOW('B', 1, struct fill_range)
#define CONTROL_COUNTS _IOR('B', 2, struct fuse_server_counts)

/* --- the server, in its own process; several threads ---------------------------------------- */

static struct fuse_session *session;
static void *zeroes; /* buffer_size bytes */
static cpu_set_t anywhere;
static atomic_uint_least64_t file_size, opens, reads, read_bytes, stores, store_bytes;
static atomic_bool refusing; /* to answer reads */
static char own_path[300];
static int own_fd = -1; /* the server's own descriptor of its file; below 0: -errno */
static uint64_t window; /* bytes that one readahead(2) of it reads */
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static struct stat attributes(fuse_ino_t ino)
{
	struct stat st = {.st_ino = ino, .st_nlink = 1, .st_uid = geteuid(), .st_gid = getegid()};

	st.st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0500 : S_IFREG | 0600;
	st.st_size = ino == FUSE_ROOT_ID ? 0 : (off_t)atomic_load(&file_size);
	st.st_blksize = (blksize_t)buffer_size;
	/* Any moment will do that stays the same. */
	st.st_atim.tv_sec = st.st_mtim.tv_sec = st.st_ctim.tv_sec = 1;
	return st;
}

static void serve_init(void *data, struct fuse_conn_info *conn)
{
	(void)data;
	conn->max_write = (unsigned int)buffer_size;
	conn->max_background = 64;
	conn->congestion_threshold = 64;
	/* A size or time of the kernel's own would make it drop pages, and so would writing back. */
	conn->want &= ~(unsigned int)(FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_AUTO_INVAL_DATA |
				      FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				      FUSE_CAP_SPLICE_MOVE);
}

static void serve_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param entry = {.ino = FILE_INO,
					 .attr = attributes(FILE_INO),
					 .attr_timeout = forever,
					 .entry_timeout = forever};

	if (parent == FUSE_ROOT_ID && !strcmp(name, FILE_NAME))
		fuse_reply_entry(req, &entry);
	else
		fuse_reply_err(req, ENOENT);
}

static void serve_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = attributes(ino);

	(void)fi;
	fuse_reply_attr(req, &st, forever);
}

static void serve_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set,
			  struct fuse_file_info *fi)
{
	if (ino == FILE_INO && (set & FUSE_SET_ATTR_SIZE))
		atomic_store(&file_size, (uint64_t)attr->st_size);
	serve_getattr(req, ino, fi);
}

static void serve_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	if (ino != FILE_INO) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	atomic_fetch_add(&opens, 1);
	fi->keep_cache = 0;
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 11)
	/* A process that is killed has nothing to ask when it closes. */
	fi->noflush = 1;
#endif
	fuse_reply_open(req, fi);
}

static void serve_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	uint64_t end = atomic_load(&file_size), from = (uint64_t)offset;
	size_t left = from < end ? (size_t)(end - from < size ? end - from : size) : 0;

	(void)ino;
	(void)fi;
	if (left > buffer_size) {
		fuse_reply_err(req, EIO);
		return;
	}
	atomic_fetch_add(&reads, 1);
	if (atomic_load(&refusing)) {
		fuse_reply_err(req, EIO);
		return;
	}
	atomic_fetch_add(&read_bytes, left);
	fuse_reply_buf(req, zeroes, left);
}

/*
 * Pages that were just added wait in a batch of the CPU that added them, where reclaim on another
 * CPU does not find them. A worker that cannot be moved stores where it is.
 */
static void run_on(int64_t cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), cpu < 0 ? &anywhere : &one);
}

/* 0, or the error. */
static int store(const struct fill_range *range)
{
	uint64_t at, size;
	int error;

	for (at = range->offset; at < range->offset + range->length; at += size) {
		struct fuse_bufvec buffer = FUSE_BUFVEC_INIT(0);

		size = range->offset + range->length - at;
		size = size < buffer_size ? size : buffer_size;
		buffer.buf[0].size = size;
		buffer.buf[0].mem = zeroes;
		error = fuse_lowlevel_notify_store(session, FILE_INO, (off_t)at, &buffer,
						   (enum fuse_buf_copy_flags)0);
		if (error)
			return -error;
		atomic_fetch_add(&stores, 1);
		atomic_fetch_add(&store_bytes, size);
	}
	return 0;
}

/*
 * Once, by a worker; another one answers. The file system's readahead window is raised to the
 * largest chunk that readahead(2) reads at once: it is this mount's own, and ends with it.
 */
static void open_own(void)
{
	char knob[64], text[16];
	struct stat st;
	int64_t kib = -1;
	int f;

	own_fd = io_open(own_path, O_RDONLY, 0);
	if (own_fd < 0 || fstat(own_fd, &st)) {
		own_fd = -errno;
		return;
	}
	snprintf(knob, sizeof(knob), "/sys/class/bdi/%u:%u/read_ahead_kb", major(st.st_dev),
		 minor(st.st_dev));
	snprintf(text, sizeof(text), "%ju", (uintmax_t)(window_max >> 10));
	f = io_open(knob, O_WRONLY, 0);
	if (f >= 0) {
		kib = io_write_once(f, text) ? file_number(knob) : -1;
		close(f);
	}
	/* What it was is the default of all file systems, but can only be read where it is told. */
	window = kib > 0 ? (uint64_t)kib << 10 : 128 << 10;
	posix_fadvise(own_fd, 0, 0, POSIX_FADV_NORMAL); /* takes the new window */
}

/* 0, or the error. The requests are queued then, not all answered. */
static int read_ahead(const struct fill_range *range)
{
	uint64_t at, end = range->offset + range->length;

	pthread_once(&opened, open_own);
	if (own_fd < 0)
		return -own_fd;
	atomic_store(&refusing, range->how == REFUSED);
	for (at = range->offset; at < end; at += window)
		if (readahead(own_fd, (off_t)at, end - at < window ? end - at : window))
			return errno;
	return 0;
}

static int fill(const struct fill_range *range)
{
	uint64_t end = atomic_load(&file_size);

	if (range->length > end || range->offset > end - range->length)
		return EINVAL;
	run_on(range->cpu);
	return range->how == STORED ? store(range) : read_ahead(range);
}

static void serve_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int command, void *arg,
			struct fuse_file_info *fi, unsigned int flags, const void *in,
			size_t in_size, size_t out_size)
{
	struct fuse_server_counts counts = {atomic_load(&opens), atomic_load(&reads),
					    atomic_load(&read_bytes), atomic_load(&stores),
					    atomic_load(&store_bytes)};
	int error = ENOTTY;

	(void)arg;
	(void)fi;
	(void)flags;
	if (ino == FILE_INO && command == CONTROL_FILL && in_size == sizeof(struct fill_range)) {
		error = fill(in);
	} else if (ino == FILE_INO && command == CONTROL_COUNTS && out_size == sizeof(counts)) {
		fuse_reply_ioctl(req, 0, &counts, sizeof(counts));
		return;
	}
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_ioctl(req, 0, NULL, 0);
}

static const struct fuse_lowlevel_ops operations = {
	.init = serve_init,
	.lookup = serve_lookup,
	.getattr = serve_getattr,
	.setattr = serve_setattr,
	.open = serve_open,
	.read = serve_read,
	.ioctl = serve_ioctl,
};

/* Tells the parent how starting ended: one line, "" when it serves. */
static int say_fd = -1;

static void say_end(enum run_end how, const char *reason)
{
	dprintf(say_fd, "%c%s\n", how == END_SKIP ? 's' : 'b', reason);
	_exit(end_exit_code(how));
}

/* The parent's death ends it, and nothing else: a ^C goes to all, and is the parent's to answer. */
static void follow(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(end_exit_code(END_BROKEN));
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

/* What is mounted is not entered in /etc/mtab, nor by a setuid helper: it is nobody's but ours. */
static int mount_fuse(const char *dir)
{
	char options[128];
	int fd = io_open("/dev/fuse", O_RDWR, 0);

	if (fd < 0)
		run_skip("wanted /dev/fuse, found: %s", strerror(errno));
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=%u,group_id=%u,max_read=%zu",
		 fd, S_IFDIR | 0500, geteuid(), getegid(), buffer_size);
	if (mount("before-after", dir, "fuse.before-after", MS_NOSUID | MS_NODEV, options))
		run_skip("wanted the right to mount FUSE on %s, found: %s", dir, strerror(errno));
	return fd;
}

struct start {
	const char *dir, *memcg, *pages;
	int said;
	pid_t parent;
};

static int serve(void *arg)
{
	const struct start *start = arg;
	char *argv[] = {(char[]){"before-after"}, NULL}, device[32];
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_loop_config config = {.clone_fd = 0, .max_idle_threads = 4};
	int fd;

	follow(start->parent);
	say_fd = start->said;
	end_set_handler(say_end);
	if (!io_dup2(say_fd, 3))
		run_broken("dup2: %s", strerror(errno));
	say_fd = 3;
	/* Records, perf's control and the lock are the parent's. */
	close_range(4, ~0U, 0);
	prctl(PR_SET_NAME, "fuse-server");
	if (start->memcg)
		memcg_join(start->memcg);
	sched_getaffinity(0, sizeof(anywhere), &anywhere);
	snprintf(own_path, sizeof(own_path), "%s/" FILE_NAME, start->dir);
	zeroes = mmap(NULL, buffer_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	session = fuse_session_new(&args, &operations, sizeof(operations), NULL);
	if (zeroes == MAP_FAILED || !session)
		run_broken("FUSE session: %s", strerror(errno));
	fd = mount_fuse(start->dir);
	snprintf(device, sizeof(device), "/dev/fd/%d", fd);
	if (fuse_session_mount(session, device))
		run_broken("FUSE session: libfuse refuses %s", device);
	dprintf(say_fd, "\n");
	close(say_fd);
	/* Ends when the mount does; the parent kills it before that. */
	_exit(fuse_session_loop_mt(session, &config) ? end_exit_code(END_BROKEN) : 0);
}

/*
 * A page is charged to the memcg of the memory's owner, a node of the tree to the memcg of who
 * allocates it. So that these are two, this process is in one, owns the memory and sleeps, and the
 * server is another process, in the other one, that shares its memory. Sleeping also leaves it the
 * thread-local variables, which are shared as well.
 */
static _Noreturn void own_pages(struct start *start)
{
	const size_t stack_size = 256 << 10;
	char *stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	follow(start->parent);
	start->parent = getpid();
	say_fd = start->said;
	end_set_handler(say_end);
	memcg_join(start->pages);
	pid = stack == MAP_FAILED ? -1
				  : clone(serve, stack + stack_size, CLONE_VM | SIGCHLD, start);
	if (pid < 0)
		run_broken("the FUSE server cannot be started: %s", strerror(errno));
	close_range(3, ~0U, 0);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(end_exit_code(END_BROKEN));
}

/* --- the parent -------------------------------------------------------------------------------- */

pid_t fuse_server_start(const char *name, uint64_t size, const char *memcg, const char *pages)
{
	char dir[256], line[512] = "";
	struct start start = {.dir = dir, .memcg = memcg, .pages = pages, .parent = getpid()};
	pid_t pid;
	int said[2];
	FILE *f;

	scratch_mountpoint(dir, sizeof(dir), name);
	atomic_store(&file_size, size);
	if (pipe2(said, O_CLOEXEC))
		run_broken("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		run_broken("fork: %s", strerror(errno));
	start.said = said[1];
	if (pid == 0 && pages)
		own_pages(&start);
	if (pid == 0)
		serve(&start);
	close(said[1]);
	f = fdopen(said[0], "r");
	if (!f || !fgets(line, sizeof(line), f))
		snprintf(line, sizeof(line), "bthe FUSE server died while starting");
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (!*line)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (*line == 's')
		run_skip("%s", line + 1);
	run_broken("%s", line + 1);
}

void fuse_server_file(char *buf, size_t size, const char *name)
{
	char dir[256];

	scratch_path(dir, sizeof(dir), name);
	snprintf(buf, size, "%s/" FILE_NAME, dir);
}

static int ask_to_fill(int fd, uint64_t offset, uint64_t length, int cpu, enum fill how)
{
	struct fill_range range = {offset, length, cpu, how};

	return io_ioctl(fd, CONTROL_FILL, &range) ? errno : 0;
}

int fuse_server_store(int fd, uint64_t offset, uint64_t length, int cpu)
{
	return ask_to_fill(fd, offset, length, cpu, STORED);
}

int fuse_server_read(int fd, uint64_t offset, uint64_t length, int cpu)
{
	return ask_to_fill(fd, offset, length, cpu, READ);
}

int fuse_server_refuse(int fd, uint64_t offset, uint64_t length, int cpu)
{
	return ask_to_fill(fd, offset, length, cpu, REFUSED);
}

struct fuse_server_counts fuse_server_counts(int fd)
{
	struct fuse_server_counts counts = {0};

	if (io_ioctl(fd, CONTROL_COUNTS, &counts))
		run_broken("the FUSE server cannot be asked: %s", strerror(errno));
	return counts;
}
