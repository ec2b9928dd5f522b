// SPDX-License-Identifier: GPL-2.0-only
#include "compare/claim.h"

#include "compare/stats.h"
#include "compare/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const engines[] = {"native", "kvm", "tcg", "icount", "uml", NULL};

static bool listed(const char *const *list, const char *text)
{
	while (*list && strcmp(*list, text) != 0)
		list++;
	return *list;
}

/* One of the listed strings, its index; absent or null: 0. */
static int one_of(const struct input *in, json_t *object, const char *key, const char *wanted,
		  const char *const *list)
{
	const char *text = input_string(in, object, key, INPUT_OPTIONAL);

	for (int i = 0; text && list[i]; i++) {
		if (!strcmp(list[i], text))
			return i;
	}
	if (text)
		input_fail_json(in, key, wanted, json_object_get(object, key));
	return 0;
}

/* The documented runs of a p1 or p95 row: pairs, of which the metric names the column. */
static int parse_runs(const struct input *in, const char *side, json_t *runs, const char *metric,
		      struct documented *documented)
{
	double column[256];
	size_t i, count = json_array_size(runs);
	json_t *run;

	if (!json_is_array(runs) || !count || count > 256)
		return input_fail_json(in, side, "runs: an array of 1 to 256 runs", runs);
	json_array_foreach (runs, i, run) {
		json_t *number = run;

		if (json_is_array(run)) {
			if (json_array_size(run) != 2 || !metric ||
			    (strcmp(metric, "p1") != 0 && strcmp(metric, "p95") != 0))
				return input_fail_json(
					in, side, "runs of [p1, p95] with the metric p1 or p95",
					run);
			number = json_array_get(run, strcmp(metric, "p1") ? 1 : 0);
		}
		if (!json_is_number(number) || !(json_number_value(number) > 0))
			return input_fail_json(in, side, "runs above 0", number);
		column[i] = json_number_value(number);
	}
	documented->form = FORM_RUNS;
	documented->runs = count;
	documented->value = stats_median(column, count);
	return 0;
}

static int parse_range(const struct input *in, const char *side, json_t *range,
		       struct documented *documented)
{
	double low = json_number_value(json_array_get(range, 0));
	double high = json_number_value(json_array_get(range, 1));

	if (!json_is_array(range) || json_array_size(range) != 2 || !(low > 0) || !(high >= low))
		return input_fail_json(in, side, "range: [low, high] above 0", range);
	documented->form = FORM_RANGE;
	documented->low = low;
	documented->high = high;
	documented->value = (low + high) / 2;
	return 0;
}

static int parse_ratio(const struct input *in, const char *side, json_t *pair,
		       struct claim_row *row, struct documented *documented)
{
	if (!json_is_array(pair) || json_array_size(pair) != 2 ||
	    !json_is_string(json_array_get(pair, 0)) || !json_is_string(json_array_get(pair, 1)))
		return input_fail_json(in, side, "ratio_of: two metric names", pair);
	for (size_t i = 0; i < 2; i++) {
		const char *name = json_string_value(json_array_get(pair, i));

		if (row->ratio_of[i] && strcmp(row->ratio_of[i], name) != 0)
			return input_fail_json(in, side, "the same ratio_of before and after",
					       json_array_get(pair, i));
		row->ratio_of[i] = name;
	}
	documented->form = FORM_RATIO;
	return 0;
}

static int parse_value(const struct input *in, json_t *object, const char *side,
		       struct claim_row *row, struct documented *documented)
{
	static const char *const keys[] = {"value", "spread", "range", "runs", "ratio_of", NULL};
	json_t *value = input_object(in, object, side, INPUT_REQUIRED);
	size_t forms;

