// SPDX-License-Identifier: GPL-2.0-only
#include "history/compared.h"

#include "history/member.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void read_side(struct arena *arena, const struct input *in, json_t *row, const char *key,
		      double factor, struct compared_side *side)
{
	json_t *object = input_object(in, row, key, INPUT_REQUIRED), *boots, *boot;
	size_t i;

	side->value = NAN;
	if (!object)
		return;
	side->value = member_number(in, object, "value") * factor;
	side->failed = (size_t)json_integer_value(json_object_get(object, "fail"));
	side->reason = member_text(arena, in, object, "reason", INPUT_OPTIONAL);
	boots = input_array(in, object, "boots", INPUT_REQUIRED);
	side->boots = arena_alloc(arena, (json_array_size(boots) + 1) * sizeof(*side->boots));
	json_array_foreach (boots, i, boot) {
		if (!json_is_object(boot)) {
			input_fail_json(in, "boots", "an object", boot);
			return;
		}
		side->boots[side->nboots++] =
			(struct compared_boot){member_text(arena, in, boot, "boot", INPUT_REQUIRED),
					       member_number(in, boot, "value") * factor};
	}
}

/* {"op":"punch","folio":"4k"} as op=punch,folio=4k; empty where nothing was recorded. */
static const char *variant_of(struct arena *arena, const struct input *in, json_t *row)
{
	json_t *options = input_object(in, row, "options", INPUT_OPTIONAL), *value;
	const char *key, *variant = "";

	json_object_foreach (options, key, value) {
		if (!json_is_string(value)) {
			input_fail_json(in, key, "an option's value: a string", value);
			return "";
		}
		variant = arena_printf(arena, "%s%s%s=%s", variant, *variant ? "," : "", key,
				       json_string_value(value));
	}
	return variant;
}

static void read_documented(const struct input *in, json_t *json, struct compared_row *row)
{
	json_t *documented = input_object(in, json, "documented", INPUT_OPTIONAL);
	json_t *before, *after;
	double held, ratio;

	row->documented = NAN;
	if (!documented)
		return;
	held = member_number(in, json, "held_against");
	before = input_object(in, documented, "before", INPUT_REQUIRED);
	after = input_object(in, documented, "after", INPUT_REQUIRED);
	if (!before || !after)
		return;
	ratio = member_number(in, after, "value") / member_number(in, before, "value");
	row->documented = held > 0 ? held : ratio > 0 ? ratio : NAN;
	row->expected = held > 0 && fabs(held - ratio) > 1e-9;
}

static void read_row(struct arena *arena, const struct input *in, json_t *json, const char *claim,
		     struct compared_row *row)
{
	static const char *const betters[] = {"lower", "higher", "neither"};
	static const char *const kinds[] = {"change", "unchanged", "describe", "free"};
	json_t *pooled = input_object(in, json, "pooled", INPUT_REQUIRED);
	double factor = member_number(in, json, "shown_factor");

	if (!isfinite(factor))
		factor = 1;
	*row = (struct compared_row){
		.claim = claim,
		.label = member_text(arena, in, json, "label", INPUT_REQUIRED),
		.id = member_text(arena, in, json, "id", INPUT_REQUIRED),
		.case_name = member_text(arena, in, json, "case", INPUT_OPTIONAL),
		.variant = variant_of(arena, in, json),
		.scale = member_text(arena, in, json, "scale", INPUT_OPTIONAL),
		.metric = member_text(arena, in, json, "metric", INPUT_OPTIONAL),
		.reason = member_text(arena, in, json, "reason", INPUT_OPTIONAL),
		.unit = member_text(arena, in, json, "shown_unit", INPUT_OPTIONAL),
		.gates = member_boolean(in, json, "gates"),
		.judged = member_boolean(in, json, "judged"),
		.margin = member_number(in, json, "margin"),
	};
	row->verdict = (enum verdict)member_choice(in, json, "verdict", verdict_name, VERDICTS);
	row->better = (enum compared_better)member_choice(in, json, "better", betters, 3);
	row->change = member_choice(in, json, "kind", kinds, 4) == 0;
	row->unit = row->unit ? row->unit : "";
	read_documented(in, json, row);
	read_side(arena, in, json, "before", factor, &row->before);
	read_side(arena, in, json, "after", factor, &row->after);
	if (!pooled)
		return;
	row->d = member_number(in, pooled, "d");
	row->se = member_number(in, pooled, "se");
	row->df = member_number(in, pooled, "df");
	/* The bounds stand there as ratios. */
	row->low = log(member_number(in, pooled, "low"));
	row->high = log(member_number(in, pooled, "high"));
}

