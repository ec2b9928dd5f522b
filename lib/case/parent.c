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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "case/children.h"
#include "case/environment.h"
#include "case/perf.h"
#include "case/record.h"
#include "case/run.h"
#include "sys/owned.h"
#include "sys/tmpfs.h"

#define RESULT_FD 9

static struct perf perf;
static int output_fd = -1, control_fd = -1, ack_fd = -1, result_fd = -1, stderr_fd = -1;
static bool set_up; /* setup() has begun: cleanup() is due */
static struct timespec started;
static char started_at[32];
static json_t *found, *counters, *counters_empty; /* from the inner process and from perf */
static pid_t worker;
static char no_result[512];

static _Noreturn void finish(enum run_end how, const char *reason);

static char *invocation(void)
{
	static char id[64];
	const char *given = getenv("BEFORE_AFTER_INVOCATION");

	if (given && *given)
		snprintf(id, sizeof(id), "%s", given);
	else
		snprintf(id, sizeof(id), "%s-%d", started_at, getpid());
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
	*fd = high(open(path, O_RDWR | O_CLOEXEC));
}

/* In the child, after fork: descriptors in place, then perf or, without one, the case itself. */
static _Noreturn void start_inner(const char *word)
{
	char control[32], result[16], run_number[16];
	const char *argv[64];
	size_t n = 0;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	children_unblock();
	/* The output is the parent's, and standard output carries KTAP only. */
	if (dup2(null, 0) < 0 || dup2(stderr_fd, 1) < 0 || dup2(stderr_fd, 2) < 0 ||
	    dup2(result_fd, RESULT_FD) < 0)
		_exit(end_exit_code(END_BROKEN));
	snprintf(result, sizeof(result), "%d", RESULT_FD);
	setenv(RESULT_VARIABLE, result, 1);
	setenv("LC_ALL", "C", 1);
	unsetenv(PERF_VARIABLE);
	if (*perf.path) {
		snprintf(control, sizeof(control), "%d,%d", PERF_CONTROL_FD, PERF_ACK_FD);
		setenv(PERF_VARIABLE, control, 1);
		if (dup2(control_fd, PERF_CONTROL_FD) < 0 || dup2(ack_fd, PERF_ACK_FD) < 0)
			_exit(end_exit_code(END_BROKEN));
		n = perf_command(&perf, argv, 32);
	}
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
	json_t *object;

	if (ftruncate(result_fd, 0) || lseek(result_fd, 0, SEEK_SET) || ftruncate(stderr_fd, 0) ||
	    lseek(stderr_fd, 0, SEEK_SET))
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
	if (children_leaked(who, sizeof(who)))
		run_fail("left a process running: %s", who);
	object = read_result();
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

/* A metric that perf counts: the event a page, or why not. */
static void derive_metrics(json_t *metrics)
{
	const struct case_metric *m = run.decl->metrics;
	uint64_t count = (uint64_t)json_integer_value(json_object_get(found, "pages"));
	static const char *const better[] = {"lower", "higher", "neither"};

	for (; m && m->name; m++) {
		json_t *counter, *value, *object;

		if (!m->per_page_of)
			continue;
		counter = json_object_get(counters, m->per_page_of);
		value = json_object_get(counter, "value");
		if (value && count > 0)
			object = json_pack("{s:f}", "value",
					   json_number_value(value) / (double)count);
		else
			object = json_pack(
				"{s:s}", "absent",
				value	  ? "the run has no pages"
				: counter ? json_string_value(json_object_get(counter, "absent"))
					  : "not among the events");
		json_object_set_new(object, "unit", json_string(m->unit));
		json_object_set_new(object, "better", json_string(better[m->better]));
		json_object_set_new(metrics, m->name, object);
	}
}

static json_t *options_json(void)
{
	const struct case_option *o = run.decl->options;
	json_t *object = json_object();
	int i;

	for (i = 0; o[i].name; i++)
		json_object_set_new(object, o[i].name, json_string(run.values[i]));
	return object;
}

static json_t *params_json(void)
{
	const struct case_param *p = run.decl->params;
	json_t *object = json_object();
	int i;

	for (i = 0; p[i].name; i++)
		json_object_set_new(object, p[i].name, json_integer((json_int_t)run.params[i]));
	if (json_integer_value(json_object_get(found, "pages")) > 0)
		json_object_set(object, "pages", json_object_get(found, "pages"));
	return object;
}

static json_t *found_or(const char *name, json_t *fallback)
{
	json_t *value = json_object_get(found, name);

	if (!value)
		return fallback;
	json_decref(fallback);
	return json_incref(value);
}

static json_t *record(enum run_end how, const char *reason)
{
	const char *label = getenv("BEFORE_AFTER_LABEL"), *seq = getenv("BEFORE_AFTER_SEQ");
	json_t *cost = found_or("cost_ns", json_pack("{s:i, s:i}", "prepare", 0, "measure", 0));
	json_t *probes = json_object(), *all;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	json_object_set_new(cost, "total",
			    json_integer((now.tv_sec - started.tv_sec) * 1000000000LL +
					 (now.tv_nsec - started.tv_nsec)));
	if (json_object_get(found, "off_cpu_ns"))
		json_object_set(probes, "off_cpu_ns", json_object_get(found, "off_cpu_ns"));
	all = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s}", "schema", 1, "kernel",
			label && *label ? label : "unlabelled", "boot", boot_id(), "invocation",
			invocation(), "case", run.decl->name, "variant", run.variant);
	json_object_set_new(all, "options", options_json());
	json_object_set_new(all, "scale", json_string(scale_name()));
	json_object_set_new(all, "params", params_json());
	json_object_update(run.identity, json_object_get(found, "identity"));
	json_object_set(all, "identity", run.identity);
	json_object_set_new(all, "run", json_integer(run.number));
	json_object_set_new(all, "seq", json_integer(seq ? atoi(seq) : 1));
	json_object_set_new(all, "status", json_string(end_name(how)));
	json_object_set_new(all, "reason", reason ? json_string(reason) : json_null());
	json_object_set_new(all, "started", json_string(started_at));
	json_object_set_new(all, "cost_ns", cost);
	json_object_set_new(all, "metrics", found_or("metrics", json_object()));
	json_object_set_new(all, "samples", found_or("samples", json_array()));
	json_object_set_new(all, "sample_unit", json_string("ns"));
	json_object_set_new(all, "counters", counters ? json_incref(counters) : json_object());
	json_object_set_new(all, "counters_empty",
			    counters_empty ? json_incref(counters_empty) : json_object());
	json_object_set_new(all, "probes", probes);
	json_object_set_new(all, "checks", found_or("checks", json_object()));
	return all;
}

