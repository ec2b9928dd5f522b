// SPDX-License-Identifier: GPL-2.0-only
#include "sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* As glibc's TEMP_FAILURE_RETRY(), which not every C library has. */
#define AGAIN(result, call)                                                                        \
	do {                                                                                       \
		(result) = (call);                                                                 \
	} while ((result) == -1 && errno == EINTR)

int io_openat(int dir, const char *name, int flags, mode_t mode)
{
	int fd;

	AGAIN(fd, openat(dir, name, flags | O_CLOEXEC, mode));
	return fd;
}

int io_open(const char *path, int flags, mode_t mode)
{
	return io_openat(AT_FDCWD, path, flags, mode);
}

ssize_t io_read(int fd, void *buf, size_t size)
{
	size_t done = 0;
	ssize_t got;

	do {
		AGAIN(got, read(fd, (char *)buf + done, size - done));
		if (got < 0)
			return -1;
		done += (size_t)got;
	} while (got && done < size);
	return (ssize_t)done;
}

char *io_read_all(int fd)
{
	size_t used = 0, room = 65536;
	char *text = malloc(room), *larger;
	ssize_t got = 0;
	int err;

	while (text) {
		AGAIN(got, read(fd, text + used, room - used - 1));
		if (got <= 0)
			break;
		used += (size_t)got;
		if (room - used < 4096) {
			larger = realloc(text, room *= 2);
			if (!larger)
				free(text);
			text = larger;
		}
	}
	if (text && got < 0) {
		err = errno;
		free(text);
		text = NULL;
		errno = err;
	}
	if (text)
		text[used] = '\0';
	return text;
}

bool io_pread(int fd, void *buf, size_t size, off_t offset)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		AGAIN(got, pread(fd, (char *)buf + done, size - done, offset + (off_t)done));
		if (got == 0)
			errno = ENODATA;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

bool io_write(int fd, const void *buf, size_t size)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		AGAIN(got, write(fd, (const char *)buf + done, size - done));
		if (got < 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

bool io_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		AGAIN(got, pwrite(fd, (const char *)buf + done, size - done, offset + (off_t)done));
		if (got < 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

bool io_write_once(int fd, const char *text)
{
	ssize_t got;

	AGAIN(got, write(fd, text, strlen(text)));
	if (got >= 0 && (size_t)got != strlen(text))
		errno = EIO;
	return got >= 0 && (size_t)got == strlen(text);
}

bool io_truncate(int fd, off_t size)
{
	int rc;

	AGAIN(rc, ftruncate(fd, size));
	return !rc;
}

bool io_allocate(int fd, int mode, off_t offset, off_t size)
{
	int rc;

	AGAIN(rc, fallocate(fd, mode, offset, size));
	return !rc;
}

bool io_sync(int fd)
{
	int rc;

	AGAIN(rc, fsync(fd));
	return !rc;
}

bool io_lock(int fd, int operation)
{
	int rc;

	AGAIN(rc, flock(fd, operation));
	return !rc;
}

bool io_dup2(int from, int to)
{
	int rc;

	AGAIN(rc, dup2(from, to));
	return rc >= 0;
}

int io_ioctl(int fd, unsigned long request, void *argument)
{
	int rc;

	AGAIN(rc, ioctl(fd, request, argument));
	return rc;
}
