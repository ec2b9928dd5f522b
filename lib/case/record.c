// SPDX-License-Identifier: GPL-2.0-only
#include "case/record.h"

#include <errno.h>
#include <stdbool.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/io.h"
#include "sys/place.h"

void utc_now(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
}

/* Where the last whole line ends. */
static off_t whole_lines(int fd, off_t size)
{
	char buf[4096];
	off_t end = size;

	while (end > 0) {
		off_t start = end > (off_t)sizeof(buf) ? end - (off_t)sizeof(buf) : 0;
		const char *newline;

		if (!io_pread(fd, buf, (size_t)(end - start), start))
			return -1;
		newline = memrchr(buf, '\n', (size_t)(end - start));
		if (newline)
			return start + (newline - buf) + 1;
		end = start;
	}
	return 0;
}

static bool move_tail(int fd, int dir, const char *name, off_t from, off_t to)
{
	size_t len = (size_t)(to - from);
	char *tail = malloc(len), *aside = NULL;
	bool ok = false;
	int out;

	if (tail && asprintf(&aside, "%s.torn", name) > 0) {
		out = io_openat(dir, aside, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0644);
		ok = out >= 0 && io_pread(fd, tail, len, from) && io_write(out, tail, len) &&
		     io_write(out, "\n", 1) && io_truncate(fd, from);
		if (out >= 0)
			close(out);
	}
	free(aside);
	free(tail);
	return ok;
}

void record_prepare(const char *path)
{
	const char *name;
	int dir = place_of(path, true, &name);

	if (dir < 0 || faccessat(dir, ".", W_OK, 0))
		run_broken("%s: wanted a directory to write records to, found: %s", path,
			   place_error(errno));
	close(dir);
}

int record_open(const char *path)
{
	const char *name;
	int dir = place_of(path, false, &name);
	int fd =
		dir < 0 ? -1 : io_openat(dir, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0644);
	struct stat st;
	off_t whole;

	if (fd < 0)
		run_broken("%s: wanted a file to append records to, found: %s", path,
			   dir < 0 ? place_error(errno) : strerror(errno));
	if (!io_lock(fd, LOCK_EX) || fstat(fd, &st))
		run_broken("%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		run_broken("%s: wanted a regular file, found another kind", path);
	/* A second name is another's doing: what is appended would be appended there. */
	if (st.st_nlink > 1)
		run_broken("%s: wanted a file of one name, found it linked %ju times", path,
			   (uintmax_t)st.st_nlink);
	whole = whole_lines(fd, st.st_size);
	if (whole < 0 || (whole < st.st_size && !move_tail(fd, dir, name, whole, st.st_size)))
		run_broken("%s: the torn last line cannot be moved aside: %s", path,
			   strerror(errno));
	flock(fd, LOCK_UN);
	close(dir);
	return fd;
}

/* One write(2), all or nothing. 0, or the error. */
static int append_once(int fd, const char *line, size_t len, off_t end)
{
	ssize_t wrote = write(fd, line, len);
	int err = wrote < 0 ? errno : ENOSPC;

	if (wrote == (ssize_t)len)
		return 0;
	return io_truncate(fd, end) ? err : errno;
}

int record_append(int fd, const json_t *record)
{
	char *text = json_dumps(record, JSON_COMPACT), *line = NULL;
	int len, err = 0;
	struct stat st;

	if (!text || (len = asprintf(&line, "%s\n", text)) < 0) {
		err = ENOMEM;
	} else if (!io_lock(fd, LOCK_EX) || fstat(fd, &st)) {
		err = errno;
	} else {
		/* Once more: what a signal cut short is whole then, a full disk is full again. */
		err = append_once(fd, line, (size_t)len, st.st_size);
		if (err)
			err = append_once(fd, line, (size_t)len, st.st_size);
		/* Removed while the run went on: what is in it is lost. */
		if (!err && (fstat(fd, &st) || !st.st_nlink))
			err = ENOENT;
		flock(fd, LOCK_UN);
	}
	free(line);
	free(text);
	return err;
}
