// SPDX-License-Identifier: GPL-2.0-only
/* Where root writes: links of our own and of others on the way, `..`, names that are too long. */
#include "sys/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534

/* A directory of the test's own, where it works; from / the same. */
static char base[64];
static int open_before;

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int setup(void **state)
{
	(void)state;
	umask(022);
	strcpy(base, "/tmp/test_place.XXXXXX");
	open_before = descriptors();
	return !mkdtemp(base) || chmod(base, 0755) || chdir(base);
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", base);
	return chdir("/") || system(command);
}

static void make_dir(const char *name, mode_t mode, uid_t owner)
{
	assert_int_equal(mkdir(name, 0755), 0);
	assert_int_equal(chmod(name, mode), 0);
	if (owner)
		assert_int_equal(chown(name, owner, owner), 0);
}

static void make_link(const char *target, const char *name, uid_t owner)
{
	assert_int_equal(symlink(target, name), 0);
	if (owner)
		assert_int_equal(lchown(name, owner, owner), 0);
}

/* `dir` leads to the directory that is `want`. */
static void assert_leads(const char *dir, bool make, const char *want)
{
	struct stat found, wanted;
	int fd = place_open(dir, make);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &found), 0);
	close(fd);
	assert_int_equal(stat(want, &wanted), 0);
	assert_true(S_ISDIR(found.st_mode));
	assert_true(found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino);
	assert_int_equal(descriptors(), open_before);
}

static void assert_refused(const char *dir, bool make, int error)
{
	errno = 0;
	assert_int_equal(place_open(dir, make), -1);
	assert_int_equal(errno, error);
	assert_int_equal(descriptors(), open_before);
}

static void assert_missing(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), -1);
	assert_int_equal(errno, ENOENT);
}

static void as_root(void)
{
	if (geteuid())
		skip();
}

