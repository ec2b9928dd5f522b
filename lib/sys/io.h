/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that a signal may end early, or that may do a part: here they are called again until
 * all is done or they fail. Stopped and continued, frozen or traced, a process sees EINTR from
 * fallocate(2), from a file on FUSE and from swapoff(2) without ever having handled a signal.
 * All set errno. What is timed is not called through these.
 */
#ifndef SYS_IO_H
#define SYS_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* open(2) with O_CLOEXEC. */
int io_open(const char *path, int flags, mode_t mode);
int io_openat(int dir, const char *name, int flags, mode_t mode);

/* Reads to the end of the file or of the buffer. Returns how many bytes, or -1. */
ssize_t io_read(int fd, void *buf, size_t size);

/* The whole of what is left to read, with a NUL behind it, to be freed; NULL: errno. */
char *io_read_all(int fd);

/* True: all of it. False with errno ENODATA: the file ends before. */
bool io_pread(int fd, void *buf, size_t size, off_t offset);

/* True: all of it was written. */
bool io_write(int fd, const void *buf, size_t size);
bool io_pwrite(int fd, const void *buf, size_t size, off_t offset);

/* One write(2): for the kernel's own files, to which the second part would be another value. */
bool io_write_once(int fd, const char *text);

bool io_truncate(int fd, off_t size);
bool io_allocate(int fd, int mode, off_t offset, off_t size);
bool io_sync(int fd);
bool io_lock(int fd, int operation);
bool io_dup2(int from, int to);
int io_ioctl(int fd, unsigned long request, void *argument);

#endif
