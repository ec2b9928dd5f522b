/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs a program to its end: no shell, LC_ALL=C, standard input from /dev/null. */
#ifndef SYS_COMMAND_H
#define SYS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the exit code, 128 + the signal that ended it, or 127 when it cannot be started.
 * The beginning of its standard output and error go into `output` (NULL: thrown away).
 */
int command_run(const char *const argv[], char *output, size_t size);
/* The same in a memory cgroup, its children too; NULL: in our own. */
int command_run_in(const char *memcg, const char *const argv[], char *output, size_t size);

/* Writes the path that PATH gives for `name` into buf (a name with a slash is itself). */
bool command_find(const char *name, char *buf, size_t size);

#endif
