// SPDX-License-Identifier: GPL-2.0-only
#include "sys/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/cgroup.h"
#include "sys/io.h"

/* Between fork and exec: only what a child of a threaded process may call. */
_Noreturn static void child(const char *const argv[], int procs, int out)
{
	union {
		const char *const *in;
		char *const *out;
	} args = {.in = argv};
	int null = io_open("/dev/null", O_RDWR, 0);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Standard output is KTAP, and nothing else's. */
	if (!io_dup2(null, 0) || !io_dup2(out < 0 ? null : out, 1) ||
	    !io_dup2(out < 0 ? null : out, 2))
		_exit(127);
	setenv("LC_ALL", "C", 1);
	/* 0 is the writer. */
	if (procs >= 0 && !io_write_once(procs, "0"))
		_exit(127);
	execvp(argv[0], args.out);
	_exit(127);
}

int command_run(const char *const argv[], char *output, size_t size)
{
	return command_run_in(NULL, argv, output, size);
}

int command_run_in(const char *memcg, const char *const argv[], char *output, size_t size)
{
	int pipefd[2] = {-1, -1}, status, procs = memcg ? memcg_procs(memcg) : -1;
	char rest[512];
	size_t used = 0;
	ssize_t got;
	pid_t pid;

	if (output && pipe2(pipefd, O_CLOEXEC))
		return 127;
	pid = fork();
	if (pid == 0)
		child(argv, procs, pipefd[1]);
	if (procs >= 0)
		close(procs);
	if (output) {
		close(pipefd[1]);
		while (pid > 0) {
			char *to = used + 1 < size ? output + used : rest;
			size_t room = used + 1 < size ? size - 1 - used : sizeof(rest);

			got = read(pipefd[0], to, room);
			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				break;
			if (to != rest)
				used += (size_t)got;
		}
		close(pipefd[0]);
		output[used] = '\0';
	}
	if (pid < 0)
		return 127;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool command_find(const char *name, char *buf, size_t size)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/')) {
		snprintf(buf, size, "%s", name);
		return access(buf, X_OK) == 0;
	}
	for (; path && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		snprintf(buf, size, "%.*s/%s", (int)(end - path), path, name);
		if (access(buf, X_OK) == 0)
			return true;
	}
	return false;
}
