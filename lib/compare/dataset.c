// SPDX-License-Identifier: GPL-2.0-only
#include "compare/dataset.h"

#include "compare/envfile.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char SUFFIX[] = ".jsonl";

/* Canonical text of an object, for equality. In the arena. */
static char *canonical(struct arena *arena, json_t *object)
{
	char *text = json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
	char *kept = arena_strdup(arena, text ? text : "");

	free(text);
	return kept;
}

/* "op=ftruncate,folio=4k" in the order the case gave. */
static char *variant_text(struct arena *arena, json_t *options)
{
	char *text = arena_strdup(arena, ""), shown[80];
	const char *key;
	json_t *value;

	json_object_foreach (options, key, value) {
		printable(shown, sizeof(shown), json_string_value(value));
		text = arena_printf(arena, "%s%s%s=%s", text, *text ? "," : "", key, shown);
	}
	return text;
}

/* Pages are an outcome, which a run that was skipped does not have. */
static json_t *without_pages(json_t *params)
{
	json_t *copy = json_copy(params);

	json_object_del(copy, "pages");
	return copy;
}

static size_t find_group(struct dataset *dataset, const struct record *record)
{
	json_t *empty = json_object(), *params = without_pages(record->params);
	json_t *parts = json_pack("[sOsOO]", record->case_name, record->options, record->scale,
				  params, record->identity ? record->identity : empty);
	char *key = json_dumps(parts, JSON_SORT_KEYS | JSON_COMPACT);
	json_t *known = json_object_get(dataset->index, key);
	struct group *group;

	json_decref(parts);
	if (known) {
		json_decref(empty);
		json_decref(params);
		free(key);
		return (size_t)json_integer_value(known);
	}
	group = ARENA_PUSH(&dataset->arena, dataset->groups, dataset->ngroups,
			   dataset->groups_room);
	*group = (struct group){
		.first_run = NO_RUN,
		.last_run = NO_RUN,
		.key = arena_strdup(&dataset->arena, key),
		.case_name = arena_strdup(&dataset->arena, record->case_name),
		.scale = arena_strdup(&dataset->arena, record->scale),
		.variant = variant_text(&dataset->arena, record->options),
		.options = json_incref(record->options),
		.params = json_copy(record->params),
		.identity = record->identity ? json_incref(record->identity) : json_incref(empty),
	};
	parts = json_pack("[sOso]", record->case_name, record->options, record->scale, params);
	group->loose_key = canonical(&dataset->arena, parts);
	json_decref(parts);
	json_decref(empty);
	json_object_set_new(dataset->index, key, json_integer((json_int_t)dataset->ngroups - 1));
	free(key);
	return dataset->ngroups - 1;
}

/* Index of a metric in its group, added where it is new; -1: its unit or direction changed. */
static ssize_t find_metric(struct dataset *dataset, const struct input *in, struct group *group,
			   const struct record_metric *metric)
{
	struct group_metric *known;

	for (size_t i = 0; i < group->nmetrics; i++) {
		known = &group->metrics[i];
		if (strcmp(known->name, metric->name) != 0)
			continue;
		if (strcmp(known->unit, metric->unit) != 0 || known->better != metric->better) {
			char wanted[120], found[120];

			snprintf(wanted, sizeof(wanted), "unit %s, better %s as in earlier runs",
				 known->unit, better_name[known->better]);
			snprintf(found, sizeof(found), "%s, %s", metric->unit,
				 better_name[metric->better]);
			return input_fail(in, metric->name, wanted, found);
		}
		if (metric->absent && !known->absent)
			known->absent = arena_strdup(&dataset->arena, metric->absent);
		return (ssize_t)i;
	}
	known = ARENA_PUSH(&dataset->arena, group->metrics, group->nmetrics, group->metrics_room);
	*known = (struct group_metric){
		.name = arena_strdup(&dataset->arena, metric->name),
		.unit = arena_strdup(&dataset->arena, metric->unit),
		.better = metric->better,
		.absent = metric->absent ? arena_strdup(&dataset->arena, metric->absent) : NULL,
	};
	return (ssize_t)group->nmetrics - 1;
}

