// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests/hostile/paths.sh, as another user: exchanges PATH, again and again, for a symbolic link to
 * TARGET and back, until it is killed. renameat2(RENAME_EXCHANGE) does that in one step: whoever looks
 * before he writes sees the one and writes to the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char link[4096];

	if (argc != 3)
		return 2;
	snprintf(link, sizeof(link), "%s.link", argv[1]);
	if (symlink(argv[2], link)) {
		fprintf(stderr, "attacker: %s: %s\n", link, strerror(errno));
		return 1;
	}
	for (;;)
		if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, link, RENAME_EXCHANGE) &&
		    errno == ENOENT)
			usleep(100); /* not there yet */
}
