// SPDX-License-Identifier: GPL-2.0-only
#include "sys/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS = 4 };

static int taken;

/* Of the one function of that name; 0: none, or several, or addresses are hidden. */
static unsigned long address_of(const char *function)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long address, found = 0;
	char line[512], name[256], type;
	int times = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %c %255s", &address, &type, name) == 3 &&
		    (type == 't' || type == 'T') && !strcmp(name, function)) {
			found = address;
			times++;
		}
	if (f)
		fclose(f);
	return times == 1 ? found : 0;
}

/* Whether the kernel takes it: perf would only say "not supported". */
static bool allowed(unsigned long address)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_X,
				       .bp_addr = address,
				       .bp_len = sizeof(long),
				       .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), err;

	err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	return fd >= 0;
}

bool breakpoint_open(char *why, size_t size)
{
	unsigned long address = address_of("vfs_read");

	if (!address)
		snprintf(why, size, "/proc/kallsyms shows no address of vfs_read");
	else if (!allowed(address))
		snprintf(why, size, "%s%s", strerror(errno),
			 errno == EINVAL ? " (a kernel without kprobes takes none)" : "");
	else
		return true;
	return false;
}

bool breakpoint_define(const char *function, char *event, size_t event_size, char *why, size_t size)
{
	unsigned long address = address_of(function);
	bool ok = false;

	if (!address)
		snprintf(why, size, "not one function of this kernel (absent or inlined)");
	else if (taken == SLOTS)
		snprintf(why, size, "all %d hardware breakpoints are taken", SLOTS);
	else if (!allowed(address))
		snprintf(why, size, "not on this function: %s", strerror(errno));
	else
		ok = true;
	taken += ok;
	snprintf(event, event_size, "mem:0x%lx:x", address);
	return ok;
}
