// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that is not counted: checks needs, owns what the run needs, starts perf and below it
 * the inner process, gives everything back, and only then writes the record and the KTAP line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "case/children.h"
#include "case/environment.h"
#include "case/outcome.h"
#include "case/perf.h"
#include "case/probe.h"
#include "case/record.h"
#include "case/run.h"
#include "sys/io.h"
#include "sys/owned.h"
#include "sys/tmpfs.h"

#define RESULT_FD 9

static struct perf perf;
static int output_fd = -1, control_fd = -1, ack_fd = -1, result_fd = -1, stderr_fd = -1;
static bool set_up; /* setup() has begun: cleanup() is due */
static struct timespec began;
static char started[32];
static struct outcome outcome;
static pid_t worker;
static char no_result[512];

static _Noreturn void finish(enum run_end how, const char *reason);

static const char *invocation(void)
{
	static char id[64];
	const char *given = getenv("BEFORE_AFTER_INVOCATION");

	if (given && *given)
		snprintf(id, sizeof(id), "%s", given);
	else
		snprintf(id, sizeof(id), "%s-%d", started, getpid());
	return id;
}

/* Out of the way of the descriptors 0 to 9 that a child is given by number. */
static int high(int fd)
{
	int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 64);

	if (moved < 0)
		run_broken("descriptor: %s", strerror(errno));
	close(fd);
	return moved;
}

static void open_fifo(const char *name, int *fd)
{
	char path[256];

	scratch_path(path, sizeof(path), name);
	if (mkfifo(path, 0600))
		run_broken("%s: %s", path, strerror(errno));
	*fd = high(io_open(path, O_RDWR, 0));
}

/* In the child, after fork: descriptors in place, then perf or, without one, the case itself. */
static _Noreturn void start_inner(const char *word)
{
	char control[32], result[16], run_number[16];
	const char *argv[64];
	size_t n = 0;
	int null = io_open("/dev/null", O_RDWR, 0);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	children_unblock();
	/* The output is the parent's, and standard output carries KTAP only. */
	if (!io_dup2(null, 0) || !io_dup2(stderr_fd, 1) || !io_dup2(stderr_fd, 2) ||
	    !io_dup2(result_fd, RESULT_FD))
		_exit(end_exit_code(END_BROKEN));
	snprintf(result, sizeof(result), "%d", RESULT_FD);
	setenv(RESULT_VARIABLE, result, 1);
	setenv("LC_ALL", "C", 1);
	unsetenv(PERF_VARIABLE);
	if (*perf.path || probe_serves()) {
		snprintf(control, sizeof(control), "%d,%d", PERF_CONTROL_FD, PERF_ACK_FD);
		setenv(PERF_VARIABLE, control, 1);
		if (!io_dup2(control_fd, PERF_CONTROL_FD) || !io_dup2(ack_fd, PERF_ACK_FD))
			_exit(end_exit_code(END_BROKEN));
	}
	if (*perf.path)
		n = perf_command(&perf, argv, 32);
	snprintf(run_number, sizeof(run_number), "%u", run.number);
	argv[n++] = run.exe;
	argv[n++] = word;
	argv[n++] = "--scale";
	argv[n++] = scale_name();
	argv[n++] = "--variant";
	argv[n++] = run.variant;
	argv[n++] = "--run";
	argv[n++] = run_number;
	if (run.size) {
		argv[n++] = "--size";
		argv[n++] = run.size;
	}
	argv[n] = NULL;
	execv(argv[0], (char *const *)(const void *)argv);
	_exit(127);
}

/* The last line on the inner side's standard error that is not perf's own chatter. */
static void last_words(char *buf, size_t size)
{
	FILE *f = fdopen(dup(stderr_fd), "r");
	char row[1024];

	buf[0] = '\0';
	if (!f)
		return;
	rewind(f);
	while (fgets(row, sizeof(row), f)) {
		row[strcspn(row, "\n")] = '\0';
		if (*row && strncmp(row, "Events ", 7))
			snprintf(buf, size, ": %.200s", row);
	}
	fclose(f);
}

static enum run_end end_from_name(const char *name)
{
	int how;

