// SPDX-License-Identifier: GPL-2.0-only
#include "sys/psi.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "sys/cgroup.h"

/* Rows: "some avg10=0.00 avg60=0.00 avg300=0.00 total=7657", the same of full. */
bool psi_parse(FILE *f, struct psi *psi)
{
	char line[256];
	const char *total;

	psi->some_us = psi->full_us = -1;
	while (fgets(line, sizeof(line), f)) {
		int64_t *to = !strncmp(line, "some ", 5)   ? &psi->some_us
			      : !strncmp(line, "full ", 5) ? &psi->full_us
							   : NULL;

		total = strstr(line, " total=");
		if (to && total && sscanf(total, " total=%" SCNd64, to) != 1)
			*to = -1;
	}
	return psi->some_us >= 0 && psi->full_us >= 0;
}

static FILE *open_of(const char *memcg, char *path, size_t size)
{
	if (memcg && memcg_is_v2(memcg))
		snprintf(path, size, "%s/memory.pressure", memcg);
	else
		snprintf(path, size, "/proc/pressure/memory");
	return fopen(path, "re");
}

const char *psi_scope(const char *memcg)
{
	return memcg && memcg_is_v2(memcg) ? "memcg" : "box";
}

bool psi_memory(const char *memcg, struct psi *psi, char *why, size_t size)
{
	char path[PATH_MAX];
	FILE *f = open_of(memcg, path, sizeof(path));
	bool ok;

	psi->some_us = psi->full_us = -1;
	if (!f) {
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return false;
	}
	/* Built in and turned off: opening succeeds, reading does not. */
	ok = psi_parse(f, psi);
	if (!ok)
		snprintf(why, size, "%s: wanted rows some and full, found %s", path,
			 ferror(f) ? strerror(errno) : "others");
	fclose(f);
	return ok;
}
