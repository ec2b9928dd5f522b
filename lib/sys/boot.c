// SPDX-License-Identifier: GPL-2.0-only
#include "sys/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/end.h"
#include "sys/io.h"

static const char PATH[] = "/proc/sys/kernel/random/boot_id";

const char *boot_id(void)
{
	static char id[64];
	ssize_t len;
	int fd;

	if (*id)
		return id;
	fd = io_open(PATH, O_RDONLY, 0);
	len = fd < 0 ? -1 : io_read(fd, id, sizeof(id) - 1);
	if (len <= 0) {
		*id = '\0';
		run_broken("%s: cannot be read: %s", PATH, len ? strerror(errno) : "empty");
	}
	close(fd);
	id[strcspn(id, "\n")] = '\0';
	return id;
}