	*documented = (struct documented){FORM_VALUE, NAN, NAN, NAN, NAN, 0};
	if (!value || !input_known_keys(in, value, side, keys))
		return -1;
	forms = json_object_size(value) - (json_object_get(value, "spread") ? 1 : 0);
	if (forms != 1)
		return input_failf(in, side, "one of value, range, runs and ratio_of",
				   "%zu of them", forms);
	if (json_object_get(value, "ratio_of"))
		return parse_ratio(in, side, json_object_get(value, "ratio_of"), row, documented);
	if (json_object_get(value, "runs"))
		return parse_runs(in, side, json_object_get(value, "runs"), row->metric,
				  documented);
	if (json_object_get(value, "range"))
		return parse_range(in, side, json_object_get(value, "range"), documented);
	if (json_object_get(value, "spread") &&
	    !input_number(in, value, "spread", true, &documented->spread))
		return -1;
	if (!input_number(in, value, "value", true, &documented->value))
		return -1;
	if (!(documented->value > 0))
		return input_fail_json(in, side, "a value above 0",
				       json_object_get(value, "value"));
	return 0;
}

/* What is only claimed to stay as it is may have no figures: the margin says it all. */
static int parse_sides(const struct input *in, json_t *object, struct claim_row *row)
{
	if (row->kind == ROW_UNCHANGED && !json_object_get(object, "before") &&
	    !json_object_get(object, "after")) {
		row->before = row->after = (struct documented){FORM_VALUE, NAN, NAN, NAN, NAN, 0};
		return 0;
	}
	return parse_value(in, object, "before", row, &row->before) < 0 ||
			       parse_value(in, object, "after", row, &row->after) < 0
		       ? -1
		       : 0;
}

/* Option values are strings: of a row and of a mechanism. */
static json_t *parse_options(const struct input *in, json_t *object, enum input_presence presence)
{
	json_t *where = input_object(in, object, "where", presence), *value;
	const char *key;

	json_object_foreach (where, key, value) {
		if (!json_is_string(value)) {
			input_fail_json(in, "where", "option values as strings", value);
			return NULL;
		}
	}
	return where;
}

static int parse_row(const struct input *in, json_t *object, struct claim_row *row)
{
	static const char *const keys[] = {"id",   "kind",   "margin", "gate", "where", "metric",
					   "unit", "before", "after",  "note", NULL};
	static const char *const kinds[] = {"change", "unchanged", "describe", NULL};
	json_t *gate;

	if (!json_is_object(object))
		return input_fail_json(in, "rows", "objects", object);
	if (!input_known_keys(in, object, "rows", keys))
		return -1;
	row->id = input_string(in, object, "id", INPUT_REQUIRED);
	if (!row->id || !input_string(in, object, "kind", INPUT_REQUIRED))
		return -1;
	row->kind =
		(enum row_kind)one_of(in, object, "kind", "change, unchanged or describe", kinds);
	row->metric = input_string(in, object, "metric", INPUT_OPTIONAL);
	row->unit = input_string(in, object, "unit", INPUT_OPTIONAL);
	input_string(in, object, "note", INPUT_OPTIONAL);
	row->where = parse_options(in, object, INPUT_REQUIRED);
	if (!input_ok(in) || parse_sides(in, object, row) < 0)
		return -1;
	if ((row->before.form == FORM_RATIO) != (row->after.form == FORM_RATIO))
		return input_fail(in, row->id, "before and after of one form",
				  "a ratio_of on one side only");
	if (!row->metric && !row->ratio_of[0])
		return input_fail_json(in, "metric", "a metric name", NULL);
	gate = json_object_get(object, "gate");
	row->gate = gate ? json_is_true(gate) : row->kind != ROW_DESCRIBE;
	if (gate && !json_is_boolean(gate))
		return input_fail_json(in, "gate", "true or false", gate);
	if (row->gate && row->kind == ROW_DESCRIBE)
		return input_fail(in, row->id, "no gate on a row that describes", "gate true");
	row->margin = CLAIM_UNCHANGED;
	if (json_object_get(object, "margin")) {
		if (row->kind != ROW_UNCHANGED)
			return input_fail(in, row->id, "a margin on unchanged rows only", "one");
		if (!input_number(in, object, "margin", true, &row->margin))
			return -1;
		if (!(row->margin > 0 && row->margin < 1))
			return input_fail_json(in, "margin", "a fraction above 0 and below 1",
					       json_object_get(object, "margin"));
	}
	return 0;
}