static void read_rows(struct arena *arena, const struct input *in, json_t *rows, const char *claim,
		      struct compared *compared)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		if (!input_ok(in))
			return;
		if (!json_is_object(row)) {
			input_fail_json(in, "rows", "an object", row);
			return;
		}
		read_row(arena, in, row, claim,
			 ARENA_PUSH(arena, compared->rows, compared->nrows, compared->rows_room));
	}
}

int compared_parse(struct arena *arena, const struct input *in, json_t *root,
		   struct compared *compared)
{
	json_t *before, *after, *claims, *claim;
	size_t i;

	*compared = (struct compared){.file = in->file};
	if (!root || !input_schema(in, root))
		return -1;
	compared->engine = member_text(arena, in, root, "engine", INPUT_REQUIRED);
	before = input_object(in, root, "before", INPUT_REQUIRED);
	after = input_object(in, root, "after", INPUT_REQUIRED);
	claims = input_array(in, root, "claims", INPUT_REQUIRED);
	if (!input_ok(in))
		return -1;
	compared->before = member_text(arena, in, before, "kernel", INPUT_REQUIRED);
	compared->after = member_text(arena, in, after, "kernel", INPUT_REQUIRED);
	json_array_foreach (claims, i, claim) {
		const char *name = member_text(arena, in, claim, "claim", INPUT_REQUIRED);
		json_t *rows = input_array(in, claim, "rows", INPUT_REQUIRED);

		if (!input_ok(in) || !member_boolean(in, claim, "recorded"))
			continue;
		*ARENA_PUSH(arena, compared->claims, compared->nclaims, compared->claims_room) =
			name;
		read_rows(arena, in, rows, name, compared);
	}
	read_rows(arena, in, input_array(in, root, "others", INPUT_REQUIRED), NULL, compared);
	return input_ok(in) ? 0 : -1;
}

int compared_read(struct arena *arena, const char *path, struct compared *compared,
		  struct input_error *error)
{
	struct input in = {.file = arena_strdup(arena, path), .error = error};
	json_t *root = input_decode_file(&in);
	int result = root ? compared_parse(arena, &in, root, compared) : -1;

	json_decref(root);
	return result;
}

const struct compared_row *compared_find(const struct compared *compared, const char *label)
{
	for (size_t i = 0; i < compared->nrows; i++) {
		if (!strcmp(compared->rows[i].label, label))
			return &compared->rows[i];
	}
	return NULL;
}

static bool side_has(const struct compared_side *side, const char *boot)
{
	for (size_t i = 0; i < side->nboots; i++) {
		if (!strcmp(side->boots[i].id, boot))
			return true;
	}
	return false;
}

static const char *common(const struct compared_side *side, const struct compared *other)
{
	for (size_t i = 0; i < side->nboots; i++) {
		for (size_t j = 0; j < other->nrows; j++) {
			if (side_has(&other->rows[j].before, side->boots[i].id) ||
			    side_has(&other->rows[j].after, side->boots[i].id))
				return side->boots[i].id;
		}
	}
	return NULL;
}

const char *compared_common_boot(const struct compared *a, const struct compared *b)
{
	const char *boot = NULL;

	for (size_t i = 0; i < a->nrows && !boot; i++) {
		boot = common(&a->rows[i].before, b);
		if (!boot)
			boot = common(&a->rows[i].after, b);
	}
	return boot;
}

double compared_worse(const struct compared_row *row, double ln_ratio)
{
	return row->better == COMPARED_LOWER	? ln_ratio
	       : row->better == COMPARED_HIGHER ? -ln_ratio
						: 0;
}

double compared_least_loss(const struct compared_row *row)
{
	return compared_worse(row, row->better == COMPARED_HIGHER ? row->high : row->low);
}

double compared_most_loss(const struct compared_row *row)
{
	return compared_worse(row, row->better == COMPARED_HIGHER ? row->low : row->high);
}
