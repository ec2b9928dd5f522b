// SPDX-License-Identifier: GPL-2.0-only
#include "case/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void list_add(char *list, size_t size, const char *separator, const char *format, ...)
{
	size_t used = strlen(list);
	va_list args;

	if (used) {
		snprintf(list + used, size - used, "%s", separator);
		used = strlen(list);
	}
	va_start(args, format);
	vsnprintf(list + used, size - used, format, args);
	va_end(args);
}
