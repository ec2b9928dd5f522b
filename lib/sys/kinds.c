// SPDX-License-Identifier: GPL-2.0-only
#include "sys/kinds.h"

#include <string.h>

static const struct undo_kind *const kinds[] = {
	&knob_kind,   &swap_kind,     &swap_file_kind,	&zram_kind,
	&kprobe_kind, &profiler_kind, &memcg_kind,	&memcg_controller_kind,
	&loop_kind,   &brd_kind,      &brd_module_kind,
};

const struct undo_kind *undo_kind_find(const char *name)
{
	size_t i;

	for (i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}