	for (how = END_OK; how < END_BROKEN; how++)
		if (name && !strcmp(name, end_name((enum run_end)how)))
			break;
	return (enum run_end)how;
}

/* What the inner process wrote, or NULL when it ended without a word. */
static json_t *read_result(void)
{
	FILE *f = fdopen(dup(result_fd), "r");
	json_t *object;

	if (!f)
		return NULL;
	rewind(f);
	object = json_loadf(f, 0, NULL);
	fclose(f);
	return object;
}

/*
 * Runs the inner process, under perf where there is one, and waits for it. Returns its result, or
 * NULL and why in no_result. perf returns 0 when its workload died of a signal, so only a result says that the run was one.
 */
static json_t *run_inner(const char *word)
{
	unsigned int seconds = options_timeout();
	char words[256], who[128];
	const char *detail = NULL;
	int status = 0;
	bool leaked;
	json_t *object;

	if (!io_truncate(result_fd, 0) || lseek(result_fd, 0, SEEK_SET) ||
	    !io_truncate(stderr_fd, 0) || lseek(stderr_fd, 0, SEEK_SET))
		run_broken("result file: %s", strerror(errno));
	worker = fork();
	if (worker < 0)
		run_broken("fork: %s", strerror(errno));
	if (worker == 0)
		start_inner(word);
	switch (children_wait(worker, seconds, &status, &detail)) {
	case WAIT_TIMEOUT:
		run_broken("timed out after %u s", seconds);
	case WAIT_SIGNAL:
		run_broken("interrupted: %s", detail);
	case WAIT_SERVER_DIED:
		run_broken("the server %s died during the run", detail);
	case WAIT_EXITED:
		worker = 0;
	}
	/* perf was killed, and what it ran with it, which may take its time to end. */
	if (WIFSIGNALED(status))
		run_broken("ended without a result (signal %d)", WTERMSIG(status));
	leaked = children_leaked(who, sizeof(who));
	object = read_result();
	/* Of one that was killed, what it had started is left: that is nobody's failure. */
	if (object && leaked)
		run_fail("left a process running: %s", who);
	if (!object) {
		last_words(words, sizeof(words));
		snprintf(no_result, sizeof(no_result), "ended without a result (%s %d)%s",
			 WIFSIGNALED(status) ? "signal" : "exit",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), words);
	}
	return object;
}

static void call(void (*callback)(void))
{
	if (callback)
		callback();
}

static uint64_t since_began(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)(now.tv_sec - began.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec -
	       (uint64_t)began.tv_nsec;
}

/* Appends the record; a record that cannot be written breaks the run. */
static void write_record(void)
{
	static char why[4400];
	json_t *record;
	int err;

	/* An interrupted run is not a run. */
	if (output_fd < 0 || (outcome.reason && !strncmp(outcome.reason, "interrupted", 11)))
		return;
	outcome.invocation = invocation();
	outcome.started = started;
	outcome.total_ns = since_began();
	record = outcome_record(&outcome);
	err = record_append(output_fd, record);
	json_decref(record);
	if (!err)
		return;
	snprintf(why, sizeof(why), "%s: the record cannot be appended: %s", run.output,
		 strerror(err));
	outcome.how = END_BROKEN;
	outcome.reason = why;
}

/* The only way out of a run: gives back, records, reports, exits with the pinned code. */
static void finish(enum run_end how, const char *reason)
{
	static bool finishing;
	static char first[512], why[400];

	if (!finishing) {
		finishing = true;
		children_ending(options_timeout());
		owned_ending();
		outcome.how = how;
		snprintf(first, sizeof(first), "%s", reason ? reason : "");
		if (worker > 0)
			children_kill(worker);
		if (set_up)
			call(run.decl->cleanup);
	} else if (outcome.how == END_OK) {
		/* cleanup() itself ended the run. */
		outcome.how = how;
		snprintf(first, sizeof(first), "cleanup: %s", reason);
	}
	children_end();
	if (!owned_release(why, sizeof(why))) {
		outcome.how = END_BROKEN;
		snprintf(first, sizeof(first), "not restored: %s", why);
	}
	outcome.reason = outcome.how == END_OK ? NULL : first;
	write_record();
	outcome_ktap(&outcome);
	if (fflush(stdout))
		outcome.how = END_BROKEN;
	if (outcome.how == END_FAIL || outcome.how == END_BROKEN)
		fprintf(stderr, "%s %s: %s: %s\n", run.decl->name, run.variant,
			end_name(outcome.how), outcome.reason ? outcome.reason : "standard output");
	exit(end_exit_code(outcome.how));
}

