// SPDX-License-Identifier: GPL-2.0-only
#include "sys/vmstat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number behind the first line that begins with `name` followed by `separator`, after
 * `skip` ("Node 0 " in a node's meminfo). Rows come in any order and number.
 */
static int64_t table_row(const char *path, const char *skip, const char *name, char separator)
{
	FILE *f = fopen(path, "re");
	size_t skip_len = strlen(skip), len = strlen(name);
	int64_t value = -1;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		const char *key = line;

		if (!strncmp(key, skip, skip_len))
			key += skip_len;
		if (!strncmp(key, name, len) && key[len] == separator) {
			value = strtoll(key + len + 1, NULL, 10);
			break;
		}
	}
	if (f)
		fclose(f);
	return value;
}

int64_t file_row(const char *path, const char *name)
{
	return table_row(path, "", name, ' ');
}

int64_t vmstat(const char *name)
{
	return file_row("/proc/vmstat", name);
}

static int64_t kib(int64_t value)
{
	return value < 0 ? -1 : value * 1024;
}

int64_t meminfo(const char *name)
{
	return kib(table_row("/proc/meminfo", "", name, ':'));
}

int64_t node_meminfo(int node, const char *name)
{
	char path[64], skip[32];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	snprintf(skip, sizeof(skip), "Node %d ", node);
	return kib(table_row(path, skip, name, ':'));
}

int64_t file_number(const char *path)
{
	FILE *f = fopen(path, "re");
	int64_t value = -1;

	if (f) {
		if (fscanf(f, "%" SCNd64, &value) != 1)
			value = -1;
		fclose(f);
	}
	return value;
}
