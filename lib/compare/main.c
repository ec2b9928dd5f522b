// SPDX-License-Identifier: GPL-2.0-only
#include "compare/bisect.h"
#include "compare/claim.h"
#include "compare/comparison.h"
#include "compare/dataset.h"
#include "compare/report.h"
#include "compare/single.h"
#include "compare/trust.h"

#include <ctype.h>
#include <dirent.h>
#include <getopt.h>
#include <gsl/gsl_errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_PASSED, EXIT_GATE_FAILED, EXIT_INPUT, EXIT_INCONCLUSIVE };

static const char USAGE[] =
	"Usage: compare [OPTION..] BEFORE AFTER\n"
	"       compare [--claims FILE..] [--format markdown|text|json] --single DIR\n"
	"       compare [--seed N] [--repetitions N] --trust\n"
	"       compare --check-claims DESCRIBE.json CLAIM.json..\n"
	"       compare --bisect FILE\n"
	"\n"
	"BEFORE, AFTER and DIR are results/KERNEL directories.\n"
	"\n"
	"  --claims FILE..   documented tables (default: all in cases/ beside the program)\n"
	"  --no-claims       compare without any\n"
	"  --format FORMAT   markdown (default), text, json, ktap or lkp\n"
	"  --gate GATE       direction (default), reproduced or none\n"
	"  --looks K         the number of looks at growing data planned beforehand (default 1)\n"
	"  --force           compare although the conditions differ\n"
	"  --trust           the comparator's own error rates, by simulation\n"
	"  --single DIR      report the newest boot of one kernel\n"
	"  --bisect FILE     what ci/bisect.sh measures next, and what it knows\n"
	"\n"
	"Exit: 0 the gate is passed, 1 it failed, 2 bad input or usage, 3 inconclusive.\n";

struct options {
	struct arena arena;
	const char **claim_paths;
	size_t nclaim_paths, claim_paths_room;
	bool claims_given;
	const char *format, *single, *describe, *bisect;
	struct comparison_options comparison;
	struct trust_options trust_options;
	bool trust;
};

static int bad_usage(const char *wanted, const char *found)
{
	char shown[256];

	printable(shown, sizeof(shown), found);
	fprintf(stderr, "compare: wanted %s, found %s (--help shows the usage)\n", wanted, shown);
	return EXIT_INPUT;
}

static int bad_input(const struct input_error *error)
{
	fprintf(stderr, "compare: %s\n", error->text);
	return EXIT_INPUT;
}

static void add_claim_path(struct options *options, const char *path)
{
	*ARENA_PUSH(&options->arena, options->claim_paths, options->nclaim_paths,
		    options->claim_paths_room) = arena_strdup(&options->arena, path);
}

static bool is_json(const char *path)
{
	size_t length = strlen(path);

	return length > 5 && !strcmp(path + length - 5, ".json");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The claims beside the program: of the source tree it was built in, or where it is installed. */
static void default_claims(struct options *options)
{
	static const char *const places[] = {"/../cases", "/../../cases",
					     "/../share/before-after/cases"};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct dirent *entry;

	if (length < 0)
		return;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < 3 && !options->nclaim_paths; i++) {
		const char *place = arena_printf(&options->arena, "%s%s", self, places[i]);
		char *path = realpath(place, NULL);
		DIR *dir = path ? opendir(path) : NULL;

		while (dir && (entry = readdir(dir))) {
			if (is_json(entry->d_name))
				add_claim_path(options, arena_printf(&options->arena, "%s/%s", path,
								     entry->d_name));
		}
		if (dir)
			closedir(dir);
		free(path);
	}
	if (options->nclaim_paths)
		qsort(options->claim_paths, options->nclaim_paths, sizeof(*options->claim_paths),
		      by_name);
}

static int read_claims(struct options *options, struct claim **claims, struct input_error *error)
{
	*claims = arena_alloc(&options->arena, (options->nclaim_paths + 1) * sizeof(**claims));
	for (size_t i = 0; i < options->nclaim_paths; i++) {
		struct input in = {.file = options->claim_paths[i], .error = error};

		if (claim_read(&options->arena, options->claim_paths[i], &(*claims)[i], error) < 0)
			return -1;
		/* Its rows would be judged and counted twice. */
		for (size_t j = 0; j < i; j++) {
			if (!strcmp((*claims)[j].name, (*claims)[i].name))
				return input_failf(&in, "claim", "a claim of another name",
						   "%s, as in %s", (*claims)[i].name,
						   options->claim_paths[j]);
		}
	}
	return 0;
}

