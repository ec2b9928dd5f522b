/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CPUs we may run on, and staying on one. */
#ifndef SYS_CPUS_H
#define SYS_CPUS_H

/* The first that we may use, by number, at most `wanted`. Returns how many there are. */
int cpus_first(int *cpu, int wanted);

/* Keeps the calling thread on one; broken where that is refused. */
void cpu_pin(int cpu);

#endif
