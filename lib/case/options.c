// SPDX-License-Identifier: GPL-2.0-only
/* The variant, scale and size of a run: parsing, checking against the declaration, reading. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/list.h"
#include "case/run.h"

struct run run;

static const char *const scales[] = {"smoke", "quick", "documented"};

static int usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int usage(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", run.decl->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 2;
}

static int option_find(const char *name, size_t len)
{
	const struct case_option *o = run.decl->options;
	int i;

	for (i = 0; o[i].name; i++)
		if (strlen(o[i].name) == len && !memcmp(o[i].name, name, len))
			return i;
	return -1;
}

static int param_find(const char *name)
{
	const struct case_param *p = run.decl->params;
	int i;

	for (i = 0; p[i].name; i++)
		if (!strcmp(p[i].name, name))
			return i;
	return -1;
}

/* "op|folio" or "4k|pmd", for a message. */
static const char *one_of(const char *const *list, size_t stride, char *buf, size_t size)
{
	buf[0] = '\0';
	for (; list && *list; list = (const char *const *)((const char *)list + stride))
		list_add(buf, size, "|", "%s", *list);
	return buf;
}

int options_default(void)
{
	const struct case_option *o = run.decl->options;
	int i;

	for (i = 0; o[i].name; i++) {
		run.values[i] = o[i].values[0];
	}
	return options_scale("quick");
}

int options_variant(const char *text)
{
	char wanted[256];

	while (*text) {
		size_t len = strcspn(text, ","), key = strcspn(text, "=");
		const struct case_option *o = run.decl->options;
		int i = key < len ? option_find(text, key) : -1, v;

		if (i < 0)
			return usage("--variant: wanted %s=VALUE, found '%.*s'",
				     one_of(&o->name, sizeof(*o), wanted, sizeof(wanted)), (int)len,
				     text);
		for (v = 0; o[i].values[v]; v++)
			if (strlen(o[i].values[v]) == len - key - 1 &&
			    !memcmp(o[i].values[v], text + key + 1, len - key - 1))
				break;
		if (!o[i].values[v])
			return usage("--variant: wanted %s=%s, found '%.*s'", o[i].name,
				     one_of(o[i].values, sizeof(char *), wanted, sizeof(wanted)),
				     (int)len, text);
		run.values[i] = o[i].values[v];
		text += len + (text[len] == ',');
	}
	return 0;
}

int options_scale(const char *text)
{
	const struct case_param *p = run.decl->params;
	int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(scales[i], text))
			break;
	if (i == 3)
		return usage("--scale: wanted smoke, quick or documented, found '%s'", text);
	run.scale = (enum scale)i;
	for (i = 0; p[i].name; i++) {
		run.params[i] = run.scale == SCALE_SMOKE   ? p[i].smoke
				: run.scale == SCALE_QUICK ? p[i].quick
							   : p[i].documented;
	}
	return 0;
}

/* Bytes, with an optional K, M, G or T (powers of 1024). */
int options_size(const char *text)
{
	static const char suffixes[] = "KMGT";
	const char *suffix;
	unsigned long long value;
	int i = param_find("size");
	uint64_t multiple;
	char *end;

	if (i < 0)
		return usage("--size: this case has no parameter size");
	errno = 0;
	value = strtoull(text, &end, 10);
	suffix = *end ? strchr(suffixes, *end) : NULL;
	if (suffix && !end[1]) {
		int shift = 10 * (int)(suffix - suffixes + 1);

		if (value > UINT64_MAX >> shift)
			errno = ERANGE;
		value <<= shift;
		end++;
	}
	if (errno || *end || text[0] < '0' || text[0] > '9' || value == 0 || value > INT64_MAX)
		return usage("--size: wanted bytes (K, M, G, T allowed), found '%s'", text);
	multiple = run.decl->params[i].multiple;
	if (multiple && value % multiple)
		return usage("--size: wanted a multiple of %" PRIu64 ", found %llu", multiple,
			     value);
	run.params[i] = value;
	return 0;
}

void options_finish(void)
{
	const struct case_option *o = run.decl->options;
	size_t used = 0;
	int i;

	for (i = 0; o[i].name && used < sizeof(run.variant); i++)
		used += (size_t)snprintf(run.variant + used, sizeof(run.variant) - used, "%s%s=%s",
					 i ? "," : "", o[i].name, run.values[i]);
	if (used >= sizeof(run.variant))
		run_broken("%s: the options do not fit %zu bytes", run.decl->name,
			   sizeof(run.variant));
}

const char *options_senseless(void)
{
	const char *const *list = run.decl->senseless;
	const char *chosen[CASE_OPTIONS_MAX];

	memcpy(chosen, run.values, sizeof(chosen));
	for (; list && *list; list++) {
		bool same;

		/* Setting what is set already changes nothing. */
		if (options_variant(*list))
			run_broken("%s declares the combination %s", run.decl->name, *list);
		same = !memcmp(chosen, run.values, sizeof(chosen));
		memcpy(run.values, chosen, sizeof(chosen));
		if (same)
			return *list;
	}
	return NULL;
}

unsigned int options_timeout(void)
{
	static const unsigned int fallback[] = {60, 300, 3600};
	const char *set = getenv("BEFORE_AFTER_TIMEOUT");

	if (set && atoi(set) > 0)
		return (unsigned int)atoi(set);
	return run.decl->timeout_s[run.scale] ? run.decl->timeout_s[run.scale]
					      : fallback[run.scale];
}

const char *opt(const char *name)
{
	int i = option_find(name, strlen(name));

	if (i < 0)
		run_broken("%s asks for its option %s and declares none", run.decl->name, name);
	return run.values[i];
}

int opt_index(const char *name)
{
	int i = option_find(name, strlen(name)), v = 0;

	while (opt(name) != run.decl->options[i].values[v])
		v++;
	return v;
}

bool opt_is(const char *name, const char *value)
{
	return !strcmp(opt(name), value);
}

uint64_t param(const char *name)
{
	int i = param_find(name);

	if (i < 0)
		run_broken("%s asks for its parameter %s and declares none", run.decl->name, name);
	return run.params[i];
}

const char *scale_name(void)
{
	return scales[run.scale];
}

static void variable(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "BEFORE_AFTER_PASS_%s", name);
}

void pass(const char *name, const char *value)
{
	char key[128];

	variable(name, key, sizeof(key));
	if (setenv(key, value, 1))
		run_broken("%s cannot be passed: %s", name, strerror(errno));
}

const char *passed(const char *name)
{
	char key[128];
	const char *value;

	variable(name, key, sizeof(key));
	value = getenv(key);
	return value ? value : "";
}

void identity(const char *name, const char *value)
{
	json_object_set_new(run.identity, name, json_string(value));
}

void pages(uint64_t count)
{
	run.pages = count;
}
