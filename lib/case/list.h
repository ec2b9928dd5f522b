/* SPDX-License-Identifier: GPL-2.0-only */
/* A list in one string, its items apart by a separator: for perf's events and for messages. */
#ifndef CASE_LIST_H
#define CASE_LIST_H

#include <stddef.h>

/* Adds an item at the end of `list`, which holds `size` bytes; what does not fit is cut off. */
__attribute__((format(printf, 4, 5))) void list_add(char *list, size_t size, const char *separator,
						    const char *format, ...);

#endif