static const struct claim_row *row_of_metric(const struct claim *claim, const char *metric,
					     const struct claim_row *like)
{
	for (size_t i = 0; i < claim->nrows; i++) {
		const struct claim_row *row = &claim->rows[i];

		if (row->metric && !row->ratio_of[0] && !strcmp(row->metric, metric) &&
		    json_equal(row->where, like->where))
			return row;
	}
	return NULL;
}

/* A quotient's documented figures follow from the two rows of the same table it names. */
static int resolve_ratio(const struct input *in, const struct claim *claim, struct claim_row *row)
{
	const struct claim_row *of[2];

	for (size_t i = 0; i < 2; i++) {
		of[i] = row_of_metric(claim, row->ratio_of[i], row);
		if (!of[i])
			return input_failf(in, row->id,
					   "a row of the same table and where for each "
					   "metric of ratio_of",
					   "none for \"%s\"", row->ratio_of[i]);
	}
	row->before.value = of[0]->before.value / of[1]->before.value;
	row->after.value = of[0]->after.value / of[1]->after.value;
	return 0;
}

static int check_change(const struct input *in, const char *id, double ratio, double margin)
{
	if (fabs(CLAIM_SHARE * log(ratio)) > log(margin))
		return 0;
	return input_failf(in, id, "a change of which three quarters exceed the margin",
			   "a ratio of %.4f with a margin of %g %%", ratio, 100 * (margin - 1));
}

static int parse_rows(struct arena *arena, const struct input *in, struct claim *claim)
{
	json_t *rows = input_array(in, claim->root, "rows", INPUT_REQUIRED), *object;
	size_t i;

	if (!rows)
		return -1;
	if (!json_array_size(rows) || json_array_size(rows) > 1000)
		return input_fail_json(in, "rows", "1 to 1000 rows", rows);
	claim->rows = arena_alloc(arena, json_array_size(rows) * sizeof(*claim->rows));
	json_array_foreach (rows, i, object) {
		struct claim_row *row = &claim->rows[i];

		if (parse_row(in, object, row) < 0)
			return -1;
		for (size_t j = 0; j < i; j++) {
			if (!strcmp(claim->rows[j].id, row->id))
				return input_fail(in, "id", "each row's own id", row->id);
		}
		claim->nrows++;
	}
	for (i = 0; i < claim->nrows; i++) {
		struct claim_row *row = &claim->rows[i];

		if (row->ratio_of[0] && resolve_ratio(in, claim, row) < 0)
			return -1;
		if (row->kind == ROW_CHANGE &&
		    check_change(in, row->id, row->after.value / row->before.value, CLAIM_MARGIN) <
			    0)
			return -1;
	}
	return 0;
}

static const struct claim_row *row_of_id(const struct claim *claim, const char *id)
{
	for (size_t i = 0; i < claim->nrows; i++) {
		if (!strcmp(claim->rows[i].id, id))
			return &claim->rows[i];
	}
	return NULL;
}

static int parse_expected(const struct input *in, struct claim *claim)
{
	const char *engine, *id;
	json_t *rows, *ratio;

	claim->expected = input_object(in, claim->root, "expected", INPUT_OPTIONAL);
	json_object_foreach (claim->expected, engine, rows) {
		bool icount = !strcmp(engine, "icount");

		if (!listed(engines, engine))
			return input_fail(in, "expected", "native, kvm, tcg, icount or uml",
					  engine);
		if (!json_is_object(rows))
			return input_fail_json(in, engine, "an object of row ids and ratios", rows);
		json_object_foreach (rows, id, ratio) {
			const struct claim_row *row = row_of_id(claim, id);
			double value = json_number_value(ratio);

			if (!row || row->kind != ROW_CHANGE)
				return input_fail(in, engine, "the id of a change row", id);
			if (!json_is_number(ratio) || !(value > 0))
				return input_fail_json(in, id, "a ratio above 0", ratio);
			if (log(value) * log(row->after.value / row->before.value) < 0)
				return input_failf(in, id, "a change in the documented direction",
						   "a ratio of %g", value);
			if (check_change(in, id, value,
					 icount ? CLAIM_MARGIN_ICOUNT : CLAIM_MARGIN) < 0)
				return -1;
		}
	}
	return input_ok(in) ? 0 : -1;
}

