// SPDX-License-Identifier: GPL-2.0-only
#include "compare/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	double ns;
} time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

enum { TIME_UNITS = sizeof(time_units) / sizeof(time_units[0]) };

/* Splits "ns/page" into its time unit and "/page"; -1 where it does not begin with a time. */
static int time_unit(const char *unit, const char **rest)
{
	size_t length = strcspn(unit, "/");

	for (int i = 0; i < TIME_UNITS; i++) {
		if (strlen(time_units[i].name) == length &&
		    !strncmp(unit, time_units[i].name, length)) {
			*rest = unit + length;
			return i;
		}
	}
	return -1;
}

bool unit_is_time(const char *unit)
{
	const char *rest;

	return unit && time_unit(unit, &rest) >= 0;
}

bool unit_is_clock(const char *unit)
{
	size_t length = unit ? strlen(unit) : 0;

	return unit_is_time(unit) || (length > 2 && !strcmp(unit + length - 2, "/s"));
}

double unit_factor(const char *from, const char *to)
{
	const char *from_rest, *to_rest;
	int a, b;

	if (!strcmp(from, to))
		return 1;
	a = time_unit(from, &from_rest);
	b = time_unit(to, &to_rest);
	if (a < 0 || b < 0 || strcmp(from_rest, to_rest) != 0)
		return 0;
	return time_units[a].ns / time_units[b].ns;
}

const char *unit_fitting(const char *unit, double value)
{
	/* Milliseconds up to ten seconds: the tables this tool is held against are written so. */
	static const double below[] = {1e3, 1e6, 1e10, INFINITY};
	const char *rest;
	int index = time_unit(unit, &rest);

	/* Per page and the like stays as it is: rows are read against each other. */
	if (index < 0 || *rest || !isfinite(value))
		return unit;
	value = fabs(value) * time_units[index].ns;
	for (int i = 0; i < TIME_UNITS; i++) {
		if (value < below[i])
			return time_units[i].name;
	}
	return unit;
}

const char *unit_shown(const char *unit)
{
	if (!unit || !strcmp(unit, "1") || !strcmp(unit, "count"))
		return "";
	if (!strcmp(unit, "us"))
		return "µs";
	if (!strcmp(unit, "us/page"))
		return "µs/page";
	return unit;
}

void format_digits(char *out, size_t size, double value)
{
	double magnitude = fabs(value);

	if (!isfinite(value))
		snprintf(out, size, "absent");
	else if (magnitude >= 1e15 || (magnitude > 0 && magnitude < 1e-4))
		snprintf(out, size, "%.4g", value);
	else if (magnitude >= 1e9)
		snprintf(out, size, "%.4gG", value / 1e9);
	else if (magnitude >= 1e7)
		snprintf(out, size, "%.4gM", value / 1e6);
	else if (magnitude >= 999.95 || value == 0)
		snprintf(out, size, "%.0f", value);
	else
		/* The zeros at the end stay: 131.0 says how well the value is known. */
		snprintf(out, size, "%.*f", 3 - (int)floor(log10(magnitude * 1.00005)), value);
}

void format_number(char *out, size_t size, double value)
{
	if (value == floor(value) && fabs(value) < 1e7)
		snprintf(out, size, "%.0f", value);
	else
		format_digits(out, size, value);
}

void format_in_unit(char *out, size_t size, double value, const char *unit)
{
	if (unit && (unit_is_time(unit) || strchr(unit, '/')))
		format_digits(out, size, value);
	else
		format_number(out, size, value);
}

void format_value(char *out, size_t size, double value, const char *from, const char *to)
{
	double factor = to && from ? unit_factor(from, to) : 1;
	const char *unit = unit_shown(factor > 0 && to ? to : from);
	char number[40];

	format_in_unit(number, sizeof(number), value * (factor > 0 ? factor : 1), from);
	snprintf(out, size, "%s%s%s", number, *unit && isfinite(value) ? " " : "",
		 isfinite(value) ? unit : "");
}

void format_bytes(char *out, size_t size, double bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t i = 0;

	while (i < 4 && bytes >= 1024) {
		bytes /= 1024;
		i++;
	}
	snprintf(out, size, "%.4g %s", bytes, names[i]);
}

void format_duration(char *out, size_t size, double ns)
{
	double s = ns / 1e9;

	if (!isfinite(ns))
		snprintf(out, size, "unknown time");
	else if (s < 120)
		snprintf(out, size, "%.*f s", s < 10 ? 1 : 0, s);
	else if (s < 7200)
		snprintf(out, size, "%.0f min", s / 60);
	else
		snprintf(out, size, "%.1f h", s / 3600);
}

void format_percent(char *out, size_t size, double ratio)
{
	double percent = 100 * (ratio - 1);

	/* No "-0.0 %". */
	if (fabs(percent) < .05)
		percent = 0;
	snprintf(out, size, "%+.1f %%", percent);
}
