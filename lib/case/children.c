// SPDX-License-Identifier: GPL-2.0-only
#include "case/children.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "case/case.h"

#define SERVERS_MAX 8

static struct {
	pid_t pid;
	const char *name;
} servers[SERVERS_MAX];
static int server_count;

static void waited_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void children_init(void)
{
	sigset_t set;

	waited_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void children_unblock(void)
{
	sigset_t set;

	waited_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void owns_server(int pid, const char *name)
{
	if (server_count == SERVERS_MAX)
		run_broken("more than %d servers", SERVERS_MAX);
	servers[server_count].pid = pid;
	servers[server_count++].name = name;
}

static int server_find(pid_t pid)
{
	int i;

	for (i = 0; i < server_count; i++)
		if (servers[i].pid == pid)
			return i;
	return -1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reaps what has ended. True: `pid` did; a dead server's name goes into `server`. */
static bool reap(pid_t pid, int *status, const char **server)
{
	int st, i;
	pid_t got;

	while ((got = waitpid(-1, &st, WNOHANG)) > 0) {
		if (got == pid) {
			*status = st;
			return true;
		}
		i = server_find(got);
		if (i >= 0) {
			*server = servers[i].name;
			servers[i] = servers[--server_count];
		}
	}
	return false;
}

enum wait_end children_wait(pid_t pid, unsigned int seconds, int *status, const char **detail)
{
	double end = now() + seconds;
	sigset_t set;

	waited_signals(&set);
	for (;;) {
		const char *server = NULL;
		double left = end - now();
		struct timespec wait = {.tv_sec = left > 0 ? (time_t)left : 0,
					.tv_nsec = left > 0 ? 1000000 : 0};
		int sig;

		if (reap(pid, status, &server))
			return WAIT_EXITED;
		if (server) {
			*detail = server;
			return WAIT_SERVER_DIED;
		}
		sig = sigtimedwait(&set, NULL, &wait);
		if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP) {
			*detail = strsignal(sig);
			return WAIT_SIGNAL;
		}
		if (sig < 0 && errno == EAGAIN && now() >= end)
			return WAIT_TIMEOUT;
	}
}

void children_kill(pid_t pid)
{
	int i;

	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	/* Where a server does not answer any more, its client ends only when the server has. */
	for (i = 0; i < server_count; i++)
		kill(servers[i].pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The parent of a process by /proc; its name into `comm`. */
static pid_t parent_of(pid_t pid, char *comm, size_t size)
{
	char path[64], row[512], *open_paren, *close_paren;
	int parent = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(row, sizeof(row), f) && (open_paren = strchr(row, '(')) &&
	    (close_paren = strrchr(row, ')'))) {
		snprintf(comm, size, "%.*s", (int)(close_paren - open_paren - 1), open_paren + 1);
		sscanf(close_paren + 1, " %*c %d", &parent);
	}
	fclose(f);
	return parent;
}

bool children_below(pid_t ancestor)
{
	pid_t parent = getppid();
	char comm[64];

	return parent == ancestor || parent_of(parent, comm, sizeof(comm)) == ancestor;
}

bool children_leaked(char *who, size_t size)
{
	bool leaked = false, again = true;

	/* Killing one child hands its own children to us: until a pass finds none. */
	while (again) {
		DIR *proc = opendir("/proc");
		struct dirent *entry;

		again = false;
		while (proc && (entry = readdir(proc))) {
			pid_t pid = (pid_t)atoi(entry->d_name);
			char comm[64] = "";

			if (!isdigit((unsigned char)entry->d_name[0]) ||
			    parent_of(pid, comm, sizeof(comm)) != getpid() || server_find(pid) >= 0)
				continue;
			if (waitpid(pid, NULL, WNOHANG) == pid)
				continue;
			if (!leaked)
				snprintf(who, size, "%d (%s)", pid, comm);
			leaked = again = true;
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		if (proc)
			closedir(proc);
	}
	return leaked;
}

void children_end(void)
{
	char who[128];

	while (server_count > 0) {
		pid_t pid = servers[--server_count].pid;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	children_leaked(who, sizeof(who));
}
