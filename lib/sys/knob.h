/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings in /sys and /proc: one value, or a list of words with the chosen one in brackets.
 * A knob that was set is journalled and restored, but only where it still holds what we set:
 * a value that somebody else wrote meanwhile is theirs.
 */
#ifndef SYS_KNOB_H
#define SYS_KNOB_H

#include <stdbool.h>
#include <stddef.h>

/* The value (of "always [never]": "never") without its newline. False, errno set: not readable. */
bool knob_read(const char *path, char *value, size_t size);

/*
 * Skips where the knob is missing or may not be written, broken on any other failure.
 * Reads the value back: a knob that took another value is a skip too.
 */
void knob_set(const char *path, const char *value);

#endif
