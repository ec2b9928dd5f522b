// SPDX-License-Identifier: GPL-2.0-only
#include "compare/single.h"

#include "compare/stats.h"
#include "compare/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metrics shown as a column beside the time, not as a row. */
static bool is_companion(const struct group *group, const char *metric)
{
	return (!strcmp(metric, "time_per_page") || !strcmp(metric, "instructions_per_page")) &&
	       group_metric(group, "time");
}

static const struct boot *newest_boot(const struct dataset *dataset)
{
	const struct boot *newest = &dataset->boots[0];

	for (size_t i = 1; i < dataset->nboots; i++) {
		if (dataset->boots[i].last > newest->last)
			newest = &dataset->boots[i];
	}
	return newest;
}

/* Sorted values of a metric over the boot's ok runs; freed by the caller. */
static double *collect(const struct single *single, const struct group *group, const char *metric,
		       size_t *count)
{
	const struct dataset *dataset = single->dataset;
	double *values = malloc((group->count[RUN_OK] + 1) * sizeof(*values));

	*count = 0;
	for (size_t i = group->first_run; values && i != NO_RUN; i = dataset->runs[i].next) {
		double value = run_value(dataset, &dataset->runs[i], metric);

		if (&dataset->boots[dataset->runs[i].boot] == single->boot && isfinite(value))
			values[(*count)++] = value;
	}
	if (values)
		stats_sort(values, *count);
	return values;
}

static double median_of(const struct single *single, const struct group *group, const char *metric)
{
	size_t count;
	double *values = collect(single, group, metric, &count);
	double median = stats_quantile_sorted(values, count, .5);

	free(values);
	return median;
}

static const char *documented_figure(struct arena *arena, const struct documented *documented,
				     double factor)
{
	char value[40], high[40];

	if (documented->form == FORM_RANGE) {
		format_number(value, sizeof(value), documented->low * factor);
		format_number(high, sizeof(high), documented->high * factor);
		return arena_printf(arena, "%s-%s", value, high);
	}
	if (factor == 1)
		return arena_printf(arena, "%.*g", documented->form == FORM_RATIO ? 4 : 10,
				    documented->value);
	format_number(value, sizeof(value), documented->value * factor);
	return arena_printf(arena, "%s", value);
}

static const char *documented_sizes(struct arena *arena, const struct claim *claim)
{
	const char *text = quantity_params(arena, claim->params);

	return strncmp(text, "size ", 5) || strchr(text, ',') ? text : text + 5;
}

/*
 * The documented figures as they may honestly stand beside this row: in the source's own unit
 * where the sizes agree; a page at the documented size where only the size differs; else as
 * printed, with the size they belong to. A clock that counts instructions has none.
 */
static const char *documented_beside(struct arena *arena, const struct single_row *row,
				     const struct claim *claim, const struct claim_row *of)
{
	double share = quantity_size_share(row->group, claim->params);
	double pages = group_param(row->group, "pages") / share, factor = 1;
	const char *unit = of->unit ? unit_shown(of->unit) : "", *at = "";

	if (row->quantity.instructions || row->quantity.virtual_time || !isfinite(of->before.value))
		return NULL;
	if (isfinite(share) && share != 1) {
		at = arena_printf(arena, " at %s", documented_sizes(arena, claim));
		if (of->unit && unit_factor(of->unit, "ns") > 0 && pages > 0) {
			factor = unit_factor(of->unit, "ns") / pages;
			unit = "ns/page";
		}
	}
	return arena_printf(arena, "%s → %s%s%s%s", documented_figure(arena, &of->before, factor),
			    documented_figure(arena, &of->after, factor), *unit ? " " : "", unit,
			    at);
}

static void find_documented(struct single *single, struct single_row *row,
			    const struct claim *claims, size_t nclaims)
{
	for (size_t i = 0; i < nclaims; i++) {
		for (size_t j = 0; j < claims[i].nrows; j++) {
			const struct claim_row *of = &claims[i].rows[j];

			if (!of->metric || strcmp(of->metric, row->metric->name) != 0 ||
			    !group_matches(row->group, claims[i].case_name, of->where))
				continue;
			row->claim = &claims[i];
			row->documented =
				documented_beside(&single->dataset->arena, row, &claims[i], of);
			return;
		}
	}
}

