/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A FUSE file system of one regular file, of any size and without storage: it reads as zeroes.
 * Its attributes are constant but for the size, so that nothing makes the kernel drop its pages.
 *
 * The server is a child of its own (lib/case does not count it). It is the only holder of its
 * /dev/fuse descriptor: whenever and however it dies, the kernel aborts the connection and every
 * request in flight, so nothing waits for it.
 *
 * Opening the file drops what the page cache holds of it (it is opened without keep_cache): open
 * it once, and again only to invalidate it.
 */
#ifndef SYS_FUSE_SERVER_H
#define SYS_FUSE_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * In the parent: mounts on SCRATCH/NAME a file of `size` bytes. The server is in `memcg`, the pages
 * it stores are charged to `pages`; NULL: as the caller, and as the server. Returns the pid to be
 * killed; it serves when this returns. Skips without /dev/fuse or the right to mount.
 */
pid_t fuse_server_start(const char *name, uint64_t size, const char *memcg, const char *pages);

/* The file's path, SCRATCH/NAME/file, into buf. */
void fuse_server_file(char *buf, size_t size, const char *name);

/*
 * Has the server put pages of zeroes into the page cache (FUSE_NOTIFY_STORE): far faster than
 * having them read. `fd` is the file; offset and length are bytes, multiples of a page, within the
 * file. Waits until they are there. Pages that are cached already are written over. `cpu`: where
 * the server does it, -1 for anywhere. Returns 0 or an errno: ENOTCONN or ECONNABORTED where the
 * server is dead.
 */
int fuse_server_store(int fd, uint64_t offset, uint64_t length, int cpu);

/*
 * As above, but the server reads its own file ahead (readahead(2)), which costs less a page than
 * storing it, and returns when the requests are made. The first call drops what is cached: it
 * opens the file. fuse_server_refuse() answers the requests with an error: the pages are in the
 * page cache, were never filled, and cannot be mapped. Reclaim does not care what is in a page.
 */
int fuse_server_read(int fd, uint64_t offset, uint64_t length, int cpu);
int fuse_server_refuse(int fd, uint64_t offset, uint64_t length, int cpu);

/* What the server has done since it started: requests and bytes. */
struct fuse_server_counts {
	uint64_t opens, reads, read_bytes, stores, store_bytes;
};
struct fuse_server_counts fuse_server_counts(int fd);

#endif
