// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that is counted: prepares, measures, verifies, and writes what it found as one JSON
 * object into the descriptor the parent gave it. The counted region is here too.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "case/children.h"
#include "case/quantile.h"
#include "case/run.h"
#include "sys/cached.h"
#include "sys/folios.h"
#include "sys/io.h"

static json_t *result; /* metrics, samples, checks, cost_ns: built as the case goes */
static const char *broken_check;
static const char *counted_where; /* not NULL: in another variant, not in this run */
static int control_fd = -1, ack_fd = -1;
static struct timespec region_start, region_stop, sample_start, sample_stop;
static uint64_t cpu_before, cpu_after;
static int region_errno; /* of the operation, before perf is told to stop */
static enum { REGION_NONE, REGION_OPEN, REGION_CLOSED } region;

static uint64_t ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return ns_of(t);
}

static void perf_say(const char *word)
{
	size_t got = 0;
	char ack[16] = "";

	if (!io_write(control_fd, word, strlen(word)))
		run_broken("perf control: cannot write %.6s: %s", word, strerror(errno));
	/* The acknowledgement is "ack\n" and a NUL; some versions send the NUL, some do not. */
	while (got < 4) {
		struct pollfd p = {.fd = ack_fd, .events = POLLIN};
		ssize_t n;
		int ready = poll(&p, 1, 2000);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready != 1)
			run_broken("perf control: wanted an acknowledgement of %.6s within 2 s, "
				   "found none",
				   word);
		n = read(ack_fd, ack + got, 5 - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			run_broken("perf control: %s", n ? strerror(errno) : "closed");
		if (ack[0] == '\0') {
			/* The NUL of the acknowledgement before. */
			n--;
			memmove(ack, ack + 1, (size_t)n);
		}
		got += (size_t)n;
	}
	if (memcmp(ack, "ack\n", 4))
		run_broken("perf control: wanted ack, found %.4s", ack);
}

void region_begin(void)
{
	if (region != REGION_NONE)
		run_broken("%s opens a second counted region", run.decl->name);
	region = REGION_OPEN;
	cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (control_fd >= 0 && !counted_where)
		perf_say("enable\n");
	clock_gettime(CLOCK_MONOTONIC_RAW, &region_start);
}

void region_end(void)
{
	region_errno = errno;
	clock_gettime(CLOCK_MONOTONIC_RAW, &region_stop);
	cpu_after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (control_fd >= 0 && !counted_where)
		perf_say("disable\n");
	if (region != REGION_OPEN)
		run_broken("%s ends a region that it did not begin", run.decl->name);
	region = REGION_CLOSED;
}

void region_uncounted(const char *where)
{
	if (*passed(PROBE_PASSED))
		run_skip("counted in a run of its own, %s", where);
	counted_where = where;
}

uint64_t region_ns(void)
{
	return ns_of(region_stop) - ns_of(region_start);
}

/*
 * What of the region the measuring thread did not spend on a CPU: idle, or others ran. Its own
 * time is read before the enable and after the stop, so this is never more than it was.
 */
static uint64_t region_off_cpu(void)
{
	uint64_t on = cpu_after - cpu_before;

	return on < region_ns() ? region_ns() - on : 0;
}

static json_t *part(const char *name, json_t *(*make)(void))
{
	json_t *value = json_object_get(result, name);

	if (!value) {
		json_object_set_new(result, name, make());
		value = json_object_get(result, name);
	}
	return value;
}

void sample(uint64_t ns)
{
	json_array_append_new(part("samples", json_array), json_integer((json_int_t)ns));
}

void sample_begin(void)
{
	clock_gettime(CLOCK_MONOTONIC_RAW, &sample_start);
}

void sample_end(void)
{
	clock_gettime(CLOCK_MONOTONIC_RAW, &sample_stop);
	sample(ns_of(sample_stop) - ns_of(sample_start));
}

void worked_on(const char *unit, int64_t count)
{
	const char *const *u = run.decl->per;

	while (u && *u && strcmp(*u, unit))
		u++;
	if (!u || !*u)
		run_broken("%s works on %ss and declares no such unit", run.decl->name, unit);
	if (count > 0)
		json_object_set_new(part("per", json_object), unit, json_integer(count));
}

