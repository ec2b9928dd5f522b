/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A loop device over a file of ours. It clears itself when its last user goes (autoclear), and is
 * journalled: what it carries as its file name, the mark, proves at the next start that it is ours.
 */
#ifndef SYS_LOOP_H
#define SYS_LOOP_H

#include <stddef.h>

/*
 * Attaches the lowest free device, made if there is none, to the open file `backing`, and writes
 * its path into `device`. `mark`: at most 63 characters. The device is held open, so that it does
 * not clear itself before it is used, until loop_in_use() or the end of the run. Skips where it
 * cannot be had; needs LOOP_CONFIGURE (5.8).
 */
void loop_attach(int backing, const char *mark, char *device, size_t size);
/* Something else, a mount, holds the device now. */
void loop_in_use(void);

#endif
