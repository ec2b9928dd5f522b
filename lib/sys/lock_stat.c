// SPDX-License-Identifier: GPL-2.0-only
#include "sys/lock_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/io.h"
#include "sys/knob.h"

static const char file[] = "/proc/lock_stat", knob[] = "/proc/sys/kernel/lock_stat";

const char *const lock_names[] = {"i_pages", "i_lock", "lru_lock", "zone_lock", NULL};
enum { LOCKS = sizeof(lock_names) / sizeof(lock_names[0]) - 1, I_PAGES = 0 };

/*
 * As the kernel shows them. Every file system has an i_lock of its own. Each place that makes an
 * xarray has its own "&xa->xa_lock", with a number: which of them is i_pages is found by a trial.
 */
static struct {
	char shown[64];
	bool versions;
	struct lock_counts before, after;
} locks[LOCKS] = {
	{"", false, {0}, {0}},
	{"&sb->s_type->i_lock_key", true, {0}, {0}},
	{"&lruvec->lru_lock", true, {0}, {0}},
	{"&zone->lock", true, {0}, {0}},
};

/* Of a row: contended, its bounces and waits; acquired, its bounces and holds. */
enum {
	BOUNCES,
	WAITS,
	WAIT_MIN,
	WAIT_MAX,
	WAIT_SUM,
	WAIT_MEAN,
	ACQ_BOUNCES,
	HOLDS,
	HOLD_MIN,
	HOLD_MAX,
	HOLD_SUM,
	HOLD_MEAN,
	COLUMNS
};

/* Splits "   &xa->xa_lock#4:   0  12 .. " at its last colon that twelve numbers follow. */
static bool parse_row(char *line, char **name, double column[COLUMNS])
{
	char *colon = strrchr(line, ':'), *at, *end;
	int i;

	if (!colon)
		return false;
	for (at = colon + 1, i = 0; i < COLUMNS; i++, at = end) {
		column[i] = strtod(at, &end);
		if (end == at)
			return false;
	}
	if (at[strspn(at, " \n")])
		return false;
	*colon = '\0';
	*name = line + strspn(line, " ");
	return true;
}

/* A lock for reading and writing has two rows, "NAME-R" and "NAME-W". */
static bool goes_by(const char *name, const char *lock, bool versions)
{
	size_t length = strlen(lock);

	if (strncmp(name, lock, length))
		return false;
	name += length;
	if (versions && *name == '#')
		name += 1 + strspn(name + 1, "0123456789");
	return !*name || !strcmp(name, "-R") || !strcmp(name, "-W");
}

bool lock_stat_sum(FILE *f, const char *lock, bool versions, struct lock_counts *sum, char *why,
		   size_t size)
{
	double column[COLUMNS];
	char line[512], *name;
	bool known = false;

	memset(sum, 0, sizeof(*sum));
	while (fgets(line, sizeof(line), f)) {
		known = known || !strncmp(line, "lock_stat version 0.", 20);
		if (strstr(line, "lock debugging disabled")) {
			snprintf(why, size,
				 "the kernel has given up checking its locks: see dmesg");
			return false;
		}
		if (!parse_row(line, &name, column) || !goes_by(name, lock, versions))
			continue;
		sum->contentions += (uint64_t)column[WAITS];
		sum->waited_ns += 1000 * column[WAIT_SUM];
		sum->acquisitions += (uint64_t)column[HOLDS];
		sum->held_ns += 1000 * column[HOLD_SUM];
	}
	if (!known)
		snprintf(why, size, "wanted \"lock_stat version 0.x\", found another file");
	return known;
}

/* The whole file, read at once so that all locks are of one moment; to be freed. */
static char *read_now(char *why, size_t size)
{
	int fd = io_open(file, O_RDONLY, 0);
	char *text = fd < 0 ? NULL : io_read_all(fd);

	if (!text)
		snprintf(why, size, "wanted %s (CONFIG_LOCK_STAT), found: %s", file,
			 strerror(errno));
	if (fd >= 0)
		close(fd);
	return text;
}

static bool sum_of(char *text, const char *lock, bool versions, struct lock_counts *sum, char *why,
		   size_t size)
{
	FILE *f = fmemopen(text, strlen(text), "r");
	bool ok;

	if (!f) {
		snprintf(why, size, "%s: %s", file, strerror(errno));
		return false;
	}
	ok = lock_stat_sum(f, lock, versions, sum, why, size);
	fclose(f);
	return ok;
}

enum { TRIAL_PAGES = 512, CANDIDATES = 64 };