static const char *find_invocation(struct dataset *dataset, struct boot *boot, const char *id)
{
	for (size_t i = boot->ninvocations; i--;) {
		if (!strcmp(boot->invocations[i], id))
			return boot->invocations[i];
	}
	return *ARENA_PUSH(&dataset->arena, boot->invocations, boot->ninvocations,
			   boot->invocations_room) = arena_strdup(&dataset->arena, id);
}

/* One kernel a directory, one boot a file, and each run once. */
static int check_place(struct dataset *dataset, const struct input *in, const struct boot *boot,
		       const struct record *record, const char *what)
{
	char *key;
	bool twice;

	if (strcmp(record->boot, boot->id) != 0)
		return input_failf(in, "boot", "the boot the file is named after", "\"%s\"",
				   record->boot);
	if (!dataset->kernel)
		dataset->kernel = arena_strdup(&dataset->arena, record->kernel);
	if (strcmp(record->kernel, dataset->kernel) != 0) {
		char wanted[120];

		snprintf(wanted, sizeof(wanted), "\"%.80s\" as in the records before",
			 dataset->kernel);
		return input_failf(in, "kernel", wanted, "\"%s\"", record->kernel);
	}
	if (asprintf(&key, "%s %s %s %lld %lld", boot->id, record->invocation, what,
		     (long long)record->run, (long long)record->seq) < 0)
		return input_fail(in, NULL, "memory for a run", "none");
	twice = json_object_get(dataset->seen, key);
	json_object_set_new(dataset->seen, key, json_true());
	free(key);
	if (twice)
		return input_failf(in, "seq", "each run once", "run %lld, seq %lld of \"%s\" again",
				   (long long)record->run, (long long)record->seq,
				   record->invocation);
	return 0;
}

/* The first run that went well says how many pages; a variant may differ a little from run to run. */
static void keep_pages(struct group *group, const struct record *record)
{
	json_t *pages = json_object_get(record->params, "pages");
	double count = json_number_value(pages);

	if (!(count > 0))
		return;
	if (!json_object_get(group->params, "pages"))
		json_object_set(group->params, "pages", pages);
	if (!(group->pages_low > 0) || count < group->pages_low)
		group->pages_low = count;
	if (count > group->pages_high)
		group->pages_high = count;
}

static void see_boot(struct boot *boot, const struct record *record)
{
	boot->first = fmin(boot->first, record->started);
	boot->last = fmax(boot->last, record->started);
	boot->nruns++;
}

static int add_probe_run(struct dataset *dataset, const struct input *in, size_t boot_index,
			 const struct record *record)
{
	struct boot *boot = &dataset->boots[boot_index];
	struct arena *arena = &dataset->arena;
	const char *what = arena_printf(arena, "probe %s %s", record->case_name,
					canonical(arena, record->options));
	json_t *pages = json_object_get(record->params, "pages");

	if (check_place(dataset, in, boot, record, what) < 0)
		return -1;
	see_boot(boot, record);
	find_invocation(dataset, boot, record->invocation);
	*ARENA_PUSH(arena, dataset->probes, dataset->nprobes,
		    dataset->probes_room) = (struct probe_run){
		.case_name = arena_strdup(arena, record->case_name),
		.scale = arena_strdup(arena, record->scale),
		.variant = variant_text(arena, record->options),
		.reason = record->status == RUN_OK ? NULL : arena_strdup(arena, record->reason),
		.options = json_incref(record->options),
		.functions = json_incref(record->functions),
		.locks = record->locks ? json_incref(record->locks) : NULL,
		.per = record->per ? json_incref(record->per) : NULL,
		.pages = json_is_number(pages) ? json_number_value(pages) : NAN,
		.boot = boot_index,
		.status = record->status,
	};
	return 0;
}

