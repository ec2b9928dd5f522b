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

/* Children that were here before us (exec in a shell with jobs): nobody's to kill. */
static pid_t strangers[64];
static int stranger_count;
static pid_t self;
static bool ending; /* a second signal while the run is ended gives up */

static pid_t parent_of(pid_t pid, char *comm, size_t size);

static void waited_signals(sigset_t *set)
{
	struct sigaction hup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGALRM);
	/* A blocked signal is queued even where it is ignored: nohup is to be respected. */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

/*
 * Outside children_wait(): setup() and cleanup() may hang in a program or a system call, and a
 * signal must still end the run. Ending it here is not async-signal-safe; should that hang, the
 * alarm comes again, and what is left is in the journal.
 */
static void on_signal(int sig)
{
	static const char gave_up[] = "before-after: broken: ending the run hangs; see --cleanup\n";

	if (getpid() != self)
		_exit(128 + sig); /* a child between fork and exec */
	if (ending)
		_exit(write(2, gave_up, sizeof(gave_up) - 1) ? 99 : 99);
	if (sig == SIGALRM)
		run_broken("timed out outside the measuring process");
	run_broken("interrupted: %s", strsignal(sig));
}

static void find_strangers(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char comm[64];

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && stranger_count < 64 &&
		    parent_of((pid_t)atoi(entry->d_name), comm, sizeof(comm)) == self)
			strangers[stranger_count++] = (pid_t)atoi(entry->d_name);
	if (proc)
		closedir(proc);
}

void children_init(unsigned int seconds)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t set, child;
	int sig;

	self = getpid();
	find_strangers();
	waited_signals(&set);
	sigfillset(&action.sa_mask);
	for (sig = 1; sig < NSIG; sig++)
		if (sigismember(&set, sig) == 1)
			sigaction(sig, &action, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	alarm(seconds);
}

void children_ending(unsigned int seconds)
{
	sigset_t set, alarm_only;

	ending = true;
	waited_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	alarm(seconds);
	sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
}

void children_unblock(void)
{
	sigset_t set;

	waited_signals(&set);
	sigaddset(&set, SIGCHLD);
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

static enum wait_end wait_for(pid_t pid, unsigned int seconds, const sigset_t *set, int *status,
			      const char **detail)
{
	double end = now() + seconds;

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
		sig = sigtimedwait(set, NULL, &wait);
		if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP) {
			*detail = strsignal(sig);
			return WAIT_SIGNAL;
		}
		if (sig < 0 && errno == EAGAIN && now() >= end)
			return WAIT_TIMEOUT;
	}
}

enum wait_end children_wait(pid_t pid, unsigned int seconds, int *status, const char **detail)
{
	sigset_t set, waited;
	enum wait_end how;

	/* What came before us is the handler's; from here on it is told in `detail`. */
	waited_signals(&set);
	alarm(0);
	sigprocmask(SIG_BLOCK, &set, NULL);
	waited = set;
	sigaddset(&waited, SIGCHLD);
	how = wait_for(pid, seconds, &waited, status, detail);
	if (how == WAIT_EXITED) {
		alarm(seconds);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	return how;
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

static bool is_stranger(pid_t pid)
{
	int i;

	for (i = 0; i < stranger_count; i++)
		if (strangers[i] == pid)
			return true;
	return false;
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
			    parent_of(pid, comm, sizeof(comm)) != self || server_find(pid) >= 0 ||
			    is_stranger(pid))
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