struct candidate {
	char shown[64];
	struct lock_counts before;
};

/* The xarrays' locks, by the names under which rows go. */
static size_t candidates(char *text, struct candidate *found)
{
	double column[COLUMNS];
	char line[512], *name;
	size_t count = 0, i;
	FILE *f = fmemopen(text, strlen(text), "r");

	while (f && count < CANDIDATES && fgets(line, sizeof(line), f)) {
		if (!parse_row(line, &name, column) || strncmp(name, "&xa->xa_lock", 12))
			continue;
		for (i = 0; i < count && strcmp(found[i].shown, name); i++)
			;
		if (i == count)
			snprintf(found[count++].shown, sizeof(found[0].shown), "%.63s", name);
	}
	if (f)
		fclose(f);
	return count;
}

/* The candidate taken most often since; how often. */
static uint64_t taken_most(struct candidate *found, size_t count, char *text, char *shown,
			   size_t room)
{
	struct lock_counts now;
	uint64_t most = 0, taken;
	char why[128];
	size_t i;

	for (i = 0; i < count; i++) {
		if (!sum_of(text, found[i].shown, false, &now, why, sizeof(why)))
			continue;
		taken = now.acquisitions - found[i].before.acquisitions;
		if (taken > most)
			snprintf(shown, room, "%.63s", found[i].shown);
		most = taken > most ? taken : most;
	}
	return most;
}

/* Each page that is put into a file takes the lock of its page cache: the one taken so often. */
static bool find_i_pages(char *why, size_t size)
{
	const long page = sysconf(_SC_PAGESIZE);
	static struct candidate found[CANDIDATES];
	uint64_t most = 0;
	size_t count = 0, i;
	char *text = NULL;
	int fd = memfd_create("trial", MFD_CLOEXEC);
	/* A lock has a row from the first time it is taken. */
	bool filled = fd >= 0 && !fallocate(fd, 0, 0, page);

	if (filled)
		text = read_now(why, size);
	if (text)
		count = candidates(text, found);
	for (i = 0; i < count; i++)
		sum_of(text, found[i].shown, false, &found[i].before, why, size);
	free(text);
	text = NULL;
	filled = filled && !fallocate(fd, 0, page, TRIAL_PAGES * page);
	if (filled)
		text = read_now(why, size);
	else
		snprintf(why, size, "wanted %d pages in a memfd, found: %s", TRIAL_PAGES,
			 strerror(errno));
	if (text)
		most = taken_most(found, count, text, locks[I_PAGES].shown, sizeof(locks[0].shown));
	if (text && most < TRIAL_PAGES)
		snprintf(
			why, size,
			"wanted a lock \"&xa->xa_lock\" that %d new pages take, found one taken %llu times",
			TRIAL_PAGES, (unsigned long long)most);
	free(text);
	if (fd >= 0)
		close(fd);
	return most >= TRIAL_PAGES;
}

bool lock_stat_open(char *why, size_t size)
{
	/* Without the file the knob is not there either, which would be said instead. */
	if (access(file, R_OK)) {
		snprintf(why, size, "wanted %s (CONFIG_LOCK_STAT), found: %s", file,
			 strerror(errno));
		return false;
	}
	knob_set(knob, "1");
	return find_i_pages(why, size);
}

static bool sum_all(bool after, char *why, size_t size)
{
	char *text = read_now(why, size);
	bool ok = text;
	size_t i;

	for (i = 0; ok && i < LOCKS; i++)
		ok = sum_of(text, locks[i].shown, locks[i].versions,
			    after ? &locks[i].after : &locks[i].before, why, size);
	free(text);
	return ok;
}

bool lock_stat_start(char *why, size_t size)
{
	return sum_all(false, why, size);
}

bool lock_stat_stop(char *why, size_t size)
{
	return sum_all(true, why, size);
}

bool lock_stat_of(const char *name, struct lock_counts *counts, const char **shown_as)
{
	size_t i;

	for (i = 0; i < LOCKS && strcmp(name, lock_names[i]); i++)
		;
	if (i == LOCKS || !locks[i].after.acquisitions)
		return false;
	*shown_as = locks[i].shown;
	*counts = (struct lock_counts){
		.acquisitions = locks[i].after.acquisitions - locks[i].before.acquisitions,
		.contentions = locks[i].after.contentions - locks[i].before.contentions,
		.held_ns = locks[i].after.held_ns - locks[i].before.held_ns,
		.waited_ns = locks[i].after.waited_ns - locks[i].before.waited_ns,
	};
	return true;
}
