// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: /proc/vmstat and other tables of rows, files of one number, pressure, and knobs. */
#include "sys/knob.h"
#include "sys/psi.h"
#include "sys/vmstat.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64], value[64];
	struct psi psi;
	FILE *f;

	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file_row(path, "pgfree");
	file_row(path, "oom_kill");
	file_number(path);
	if (knob_read(path, value, sizeof(value)) &&
	    (strlen(value) >= sizeof(value) || strchr(value, '\n')))
		abort();
	f = fopen(path, "re");
	if (!f)
		abort();
	if (psi_parse(f, &psi) != (psi.some_us >= 0 && psi.full_us >= 0))
		abort();
	fclose(f);
	close(fd);
	return 0;
}
