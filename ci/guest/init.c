// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's first process: mounts what a case may ask for, runs one command, writes exit.json
 * beside its results and powers the guest off.
 *
 * The host leaves command.json in the share `results`:
 *   {"argv": [..], "cwd": "/..", "env": {"NAME": "value"}, "shell": false, "fifo": false}
 * fifo: the command and its children run under SCHED_FIFO, so that on the one CPU of an icount guest
 * no kernel thread and no other process preempts a region whose instructions are counted.
 * shell: it has the console's terminal. Under QEMU the share is 9p; under User-Mode Linux it is hostfs,
 * and BEFORE_AFTER_SHARE of the kernel command line says where it lies in the guest's box.
 *
 * The host finds in the share, in this order: started (init runs), what the command left,
 * exit.json by rename: {"schema":1,"boot":UUID,"exit":N|null,"signal":N|null}.
 * Nothing here is timed. Errors go to the kernel's console, and leave no exit.json behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <jansson.h>

#define RESULTS "/run/results"

static __attribute__((noreturn)) void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1); /* the kernel panics, which the host sees */
}

static __attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("before-after init: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	power_off();
}

/* The host's directories that the guest needs a writable one of, and the kernel's own. */
static const struct place {
	const char *type, *dir, *options;
	int optional;
} mounts[] = {
	{"proc", "/proc", NULL, 0},
	{"sysfs", "/sys", NULL, 0},
	{"devtmpfs", "/dev", NULL, 0},
	{"tmpfs", "/dev/shm", "mode=1777", 0},
	{"devpts", "/dev/pts", "ptmxmode=0666", 1},
	{"tmpfs", "/run", "mode=0755", 0},
	{"tmpfs", "/tmp", "mode=1777", 0},
	{"tmpfs", "/var/tmp", "mode=1777", 1},
	{"cgroup2", "/sys/fs/cgroup", NULL, 1},
	{"tracefs", "/sys/kernel/tracing", NULL, 1},
};

/* What devtmpfs leaves to user space. */
static const struct {
	const char *to, *path;
} links[] = {
	{"/proc/self/fd", "/dev/fd"},
	{"/proc/self/fd/0", "/dev/stdin"},
	{"/proc/self/fd/1", "/dev/stdout"},
	{"/proc/self/fd/2", "/dev/stderr"},
};

static void mount_one(const char *source, const struct place *p)
{
	if (mkdir(p->dir, 0755) && errno != EEXIST && !p->optional)
		give_up("mkdir %s: %s", p->dir, strerror(errno));
	if (!mount(source, p->dir, p->type, 0, p->options))
		return;
	fprintf(stderr, "before-after init: mount %s on %s: %s\n", p->type, p->dir,
		strerror(errno));
	if (!p->optional)
		give_up("cannot go on without %s", p->dir);
}

static void mount_all(void)
{
	const char *share = getenv("BEFORE_AFTER_SHARE");
	const struct place results = {
		share ? "hostfs" : "9p", RESULTS,
		share ? share : "trans=virtio,version=9p2000.L,msize=512000,cache=none", 0};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		mount_one(mounts[i].type, &mounts[i]);
	mount_one("results", &results);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i].to, links[i].path))
			give_up("%s: %s", links[i].path, strerror(errno));
}

/*
 * The repository may lie below a directory that is a tmpfs in here, such as /tmp: then it is
 * bound to its old place, through the descriptor taken before that was mounted over.
 */
static void bind_repository(const char *repo, int fd)
{
	char path[PATH_MAX], proc[32];

	if (!repo || !access(repo, X_OK))
		return;
	snprintf(path, sizeof(path), "%s", repo);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (mount(proc, repo, NULL, MS_BIND, NULL))
		give_up("cannot bind %s: %s", repo, strerror(errno));
}

