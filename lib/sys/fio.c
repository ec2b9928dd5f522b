// SPDX-License-Identifier: GPL-2.0-only
#include "sys/fio.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/end.h"
#include "sys/tmpfs.h"

/* fio prints warnings before its JSON, which begins with a line of "{". */
static json_t *load(FILE *f, char *why, size_t size)
{
	json_error_t error;
	json_t *all;
	char line[1024];
	long at = ftell(f);

	while (fgets(line, sizeof(line), f) && line[0] != '{')
		at = ftell(f);
	if (fseek(f, at, SEEK_SET)) {
		snprintf(why, size, "wanted fio's JSON, found: %s", strerror(errno));
		return NULL;
	}
	all = json_loadf(f, JSON_DISABLE_EOF_CHECK, &error);
	if (!all)
		snprintf(why, size, "wanted fio's JSON, found: %s", error.text);
	return all;
}

/* What a figure can be, and a conversion to an integer takes. */
static bool sensible(const json_t *found)
{
	double value = json_number_value(found);

	return json_is_number(found) && value >= 0 && value < 1e15;
}

static bool number(json_t *object, const char *key, double *value, char *why, size_t size)
{
	const json_t *found = json_object_get(object, key);

	*value = json_number_value(found);
	if (sensible(found))
		return true;
	snprintf(why, size, "wanted a number %s in fio's JSON, found %s", key,
		 !found			 ? "none"
		 : json_is_number(found) ? "one that cannot be"
					 : "another kind");
	return false;
}

/* Keys are percentiles as text, of as many digits as the version prints: "99.900000". */
static bool percentile(json_t *percentiles, double wanted, double *value, char *why, size_t size)
{
	const char *key;
	json_t *found;

	json_object_foreach (percentiles, key, found) {
		if (fabs(strtod(key, NULL) - wanted) < 1e-6 && sensible(found)) {
			*value = json_number_value(found);
			return true;
		}
	}
	snprintf(why, size, "wanted the percentile %g in fio's JSON, found %s", wanted,
		 percentiles ? "others" : "none");
	return false;
}

static bool read_job(json_t *job, struct fio_result *result, char *why, size_t size)
{
	json_t *writes = json_object_get(job, "write");
	json_t *latency = json_object_get(writes, "clat_ns");
	json_t *percentiles = json_object_get(latency, "percentile");
	double error, operations;

	if (!number(job, "error", &error, why, size))
		return false;
	if (error > 0) {
		snprintf(why, size, "wanted fio's job to succeed, found error %g: %s", error,
			 strerror(error < INT_MAX ? (int)error : INT_MAX));
		return false;
	}
	if (!number(writes, "total_ios", &operations, why, size) ||
	    !number(writes, "iops", &result->per_second, why, size))
		return false;
	result->operations = (int64_t)operations;
	return percentile(percentiles, 50, &result->p50_ns, why, size) &&
	       percentile(percentiles, 99, &result->p99_ns, why, size) &&
	       percentile(percentiles, 99.9, &result->p999_ns, why, size);
}

bool fio_parse(FILE *f, struct fio_result *result, char *why, size_t size)
{
	json_t *all = load(f, why, size);
	json_t *jobs = json_object_get(all, "jobs");
	bool ok = false;

	if (all && json_array_size(jobs) != 1)
		snprintf(why, size, "wanted one job in fio's JSON, found %zu",
			 json_array_size(jobs));
	else if (all)
		ok = read_job(json_array_get(jobs, 0), result, why, size);
	json_decref(all);
	return ok;
}

bool fio_touch(const char *path, uint64_t bytes, int cpu, struct fio_result *result, char *why,
	       size_t size)
{
	char file[300], length[48], block[32], cpus[48], output[256], option[300];
	char said[2048] = "";
	int code;
	bool ok;
	FILE *f;

	scratch_path(output, sizeof(output), "fio.json");
	snprintf(option, sizeof(option), "--output=%s", output);
	snprintf(file, sizeof(file), "--filename=%s", path);
	snprintf(length, sizeof(length), "--size=%" PRIu64, bytes);
	snprintf(block, sizeof(block), "--bs=%ld", sysconf(_SC_PAGESIZE));
	snprintf(cpus, sizeof(cpus), "--cpus_allowed=%d", cpu);
	unlink(output);
	/* A thread, not a process that would outlive us when we are killed. */
	code = command_run((const char *const[]){"fio", "--name=touch", file, length, block, cpus,
						 "--thread", "--ioengine=mmap", "--rw=write",
						 "--fallocate=none", "--invalidate=0",
						 "--overwrite=0", "--percentile_list=50:99:99.9",
						 "--output-format=json", option, NULL},
			   said, sizeof(said));
	if (code) {
		said[strcspn(said, "\n")] = '\0';
		snprintf(why, size, "wanted fio to succeed, found exit %d: %s", code, said);
		return false;
	}
	f = fopen(output, "re");
	if (!f) {
		snprintf(why, size, "wanted fio's output, found: %s", strerror(errno));
		return false;
	}
	ok = fio_parse(f, result, why, size);
	fclose(f);
	return ok;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the member of that offset. */
static double median(const struct fio_result *results, size_t n, size_t member)
{
	double *values = calloc(n + 1, sizeof(*values)), middle;
	size_t i;

	if (!values)
		run_broken("out of memory for %zu results", n);
	for (i = 0; i < n; i++)
		memcpy(&values[i], (const char *)&results[i] + member, sizeof(*values));
	qsort(values, n, sizeof(*values), by_value);
	middle = values[n / 2];
	free(values);
	return middle;
}

struct fio_result fio_median(const struct fio_result *results, size_t n)
{
	struct fio_result all = {
		.operations = INT64_MAX,
		.per_second = median(results, n, offsetof(struct fio_result, per_second)),
		.p50_ns = median(results, n, offsetof(struct fio_result, p50_ns)),
		.p99_ns = median(results, n, offsetof(struct fio_result, p99_ns)),
		.p999_ns = median(results, n, offsetof(struct fio_result, p999_ns)),
	};
	size_t i;

	for (i = 0; i < n; i++)
		if (results[i].operations < all.operations)
			all.operations = results[i].operations;
	return all;
}

const char *fio_version(void)
{
	static char version[64];

	command_run((const char *const[]){"fio", "--version", NULL}, version, sizeof(version));
	version[strcspn(version, "\n")] = '\0';
	return *version ? version : "unknown";
}