static int add_record(struct dataset *dataset, const struct input *in, size_t boot_index,
		      const struct record *record)
{
	struct boot *boot = &dataset->boots[boot_index];
	size_t index = find_group(dataset, record);
	struct group *group = &dataset->groups[index];
	double values[RECORD_METRICS_MAX];
	char number[24];
	struct run *run;

	snprintf(number, sizeof(number), "%zu", index);
	if (check_place(dataset, in, boot, record, number) < 0)
		return -1;
	for (size_t i = 0; i < RECORD_METRICS_MAX; i++)
		values[i] = NAN;
	for (size_t i = 0; i < record->nmetrics; i++) {
		ssize_t at = find_metric(dataset, in, group, &record->metrics[i]);

		if (at < 0)
			return -1;
		if (at >= RECORD_METRICS_MAX)
			return input_fail(in, "metrics", "at most 64 metrics a variant", "more");
		values[at] = record->metrics[i].value;
	}
	if (record->status == RUN_OK)
		keep_pages(group, record);
	group->count[record->status]++;
	group->idle_ns = fmax(group->idle_ns, record->idle_ns);
	see_boot(boot, record);
	run = ARENA_PUSH(&dataset->arena, dataset->runs, dataset->nruns, dataset->runs_room);
	if (group->first_run == NO_RUN)
		group->first_run = dataset->nruns - 1;
	else
		dataset->runs[group->last_run].next = dataset->nruns - 1;
	group->last_run = dataset->nruns - 1;
	*run = (struct run){
		.group = index,
		.boot = boot_index,
		.next = NO_RUN,
		.invocation = find_invocation(dataset, boot, record->invocation),
		.reason = record->reason ? arena_strdup(&dataset->arena, record->reason) : NULL,
		.run = record->run,
		.seq = record->seq,
		.status = record->status,
		.started = record->started,
		.total_ns = record->total_ns,
		.nvalues = group->nmetrics,
	};
	run->values = arena_alloc(&dataset->arena, run->nvalues * sizeof(*run->values));
	memcpy(run->values, values, run->nvalues * sizeof(*run->values));
	if (record->histogram) {
		struct histogram *kept = arena_alloc(&dataset->arena, sizeof(*kept));

		*kept = *record->histogram;
		run->histogram = kept;
	}
	return 0;
}

