// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is missing in a case's declaration, said to whoever adds one. Linked to a case in place of
 * its command line: CASE_MAIN calls this case_main(), which sees the declaration itself and not only
 * what --describe shows. usage: PROGRAM FILE.c   Exit: 0, or 1 with a line for each thing missing.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "case/run.h"
#include "compare/units.h"

static const char *file;
static int faults;

__attribute__((format(printf, 1, 2))) static void missing(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", file);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	faults++;
}

static bool empty(const char *text)
{
	return !text || !*text;
}

/* Lower case, digits and the one other character that keys of this kind may hold. */
static bool good_name(const char *name, char other)
{
	if (empty(name) || !islower((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) &&
		    *name != other)
			return false;
	return true;
}

/* What is counted, and what it is counted by, "/" in between. */
static bool known_unit(const char *unit)
{
	static const char *const counted[] = {"bogo ops", "bytes",     "cycles",       "faults",
					      "folios",	  "IPIs",      "instructions", "pages",
					      "punches",  "shootdowns"};
	static const char *const by[] = {"/page", "/s", "/call", ""};
	size_t i, j, length;

	if (unit_is_time(unit) && (!strchr(unit, '/') || !strcmp(strchr(unit, '/'), "/page")))
		return true;
	for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		length = strlen(counted[i]);
		for (j = 0; j < sizeof(by) / sizeof(by[0]); j++)
			if (!strncmp(unit, counted[i], length) && !strcmp(unit + length, by[j]))
				return true;
	}
	return false;
}

static void metrics(const struct case_metric *m)
{
	if (!m || !m->name) {
		missing(".metrics: wanted at least one, found none; case_time_metrics is for one "
			"timed operation");
		return;
	}
	for (; m->name; m++) {
		if (!good_name(m->name, '_'))
			missing(".metrics: wanted a name like time_per_page, found '%s'", m->name);
		if (empty(m->unit) || !known_unit(m->unit))
			missing(".metrics: %s: wanted a unit such as ns, ns/page or faults/s, found '%s'; "
				"a new word goes into tests/integrations/declaration.c",
				m->name, m->unit ? m->unit : "");
	}
}

static void options(const struct case_option *o)
{
	const char *const *v;

	for (; o->name; o++) {
		if (!good_name(o->name, '_'))
			missing(".options: wanted a name like folio, found '%s'", o->name);
		if (empty(o->summary))
			missing(".options: %s: wanted a summary, found none", o->name);
		if (!o->values || !*o->values)
			missing(".options: %s: wanted at least one value, found none", o->name);
		for (v = o->values; v && *v; v++)
			if (empty(*v) || strpbrk(*v, " ,=|"))
				missing(".options: %s: wanted values without blank, comma, = and |, "
					"found '%s'",
					o->name, *v);
	}
}

/* The lists are written as --variant takes them; options.c says on stderr what it finds wrong. */
static void variants(const char *name, const char *const *list)
{
	for (; list && *list; list++)
		if (options_default() || options_variant(*list))
			missing("%s: wanted options of this case, found '%s'", name, *list);
}

static void params(const struct case_param *p)
{
	for (; p->name; p++) {
		if (empty(p->unit))
			missing(".params: %s: wanted a unit, found none", p->name);
		if (!p->smoke || !p->quick || !p->documented)
			missing(".params: %s: wanted a size for each of smoke, quick and documented, "
				"found a 0",
				p->name);
		if (p->smoke > p->quick || p->quick > p->documented)
			missing(".params: %s: wanted smoke <= quick <= documented, found others",
				p->name);
	}
}

int case_main(const struct case_decl *decl, int argc, char **argv)
{
	const char *base;
	size_t length;

	if (argc != 2) {
		fprintf(stderr, "usage: declaration CASE.c\n");
		return 2;
	}
	file = argv[1];
	base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	length = strlen(base) > 2 ? strlen(base) - 2 : 0;
	run.decl = decl;
	if (!good_name(decl->name, '-'))
		missing(".name: wanted a name like shmem-truncate, found '%s'",
			decl->name ? decl->name : "");
	else if (strlen(decl->name) != length || strncmp(decl->name, base, length))
		missing(".name: wanted that of the file, %.*s, found '%s'", (int)length, base,
			decl->name);
	if (empty(decl->summary))
		missing(".summary: wanted one line, found none");
	if (!decl->measure)
		missing(".measure: wanted the operation between region_begin() and region_end(), "
			"found none");
	if (!decl->verify)
		missing(".verify: wanted a proof that the operation did its work (check_equal()), "
			"found none");
	metrics(decl->metrics);
	options(decl->options);
	variants(".variants", decl->variants);
	variants(".senseless", decl->senseless);
	params(decl->params);
	if (!decl->functions || !*decl->functions)
		missing(".functions: wanted the kernel functions it is about, found none");
	return faults ? 1 : 0;
}