static void what_is_missing(void **state)
{
	char path[PATH_MAX];
	struct stat st;

	(void)state;
	assert_refused("a/b", false, ENOENT);
	assert_missing("a");
	assert_leads("a/b/c", true, "a/b/c");
	assert_int_equal(stat("a/b", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	snprintf(path, sizeof(path), "%s/a/d", base);
	assert_leads(path, true, "a/d");
	assert_leads(path, false, "a/d");
}

static void no_directory(void **state)
{
	int fd = open("file", O_WRONLY | O_CREAT, 0600);

	(void)state;
	close(fd);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_refused("file", true, ENOTDIR);
	assert_refused("file/a", true, ENOTDIR);
	assert_refused("pipe", true, ENOTDIR); /* and nobody waits for a writer */
	make_link("file", "link", 0);
	assert_refused("link", true, ENOTDIR);
}

static void dots(void **state)
{
	(void)state;
	make_dir("a", 0755, 0);
	make_dir("a/b", 0755, 0);
	make_dir("c", 0755, 0);
	assert_leads(".", false, base);
	assert_leads("/", false, "/");
	assert_leads("/..", false, "/");
	assert_leads("//tmp/", false, "/tmp");
	assert_leads("a/.././/c/", false, "c");
	assert_leads("a/b/../../c/./d", true, "c/d");
	/* What is not there has no parent. */
	assert_refused("x/../c", false, ENOENT);
	/* Behind a link: the parent of what it leads to. */
	make_link("a/b", "link", 0);
	assert_leads("link/..", false, "a");
	assert_leads("link/../e", true, "a/e");
}

static void links_of_ours(void **state)
{
	char target[80];

	(void)state;
	make_dir("a", 0755, 0);
	make_dir("a/b", 0755, 0);
	snprintf(target, sizeof(target), "%s/a", base);
	make_link(target, "absolute", 0);
	make_link("absolute/b", "second", 0);
	make_link("../a/b", "a/relative", 0);
	assert_leads("absolute", false, "a");
	assert_leads("absolute/b", false, "a/b");
	assert_leads("second", false, "a/b");
	assert_leads("second/c", true, "a/b/c");
	assert_leads("a/relative", false, "a/b");
	/* To what is not there yet. */
	make_link("a/later", "early", 0);
	assert_refused("early", false, ENOENT);
	assert_missing("a/later");
	assert_leads("early/x", true, "a/later/x");
}

/* As many as the kernel follows. */
static void too_many_links(void **state)
{
	char name[16], target[16];

	(void)state;
	make_dir("l0", 0755, 0);
	for (int i = 1; i <= 41; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(target, sizeof(target), "l%d", i - 1);
		make_link(target, name, 0);
	}
	assert_leads("l40", false, "l0");
	assert_refused("l41", false, ELOOP);
	make_link("circle/x", "circle", 0);
	assert_refused("circle", true, ELOOP);
}

/* His directory is written to; a link in it is nobody's that could be trusted. */
static void directory_of_another(void **state)
{
	(void)state;
	as_root();
	make_dir("root", 0755, 0);
	make_dir("his", 0755, NOBODY);
	assert_leads("his/results", true, "his/results");
	make_link("../root", "his/link", NOBODY);
	make_link("../root", "his/link-of-root", 0);
	make_link("results", "his/inside", NOBODY);
	assert_refused("his/link", true, ELOOP);
	assert_refused("his/link/new", true, ELOOP);
	assert_refused("his/link-of-root", true, ELOOP);
	assert_refused("his/inside", true, ELOOP);
	assert_missing("root/new");
	/* Nor by way of a link of our own. */
	make_link("his/link/new", "mine", 0);
	assert_refused("mine", true, ELOOP);
	assert_missing("root/new");
	/* `..` out of his directory is where it stands. */
	assert_leads("his/../root", false, "root");
}

/* Whose links are followed, by who can write the directory that they are in. */
static void directory_for_others(void **state)
{
	static const struct {
		mode_t mode;
		gid_t group;
		uid_t link;
		bool followed;
	} rows[] = {
		{0755, 0, 0, true},	  {0755, 0, NOBODY, false},
		{0775, 0, 0, true},	  {0775, NOBODY, 0, false},
		{0757, 0, 0, false},	  {0777, 0, 0, false},
		{01777, 0, 0, true},	  {01777, 0, NOBODY, false},
		{01775, NOBODY, 0, true}, {01775, NOBODY, NOBODY, false},
	};

	(void)state;
	as_root();
	make_dir("target", 0755, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make_dir("d", rows[i].mode, 0);
		assert_int_equal(chown("d", 0, rows[i].group), 0);
		assert_int_equal(chmod("d", rows[i].mode), 0);
		make_link("../target", "d/link", rows[i].link);
		if (rows[i].followed)
			assert_leads("d/link", true, "target");
		else
			assert_refused("d/link", true, ELOOP);
		assert_int_equal(unlink("d/link"), 0);
		assert_int_equal(rmdir("d"), 0);
	}
}

static void too_long(void **state)
{
	char name[NAME_MAX + 2], path[2 * PATH_MAX];
	const char *last;
	size_t n;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	assert_refused(name, true, ENAMETOOLONG);
	name[NAME_MAX] = '\0';
	assert_leads(name, true, name);
	/* The longest path that there is, and one more. */
	for (n = 0; n < PATH_MAX - 1; n++)
		path[n] = n % 2 ? '/' : '.';
	path[n] = '\0';
	assert_leads(path, false, ".");
	path[n++] = '.';
	path[n] = '\0';
	assert_refused(path, true, ENAMETOOLONG);
	/* Of a file's a part would be another directory: nothing is made. */
	memset(path, 0, sizeof(path));
	strcpy(path, "a/");
	memset(path + 2, '/', PATH_MAX - 4);
	strcpy(path + PATH_MAX - 2, "bcd/file");
	assert_int_equal(place_of(path, true, &last), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_missing("a");
	assert_int_equal(descriptors(), open_before);
}

static void assert_file(const char *file, const char *want, const char *dir)
{
	const char *name = NULL;
	struct stat found, wanted;
	int fd = place_of(file, false, &name);

	assert_true(fd >= 0);
	assert_string_equal(name, want);
	assert_int_equal(fstat(fd, &found), 0);
	assert_int_equal(stat(dir, &wanted), 0);
	assert_true(found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino);
	close(fd);
}

static void files(void **state)
{
	const char *name;
	int fd;

	(void)state;
	make_dir("a", 0755, 0);
	assert_file("file", "file", ".");
	assert_file("./file", "file", ".");
	assert_file("a/file", "file", "a");
	assert_file("a//file", "file", "a");
	assert_file("a/../file", "file", ".");
	assert_file("/file", "file", "/");
	assert_file("a/", "", "a");
	assert_int_equal(place_of("b/file", false, &name), -1);
	assert_int_equal(errno, ENOENT);
	fd = place_of("b/file", true, &name);
	assert_true(fd >= 0);
	close(fd);
	assert_file("b/file", "file", "b");
	assert_missing("b/file");
	/* A link that is the file itself is left to who opens it. */
	make_link("/etc/passwd", "b/link", 0);
	assert_file("b/link", "link", "b");
}

static void errors(void **state)
{
	(void)state;
	assert_string_equal(place_error(ENOENT), strerror(ENOENT));
	assert_string_equal(place_error(ELOOP),
			    "a symbolic link that another user could have put there");
}

static void assert_private(const char *dir)
{
	char why[256] = "";

	assert_true(place_private(dir, why, sizeof(why)));
	assert_string_equal(why, "");
}

/* `name`, below the base, is the one that others can write. */
static void assert_public(const char *dir, const char *name)
{
	char why[256] = "", want[256];

	assert_false(place_private(dir, why, sizeof(why)));
	snprintf(want, sizeof(want), "%s/%s, which others can write", base, name);
	assert_string_equal(why, want);
}

static void private(void **state)
{
	char why[256] = "", few[8];

	(void)state;
	make_dir("own", 0700, 0);
	make_dir("open", 0777, 0);
	make_dir("open/own", 0700, 0);
	make_dir("sticky", 01777, 0);
	make_dir("sticky/own", 0700, 0);
	assert_private("own");
	assert_private("/");
	assert_public("open", "open");
	/* Who can write above can exchange what is below, but where he can only add. */
	assert_public("open/own", "open");
	assert_private("sticky/own");
	assert_public("sticky", "sticky");
	/* Where a link leads counts. */
	make_link("open/own", "own/link", 0);
	make_link("../own", "open/link", 0);
	assert_false(place_private("own/link", why, sizeof(why)));
	assert_private("open/link");
	assert_false(place_private("missing", why, sizeof(why)));
	assert_string_equal(why, "missing: No such file or directory");
	assert_false(place_private("open", few, sizeof(few)));
	assert_int_equal(strlen(few), sizeof(few) - 1);
}

static void private_of_another(void **state)
{
	(void)state;
	as_root();
	make_dir("his", 0755, NOBODY);
	make_dir("his/own", 0700, 0);
	assert_public("his", "his");
	assert_public("his/own", "his");
	make_dir("group", 0775, 0);
	assert_private("group");
	assert_int_equal(chown("group", 0, NOBODY), 0);
	assert_public("group", "group");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_missing),
		TEST(no_directory),
		TEST(dots),
		TEST(links_of_ours),
		TEST(too_many_links),
		TEST(directory_of_another),
		TEST(directory_for_others),
		TEST(too_long),
		TEST(files),
		TEST(errors),
		TEST(private),
		TEST(private_of_another),
	};

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
