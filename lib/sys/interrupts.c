// SPDX-License-Identifier: GPL-2.0-only
#include "sys/interrupts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "/proc/interrupts";

/* The heading: "CPU0 CPU2 ...". Returns the number of CPUs; `cpu` NULL: only counts them. */
static size_t heading(const char *line, unsigned int *cpu)
{
	size_t n = 0;
	int used;
	unsigned int number;

	for (; sscanf(line, " CPU%u%n", &number, &used) == 1; line += used, n++)
		if (cpu)
			cpu[n] = number;
	return n;
}

static bool ends_with(const char *line, const char *what)
{
	size_t length = strlen(line), tail = strlen(what);

	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	/* " TLB shootdowns", and not "no TLB shootdowns" without its counters: counts stand before. */
	return length > tail && !strncmp(line + length - tail, what, tail) &&
	       isspace((unsigned char)line[length - tail - 1]);
}

/* The counters behind the label. Returns how many there are before something else comes. */
static size_t counters(const char *line, size_t room, uint32_t *count)
{
	const char *at = strchr(line, ':');
	size_t n = 0;
	char *end;

	for (at = at ? at + 1 : line; n < room; n++, at = end) {
		while (*at == ' ')
			at++;
		if (!isdigit((unsigned char)*at))
			break;
		/* Wider counters than the kernel's own are taken modulo 2^32 too. */
		count[n] = (uint32_t)strtoull(at, &end, 10);
	}
	return n;
}

bool interrupt_row_parse(FILE *f, const char *what, struct interrupt_row *row, char *why,
			 size_t size)
{
	char *line = NULL;
	size_t room = 0, found;
	bool ok = false;

	memset(row, 0, sizeof(*row));
	if (getline(&line, &room, f) > 0)
		row->cpus = heading(line, NULL);
	row->cpu = calloc(row->cpus + 1, sizeof(*row->cpu));
	row->count = calloc(row->cpus + 1, sizeof(*row->count));
	if (!row->cpus || !row->cpu || !row->count) {
		snprintf(why, size, "%s: wanted a heading of CPUs, found none", path);
		goto out;
	}
	heading(line, row->cpu);
	snprintf(why, size, "%s has no row '%s'", path, what);
	while (!ok && getline(&line, &room, f) > 0) {
		if (!ends_with(line, what))
			continue;
		found = counters(line, row->cpus, row->count);
		ok = found == row->cpus;
		if (!ok)
			snprintf(why, size, "%s: wanted %zu counters of '%s', found %zu", path,
				 row->cpus, what, found);
	}
out:
	free(line);
	if (!ok)
		interrupt_row_free(row);
	return ok;
}

void interrupt_row_free(struct interrupt_row *row)
{
	free(row->cpu);
	free(row->count);
	memset(row, 0, sizeof(*row));
}

bool interrupt_row_difference(const struct interrupt_row *before, const struct interrupt_row *after,
			      uint64_t *sum, char *why, size_t size)
{
	size_t i;

	if (before->cpus != after->cpus ||
	    memcmp(before->cpu, after->cpu, before->cpus * sizeof(*before->cpu))) {
		snprintf(why, size, "CPUs came or went meanwhile: %zu were online, then %zu",
			 before->cpus, after->cpus);
		return false;
	}
	*sum = 0;
	for (i = 0; i < before->cpus; i++)
		*sum += (uint32_t)(after->count[i] - before->count[i]);
	return true;
}

static bool row_now(const char *what, struct interrupt_row *row, char *why, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f) {
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return false;
	}
	ok = interrupt_row_parse(f, what, row, why, size);
	fclose(f);
	return ok;
}

void interrupts_start(struct interrupt_count *count, const char *what)
{
	count->what = what;
	if (row_now(what, &count->start, count->why, sizeof(count->why)))
		count->why[0] = '\0';
}

int64_t interrupts_since(struct interrupt_count *count)
{
	struct interrupt_row now;
	uint64_t sum = 0;
	bool ok;

	if (count->why[0] || !row_now(count->what, &now, count->why, sizeof(count->why)))
		return -1;
	ok = interrupt_row_difference(&count->start, &now, &sum, count->why, sizeof(count->why));
	interrupt_row_free(&now);
	interrupt_row_free(&count->start);
	if (!ok)
		return -1;
	count->why[0] = '\0';
	return (int64_t)sum;
}