static void add_row(struct single *single, struct single_section *section,
		    const struct group *group, const struct group_metric *metric,
		    const struct claim *claims, size_t nclaims)
{
	struct arena *arena = &single->dataset->arena;
	struct single_row *row = ARENA_PUSH(arena, single->rows, single->nrows, single->rows_room);
	double *values, pages = group_param(group, "pages");

	*row = (struct single_row){
		.group = group,
		.metric = metric,
		.quantity = quantity_of(group, metric->unit, single->boot),
		.median = NAN,
		.low = NAN,
		.high = NAN,
		.per_page = NAN,
		.instructions_page = NAN,
	};
	values = collect(single, group, metric->name, &row->runs);
	if (row->runs) {
		row->median = stats_quantile_sorted(values, row->runs, .5);
		row->low = values[0];
		row->high = values[row->runs - 1];
	}
	free(values);
	if (!strcmp(metric->name, "time") && !row->quantity.instructions &&
	    !row->quantity.virtual_time) {
		const struct group_metric *per_page = group_metric(group, "time_per_page");

		if (per_page)
			row->per_page = median_of(single, group, "time_per_page") *
					unit_factor(per_page->unit, "ns/page");
		else if (pages > 0)
			row->per_page = row->median * unit_factor(metric->unit, "ns") / pages;
		section->any_per_page = section->any_per_page || isfinite(row->per_page);
		row->instructions_page = median_of(single, group, "instructions_per_page");
		section->any_instructions =
			section->any_instructions || isfinite(row->instructions_page);
	}
	find_documented(single, row, claims, nclaims);
	section->any_documented = section->any_documented || row->documented;
	section->nrows++;
}

static void add_group(struct single *single, struct single_section *section,
		      const struct group *group, const struct claim *claims, size_t nclaims)
{
	const struct group_metric *instructions = group_metric(group, "instructions_per_page");
	size_t before = single->nrows;

	if (!group->count[RUN_OK])
		return;
	if (!json_equal(group->identity, section->group->identity))
		section->several_identities = true;
	for (size_t i = 0; i < group->nmetrics; i++) {
		if (!is_companion(group, group->metrics[i].name))
			add_row(single, section, group, &group->metrics[i], claims, nclaims);
	}
	if (single->nrows > before + 1)
		section->several_metrics = true;
	if (instructions && instructions->absent && !section->any_instructions &&
	    !section->instructions_absent)
		section->instructions_absent = instructions->absent;
}

static json_t *sizes_of(const struct group *group)
{
	json_t *copy = json_copy(group->params);

	/* An outcome: op=undo ends with other pages than its neighbours, in the same table. */
	json_object_del(copy, "pages");
	return copy;
}

static bool same_section(const struct group *a, const struct group *b)
{
	json_t *of_a = sizes_of(a), *of_b = sizes_of(b);
	bool same = !strcmp(a->case_name, b->case_name) && !strcmp(a->scale, b->scale) &&
		    json_equal(of_a, of_b);

	json_decref(of_a);
	json_decref(of_b);
	return same;
}

static bool in_boot(const struct single *single, const struct group *group)
{
	const struct dataset *dataset = single->dataset;

	for (size_t i = group->first_run; i != NO_RUN; i = dataset->runs[i].next) {
		if (&dataset->boots[dataset->runs[i].boot] == single->boot)
			return true;
	}
	return false;
}

