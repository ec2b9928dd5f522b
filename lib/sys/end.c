// SPDX-License-Identifier: GPL-2.0-only
#include "sys/end.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"ok", "fail", "skip", "broken"};
static const int codes[] = {0, 1, 4, 99};

static void (*end_handler)(enum run_end how, const char *reason);

const char *end_name(enum run_end how)
{
	return names[how];
}

int end_exit_code(enum run_end how)
{
	return codes[how];
}

void end_set_handler(void (*handler)(enum run_end how, const char *reason))
{
	end_handler = handler;
}

void end_run(enum run_end how, const char *fmt, ...)
{
	char reason[512];
	va_list ap;
	char *c;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	/* One line, whatever a command or a kernel put into it. */
	for (c = reason; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	if (end_handler)
		end_handler(how, reason);
	fprintf(stderr, "before-after: %s: %s\n", names[how], reason);
	exit(codes[how]);
}
