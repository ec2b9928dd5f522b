/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether this box counts remote TLB flushes at all. It may not: a hypervisor can flush for its
 * guests, AMD's INVLPGB flushes without an interrupt, and most architectures but x86 broadcast.
 */
#ifndef SYS_TLB_H
#define SYS_TLB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes two CPUs need a flush again and again (mprotect() of a page that the other CPU reads) and
 * looks whether the row "TLB shootdowns" of /proc/interrupts moves with them; takes milliseconds.
 * False: `why` says why the row means nothing here.
 */
bool tlb_flushes_counted(char *why, size_t size);

#endif