/* Options whose value all the groups of a section share; none for a section of one. */
static const char *constant_options(struct single *single, const struct single_section *section,
				    const bool *here)
{
	struct arena *arena = &single->dataset->arena;
	const char *text = "", *key;
	size_t others = 0;
	json_t *value;

	json_object_foreach (section->group->options, key, value) {
		bool constant = true;

		others = 0;
		for (size_t i = 0; i < single->dataset->ngroups; i++) {
			const struct group *group = &single->dataset->groups[i];

			if (!here[i] || !same_section(group, section->group))
				continue;
			others += group != section->group;
			constant =
				constant && json_equal(json_object_get(group->options, key), value);
		}
		if (constant)
			text = arena_printf(arena, "%s%s%s=%s", text, *text ? "," : "", key,
					    json_string_value(value));
	}
	return others ? text : "";
}

static void add_troubles(struct single *single)
{
	struct dataset *dataset = single->dataset;

	for (size_t i = 0; i < dataset->nruns; i++) {
		const struct run *run = &dataset->runs[i];
		const struct group *group = &dataset->groups[run->group];
		size_t j;

		if (run->status == RUN_OK || &dataset->boots[run->boot] != single->boot)
			continue;
		for (j = 0; j < single->ntroubles; j++) {
			const struct single_trouble *known = &single->troubles[j];

			if (known->group == group && known->status == run->status &&
			    !strcmp(known->reason, run->reason))
				break;
		}
		if (j == single->ntroubles)
			*ARENA_PUSH(&dataset->arena, single->troubles, single->ntroubles,
				    single->troubles_room) = (struct single_trouble){
				.group = group,
				.status = run->status,
				.reason = run->reason,
			};
		single->troubles[j].count++;
	}
}

/* Where no size says how large the work is, the pages do: there they are a parameter. */
static const char *sizes_text(struct single *single, const struct group *group)
{
	json_t *sizes = json_object_get(group->params, "size") ? sizes_of(group)
							       : json_incref(group->params);
	const char *text = quantity_params(&single->dataset->arena, sizes);

	json_decref(sizes);
	return text;
}

static void add_paths(struct single *single, const struct claim *claims, size_t nclaims)
{
	struct dataset *dataset = single->dataset;
	ssize_t boot = single->boot - dataset->boots;

	for (size_t i = 0; i < nclaims; i++) {
		bool probed = false;

		for (size_t j = 0; j < dataset->nprobes; j++)
			probed = probed ||
				 (dataset->probes[j].boot == (size_t)boot &&
				  !dataset->probes[j].locks &&
				  !strcmp(dataset->probes[j].case_name, claims[i].case_name));
		if (probed && claims[i].nmechanism)
			*ARENA_PUSH(&dataset->arena, single->paths, single->npaths,
				    single->paths_room) = (struct single_path){
				.claim = &claims[i],
				.side = codepath_side(&dataset->arena, dataset, boot, &claims[i],
						      NULL),
			};
	}
}

void single_build(struct dataset *dataset, const struct claim *claims, size_t nclaims,
		  struct single *single)
{
	bool *here = arena_alloc(&dataset->arena, dataset->ngroups * sizeof(*here));

	*single = (struct single){.dataset = dataset, .boot = newest_boot(dataset)};
	for (size_t i = 0; i < dataset->ngroups; i++)
		here[i] = in_boot(single, &dataset->groups[i]);
	for (size_t i = 0; i < dataset->ngroups; i++) {
		const struct group *group = &dataset->groups[i];
		struct single_section *section;
		bool done = !here[i];

		for (size_t j = 0; j < single->nsections; j++)
			done = done || same_section(single->sections[j].group, group);
		if (done)
			continue;
		section = ARENA_PUSH(&dataset->arena, single->sections, single->nsections,
				     single->sections_room);
		*section = (struct single_section){.group = group, .first = single->nrows};
		section->constant = constant_options(single, section, here);
		section->sizes = sizes_text(single, group);
		for (size_t j = i; j < dataset->ngroups; j++) {
			if (here[j] && same_section(group, &dataset->groups[j]))
				add_group(single, section, &dataset->groups[j], claims, nclaims);
		}
	}
	add_troubles(single);
	add_paths(single, claims, nclaims);
	single->locks = lock_table(dataset, NULL, single->boot - dataset->boots);
}
