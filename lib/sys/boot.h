/* SPDX-License-Identifier: GPL-2.0-only */
/* Which boot of the machine this is. */
#ifndef SYS_BOOT_H
#define SYS_BOOT_H

/* The UUID that the kernel gave it; broken where that cannot be read. The string stays. */
const char *boot_id(void);

#endif