/* The first `length` characters are a name in C. */
static bool is_identifier(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	}
	return length && length < 128 && !isdigit((unsigned char)*text);
}

bool claim_per_call(const char *per)
{
	size_t length = strlen(per), end = strlen(CLAIM_PER_CALL);

	return length > end && !strcmp(per + length - end, CLAIM_PER_CALL);
}

static int parse_functions(struct arena *arena, const struct input *in, json_t *item,
			   struct mechanism *mechanism)
{
	json_t *functions = input_array(in, item, "function", INPUT_REQUIRED), *name;
	size_t i;

	if (!functions)
		return -1;
	if (!json_array_size(functions) || json_array_size(functions) > 16)
		return input_fail_json(in, "function", "1 to 16 functions", functions);
	mechanism->functions = arena_alloc(arena, json_array_size(functions) * sizeof(char *));
	json_array_foreach (functions, i, name) {
		if (!json_is_string(name) ||
		    !is_identifier(json_string_value(name), json_string_length(name)))
			return input_fail_json(in, "function", "names of functions", name);
		mechanism->functions[mechanism->nfunctions++] = json_string_value(name);
	}
	return 0;
}

static int parse_mechanism_row(struct arena *arena, const struct input *in, json_t *item,
			       struct mechanism *mechanism)
{
	static const char *const keys[] = {"function",	"per",	 "before", "after",
					   "tolerance", "where", "note",   NULL};

	if (!json_is_object(item))
		return input_fail_json(in, "mechanism", "objects", item);
	if (!input_known_keys(in, item, "mechanism", keys) ||
	    parse_functions(arena, in, item, mechanism) < 0)
		return -1;
	mechanism->per = input_string(in, item, "per", INPUT_REQUIRED);
	input_string(in, item, "note", INPUT_OPTIONAL);
	mechanism->where = parse_options(in, item, INPUT_OPTIONAL);
	if (!input_ok(in) || !input_number(in, item, "before", true, &mechanism->before) ||
	    !input_number(in, item, "after", true, &mechanism->after) ||
	    !input_number(in, item, "tolerance", true, &mechanism->tolerance))
		return -1;
	if (claim_per_call(mechanism->per) &&
	    !is_identifier(mechanism->per, strlen(mechanism->per) - strlen(CLAIM_PER_CALL)))
		return input_fail(in, "per", "a unit or the name of a function and ()",
				  mechanism->per);
	if (!(fabs(mechanism->before - mechanism->after) > 2 * mechanism->tolerance))
		return input_failf(in, mechanism->functions[0],
				   "before and after further apart than twice the tolerance",
				   "%g and %g with a tolerance of %g", mechanism->before,
				   mechanism->after, mechanism->tolerance);
	return 0;
}

static int parse_mechanism(struct arena *arena, const struct input *in, struct claim *claim)
{
	json_t *array = input_array(in, claim->root, "mechanism", INPUT_OPTIONAL), *item;
	size_t i;

	if (json_array_size(array) > 64)
		return input_fail_json(in, "mechanism", "at most 64 rows", array);
	claim->mechanism =
		arena_alloc(arena, (json_array_size(array) + 1) * sizeof(*claim->mechanism));
	json_array_foreach (array, i, item) {
		if (parse_mechanism_row(arena, in, item, &claim->mechanism[claim->nmechanism]) < 0)
			return -1;
		claim->nmechanism++;
	}
	return input_ok(in) ? 0 : -1;
}