static int read_boot(struct dataset *dataset, const char *name, struct input_error *error)
{
	char *path = arena_printf(&dataset->arena, "%s/%s", dataset->path, name);
	size_t stem = strlen(name) - strlen(SUFFIX), index = dataset->nboots;
	struct boot *boot =
		ARENA_PUSH(&dataset->arena, dataset->boots, dataset->nboots, dataset->boots_room);
	struct record record;
	struct lines lines;
	bool missing;
	char *line;
	size_t length;
	int got;

	*boot = (struct boot){
		.id = arena_printf(&dataset->arena, "%.*s", (int)stem, name),
		.file = path,
		.first = INFINITY,
		.last = -INFINITY,
	};
	boot->env = envfile_read(
		arena_printf(&dataset->arena, "%s/%s.env.json", dataset->path, boot->id), boot->id,
		&missing, error);
	if (!boot->env && !missing)
		return -1;
	if (missing)
		note_add(&dataset->notes, "no-environment", NULL,
			 "boot %.8s of %s has no environment file", boot->id, dataset->path);
	got = lines_open(&lines, path, path, error);
	while (!got && (got = lines_next(&lines, &line, &length)) == 1) {
		got = record_parse(&lines.in, line, length, &record);
		if (!got)
			got = (record.functions ? add_probe_run : add_record)(dataset, &lines.in,
									      index, &record);
		record_release(&record);
	}
	if (got == 2) {
		note_add(&dataset->notes, "torn-line", NULL,
			 "%s:%zu: the last line has no newline and was skipped", path,
			 lines.in.line);
		got = 0;
	}
	lines_close(&lines);
	return got;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const struct boot *sort_boots;

static int by_first_run(const void *a, const void *b)
{
	const struct boot *x = &sort_boots[*(const size_t *)a];
	const struct boot *y = &sort_boots[*(const size_t *)b];

	return x->first < y->first ? -1 : x->first > y->first ? 1 : strcmp(x->id, y->id);
}

/* Puts the boots in the order of time and drops those without a run. */
static void order_boots(struct dataset *dataset)
{
	size_t *order = arena_alloc(&dataset->arena, dataset->nboots * sizeof(*order));
	size_t *place = arena_alloc(&dataset->arena, dataset->nboots * sizeof(*place));
	struct boot *sorted = arena_alloc(&dataset->arena, dataset->nboots * sizeof(*sorted));
	size_t kept = 0;

	for (size_t i = 0; i < dataset->nboots; i++)
		order[i] = i;
	sort_boots = dataset->boots;
	qsort(order, dataset->nboots, sizeof(*order), by_first_run);
	for (size_t i = 0; i < dataset->nboots; i++) {
		struct boot *boot = &dataset->boots[order[i]];

		if (boot->nruns) {
			place[order[i]] = kept;
			sorted[kept++] = *boot;
			continue;
		}
		note_add(&dataset->notes, "empty-boot", NULL, "%s holds no whole record",
			 boot->file);
		json_decref(boot->env);
	}
	for (size_t i = 0; i < dataset->nruns; i++)
		dataset->runs[i].boot = place[dataset->runs[i].boot];
	for (size_t i = 0; i < dataset->nprobes; i++)
		dataset->probes[i].boot = place[dataset->probes[i].boot];
	dataset->boots = sorted;
	dataset->nboots = kept;
}

static int list_files(struct dataset *dataset, const char ***names, size_t *count,
		      struct input_error *error)
{
	struct input in = {.file = dataset->path, .error = error};
	struct dirent *entry;
	size_t room = 0;
	struct stat st;
	DIR *dir;

	if (stat(dataset->path, &st) < 0)
		return input_fail(&in, NULL, "a directory of results", strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return input_fail(&in, NULL, "a directory of results",
				  "something that is no directory");
	dir = opendir(dataset->path);
	if (!dir)
		return input_fail(&in, NULL, "a directory of results", strerror(errno));
	while ((entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || length <= strlen(SUFFIX) ||
		    strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) != 0)
			continue;
		*names = arena_grow(&dataset->arena, *names, *count, &room, sizeof(**names));
		(*names)[(*count)++] = arena_strdup(&dataset->arena, entry->d_name);
	}
	closedir(dir);
	if (!*count)
		return input_fail(&in, NULL, "BOOT_ID.jsonl files", "none");
	qsort(*names, *count, sizeof(**names), by_name);
	return 0;
}

/*
 * Runs that did not go well lack what would place them (identity, pages): they are counted with
 * the runs of the same variant that did.
 */
static void merge_groups(struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->ngroups; i++) {
		const struct group *group = &dataset->groups[i];

		if (group->count[RUN_OK])
			json_object_set_new(dataset->loose, group->loose_key,
					    json_integer((json_int_t)i));
	}
	for (size_t i = 0; i < dataset->ngroups; i++) {
		struct group *group = &dataset->groups[i], *into;
		json_t *index = json_object_get(dataset->loose, group->loose_key);

		if (group->count[RUN_OK] || group->first_run == NO_RUN)
			continue;
		if (!index) {
			json_object_set_new(dataset->loose, group->loose_key,
					    json_integer((json_int_t)i));
			continue;
		}
		into = &dataset->groups[json_integer_value(index)];
		for (size_t run = group->first_run; run != NO_RUN; run = dataset->runs[run].next)
			dataset->runs[run].group = (size_t)json_integer_value(index);
		dataset->runs[into->last_run].next = group->first_run;
		into->last_run = group->last_run;
		for (int status = 0; status < RUN_STATUSES; status++) {
			into->count[status] += group->count[status];
			group->count[status] = 0;
		}
		group->first_run = group->last_run = NO_RUN;
	}
}

