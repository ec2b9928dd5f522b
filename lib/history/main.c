// SPDX-License-Identifier: GPL-2.0-only
/* build/history: what a night says, and what all nights say together. */
#include "history/draw.h"
#include "history/export.h"
#include "history/index.h"
#include "history/replace.h"
#include "history/states_report.h"

#include <getopt.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_INPUT = 2 };

static const char USAGE[] =
	"usage: history states [--format json|markdown] [--previous NIGHTDIR] NIGHTDIR\n"
	"       history index NIGHTLYDIR\n"
	"       history export --format FORMAT NIGHTLYDIR\n"
	"\n"
	"  states   tonight's state of every claim, and the losses that are told from noise\n"
	"           --previous NIGHTDIR: its states.json says which losses are known already\n"
	"  index    writes index.md, trends.md and plots/ of all nights (the newest 100)\n"
	"  export   otava (CSV, all nights), github-benchmark-smaller, github-benchmark-bigger,\n"
	"           bencher (JSON), prometheus (text): the newest night that is done\n"
	"\n"
	"Exit: 0 fine, 1 worse, 2 could not run, bad input or usage, 3 inconclusive.\n";

struct options {
	struct arena arena;
	const char *format, *previous;
};

static int bad_usage(const char *wanted, const char *found)
{
	fprintf(stderr, "history: wanted %s, found %s (--help shows the usage)\n", wanted, found);
	return EXIT_INPUT;
}

static int bad_input(const struct input_error *error)
{
	fprintf(stderr, "history: %s\n", error->text);
	return EXIT_INPUT;
}

/*
 * Nothing is known without the file, in the first night or where records were cleared, nor of one that a
 * power cut emptied: that is said, and must not stop every night to come. What is JSON but no states is
 * another program's, and an error.
 */
static int read_known(struct options *options, struct known_losses *known,
		      struct input_error *error)
{
	int result;

	if (!options->previous)
		return 0;
	result = known_losses_read(&options->arena, options->previous, known, error);
	if (result == KNOWN_NO_JSON)
		fprintf(stderr, "history: %s; no loss is taken as known\n", error->text);
	return result < 0 ? -1 : 0;
}

static int run_states(struct options *options, const char *directory)
{
	struct known_losses known = {.items = NULL};
	struct input_error error = {0};
	struct states states;
	struct night night;
	int result;

	if (options->format && strcmp(options->format, "json") != 0 &&
	    strcmp(options->format, "markdown") != 0)
		return bad_usage("--format json or markdown", options->format);
	result = night_read(&options->arena, directory, &night, &error);
	if (result > 0) {
		fprintf(stderr, "history: %s: wanted a night with its night.json, found none\n",
			directory);
		return EXIT_INPUT;
	}
	if (result < 0 || read_known(options, &known, &error) < 0)
		return bad_input(&error);
	states_build(&options->arena, &night, &known, &states);
	if (options->format && !strcmp(options->format, "markdown"))
		states_markdown(&options->arena, &states, stdout);
	else
		states_json(&states, stdout);
	return (int)states.outcome;
}

/* The trends first, then the page that links them. */
static int write_pages(struct options *options, const struct nights *nights, struct trends *trends,
		       struct input_error *error)
{
	struct arena *arena = &options->arena;
	struct replacement page;
	int drawn = draw_trends(arena, trends, nights->directory, error);

	if (drawn < 0)
		return -1;
	if (drawn)
		fputs("history: gnuplot is not in PATH: no pictures\n", stderr);
	if (replace_open(arena, &page, arena_printf(arena, "%s/trends.md", nights->directory),
			 error) < 0)
		return -1;
	trends_markdown(arena, trends, !drawn, page.file);
	if (replace_commit(&page, error) < 0 ||
	    replace_open(arena, &page, arena_printf(arena, "%s/index.md", nights->directory),
			 error) < 0)
		return -1;
	index_markdown(arena, nights, page.file);
	return replace_commit(&page, error);
}

static int run_index(struct options *options, const char *directory)
{
	struct input_error error = {0};
	struct nights nights;
	struct trends trends;

	if (options->format)
		return bad_usage("no --format with index", options->format);
	if (nights_read(&options->arena, directory, &nights, &error) < 0)
		return bad_input(&error);
	trends_build(&options->arena, &nights, &trends);
	if (write_pages(options, &nights, &trends, &error) < 0)
		return bad_input(&error);
	return EXIT_DONE;
}

static const struct export *export_of(const char *name)
{
	for (size_t i = 0; name && i < nexports; i++) {
		if (!strcmp(exports[i].name, name))
			return &exports[i];
	}
	return NULL;
}

static int run_export(struct options *options, const char *directory)
{
	const struct export *export = export_of(options->format);
	struct input_error error = {0};
	struct nights nights;
	struct trends trends;
	size_t left_out;

	if (!export)
		return bad_usage(
			arena_printf(&options->arena, "--format %s", export_names(&options->arena)),
			options->format ? options->format : "none");
	if (nights_read(&options->arena, directory, &nights, &error) < 0)
		return bad_input(&error);
	if (!nights_newest_done(&nights)) {
		fprintf(stderr, "history: %s: wanted a night that is done, found none\n",
			directory);
		return EXIT_INPUT;
	}
	trends_build(&options->arena, &nights, &trends);
	left_out = export->write(&options->arena, &trends, stdout);
	if (left_out)
		fprintf(stderr,
			"history: nights left out, since they did not measure every column: %zu\n",
			left_out);
	return EXIT_DONE;
}

static const struct command {
	const char *name;
	int (*run)(struct options *options, const char *directory);
} commands[] = {{"states", run_states}, {"index", run_index}, {"export", run_export}};

static const struct command *command_of(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static int run(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {{"format", required_argument, NULL, 'f'},
					      {"previous", required_argument, NULL, 'p'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	const struct command *command;
	int option;

	/* One line for what is wrong, in this program's words. */
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (option) {
		case 'f':
			options->format = optarg;
			break;
		case 'p':
			options->previous = optarg;
			break;
		case 'h':
			fputs(USAGE, stdout);
			return EXIT_DONE;
		default:
			return bad_usage("an option of this program, with its argument",
					 argv[optind - 1]);
		}
	}
	if (optind == argc)
		return bad_usage("states, index or export", "nothing");
	command = command_of(argv[optind]);
	if (!command)
		return bad_usage("states, index or export", argv[optind]);
	if (argc - optind != 2)
		return bad_usage("one directory", argc - optind < 2 ? "none" : argv[optind + 2]);
	if (options->previous && command->run != run_states)
		return bad_usage("--previous with states only", command->name);
	return command->run(options, argv[optind + 1]);
}

int main(int argc, char **argv)
{
	struct options options = {.format = NULL};
	int code;

	/* A distribution's domain error is a NaN to us, and a NaN is "absent". */
	gsl_set_error_handler_off();
	code = run(&options, argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("history: the output could not be written\n", stderr);
		code = EXIT_INPUT;
	}
	arena_free(&options.arena);
	return code;
}