static int parse_source(const struct input *in, struct claim *claim)
{
	static const char *const keys[] = {"title", "author", "date", "id",
					   "base",  "merged", "note", NULL};
	json_t *source = input_object(in, claim->root, "source", INPUT_REQUIRED);
	json_t *merged;

	if (!source || !input_known_keys(in, source, "source", keys))
		return -1;
	claim->title = input_string(in, source, "title", INPUT_REQUIRED);
	claim->author = input_string(in, source, "author", INPUT_OPTIONAL);
	claim->id = input_string(in, source, "id", INPUT_OPTIONAL);
	input_string(in, source, "date", INPUT_OPTIONAL);
	input_string(in, source, "base", INPUT_OPTIONAL);
	merged = json_object_get(source, "merged");
	if (merged && !json_is_null(merged) && !json_is_string(merged) && !json_is_boolean(merged))
		return input_fail_json(in, "merged", "a string, true, false or null", merged);
	return input_ok(in) ? 0 : -1;
}

static int parse_method(const struct input *in, struct claim *claim)
{
	static const char *const keys[] = {"runs",    "boots",	"within", "across",
					   "machine", "params", "note",	  NULL};
	static const char *const withins[] = {"median", "mean", NULL};
	static const char *const acrosses[] = {"mean", "median", NULL};
	json_t *method = input_object(in, claim->root, "method", INPUT_REQUIRED), *value;
	const char *key;

	if (!method || !input_known_keys(in, method, "method", keys))
		return -1;
	value = json_object_get(method, "runs");
	if (value && !json_is_null(value) && !input_integer(in, method, "runs", 1, &claim->runs))
		return -1;
	value = json_object_get(method, "boots");
	if (value && !json_is_null(value) && !input_integer(in, method, "boots", 1, &claim->boots))
		return -1;
	claim->within = (enum within)one_of(in, method, "within", "median, mean or null", withins);
	claim->across = (enum across)one_of(in, method, "across", "mean, median or null", acrosses);
	claim->machine = input_string(in, method, "machine", INPUT_OPTIONAL);
	claim->params = input_object(in, method, "params", INPUT_OPTIONAL);
	json_object_foreach (claim->params, key, value) {
		if (!json_is_number(value) || !(json_number_value(value) >= 1))
			return input_fail_json(in, key, "a parameter: a number from 1", value);
	}
	return input_ok(in) ? 0 : -1;
}

int claim_parse(struct arena *arena, const struct input *in, json_t *root, struct claim *claim)
{
	static const char *const keys[] = {"schema",	"claim",  "case", "origin",
					   "source",	"method", "rows", "expected",
					   "mechanism", "note",	  NULL};
	static const char *const origins[] = {"documented", "ours", NULL};

	*claim = (struct claim){.root = root, .file = arena_strdup(arena, in->file)};
	if (!root || !input_schema(in, root) || !input_known_keys(in, root, "claim", keys))
		return -1;
	claim->name = input_string(in, root, "claim", INPUT_REQUIRED);
	claim->case_name = input_string(in, root, "case", INPUT_REQUIRED);
	claim->origin = input_string(in, root, "origin", INPUT_REQUIRED);
	if (!input_ok(in))
		return -1;
	one_of(in, root, "origin", "documented or ours", origins);
	if (!input_ok(in) || parse_source(in, claim) < 0 || parse_method(in, claim) < 0 ||
	    parse_rows(arena, in, claim) < 0 || parse_expected(in, claim) < 0 ||
	    parse_mechanism(arena, in, claim) < 0)
		return -1;
	return 0;
}

int claim_read(struct arena *arena, const char *path, struct claim *claim,
	       struct input_error *error)
{
	struct input in = {.file = path, .error = error};

	return claim_parse(arena, &in, input_decode_file(&in), claim);
}

void claim_release(struct claim *claim)
{
	json_decref(claim->root);
	claim->root = NULL;
}

double claim_expected(const struct claim *claim, const char *engine, const char *row)
{
	json_t *rows = engine ? json_object_get(claim->expected, engine) : NULL;

	return json_number_value(json_object_get(rows, row));
}

/* ---- against --describe ---- */