static void release_claims(struct options *options, struct claim *claims)
{
	for (size_t i = 0; i < options->nclaim_paths; i++)
		claim_release(&claims[i]);
}

static void put_json(json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(json);
}

static void warn(const struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->notes.count; i++)
		fprintf(stderr, "compare: %s\n", dataset->notes.items[i].text);
}

/*
 * What is written as Markdown may hold words of a record or a claim: no tag and no image among them is
 * markup, since we write none. markdown_end() writes what was
 * put into the stream of markdown_begin().
 */
static struct {
	char *text;
	size_t size;
} markdown;

static FILE *markdown_begin(void)
{
	FILE *stream = open_memstream(&markdown.text, &markdown.size);

	return stream ? stream : stdout;
}

static void markdown_end(FILE *stream)
{
	const char *text;

	if (stream == stdout)
		return;
	fclose(stream);
	for (text = markdown.text; text && *text; text++) {
		if ((text[0] == '<' && text[1] &&
		     (isalpha((unsigned char)text[1]) || strchr("/!?", text[1]))) ||
		    (text[0] == '!' && text[1] == '['))
			putchar('\\');
		putchar(*text);
	}
	free(markdown.text);
}

static int run_single(struct options *options)
{
	struct input_error error = {0};
	struct dataset dataset = {0};
	struct claim *claims = NULL;
	struct single single;
	FILE *stream = stdout;
	int code = EXIT_PASSED;

	if (read_claims(options, &claims, &error) < 0 ||
	    dataset_read(options->single, &dataset, &error) < 0) {
		code = bad_input(&error);
	} else {
		warn(&dataset);
		single_build(&dataset, claims, options->nclaim_paths, &single);
		if (!strcmp(options->format, "json"))
			put_json(single_json(&single));
		else if (!strcmp(options->format, "text"))
			single_text(&single, stdout);
		else
			single_markdown(&single, stream = markdown_begin());
		markdown_end(stream);
	}
	release_claims(options, claims);
	dataset_release(&dataset);
	return code;
}

static const struct {
	const char *name;
	void (*write)(const struct comparison *comparison, FILE *out);
} formats[] = {{"markdown", report_markdown},
	       {"text", report_text},
	       {"json", report_json},
	       {"ktap", report_ktap},
	       {"lkp", report_lkp}};

static int exit_code(enum gate_outcome outcome)
{
	switch (outcome) {
	case OUTCOME_PASS:
		return EXIT_PASSED;
	case OUTCOME_FAIL:
		return EXIT_GATE_FAILED;
	case OUTCOME_OPEN:
	default:
		return EXIT_INCONCLUSIVE;
	}
}

static int run_comparison(struct options *options, const char *before_path, const char *after_path)
{
	struct dataset before = {0}, after = {0};
	struct input_error error = {0};
	struct comparison comparison;
	struct claim *claims = NULL;
	FILE *stream = stdout;
	int code;

	if (read_claims(options, &claims, &error) < 0 ||
	    dataset_read(before_path, &before, &error) < 0 ||
	    dataset_read(after_path, &after, &error) < 0 ||
	    comparison_build(&before, &after, claims, options->nclaim_paths, &options->comparison,
			     &comparison, &error) < 0) {
		code = bad_input(&error);
	} else {
		warn(&before);
		warn(&after);
		if (!strcmp(options->format, "markdown"))
			stream = markdown_begin();
		for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
			if (!strcmp(formats[i].name, options->format))
				formats[i].write(&comparison, stream);
		}
		markdown_end(stream);
		code = exit_code(comparison.outcome);
	}
	release_claims(options, claims);
	dataset_release(&before);
	dataset_release(&after);
	return code;
}

static bool known_format(const char *format)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(formats[i].name, format))
			return true;
	}
	return false;
}

static bool parse_gate(const char *text, enum gate *gate)
{
	static const char *const gates[] = {"direction", "reproduced", "none"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(gates[i], text)) {
			*gate = (enum gate)i;
			return true;
		}
	}
	return false;
}

static bool parse_number(const char *text, long least, long most, size_t *number)
{
	char *end;
	long value = strtol(text, &end, 10);

	*number = value > 0 ? (size_t)value : 0;
	return end != text && !*end && value >= least && value <= most;
}

static int check_claims(struct options *options, char **paths, int count)
{
	struct input_error error = {0};
	struct input in = {.file = options->describe, .error = &error};
	json_t *describe = input_decode_file(&in);
	int code = EXIT_PASSED;

	if (!describe)
		return bad_input(&error);
	for (int i = 0; i < count && !code; i++) {
		struct claim claim;

		if (claim_read(&options->arena, paths[i], &claim, &error) < 0 ||
		    claim_check(&claim, describe, &error) < 0)
			code = bad_input(&error);
		claim_release(&claim);
	}
	json_decref(describe);
	return code;
}

