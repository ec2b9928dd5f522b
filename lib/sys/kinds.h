/* SPDX-License-Identifier: GPL-2.0-only */
/* All kinds of owned state that outlives a process, so that a journal can be undone by name. */
#ifndef SYS_KINDS_H
#define SYS_KINDS_H

#include "sys/owned.h"

extern const struct undo_kind knob_kind;	     /* knob.c: a /sys or /proc setting */
extern const struct undo_kind swap_kind;	     /* swap.c: an area turned on */
extern const struct undo_kind swap_file_kind;	     /* swap.c: a swap file made */
extern const struct undo_kind kprobe_kind;	     /* kprobe.c: a kprobe event */
extern const struct undo_kind profiler_kind;	     /* profiler.c: function profiler, filter */
extern const struct undo_kind zram_kind;	     /* swap.c: a zram device made */
extern const struct undo_kind memcg_kind;	     /* cgroup.c: a memory cgroup made */
extern const struct undo_kind memcg_controller_kind; /* cgroup.c: memory in subtree_control */
extern const struct undo_kind loop_kind;	     /* loop.c: a loop device attached, or made */
extern const struct undo_kind brd_kind;		     /* brd.c: a RAM disk written to */
extern const struct undo_kind brd_module_kind;	     /* brd.c: the driver loaded */

/* NULL when there is none of that name; name may be NULL. */
const struct undo_kind *undo_kind_find(const char *name);

#endif