/* What a record derives from its samples needs no declaration. */
static const char *metric_unit(json_t *metrics, const char *name)
{
	static const char *const derived[] = {"p1", "median", "p95", NULL};
	json_t *metric = json_object_get(metrics, name);

	if (!metric && listed(derived, name))
		return "ns";
	return json_string_value(json_object_get(metric, "unit"));
}

static int check_metric(const struct input *in, json_t *metrics, const char *name)
{
	if (metric_unit(metrics, name))
		return 0;
	return input_fail(in, "metric", "a metric the case declares", name);
}

static int check_where(const struct input *in, const char *id, json_t *where, json_t *options)
{
	const char *key;
	json_t *value, *allowed;

	json_object_foreach (where, key, value) {
		json_t *values = json_object_get(json_object_get(options, key), "values");
		bool known = false;
		size_t i;

		if (!values)
			return input_fail(in, id, "options the case declares", key);
		json_array_foreach (values, i, allowed)
			known = known || json_equal(allowed, value);
		if (!known)
			return input_failf(in, id, "a value the case declares", "%s=%s", key,
					   json_string_value(value));
	}
	return 0;
}

/* What calls are counted per is one of the units that the case counts in its region. */
static int check_mechanism(const struct input *in, const struct mechanism *mechanism,
			   json_t *describe)
{
	json_t *units = json_object_get(describe, "per"), *unit;
	size_t i;

	if (check_where(in, mechanism->functions[0], mechanism->where,
			json_object_get(describe, "options")) < 0)
		return -1;
	if (claim_per_call(mechanism->per))
		return 0;
	json_array_foreach (units, i, unit) {
		if (!strcmp(json_string_value(unit) ? json_string_value(unit) : "", mechanism->per))
			return 0;
	}
	return input_fail(in, mechanism->functions[0], "per: a unit the case declares",
			  mechanism->per);
}

static int check_unit(const struct input *in, const struct claim_row *row, json_t *metrics)
{
	const char *unit;

	if (row->metric && (!row->ratio_of[0] || json_object_get(metrics, row->metric))) {
		if (check_metric(in, metrics, row->metric) < 0)
			return -1;
		unit = metric_unit(metrics, row->metric);
		if (row->unit && !(unit_factor(unit, row->unit) > 0))
			return input_failf(in, row->id, "a unit the metric converts to",
					   "\"%s\" for a metric in %s", row->unit, unit);
		return 0;
	}
	return check_metric(in, metrics, row->ratio_of[0]) < 0 ||
			       check_metric(in, metrics, row->ratio_of[1]) < 0
		       ? -1
		       : 0;
}

int claim_check(const struct claim *claim, json_t *describe, struct input_error *error)
{
	struct input in = {.file = claim->file, .error = error};
	json_t *metrics = json_object_get(describe, "metrics");
	json_t *options = json_object_get(describe, "options");
	json_t *params = json_object_get(describe, "params"), *value;
	const char *name = json_string_value(json_object_get(describe, "case")), *key;

	if (!name || strcmp(name, claim->case_name) != 0)
		return input_failf(&in, "case", "the case that describes itself",
				   "\"%s\", not \"%s\"", claim->case_name, name ? name : "");
	for (size_t i = 0; i < claim->nrows; i++) {
		if (check_where(&in, claim->rows[i].id, claim->rows[i].where, options) < 0 ||
		    check_unit(&in, &claim->rows[i], metrics) < 0)
			return -1;
	}
	for (size_t i = 0; i < claim->nmechanism; i++) {
		if (check_mechanism(&in, &claim->mechanism[i], describe) < 0)
			return -1;
	}
	json_object_foreach (claim->params, key, value) {
		json_t *param = json_object_get(params, key);
		json_t *documented = json_object_get(param, "documented");

		if (!param)
			return input_fail(&in, "params", "parameters the case declares", key);
		if (documented && json_number_value(documented) != json_number_value(value))
			return input_failf(&in, key, "the case's documented size",
					   "%.15g, not %.15g", json_number_value(value),
					   json_number_value(documented));
	}
	return 0;
}
