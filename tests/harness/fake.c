// SPDX-License-Identifier: GPL-2.0-only
/* A case that does one thing wrong at a time, for the tests of the library. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case/case.h"
#include "sys/knob.h"
#include "sys/swap.h"
#include "sys/tmpfs.h"

static const char knob[] = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

static bool does(const char *what)
{
	return opt_is("do", what);
}

/* A server that keeps a CPU busy, or one that dies at once. */
static void start_server(bool busy)
{
	volatile unsigned long n = 0;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (busy)
			n++;
		_exit(3);
	}
	owns_server(pid, busy ? "busy" : "mortal");
}

static void setup(void)
{
	if (does("skip-setup"))
		run_skip("wanted a blue moon, found\na white one");
	if (does("knob") || does("knob-hang"))
		knob_set(knob, "advise");
	if (does("knob-missing"))
		knob_set("/sys/kernel/mm/no_such_knob", "1");
	if (does("knob-refused"))
		knob_set(knob, "sometimes");
	if (does("knob-readonly")) {
		/* A /sys that may not be written, as in a container. */
		if (mount("/sys", "/sys", NULL, MS_BIND | MS_REC, NULL) ||
		    mount(NULL, "/sys", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL))
			run_broken("/sys cannot be made read-only here: %s", strerror(errno));
		knob_set(knob, "advise");
	}
	if (does("swap-hang")) {
		tmpfs_mount("t", 1 << 20, "never");
		identity("swap", swap_add(1 << 20));
	}
	if (does("server-busy") || does("server-dies"))
		start_server(does("server-busy"));
}

static void prepare(void)
{
	char word[128] = "";

	if (does("broken"))
		run_broken("wanted a sane box, found none");
	if (does("knob")) {
		knob_read(knob, word, sizeof(word));
		check_equal("knob_is_advise", 1, !strcmp(word, "advise"));
	}
	pages(7);
}

static void leave_a_process(void)
{
	/* Out of the process group and the session, as a daemon would. */
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			pause();
		_exit(0);
	}
	wait(NULL);
}

static void measure(void)
{
	if (does("no-region"))
		return;
	region_begin();
	if (does("crash"))
		raise(SIGSEGV);
	if (does("hang") || does("knob-hang") || does("swap-hang"))
		pause();
	if (does("server-busy"))
		usleep(300000);
	region_end();
	if (does("two-regions"))
		region_begin();
	if (does("server-dies"))
		pause();
	if (does("leak"))
		leave_a_process();
	if (does("undeclared"))
		metric("speed", 1);
	metric("answer", 42);
}

static void verify(void)
{
	if (does("fail"))
		run_fail("truncate: wanted success, found EIO");
	check_equal("sum", 4, does("check") ? 5 : 4);
	check_at_least("floor", 1, does("check") ? 0 : 1);
}

static void cleanup(void)
{
	if (does("cleanup-broken"))
		run_broken("wanted a clean exit, found none");
}

static const struct case_decl fake = {
	.name = "fake",
	.summary = "does one thing wrong at a time",
	.needs = {.root = true, .memory = {"size", 1000, 0}},
	.options = {{"do", "what",
		     LIST("pass", "fail", "check", "skip-setup", "broken", "crash", "hang", "leak",
			  "no-region", "two-regions", "undeclared", "knob", "knob-hang",
			  "knob-missing", "knob-refused", "knob-readonly", "swap-hang",
			  "server-busy", "server-dies", "cleanup-broken", "nonsense")},
		    {"how", "a second option", LIST("so", "otherwise")}},
	.senseless = LIST("do=nonsense"),
	.params = {{"size", "bytes", 1 << 20, 2 << 20, 4 << 20, 4096}, {0}},
	.metrics = (const struct case_metric[]){{"answer", "widgets", BETTER_HIGHER, NULL},
						{"cycles", "cycles/page", BETTER_LOWER, "cycles"},
						{0}},
	.timeout_s = {30, 30, 30},
	.setup = setup,
	.prepare = prepare,
	.measure = measure,
	.verify = verify,
	.cleanup = cleanup,
};
CASE_MAIN(fake)
