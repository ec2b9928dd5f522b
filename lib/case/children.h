/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of one run, seen from its parent: waiting with a timeout and signals, killing,
 * and finding what a case left running. The parent is their subreaper, so nothing gets away by
 * forking or by setsid().
 */
#ifndef CASE_CHILDREN_H
#define CASE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum wait_end { WAIT_EXITED, WAIT_TIMEOUT, WAIT_SIGNAL, WAIT_SERVER_DIED };

/*
 * Becomes the subreaper. From here on SIGINT, SIGTERM, SIGHUP and `seconds` without a
 * children_wait() end the run as broken, whatever setup() and cleanup() hang in.
 */
void children_init(unsigned int seconds);
/* The run is being ended: signals wait, and `seconds` later the process gives up (99). */
void children_ending(unsigned int seconds);
/* Gives a forked child the signals back. */
void children_unblock(void);

/*
 * Waits for `pid` to end; `status` as from waitpid(). WAIT_SIGNAL: `detail` is the signal that
 * came; WAIT_SERVER_DIED: the server's name.
 */
enum wait_end children_wait(pid_t pid, unsigned int seconds, int *status, const char **detail);

/* Kills the process group of `pid` and the servers, and reaps `pid`. */
void children_kill(pid_t pid);

/*
 * In a descendant, after it asked to be killed with its parent: whether the case's parent process,
 * `ancestor`, still is its parent or its parent's parent. A kill between fork() and prctl() would
 * otherwise leave it behind.
 */
bool children_below(pid_t ancestor);

/*
 * Kills and reaps every descendant that is not a server; true when there was one, and then
 * `who` names the first: "1234 (sleep)".
 */
bool children_leaked(char *who, size_t size);

/* Kills and reaps the servers too, the newest first. */
void children_end(void);

#endif
