// SPDX-License-Identifier: GPL-2.0-only
#include "sys/tlb.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "sys/cpus.h"
#include "sys/end.h"
#include "sys/interrupts.h"

#define FLUSHES 200
#define WAIT_NS 50000000 /* for the other CPU to have read the page once more */

struct reader {
	int cpu;
	volatile char *page;
	atomic_ulong reads;
	atomic_bool stop;
};

static void *reader(void *argument)
{
	struct reader *r = argument;

	cpu_pin(r->cpu);
	while (!r->stop) {
		(void)*r->page;
		r->reads++;
	}
	return NULL;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The other CPU has the page in its TLB, unless it was kept from running. */
static bool wait_for_read(struct reader *r)
{
	unsigned long seen = r->reads;
	int64_t end = now_ns() + WAIT_NS;

	while (r->reads < seen + 2)
		if (now_ns() > end)
			return false;
	return true;
}

/* Returns how many flushes were forced. */
static int force_flushes(struct reader *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int i, forced = 0;

	for (i = 0; i < FLUSHES; i++) {
		*r->page = 1;
		if (!wait_for_read(r))
			continue;
		/* Taking a right away needs the flush; giving it back does not. */
		if (mprotect((void *)(uintptr_t)r->page, page, PROT_READ) ||
		    mprotect((void *)(uintptr_t)r->page, page, PROT_READ | PROT_WRITE))
			run_broken("mprotect: %s", strerror(errno));
		forced++;
	}
	return forced;
}

static void *force_on(void *argument)
{
	static int forced;
	struct reader *r = argument;
	int cpu[2];

	cpus_first(cpu, 2);
	cpu_pin(cpu[0]);
	forced = force_flushes(r);
	return &forced;
}

/* CPUID 0x80000008 EBX bit 3; Linux uses it from 6.15 on, for processes of more than a few CPUs. */
static bool has_invlpgb(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d, major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	return (major > 6 || (major == 6 && minor >= 15)) &&
	       __get_cpuid(0x80000008, &a, &b, &c, &d) && (b & (1u << 3));
#else
	return false;
#endif
}

bool tlb_flushes_counted(char *why, size_t size)
{
	struct interrupt_count shootdowns;
	struct reader r = {.page = MAP_FAILED};
	pthread_t reading, forcing;
	void *forced = NULL;
	int64_t counted;
	int cpu[2];

	if (cpus_first(cpu, 2) < 2) {
		snprintf(why, size, "only one CPU: no other has a TLB to flush");
		return false;
	}
	if (has_invlpgb()) {
		snprintf(why, size, "this CPU's INVLPGB flushes without an interrupt");
		return false;
	}
	r.cpu = cpu[1];
	r.page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r.page == MAP_FAILED)
		run_broken("mmap: %s", strerror(errno));
	*r.page = 1;
	interrupts_start(&shootdowns, INTERRUPTS_TLB);
	/* Threads of their own, so that the caller keeps the CPUs it may run on. */
	if (pthread_create(&reading, NULL, reader, &r) ||
	    pthread_create(&forcing, NULL, force_on, &r))
		run_broken("pthread_create: %s", strerror(errno));
	pthread_join(forcing, &forced);
	r.stop = true;
	pthread_join(reading, NULL);
	munmap((void *)(uintptr_t)r.page, (size_t)sysconf(_SC_PAGESIZE));
	counted = interrupts_since(&shootdowns);
	if (counted < 0) {
		snprintf(why, size, "%s", shootdowns.why);
		return false;
	}
	/* A preempted virtual CPU is flushed when it next runs, without an interrupt. */
	if (counted < *(int *)forced / 2 || !*(int *)forced) {
		snprintf(why, size,
			 "%d forced flushes moved the row TLB of /proc/interrupts by %" PRId64
			 ": the hypervisor flushes",
			 *(int *)forced, counted);
		return false;
	}
	return true;
}