/* What must stay visible below our mounts. */
static void enter_scratch(void)
{
	static char cwd[4096], tool[4096];
	const char *avoid[] = {run.exe, cwd, tool, NULL};

	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = '\0';
	if (perf.path[0])
		snprintf(tool, sizeof(tool), "%s", perf.path);
	scratch_enter(avoid);
}

/*
 * The harness's own cost: what perf counts when nothing stands in the region. It is perf's first
 * start, so it also tells which events perf takes.
 */
static void measure_empty_region(void)
{
	json_t *result = *perf.path ? run_inner("--inner-empty") : NULL;
	const char *reason;

	if (*perf.path && !result) {
		perf_probe(&perf);
		result = *perf.path ? run_inner("--inner-empty") : NULL;
	}
	if (!*perf.path)
		return;
	reason = result ? json_string_value(json_object_get(result, "reason")) : no_result;
	if (reason)
		run_broken("empty region: %s", reason);
	outcome.counters_empty = perf_counters(&perf);
	json_decref(result);
}

/* Without what started it nobody starts the next run or waits for this one: it ends as by SIGTERM. */
static void follow_starter(void)
{
	const char *starter = getenv("BEFORE_AFTER_STARTER");

	if (!starter || !*starter)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != atoi(starter))
		run_broken("interrupted: what started it, process %s, has ended", starter);
}

int parent_run(void)
{
	char pid[16];

	clock_gettime(CLOCK_MONOTONIC_RAW, &began);
	utc_now(started, sizeof(started));
	setvbuf(stdout, NULL, _IOLBF, 0);
	children_init(options_timeout());
	/* However it ends, its record is that of a probe run. */
	if (run.probe || run.locks) {
		outcome.functions = json_object();
		outcome.backends = json_object();
	}
	if (run.locks)
		outcome.locks = json_object();
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv(PARENT_VARIABLE, pid, 1);
	end_set_handler(finish);
	printf("KTAP version 1\n1..1\n");
	follow_starter();
	if (run.output) {
		output_fd = record_open(run.output);
		/* Read, changed and replaced: also by one that is about to find the box taken. */
		if (!io_lock(output_fd, LOCK_EX))
			run_broken("%s: %s", run.output, strerror(errno));
		environment_write(run.output, invocation());
		flock(output_fd, LOCK_UN);
	}
	/* What a killed run left is undone even when this run is a skip. */
	if (geteuid() == 0) {
		owned_open();
		owned_recover();
	}
	needs_require();
	result_fd = high(memfd_create("result", MFD_CLOEXEC));
	stderr_fd = high(memfd_create("stderr", MFD_CLOEXEC));
	perf_find(&perf, run.events);
	enter_scratch();
	if (run.probe || run.locks)
		pass(PROBE_PASSED, "yes");
	if (run.locks)
		probe_open_locks(&perf, &outcome);
	else if (run.probe)
		probe_open(&perf, run.probe, &outcome);
	scratch_path(perf.output, sizeof(perf.output), "perf.json");
	if (*perf.path || probe_serves()) {
		open_fifo("control", &control_fd);
		open_fifo("ack", &ack_fd);
	}
	if (probe_serves())
		probe_serve(control_fd, ack_fd);
	measure_empty_region();
	set_up = true;
	call(run.decl->setup);
	outcome.found = run_inner("--inner");
	if (!outcome.found)
		run_broken("%s", no_result);
	outcome.counters = perf_counters(&perf);
	outcome_counted_where(&outcome);
	outcome_derive_metrics(&outcome);
	if (run.probe || run.locks)
		probe_close(&outcome);
	finish(end_from_name(json_string_value(json_object_get(outcome.found, "status"))),
	       json_string_value(json_object_get(outcome.found, "reason")));
}
