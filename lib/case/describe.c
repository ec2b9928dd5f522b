// SPDX-License-Identifier: GPL-2.0-only
/* --describe: the declaration as JSON, what run.sh and the claims are held against. */
#include <stdio.h>
#include <string.h>

#include "case/run.h"

static json_t *strings(const char *const *list)
{
	json_t *array = json_array();

	for (; list && *list; list++)
		json_array_append_new(array, json_string(*list));
	return array;
}

static json_t *options(void)
{
	const struct case_option *o = run.decl->options;
	json_t *object = json_object();

	for (; o->name; o++)
		json_object_set_new(object, o->name,
				    json_pack("{s:o, s:s, s:s}", "values", strings(o->values),
					      "default", o->values[0], "summary", o->summary));
	return object;
}

/* Each default variant with all its options. */
static json_t *variants(void)
{
	static const char *const only_default[] = {"", NULL};
	const char *const *v = run.decl->variants ? run.decl->variants : only_default;
	json_t *array = json_array();

	for (; *v; v++) {
		const struct case_option *o = run.decl->options;
		json_t *object = json_object();
		int i;

		options_default();
		if (options_variant(*v))
			run_broken("%s declares the variant %s", run.decl->name, *v);
		for (i = 0; o[i].name; i++)
			json_object_set_new(object, o[i].name, json_string(run.values[i]));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *params(void)
{
	const struct case_param *p = run.decl->params;
	json_t *object = json_object();

	for (; p->name; p++)
		json_object_set_new(object, p->name,
				    json_pack("{s:s, s:I, s:I, s:I}", "unit", p->unit, "smoke",
					      (json_int_t)p->smoke, "quick", (json_int_t)p->quick,
					      "documented", (json_int_t)p->documented));
	return object;
}

json_t *describe_metric(const struct case_metric *metric, json_t *object)
{
	static const char *const better[] = {"lower", "higher", "neither"};

	json_object_set_new(object, "unit", json_string(metric->unit));
	json_object_set_new(object, "better", json_string(better[metric->better]));
	return object;
}

static json_t *metrics(void)
{
	const struct case_metric *m = run.decl->metrics;
	json_t *object = json_object();

	for (; m && m->name; m++)
		json_object_set_new(object, m->name, describe_metric(m, json_object()));
	return object;
}

static json_t *needs(void)
{
	const struct case_needs *n = &run.decl->needs;
	json_t *object = json_pack("{s:b, s:o, s:o, s:o, s:o}", "root", n->root, "commands",
				   strings(n->commands), "devices", strings(n->devices), "kconfig",
				   strings(n->kconfig), "controllers", strings(n->controllers));

	json_object_set_new(object, "kernel", n->kernel ? json_string(n->kernel) : json_null());
	if (n->memory.param || n->memory.plus)
		json_object_set_new(object, "memory",
				    json_pack("{s:s?, s:i, s:I}", "param", n->memory.param,
					      "permille", (int)n->memory.permille, "plus",
					      (json_int_t)n->memory.plus));
	return object;
}

void describe(void)
{
	json_t *all = json_pack(
		"{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "case",
		run.decl->name, "summary", run.decl->summary, "options", options(), "variants",
		variants(), "params", params(), "metrics", metrics(), "needs", needs(), "senseless",
		strings(run.decl->senseless), "touches", strings(run.decl->touches), "functions",
		strings(run.decl->functions), "per", strings(run.decl->per));

	if (!all || json_dumpf(all, stdout, JSON_INDENT(2)) || puts("") < 0)
		run_broken("--describe: cannot be written");
	json_decref(all);
}