static const struct case_metric *declared(const char *name)
{
	const struct case_metric *m = run.decl->metrics;

	for (; m && m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	run_broken("%s reports the metric %s and declares none", run.decl->name, name);
}

void metric(const char *name, double value)
{
	const struct case_metric *m = declared(name);

	json_object_set_new(part("metrics", json_object), name,
			    describe_metric(m, json_pack("{s:f}", "value", value)));
}

void metric_absent(const char *name, const char *reason)
{
	const struct case_metric *m = declared(name);

	json_object_set_new(part("metrics", json_object), name,
			    describe_metric(m, json_pack("{s:s}", "absent", reason)));
}

void metric_or(const char *name, double value, const char *reason)
{
	if (*reason)
		metric_absent(name, reason);
	else
		metric(name, value);
}

const struct case_metric case_time_metrics[] = {
	{"time", "ns", BETTER_LOWER, NULL},
	{"time_per_page", "ns/page", BETTER_LOWER, NULL},
	{"instructions_per_page", "instructions/page", BETTER_LOWER, "instructions"},
	{0},
};

const struct case_metric case_sample_metrics[] = {
	{"p1", "ns", BETTER_LOWER, NULL},
	{"median", "ns", BETTER_LOWER, NULL},
	{"p95", "ns", BETTER_LOWER, NULL},
	{"clock", "ns", BETTER_NEITHER, NULL},
	{"instructions_per_page", "instructions/page", BETTER_LOWER, "instructions"},
	{0},
};

static double clock_cost(void)
{
	struct timespec start, stop;
	uint64_t cost[1001];
	size_t i, count = sizeof(cost) / sizeof(cost[0]);

	for (i = 0; i < count; i++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &start);
		clock_gettime(CLOCK_MONOTONIC_RAW, &stop);
		cost[i] = ns_of(stop) - ns_of(start);
	}
	quantile_sort(cost, count);
	return quantile(cost, count, 0.5);
}

void metric_samples(const char *reason)
{
	json_t *samples = json_object_get(result, "samples");
	static const struct {
		const char *name;
		double p;
	} wanted[] = {{"p1", 0.01}, {"median", 0.5}, {"p95", 0.95}};
	size_t count = json_array_size(samples), i;
	uint64_t *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		run_broken("out of memory for %zu samples", count);
	for (i = 0; i < count; i++)
		sorted[i] = (uint64_t)json_integer_value(json_array_get(samples, i));
	quantile_sort(sorted, count);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (count)
			metric(wanted[i].name, quantile(sorted, count, wanted[i].p));
		else
			metric_absent(wanted[i].name, reason);
	if (count)
		metric("clock", clock_cost());
	else
		metric_absent("clock", reason);
	free(sorted);
}

void metric_times(void)
{
	metric("time", (double)region_ns());
	if (run.pages > 0)
		metric("time_per_page", (double)region_ns() / (double)run.pages);
	else
		metric_absent("time_per_page", "the run has no pages");
}

void check_call(const char *what, int returned, int wanted)
{
	int found = returned ? region_errno : 0;

	/* It is timed, so it is not called again; and that it was stopped is not the kernel's failure. */
	if (found == EINTR && wanted != EINTR)
		run_broken("%s: wanted to be left alone, found: %s", what, strerror(found));
	if (found != wanted)
		run_fail("%s: wanted %s, found %s", what, wanted ? strerror(wanted) : "success",
			 found ? strerror(found) : "success");
}

static void check(const char *name, int64_t want, int64_t got, bool ok)
{
	json_object_set_new(part("checks", json_object), name,
			    json_pack("{s:I, s:I, s:b}", "want", (json_int_t)want, "got",
				      (json_int_t)got, "ok", ok));
	if (!ok && !broken_check)
		broken_check = name;
}

void check_equal(const char *name, int64_t want, int64_t got)
{
	check(name, want, got, want == got);
}

void check_at_least(const char *name, int64_t want, int64_t got)
{
	check(name, want, got, got >= want);
}

void check_at_most(const char *name, int64_t want, int64_t got)
{
	check(name, want, got, got <= want);
}

void check_folio_order(const struct folio_counts *start, uint64_t pmd_bytes)
{
	struct folio_counts now = folio_counts();

	if (now.pmd_bytes >= 0)
		check_equal("pmd_bytes", (int64_t)pmd_bytes, now.pmd_bytes - start->pmd_bytes);
	if (now.above_zero >= 0 && !pmd_bytes)
		check_equal("folios_above_order_0", 0, now.above_zero - start->above_zero);
}