static int run(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {{"claims", required_argument, NULL, 'c'},
					      {"no-claims", no_argument, NULL, 'n'},
					      {"format", required_argument, NULL, 'f'},
					      {"single", required_argument, NULL, 's'},
					      {"check-claims", required_argument, NULL, 'd'},
					      {"bisect", required_argument, NULL, 'b'},
					      {"gate", required_argument, NULL, 'g'},
					      {"looks", required_argument, NULL, 'l'},
					      {"force", no_argument, NULL, 'F'},
					      {"trust", no_argument, NULL, 't'},
					      {"seed", required_argument, NULL, 'S'},
					      {"repetitions", required_argument, NULL, 'r'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int option;

	/* One line for what is wrong, in this program's words. */
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (option) {
		case 'c':
			options->claims_given = true;
			add_claim_path(options, optarg);
			/* --claims FILE..: a shell's pattern gives them all at once. */
			while (optind < argc && argv[optind][0] != '-' && is_json(argv[optind]))
				add_claim_path(options, argv[optind++]);
			break;
		case 'n':
			options->claims_given = true;
			break;
		case 'f':
			options->format = optarg;
			break;
		case 's':
			options->single = optarg;
			break;
		case 'd':
			options->describe = optarg;
			break;
		case 'b':
			options->bisect = optarg;
			break;
		case 'g':
			if (!parse_gate(optarg, &options->comparison.gate))
				return bad_usage("--gate direction, reproduced or none", optarg);
			break;
		case 'l':
			if (!parse_number(optarg, 1, 100, &options->comparison.looks))
				return bad_usage("--looks 1 to 100", optarg);
			break;
		case 't':
			options->trust = true;
			break;
		case 'S':
			if (!parse_number(optarg, 0, LONG_MAX, &options->trust_options.seed))
				return bad_usage("--seed with a number", optarg);
			break;
		case 'r':
			if (!parse_number(optarg, 100, 10000000,
					  &options->trust_options.repetitions))
				return bad_usage("--repetitions 100 to 10000000", optarg);
			break;
		case 'F':
			options->comparison.force = true;
			break;
		case 'h':
			fputs(USAGE, stdout);
			return EXIT_PASSED;
		default:
			return bad_usage("an option of this program, with its argument",
					 argv[optind - 1]);
		}
	}
	if (options->describe) {
		if (optind == argc)
			return bad_usage("claims to check", "none");
		return check_claims(options, argv + optind, argc - optind);
	}
	if (options->bisect) {
		struct input_error error = {0};

		if (optind < argc)
			return bad_usage("nothing after --bisect FILE", argv[optind]);
		return bisect_run(options->bisect, stdout, &error) < 0 ? bad_input(&error)
								       : EXIT_PASSED;
	}
	if (options->trust) {
		if (optind < argc)
			return bad_usage("nothing after --trust", argv[optind]);
		return trust_run(&options->trust_options, stdout) ? EXIT_GATE_FAILED : EXIT_PASSED;
	}
	if (!options->claims_given)
		default_claims(options);
	if (!options->claims_given && !options->nclaim_paths)
		fputs("compare: no claim is found near this program: every row is one without a "
		      "claim (--claims FILE.., or --no-claims)\n",
		      stderr);
	if (options->single) {
		if (optind < argc)
			return bad_usage("one directory with --single", argv[optind]);
		if (strcmp(options->format, "markdown") != 0 &&
		    strcmp(options->format, "text") != 0 && strcmp(options->format, "json") != 0)
			return bad_usage("--format markdown, text or json", options->format);
		return run_single(options);
	}
	if (argc - optind != 2)
		return bad_usage("BEFORE and AFTER", argc == optind	  ? "neither"
						     : argc - optind == 1 ? "one directory"
									  : argv[optind + 2]);
	if (!known_format(options->format))
		return bad_usage("--format markdown, text, json, ktap or lkp", options->format);
	return run_comparison(options, argv[optind], argv[optind + 1]);
}

int main(int argc, char **argv)
{
	struct options options = {.format = "markdown",
				  .comparison = {.looks = 1},
				  .trust_options = {.seed = 1, .repetitions = 20000}};
	int code;

	/* A distribution's domain error is a NaN to us, and a NaN is "absent". */
	gsl_set_error_handler_off();
	code = run(&options, argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("compare: the output could not be written\n", stderr);
		code = EXIT_INPUT;
	}
	arena_free(&options.arena);
	return code;
}
