/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a metric's number is a number of. Under QEMU's icount a guest nanosecond is an executed
 * instruction (2^shift nanoseconds an instruction), so a time is shown as instructions, a page
 * where the pages are known, and never as milliseconds. Where the guest idled inside the region
 * the clock was warped: that is "virtual time" and no instructions either.
 */
#ifndef COMPARE_QUANTITY_H
#define COMPARE_QUANTITY_H

#include "compare/dataset.h"

struct quantity {
	const char *unit; /* shown: a recorded unit, "instructions/page", "virtual ns" .. */
	double factor;	  /* from the recorded value */
	bool instructions, virtual_time;
};

struct quantity quantity_of(const struct group *group, const char *unit, const struct boot *boot);

/* The documented size as a fraction of this group's, NaN where they do not say. The smallest of
 * all parameters that both name. */
double quantity_size_share(const struct group *group, json_t *documented);

/* "size 1 GiB, pages 262144" of a group's parameters. In the arena. */
const char *quantity_params(struct arena *arena, json_t *params);
/* "backing tmpfs", empty for none. */
const char *quantity_identity(struct arena *arena, json_t *identity);

/* The options of a group without those in constant, or "all" when none is left. In the arena. */
const char *variant_without(struct arena *arena, const struct group *group, const char *constant);

#endif
