// SPDX-License-Identifier: GPL-2.0-only
#include "sys/cpus.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "sys/end.h"

/* More than any kernel is built for. */
#define CPUS_MAX 8192

int cpus_first(int *cpu, int wanted)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	int i, n = 0;

	if (!set || sched_getaffinity(0, size, set))
		run_broken("sched_getaffinity: %s", strerror(errno));
	for (i = 0; i < CPUS_MAX && n < wanted; i++)
		if (CPU_ISSET_S((size_t)i, size, set))
			cpu[n++] = i;
	CPU_FREE(set);
	return n;
}

void cpu_pin(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);

	if (!set)
		run_broken("out of memory for a set of CPUs");
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set))
		run_broken("CPU %d: cannot be stayed on: %s", cpu, strerror(errno));
	CPU_FREE(set);
}