void check_cached(const struct cached *found, bool dirty)
{
	/* Something on the box reclaims without need, as DAMON may: that says nothing of what is measured. */
	if (found->evicted > 0 && found->pages + found->evicted >= found->wanted)
		run_broken(
			"wanted %jd pages that stay cached, found %jd reclaimed before they were used",
			(intmax_t)found->wanted, (intmax_t)found->evicted);
	/* Or writes back: somebody's sync, or reclaim that finds too much dirty and wakes the flushers. */
	if (dirty && found->dirty >= 0 && found->dirty < found->wanted &&
	    found->pages == found->wanted)
		run_broken("wanted %jd pages that stay dirty, found %jd written back before they "
			   "were used",
			   (intmax_t)found->wanted, (intmax_t)(found->wanted - found->dirty));
	check_equal("cached_pages", found->wanted, found->pages);
	check_equal("pages_left", 0, found->left);
	if (found->dirty >= 0)
		check_equal("dirty_pages", dirty ? found->wanted : 0, found->dirty);
	if (found->above_order_0 >= 0)
		check_equal("pages_above_order_0", 0, found->above_order_0);
	identity("folio", found->above_order_0 < 0 ? "order not told" : "order 0");
}

static void write_result(enum run_end how, const char *reason)
{
	const char *text = getenv(RESULT_VARIABLE);
	int fd = text ? atoi(text) : -1;
	char *dump;

	json_object_set_new(result, "status", json_string(end_name(how)));
	json_object_set_new(result, "reason", reason ? json_string(reason) : json_null());
	json_object_set(result, "identity", run.identity);
	json_object_set_new(result, "pages", json_integer((json_int_t)run.pages));
	if (counted_where)
		json_object_set_new(result, "counted_where", json_string(counted_where));
	/* jansson's own writer to a descriptor makes a system call a token. */
	dump = json_dumps(result, JSON_COMPACT);
	if (fd < 0 || !dump || !io_write(fd, dump, strlen(dump)))
		_exit(end_exit_code(END_BROKEN));
}

void inner_end(enum run_end how, const char *reason)
{
	write_result(how, reason);
	_exit(end_exit_code(how));
}

static void find_perf(void)
{
	const char *fds = getenv(PERF_VARIABLE);

	if (fds && sscanf(fds, "%d,%d", &control_fd, &ack_fd) != 2)
		run_broken("%s: wanted CONTROL,ACK, found %s", PERF_VARIABLE, fds);
}

static void call(void (*callback)(void))
{
	if (callback)
		callback();
}

static void report_checks(void)
{
	json_t *c = json_object_get(json_object_get(result, "checks"), broken_check);

	if (broken_check)
		run_fail("%s: wanted %" JSON_INTEGER_FORMAT ", found %" JSON_INTEGER_FORMAT,
			 broken_check, json_integer_value(json_object_get(c, "want")),
			 json_integer_value(json_object_get(c, "got")));
}

/*
 * Under SCHED_FIFO on the one CPU of an icount guest nothing else ran meanwhile: what the
 * preparation left to others, RCU callbacks above all, would be done in the region, where the
 * scheduler lets starved threads have a twentieth of the time. Three grace periods at 100 Hz.
 */
static void let_others_finish(void)
{
	static const struct timespec enough = {.tv_nsec = 100000000};

	if (sched_getscheduler(0) == SCHED_FIFO)
		nanosleep(&enough, NULL);
}

int inner_run(bool empty)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW), prepared;
	const char *parent = getenv(PARENT_VARIABLE);

	/* perf does not take its workload with it when it is killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!parent || !children_below((pid_t)atoi(parent)))
		_exit(end_exit_code(END_BROKEN));
	signal(SIGPIPE, SIG_IGN);
	result = json_object();
	end_set_handler(inner_end);
	find_perf();
	if (empty) {
		region_begin();
		region_end();
		inner_end(END_OK, NULL);
	}
	call(run.decl->prepare);
	let_others_finish();
	prepared = clock_ns(CLOCK_MONOTONIC_RAW);
	call(run.decl->measure);
	if (region != REGION_CLOSED)
		run_broken("%s measured nothing: no region was closed", run.decl->name);
	call(run.decl->verify);
	json_object_set_new(result, "cost_ns",
			    json_pack("{s:I, s:I}", "prepare", (json_int_t)(prepared - start),
				      "measure", (json_int_t)region_ns()));
	json_object_set_new(result, "off_cpu_ns", json_integer((json_int_t)region_off_cpu()));
	if (!json_object_get(result, "samples"))
		sample(region_ns());
	report_checks();
	inner_end(END_OK, NULL);
}
