// SPDX-License-Identifier: GPL-2.0-only
#include "sys/stressng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "sys/command.h"
#include "sys/tmpfs.h"

const char stressng_fixed[] = "--vm-keep --vm-madvise normal --no-rand-seed";

static const char *scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

/* A mapping's value; NULL where it is none or has no such key. */
static yaml_node_t *value_of(yaml_document_t *document, const yaml_node_t *mapping, const char *key)
{
	const yaml_node_pair_t *pair;

	if (!mapping || mapping->type != YAML_MAPPING_NODE)
		return NULL;
	for (pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
	     pair++)
		if (!strcmp(scalar(yaml_document_get_node(document, pair->key)), key))
			return yaml_document_get_node(document, pair->value);
	return NULL;
}

/* The entry of the list "metrics" that is of the stressor; NULL: none. */
static yaml_node_t *entry_of(yaml_document_t *document, const char *stressor)
{
	const yaml_node_t *list =
		value_of(document, yaml_document_get_root_node(document), "metrics");
	const yaml_node_item_t *item;

	if (!list || list->type != YAML_SEQUENCE_NODE)
		return NULL;
	for (item = list->data.sequence.items.start; item < list->data.sequence.items.top; item++) {
		yaml_node_t *entry = yaml_document_get_node(document, *item);

		if (!strcmp(scalar(value_of(document, entry, "stressor")), stressor))
			return entry;
	}
	return NULL;
}

static bool number(yaml_document_t *document, const yaml_node_t *entry, const char *key,
		   double *value, struct stressng_result *result)
{
	const yaml_node_t *node = value_of(document, entry, key);
	const char *text = scalar(node);
	char *end;

	*value = strtod(text, &end);
	if (node && end != text && !*end && isfinite(*value) && *value >= 0)
		return true;
	snprintf(result->why, sizeof(result->why), "wanted a number %s, found %s", key,
		 !node	 ? "none"
		 : *text ? text
			 : "nothing");
	return false;
}

static bool read_document(yaml_document_t *document, const char *stressor,
			  struct stressng_result *result)
{
	const yaml_node_t *entry = entry_of(document, stressor);

	if (!entry) {
		snprintf(result->why, sizeof(result->why), "wanted metrics of %s, found none",
			 stressor);
		return false;
	}
	return number(document, entry, "bogo-ops", &result->bogo_ops, result) &&
	       number(document, entry, "bogo-ops-per-second-real-time", &result->bogo_ops_per_s,
		      result) &&
	       number(document, entry, "wall-clock-time", &result->seconds, result);
}

bool stressng_parse(FILE *f, const char *stressor, struct stressng_result *result)
{
	yaml_document_t document;
	yaml_parser_t parser;

	result->complete = false;
	result->why[0] = '\0';
	if (!yaml_parser_initialize(&parser)) {
		snprintf(result->why, sizeof(result->why), "out of memory");
		return false;
	}
	yaml_parser_set_input_file(&parser, f);
	if (yaml_parser_load(&parser, &document)) {
		/* A number may be cut short and still be one: its last line is "...". */
		if (document.end_implicit)
			snprintf(result->why, sizeof(result->why),
				 "wanted YAML to its end, found it cut short");
		else
			result->complete = read_document(&document, stressor, result);
		yaml_document_delete(&document);
	} else {
		snprintf(result->why, sizeof(result->why), "wanted YAML, found in line %zu: %s",
			 parser.problem_mark.line + 1, parser.problem ? parser.problem : "none");
	}
	yaml_parser_delete(&parser);
	return result->complete;
}

/* What it said last, for a run without metrics. */
static void last_line(struct stressng_result *result, const char *said)
{
	char *line, *end, copy[4096];

	snprintf(copy, sizeof(copy), "%s", said);
	while ((line = strrchr(copy, '\n')) && !line[1])
		*line = '\0';
	line = line ? line + 1 : copy;
	end = result->why + strlen(result->why);
	snprintf(end, sizeof(result->why) - (size_t)(end - result->why), "; it said: %.120s", line);
}

void stressng_vm(const char *memcg, const struct stressng_vm *vm, struct stressng_result *result)
{
	char workers[16], bytes[32], end[32], yaml[256], said[4096] = "";
	FILE *f;

	memset(result, 0, sizeof(*result));
	snprintf(workers, sizeof(workers), "%u", vm->workers);
	snprintf(bytes, sizeof(bytes), "%" PRIu64, vm->bytes);
	snprintf(end, sizeof(end), "%" PRIu64, vm->ops ? vm->ops : vm->seconds);
	scratch_path(yaml, sizeof(yaml), "stress-ng.yaml");
	/* A time of 0 has no end. --quiet would leave out the metrics, in the file too. */
	result->exit = command_run_in(memcg,
				      (const char *const[]){"stress-ng",
							    "--vm",
							    workers,
							    "--vm-bytes",
							    bytes,
							    "--vm-keep",
							    "--vm-madvise",
							    "normal",
							    "--no-rand-seed",
							    "--vm-method",
							    vm->method,
							    "--metrics",
							    "--yaml",
							    yaml,
							    "--temp-path",
							    scratch_dir(),
							    "--log-brief",
							    "--timeout",
							    vm->ops ? "0" : end,
							    vm->ops ? "--vm-ops" : NULL,
							    end,
							    NULL},
				      said, sizeof(said));
	f = fopen(yaml, "re");
	if (f) {
		stressng_parse(f, "vm", result);
		fclose(f);
	} else {
		snprintf(result->why, sizeof(result->why), "wanted its YAML, found: %s",
			 strerror(errno));
	}
	if (!result->complete)
		last_line(result, said);
}

const char *stressng_version(void)
{
	static char version[32];
	char out[256] = "";

	command_run((const char *const[]){"stress-ng", "--version", NULL}, out, sizeof(out));
	if (sscanf(out, "stress-ng, version %31[^ \n]", version) != 1)
		return "unknown";
	return version;
}
