/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a run ends early. run_skip(): what the run needs is not here. run_fail(): the kernel or the
 * workload did not do what was asked. run_broken(): the box or the harness is at fault, nothing is
 * known about the kernel. Each takes one line: what was needed and what was found.
 *
 * The process that runs a case installs the handler (lib/case); it releases what is owned and does
 * not return. Without one the line goes to stderr and the process exits with the pinned code.
 */
#ifndef SYS_END_H
#define SYS_END_H

enum run_end { END_OK, END_FAIL, END_SKIP, END_BROKEN };

/* "ok", "fail", "skip", "broken" as records spell them. */
const char *end_name(enum run_end how);
/* 0, 1, 4, 99. */
int end_exit_code(enum run_end how);

void end_set_handler(void (*handler)(enum run_end how, const char *reason));

void end_run(enum run_end how, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#define run_skip(...) end_run(END_SKIP, __VA_ARGS__)
#define run_fail(...) end_run(END_FAIL, __VA_ARGS__)
#define run_broken(...) end_run(END_BROKEN, __VA_ARGS__)

#endif