static void ktap(enum run_end how, const char *reason)
{
	const json_t *metrics = json_object_get(found, "metrics");
	static const char *const words[] = {"ok", "not ok", "ok", "not ok"};
	const char *name;
	json_t *m;

	json_object_foreach ((json_t *)(size_t)metrics, name, m) {
		const json_t *value = json_object_get(m, "value");
		const char *text = json_string_value(json_object_get(m, value ? "unit" : "absent"));

		if (value)
			printf("# %s %.17g %s\n", name, json_number_value(value), text);
		else
			printf("# %s absent: %s\n", name, text);
	}
	if (how == END_FAIL || how == END_BROKEN)
		printf("# %s: %s\n", end_name(how), reason);
	printf("%s 1 %s %s%s%s\n", words[how], run.decl->name, run.variant,
	       how == END_SKIP	   ? " # SKIP "
	       : how == END_BROKEN ? " # ERROR "
				   : "",
	       how == END_SKIP || how == END_BROKEN ? reason : "");
}

/* The only way out of a run: gives back, records, reports, exits with the pinned code. */
static void finish(enum run_end how, const char *reason)
{
	static bool finishing;
	static enum run_end ended;
	static char first[512], why[400];
	int err;

	if (!finishing) {
		finishing = true;
		ended = how;
		snprintf(first, sizeof(first), "%s", reason ? reason : "");
		if (worker > 0)
			children_kill(worker);
		if (set_up)
			call(run.decl->cleanup);
	} else if (ended == END_OK) {
		/* cleanup() itself ended the run. */
		ended = how;
		snprintf(first, sizeof(first), "cleanup: %s", reason);
	}
	how = ended;
	children_end();
	if (!owned_release(why, sizeof(why))) {
		how = END_BROKEN;
		snprintf(first, sizeof(first), "not restored: %s", why);
	}
	reason = how == END_OK ? NULL : first;
	/* An interrupted run is not a run. */
	if (output_fd >= 0 && strncmp(first, "interrupted", 11)) {
		json_t *all = record(how, reason);

		err = record_append(output_fd, all);
		if (err) {
			how = END_BROKEN;
			snprintf(first, sizeof(first), "%s: the record cannot be appended: %s",
				 run.output, strerror(err));
			reason = first;
		}
	}
	ktap(how, reason);
	if (fflush(stdout))
		how = END_BROKEN;
	if (how == END_FAIL || how == END_BROKEN)
		fprintf(stderr, "%s %s: %s: %s\n", run.decl->name, run.variant, end_name(how),
			reason);
	exit(end_exit_code(how));
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
	const char *reason;

	if (*perf.path && !(found = run_inner("--inner-empty")))
		perf_probe(&perf);
	if (*perf.path && !found && !(found = run_inner("--inner-empty")))
		run_broken("empty region: %s", no_result);
	reason = json_string_value(json_object_get(found, "reason"));
	if (reason)
		run_broken("%s", reason);
	if (found)
		counters_empty = perf_counters(&perf);
	json_decref(found);
	found = NULL;
}

int parent_run(void)
{
	enum run_end how;
	const char *reason;

	clock_gettime(CLOCK_MONOTONIC_RAW, &started);
	utc_now(started_at, sizeof(started_at));
	setvbuf(stdout, NULL, _IOLBF, 0);
	children_init();
	end_set_handler(finish);
	printf("KTAP version 1\n1..1\n");
	if (run.output) {
		output_fd = record_open(run.output);
		environment_write(run.output, invocation());
	}
	/* What a killed run left is undone even when this run is a skip. */
	if (geteuid() == 0) {
		owned_open();
		owned_recover();
	}
	if (options_senseless())
		run_skip("%s is no workload", options_senseless());
	needs_require();
	result_fd = high(memfd_create("result", MFD_CLOEXEC));
	stderr_fd = high(memfd_create("stderr", MFD_CLOEXEC));
	perf_find(&perf, run.events);
	enter_scratch();
	scratch_path(perf.output, sizeof(perf.output), "perf.json");
	if (*perf.path) {
		open_fifo("control", &control_fd);
		open_fifo("ack", &ack_fd);
	}
	measure_empty_region();
	set_up = true;
	call(run.decl->setup);
	found = run_inner("--inner");
	if (!found)
		run_broken("%s", no_result);
	counters = perf_counters(&perf);
	if (!json_object_get(found, "metrics"))
		json_object_set_new(found, "metrics", json_object());
	derive_metrics(json_object_get(found, "metrics"));
	how = end_from_name(json_string_value(json_object_get(found, "status")));
	reason = json_string_value(json_object_get(found, "reason"));
	finish(how, reason);
}
