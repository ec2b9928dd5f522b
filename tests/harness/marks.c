// SPDX-License-Identifier: GPL-2.0-only
/* Prints "N MARK" for every loop device that carries a mark of ours, for tests/harness/pagecache.sh. */
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(void)
{
	struct loop_info64 info;
	char path[64];
	int number, fd;

	for (number = 0; number < 256; number++) {
		snprintf(path, sizeof(path), "/dev/loop%d", number);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, LOOP_GET_STATUS64, &info) &&
		    !strncmp((const char *)info.lo_file_name, "before-after ", 13))
			printf("%d %.*s\n", number, LO_NAME_SIZE, (const char *)info.lo_file_name);
		close(fd);
	}
	return 0;
}