/* Controllers are handed to child cgroups only where the parent says so. */
static void enable_controllers(void)
{
	static const char want[] = "+memory";
	int fd = open("/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY);

	if (fd < 0 || write(fd, want, sizeof(want) - 1) < 0)
		fprintf(stderr, "before-after init: memory controller: %s\n", strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* The command's output: a console of its own, so that the kernel's log stays the kernel's. */
static void take_console(int shell)
{
	/* QEMU's second console; of User-Mode Linux, where the kernel's is a serial line, the first. */
	const char *name = access("/dev/hvc0", F_OK) ? "/dev/tty0" : "/dev/hvc0";
	int fd = open(name, O_RDWR | O_NOCTTY);
	struct termios tty;

	if (fd < 0 || tcgetattr(fd, &tty))
		give_up("%s: %s", name, strerror(errno));
	if (!shell) {
		cfmakeraw(&tty);
		tcsetattr(fd, TCSANOW, &tty);
	}
	if (shell && ioctl(fd, TIOCSCTTY, 0))
		fprintf(stderr, "before-after init: no job control: %s\n", strerror(errno));
	for (int i = 0; i < 3; i++)
		if (dup2(fd, i) < 0)
			_exit(127);
	if (fd > 2)
		close(fd);
}

static __attribute__((noreturn)) void run_command(json_t *command)
{
	json_t *list = json_object_get(command, "argv");
	json_t *env = json_object_get(command, "env");
	const char *cwd = json_string_value(json_object_get(command, "cwd"));
	char **argv = calloc(json_array_size(list) + 1, sizeof(*argv));

	for (size_t i = 0; argv && i < json_array_size(list); i++) {
		const char *arg = json_string_value(json_array_get(list, i));

		argv[i] = strdup(arg ? arg : "");
	}
	if (!argv || !argv[0])
		give_up("command.json: no argv");
	for (void *i = json_object_iter(env); i; i = json_object_iter_next(env, i))
		setenv(json_object_iter_key(i), json_string_value(json_object_iter_value(i)), 1);
	if (json_is_true(json_object_get(command, "fifo")) &&
	    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}))
		give_up("SCHED_FIFO: %s", strerror(errno));
	setsid();
	take_console(json_is_true(json_object_get(command, "shell")));
	if (cwd && chdir(cwd))
		fprintf(stderr, "cd %s: %s\n", cwd, strerror(errno));
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void boot_id(char id[static 37])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);

	if (fd < 0 || read(fd, id, 36) != 36)
		give_up("boot_id: %s", strerror(errno));
	id[36] = 0;
	close(fd);
}

static void write_exit(int status)
{
	char id[37];
	json_t *exit_json;
	int fd;

	boot_id(id);
	exit_json = json_pack("{s:i,s:s,s:o,s:o}", "schema", 1, "boot", id, "exit",
			      WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null(),
			      "signal",
			      WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_null());
	fd = open(RESULTS "/exit.json.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (!exit_json || fd < 0 || json_dumpfd(exit_json, fd, JSON_COMPACT) || fsync(fd) ||
	    close(fd))
		give_up("exit.json: %s", strerror(errno));
	if (rename(RESULTS "/exit.json.new", RESULTS "/exit.json"))
		give_up("exit.json: %s", strerror(errno));
	json_decref(exit_json);
}

int main(void)
{
	const struct rlimit files = {.rlim_cur = 65536, .rlim_max = 65536};
	const char *repo = getenv("BEFORE_AFTER_REPO"); /* of the kernel command line */
	json_error_t error;
	json_t *command;
	int status = 0, fd, repo_fd;
	pid_t child, pid;

	if (getpid() != 1) {
		fprintf(stderr, "this is the first process of a guest (see ci/boot.sh)\n");
		return 2;
	}
	repo_fd = repo ? open(repo, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	mount_all();
	bind_repository(repo, repo_fd);
	enable_controllers();
	setrlimit(RLIMIT_NOFILE, &files);
	command = json_load_file(RESULTS "/command.json", 0, &error);
	if (!command)
		give_up("command.json: line %d: %s", error.line, error.text);
	/* One that is there is of this boot's first life: a reboot would run the command twice. */
	fd = open(RESULTS "/started", O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		give_up("started: %s", strerror(errno));
	close(fd);

	child = fork();
	if (child < 0)
		give_up("fork: %s", strerror(errno));
	if (!child)
		run_command(command);
	while ((pid = wait(&status)) != child)
		if (pid < 0 && errno != EINTR)
			give_up("wait: %s", strerror(errno));
	write_exit(status);
	power_off();
}