int dataset_read(const char *path, struct dataset *dataset, struct input_error *error)
{
	struct input in = {.file = path, .error = error};
	const char **names = NULL;
	size_t count = 0, length = strlen(path);

	*dataset = (struct dataset){
		.index = json_object(), .loose = json_object(), .seen = json_object()};
	dataset->notes.arena = &dataset->arena;
	while (length > 1 && path[length - 1] == '/')
		length--;
	dataset->path = arena_printf(&dataset->arena, "%.*s", (int)length, path);
	if (list_files(dataset, &names, &count, error) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (read_boot(dataset, names[i], error) < 0)
			return -1;
	}
	merge_groups(dataset);
	if (!dataset->nruns && !dataset->nprobes)
		return input_fail(&in, NULL, "records", "none that is whole");
	order_boots(dataset);
	return 0;
}

void dataset_release(struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->nboots; i++)
		json_decref(dataset->boots[i].env);
	for (size_t i = 0; i < dataset->ngroups; i++) {
		json_decref(dataset->groups[i].options);
		json_decref(dataset->groups[i].params);
		json_decref(dataset->groups[i].identity);
	}
	for (size_t i = 0; i < dataset->nprobes; i++) {
		json_decref(dataset->probes[i].options);
		json_decref(dataset->probes[i].functions);
		json_decref(dataset->probes[i].locks);
		json_decref(dataset->probes[i].per);
	}
	json_decref(dataset->index);
	json_decref(dataset->loose);
	json_decref(dataset->seen);
	arena_free(&dataset->arena);
	*dataset = (struct dataset){0};
}

const struct group *dataset_group(const struct dataset *dataset, const struct group *like)
{
	json_t *index = json_object_get(dataset->index, like->key);
	const struct group *group;

	if (index) {
		group = &dataset->groups[json_integer_value(index)];
		/* One whose runs were all merged into another says nothing. */
		if (group->first_run != NO_RUN)
			return group;
	}
	index = json_object_get(dataset->loose, like->loose_key);
	if (!index)
		return NULL;
	group = &dataset->groups[json_integer_value(index)];
	return !group->count[RUN_OK] || !like->count[RUN_OK] ? group : NULL;
}

const struct group_metric *group_metric(const struct group *group, const char *name)
{
	for (size_t i = 0; i < group->nmetrics; i++) {
		if (!strcmp(group->metrics[i].name, name))
			return &group->metrics[i];
	}
	return NULL;
}

double run_value(const struct dataset *dataset, const struct run *run, const char *metric)
{
	const struct group *group = &dataset->groups[run->group];
	const struct group_metric *found = group_metric(group, metric);
	size_t index = found ? (size_t)(found - group->metrics) : run->nvalues;

	return run->status == RUN_OK && index < run->nvalues ? run->values[index] : NAN;
}

double group_param(const struct group *group, const char *name)
{
	json_t *value = json_object_get(group->params, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

bool group_matches(const struct group *group, const char *case_name, json_t *where)
{
	const char *key;
	json_t *value;

	if (strcmp(group->case_name, case_name) != 0)
		return false;
	json_object_foreach (where, key, value) {
		if (!json_equal(json_object_get(group->options, key), value))
			return false;
	}
	return true;
}

json_t *boot_match(const struct boot *boot)
{
	return boot->ninvocations ? envfile_match(boot->env, boot->invocations[0]) : NULL;
}

json_t *boot_info(const struct boot *boot)
{
	return boot->ninvocations ? envfile_info(boot->env, boot->invocations[0]) : NULL;
}

const char *boot_engine(const struct boot *boot)
{
	const char *engine = json_string_value(json_object_get(boot_match(boot), "engine"));

	return engine ? engine : "unknown";
}
