// SPDX-License-Identifier: GPL-2.0-only
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/io.h"

/* Links on one way, as the kernel counts them. */
#define LINKS_MAX 40

static int walk(int from, const char *path, bool make, int *links);

static bool trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static bool others_write(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && st->st_gid != 0);
}

static bool trusted_link(int dir, const struct stat *link)
{
	struct stat st;

	return !fstat(dir, &st) && trusted(&st) && trusted(link) &&
	       (!others_write(&st) || (st.st_mode & S_ISVTX));
}

/* The directory `name` of `at`. */
static int step(int at, const char *name, bool make, int *links)
{
	int fd = io_openat(at, name, O_PATH | O_NOFOLLOW, 0), err = 0;
	char target[PATH_MAX];
	ssize_t length = 0;
	struct stat st;

	if (fd < 0 && errno == ENOENT && make && (!mkdirat(at, name, 0755) || errno == EEXIST))
		fd = io_openat(at, name, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		err = errno;
	else if (S_ISDIR(st.st_mode))
		return fd;
	else if (!S_ISLNK(st.st_mode))
		err = ENOTDIR;
	else if (++*links > LINKS_MAX || !trusted_link(at, &st))
		err = ELOOP;
	else if ((length = readlinkat(fd, "", target, sizeof(target) - 1)) < 0)
		err = errno;
	close(fd);
	errno = err;
	if (err)
		return -1;
	target[length] = '\0';
	return walk(at, target, make, links);
}

static int walk(int from, const char *path, bool make, int *links)
{
	char copy[PATH_MAX], *save = NULL, *name;
	int at, next, err;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	at = *path == '/' ? io_open("/", O_PATH | O_DIRECTORY, 0)
			  : io_openat(from, ".", O_PATH | O_DIRECTORY, 0);
	for (name = strtok_r(copy, "/", &save); name && at >= 0;
	     name = strtok_r(NULL, "/", &save)) {
		next = step(at, name, make, links);
		err = errno;
		close(at);
		errno = err;
		at = next;
	}
	return at;
}

int place_open(const char *dir, bool make)
{
	int links = 0;

	return walk(AT_FDCWD, dir, make, &links);
}

int place_of(const char *file, bool make, const char **name)
{
	const char *slash = strrchr(file, '/');
	char dir[PATH_MAX];

	*name = slash ? slash + 1 : file;
	/* A part of it would be another directory. */
	if (slash && slash - file + 1 >= (ptrdiff_t)sizeof(dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
	return place_open(dir, make);
}

const char *place_error(int error)
{
	return error == ELOOP ? "a symbolic link that another user could have put there"
			      : strerror(error);
}

bool place_private(const char *dir, char *why, size_t size)
{
	char path[PATH_MAX], *slash;
	bool last = true;
	struct stat st;

	if (!realpath(dir, path)) {
		snprintf(why, size, "%s: %s", dir, strerror(errno));
		return false;
	}
	for (;; last = false) {
		if (stat(*path ? path : "/", &st)) {
			snprintf(why, size, "%s: %s", path, strerror(errno));
			return false;
		}
		if (!trusted(&st) || (others_write(&st) && (last || !(st.st_mode & S_ISVTX)))) {
			snprintf(why, size, "%.200s, which others can write", *path ? path : "/");
			return false;
		}
		slash = strrchr(path, '/');
		if (!*path || !slash)
			return true;
		*slash = '\0';
	}
}
