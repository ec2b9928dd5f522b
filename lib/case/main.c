// SPDX-License-Identifier: GPL-2.0-only
/* The command line of a case. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <unistd.h>

#include "case/perf.h"
#include "case/record.h"
#include "case/run.h"
#include "sys/owned.h"

enum mode {
	MODE_RUN,
	MODE_PREPARE,
	MODE_DESCRIBE,
	MODE_CHECK,
	MODE_CLEANUP,
	MODE_INNER,
	MODE_EMPTY
};

static const struct option words[] = {
	{"variant", required_argument, NULL, 'v'}, {"scale", required_argument, NULL, 's'},
	{"size", required_argument, NULL, 'z'},	   {"run", required_argument, NULL, 'r'},
	{"output", required_argument, NULL, 'o'},  {"events", required_argument, NULL, 'e'},
	{"probe", required_argument, NULL, 'p'},   {"describe", no_argument, NULL, 'd'},
	{"check", no_argument, NULL, 'c'},	   {"cleanup", no_argument, NULL, 'u'},
	{"locks", no_argument, NULL, 'l'},	   {"prepare", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},	   {"inner", no_argument, NULL, 'i'},
	{"inner-empty", no_argument, NULL, 'y'},   {0},
};

static int help(void)
{
	printf("%s: %s\n\n"
	       "  --variant k=v,..  options, the rest as default\n"
	       "  --scale S         smoke, quick (default) or documented\n"
	       "  --size BYTES      instead of the scale's; K, M, G, T allowed\n"
	       "  --run N           the run's number in its boot (1)\n"
	       "  --output FILE     append the record to results/KERNEL/BOOT_ID.jsonl\n"
	       "  --events LIST     perf events to count; \"\" for none\n"
	       "  --probe LIST      count calls of these kernel functions instead of timing\n"
	       "  --locks           count how often locks are taken (CONFIG_LOCK_STAT) instead\n"
	       "  --describe        the declaration as JSON\n"
	       "  --prepare         make the directory of --output and the record file, and no more\n"
	       "  --check           what is needed, and whether it is here; nothing is run\n"
	       "  --cleanup         undo what a killed run left\n\n"
	       "Exit: 0 pass, 1 fail, 2 usage, 4 skip, 99 broken environment.\n",
	       run.decl->name, run.decl->summary);
	return 0;
}

static int check(void)
{
	printf("KTAP version 1\n1..1\n");
	return needs_report();
}

static int cleanup(void)
{
	owned_open();
	fprintf(stderr, "%s: %d changes of a killed run undone\n", run.decl->name, owned_recover());
	return 0;
}

static int number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < 1 || value > 1000000) {
		fprintf(stderr, "%s: --run: wanted a number from 1, found '%s'\n", run.decl->name,
			text);
		return 2;
	}
	run.number = (unsigned int)value;
	return 0;
}

/* What does not fit would be cut off in the middle of a name. */
static int fits(const char *option, const char *list)
{
	size_t room = sizeof(((struct perf *)0)->events) - 1;

	if (!list || strlen(list) <= room)
		return 0;
	fprintf(stderr, "%s: %s: wanted at most %zu characters, found %zu\n", run.decl->name,
		option, room, strlen(list));
	return 2;
}

/* A pattern, as the function profiler's filter takes it, would be counted as never called. */
static int functions(const char *list)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.:,";

	if (list && list[strspn(list, allowed)]) {
		fprintf(stderr,
			"%s: --probe: wanted names of functions and tracepoints, found '%s'\n",
			run.decl->name, list);
		return 2;
	}
	return fits("--probe", list);
}

/* A closed standard stream would become the record file, and KTAP lines records. */
static void open_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int case_main(const struct case_decl *decl, int argc, char **argv)
{
	static char exe[PATH_MAX];
	const char *variant = "", *scale = "quick";
	enum mode mode = MODE_RUN;
	int c, bad = 0;

	open_streams();
	run.decl = decl;
	run.number = 1;
	run.identity = json_object();
	/* Inside perf argv[0] is what the parent resolved; /proc/self/exe is it as well. */
	if (!realpath("/proc/self/exe", exe))
		run_broken("/proc/self/exe: cannot be resolved");
	run.exe = exe;
	while ((c = getopt_long(argc, argv, "", words, NULL)) >= 0) {
		switch (c) {
		case 'v':
			variant = optarg;
			break;
		case 's':
			scale = optarg;
			break;
		case 'z':
			run.size = optarg;
			break;
		case 'r':
			bad = bad ? bad : number(optarg);
			break;
		case 'o':
			run.output = optarg;
			break;
		case 'e':
			run.events = optarg;
			break;
		case 'p':
			run.probe = optarg;
			break;
		case 'l':
			run.locks = true;
			break;
		case 'd':
			mode = MODE_DESCRIBE;
			break;
		case 'c':
			mode = MODE_CHECK;
			break;
		case 'u':
			mode = MODE_CLEANUP;
			break;
		case 'q':
			mode = MODE_PREPARE;
			break;
		case 'i':
			mode = MODE_INNER;
			break;
		case 'y':
			mode = MODE_EMPTY;
			break;
		case 'h':
			return help();
		default:
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: wanted options only, found '%s'\n", decl->name, argv[optind]);
		return 2;
	}
	if (!bad)
		bad = fits("--events", run.events);
	if (!bad)
		bad = functions(run.probe);
	if (!bad && run.probe && run.locks) {
		fprintf(stderr, "%s: wanted --probe or --locks, found both\n", decl->name);
		bad = 2;
	}
	if (!bad)
		bad = options_default();
	if (!bad)
		bad = options_scale(scale);
	if (!bad)
		bad = options_variant(variant);
	if (!bad && run.size)
		bad = options_size(run.size);
	if (bad)
		return bad;
	options_finish();
	switch (mode) {
	case MODE_DESCRIBE:
		describe();
		return 0;
	case MODE_CHECK:
		return check();
	case MODE_CLEANUP:
		return cleanup();
	case MODE_PREPARE:
		if (run.output)
			record_prepare(run.output);
		return 0;
	case MODE_INNER:
		return inner_run(false);
	case MODE_EMPTY:
		return inner_run(true);
	case MODE_RUN:
		break;
	}
	return parent_run();
}
