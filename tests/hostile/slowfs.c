// SPDX-License-Identifier: GPL-2.0-only
/*
 * slowfs BACKING MOUNTPOINT: the directory BACKING, every operation of which takes 50 ms more. For
 * tests/hostile/places.sh.
 */
#define FUSE_USE_VERSION 35

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int backing;

/* The path below BACKING; "." for it itself. */
static const char *below(const char *path)
{
	usleep(50000);
	return path[1] ? path + 1 : ".";
}

static int result(long rc)
{
	return rc < 0 ? -errno : (int)rc;
}

static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	return result(fstatat(backing, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int slow_mkdir(const char *path, mode_t mode)
{
	return result(mkdirat(backing, below(path), mode));
}

static int slow_unlink(const char *path)
{
	return result(unlinkat(backing, below(path), 0));
}

static int slow_rename(const char *from, const char *to, unsigned int flags)
{
	return result(renameat2(backing, below(from), backing, below(to), flags));
}

static int slow_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	(void)fi;
	return result(fchmodat(backing, below(path), mode, 0));
}

static int slow_open(const char *path, struct fuse_file_info *fi)
{
	/* The kernel appends: it says where. */
	int fd = openat(backing, below(path), (fi->flags & ~O_APPEND) | O_CLOEXEC);

	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int slow_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	int fd = openat(backing, below(path), (fi->flags & ~O_APPEND) | O_CREAT | O_CLOEXEC, mode);

	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int slow_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	int fd, rc;

	below(path);
	if (fi)
		return result(ftruncate((int)fi->fh, size));
	fd = openat(backing, path[1] ? path + 1 : ".", O_WRONLY | O_CLOEXEC);
	rc = fd < 0 ? -errno : result(ftruncate(fd, size));
	if (fd >= 0)
		close(fd);
	return rc;
}

static int slow_read(const char *path, char *buf, size_t size, off_t at, struct fuse_file_info *fi)
{
	below(path);
	return result(pread((int)fi->fh, buf, size, at));
}

static int slow_write(const char *path, const char *buf, size_t size, off_t at,
		      struct fuse_file_info *fi)
{
	below(path);
	return result(pwrite((int)fi->fh, buf, size, at));
}

static int slow_release(const char *path, struct fuse_file_info *fi)
{
	below(path);
	close((int)fi->fh);
	return 0;
}

static int slow_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t at,
			struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	int fd = openat(backing, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	(void)at;
	(void)fi;
	(void)flags;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		fill(buf, entry->d_name, NULL, 0, (enum fuse_fill_dir_flags)0);
	closedir(dir);
	return 0;
}

static const struct fuse_operations operations = {
	.getattr = slow_getattr,
	.mkdir = slow_mkdir,
	.unlink = slow_unlink,
	.rename = slow_rename,
	.chmod = slow_chmod,
	.open = slow_open,
	.create = slow_create,
	.truncate = slow_truncate,
	.read = slow_read,
	.write = slow_write,
	.release = slow_release,
	.readdir = slow_readdir,
};

int main(int argc, char **argv)
{
	char *words[] = {argv[0], (char[]){"-f"}, argv[argc - 1], NULL};

	if (argc != 3 || (backing = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
		fprintf(stderr, "slowfs BACKING MOUNTPOINT: %s\n", strerror(errno));
		return 2;
	}
	return fuse_main(3, words, &operations, NULL);
}
