// SPDX-License-Identifier: GPL-2.0-only
#include "compare/report.h"

#include "compare/advice.h"
#include "compare/json_real.h"

#include <jansson.h>
#include <math.h>

static json_t *whole(size_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *side(const struct row_side *side)
{
	json_t *boots = json_array();

	for (size_t i = 0; i < side->boots; i++)
		json_array_append_new(boots, json_pack("{ss so}", "boot", side->boot_ids[i],
						       "value", real(side->boot_values[i])));
	return json_pack("{so so so so so so so so}", "value", real(side->middle), "boots", boots,
			 "runs", whole(side->runs), "ok", whole(side->count[RUN_OK]), "fail",
			 whole(side->count[RUN_FAIL]), "skip", whole(side->count[RUN_SKIP]),
			 "broken", whole(side->count[RUN_BROKEN]), "reason",
			 side->reason ? json_string(side->reason) : json_null());
}

static json_t *interval(const struct stats_difference *difference)
{
	return json_pack("{so so so so so so so so so so so}", "ratio", real(exp(difference->d)),
			 "low", real(exp(difference->low)), "high", real(exp(difference->high)),
			 "d", real(difference->d), "se", real(difference->se), "df",
			 real(difference->df), "t", real(difference->t), "p", real(difference->p),
			 "s", real(difference->s), "s_before_floor", real(difference->s_raw),
			 "percent", real(100 * expm1(difference->d)));
}

static json_t *documented(const struct documented *documented)
{
	return json_pack("{so so so so}", "value", real(documented->value), "spread",
			 real(documented->spread), "low", real(documented->low), "high",
			 real(documented->high));
}

static const char *outcome_name(enum gate_outcome outcome)
{
	static const char *const names[] = {"pass", "open", "fail"};

	return names[outcome];
}

static json_t *row_json(const struct result_row *row)
{
	static const char *const kinds[] = {"change", "unchanged", "describe"};
	const struct group *group = row->before.group ? row->before.group : row->after.group;
	json_t *json =
		json_pack("{ss ss ss? ss ss ss ss? sb sb ss}", "id",
			  row->row ? row->row->id : row->name, "label", row->label, "metric",
			  row->metric, "unit", row->unit, "better", better_name[row->better],
			  "verdict", verdict_name[row->verdict], "reason", row->reason, "gates",
			  row->gates, "judged", row->judged, "outcome", outcome_name(row->outcome));

	json_object_set_new(json, "kind", json_string(row->row ? kinds[row->row->kind] : "free"));
	if (group) {
		json_object_set_new(json, "case", json_string(group->case_name));
		json_object_set(json, "options", group->options);
		json_object_set_new(json, "scale", json_string(group->scale));
		json_object_set(json, "params", group->params);
		json_object_set(json, "identity", group->identity);
	}
	if (row->row) {
		json_object_set_new(
			json, "documented",
			json_pack("{so so ss?}", "before", documented(&row->row->before), "after",
				  documented(&row->row->after), "unit", row->row->unit));
		json_object_set_new(json, "held_against", real(row->expected));
		json_object_set_new(json, "share", real(row->share));
		json_object_set_new(json, "share_low", real(row->share_low));
		json_object_set_new(json, "share_high", real(row->share_high));
		json_object_set_new(json, "size_share", real(row->size_share));
	}
	if (row->row && codepath_applies(row->claim, row->row))
		json_object_set_new(json, "code_path",
				    json_pack("{ss ss}", "before", path_name[row->path[0]], "after",
					      path_name[row->path[1]]));
	json_object_set_new(json, "shown_unit", json_string(cell_unit(row)));
	json_object_set_new(json, "shown_factor", real(cell_shown(row, 1)));
	json_object_set_new(json, "margin", real(row->rule.margin));
	json_object_set_new(json, "before", side(&row->before));
	json_object_set_new(json, "after", side(&row->after));
	json_object_set_new(json, "pooled", interval(&row->difference));
	json_object_set_new(json, "welch", interval(&row->welch));
	json_object_set_new(json, "permutation_p", real(row->permutation));
	json_object_set_new(json, "variance",
			    json_pack("{so so so}", "within_boots", real(row->within),
				      "between_boots", real(row->between), "floor",
				      real(row->floor)));
	json_object_set_new(json, "boots_needed", whole(row->boots_needed));
	json_object_set_new(json, "runs_needed", whole(row->runs_needed));
	json_object_set_new(json, "run_cost_ns", real(row->run_cost_ns));
	return json;
}

static json_t *rows_json(struct result_row *const *rows, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, row_json(rows[i]));
	return array;
}

static json_t *differences(const struct difference *list, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_pack("{ss ss ss}", "what", list[i].what, "before",
						       list[i].before, "after", list[i].after));
	return array;
}

static json_t *kernel(const struct dataset *dataset)
{
	json_t *boots = json_array();

	for (size_t i = 0; i < dataset->nboots; i++)
		json_array_append_new(boots, json_string(dataset->boots[i].id));
	return json_pack("{ss ss so so}", "kernel", dataset->kernel, "path", dataset->path, "runs",
			 whole(dataset->nruns), "boots", boots);
}

static json_t *advice(const struct comparison *comparison)
{
	const struct advice *advice = &comparison->advice;

	return json_pack("{so so so so so so so sb ss?}", "open_rows", whole(advice->open), "boots",
			 whole(advice->boots), "runs", whole(advice->runs), "boots_ns",
			 real(advice->boots_ns), "runs_ns", real(advice->runs_ns), "boot_ns",
			 real(advice->boot_ns), "best_runs", whole(advice->best_runs), "beyond",
			 advice->beyond, "text", advice_text(comparison));
}

void report_json(const struct comparison *comparison, FILE *out)
{
	static const char *const gates[] = {"direction", "reproduced", "none"};
	json_t *claims = json_array(), *notes = json_array(), *root;

	for (size_t i = 0; i < comparison->nclaims; i++) {
		const struct claim_result *result = &comparison->claims[i];

		json_t *claim = json_pack("{ss ss ss sb so}", "claim", result->claim->name, "case",
					  result->claim->case_name, "title", result->claim->title,
					  "recorded", result->recorded, "rows",
					  rows_json(result->rows, result->nrows));

		if (result->recorded && result->claim->nmechanism)
			json_object_set_new(claim, "code_path",
					    json_pack("{so so}", "before",
						      codepath_json(&result->path[0]), "after",
						      codepath_json(&result->path[1])));
		json_array_append_new(claims, claim);
	}
	for (size_t i = 0; i < comparison->notes.count; i++) {
		const struct note *note = &comparison->notes.items[i];

		json_array_append_new(notes, json_pack("{ss ss? ss sb}", "code", note->code,
						       "subject", note->subject, "text", note->text,
						       "warning", note->warning));
	}
	root = json_pack("{si ss ss? ss ss ss so so so so so so so so so so}", "schema", 1,
			 "headline", comparison->headline, "method", comparison->method, "engine",
			 comparison->engine, "gate", gates[comparison->gate], "outcome",
			 outcome_name(comparison->outcome), "level", real(comparison->level),
			 "looks", whole(comparison->looks), "before", kernel(comparison->before),
			 "after", kernel(comparison->after), "forced",
			 differences(comparison->forced, comparison->nforced), "environment",
			 differences(comparison->environment, comparison->nenvironment), "claims",
			 claims, "others", rows_json(comparison->others, comparison->nothers),
			 "notes", notes, "advice", advice(comparison));
	if (comparison->locks.count)
		json_object_set_new(root, "locks", lock_json(&comparison->locks));
	json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	fputc('\n', out);
	json_decref(root);
}
