/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CPUs we may run on, and staying on one. */
#ifndef SYS_CPUS_H
#define SYS_CPUS_H

#include <stdbool.h>

/* The first two that we may use, by number. False: there is only one. */
bool cpus_two(int cpu[2]);

/* Keeps the calling thread on one; broken where that is refused. */
void cpu_pin(int cpu);

#endif
