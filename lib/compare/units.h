/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Units as they stand in records and claims ("ns", "ms", "ns/page", "instructions/page",
 * "bogo ops/s"), and numbers with units that fit a reader: 3 or 4 significant digits.
 */
#ifndef COMPARE_UNITS_H
#define COMPARE_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/* A time or a rate of time (ns, ms, ns/page, ops/s): what a virtual clock does not measure. */
bool unit_is_clock(const char *unit);
/* ns, us, ms or s, alone or per something: what can never be negative. */
bool unit_is_time(const char *unit);
/* The factor from one unit to another (ns to ms: 1e-6), or 0 where they do not convert. */
double unit_factor(const char *from, const char *to);

/* The unit (of the same kind) in which a value has one to four digits before the point. */
const char *unit_fitting(const char *unit, double value);
/* "us" is shown as "µs"; "1" and "count" as nothing. */
const char *unit_shown(const char *unit);

/* A count: integers below 10 million in full, anything else in four significant digits. */
void format_number(char *out, size_t size, double value);
/* A measured quantity: four significant digits, whole from 1000 on. */
void format_digits(char *out, size_t size, double value);
/* The one of the two that fits the unit. */
void format_in_unit(char *out, size_t size, double value, const char *unit);
/* The same with its unit, converted from one unit to another. */
void format_value(char *out, size_t size, double value, const char *from, const char *to);
/* "8 GiB", "512 MiB", "4000 B" */
void format_bytes(char *out, size_t size, double bytes);
/* "23 s", "12 min", "3.4 h" from nanoseconds */
void format_duration(char *out, size_t size, double ns);
/* "-21.5 %" from a ratio of after to before */
void format_percent(char *out, size_t size, double ratio);

#endif
