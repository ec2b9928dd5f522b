/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe run counts the calls of kernel functions in the region instead of timing it: which code
 * ran, not how fast. Ways to count are tried in order (probe.c has the table); each that is not to
 * be had leaves its reason in the record. A name with a colon is a tracepoint, counted by perf.
 * Probes slow what they count, so such a run has no time.
 */
#ifndef CASE_PROBE_H
#define CASE_PROBE_H

#include "case/outcome.h"
#include "case/perf.h"

/*
 * Chooses how `functions` (comma separated) are counted. What perf counts becomes its events; where
 * it is not perf that counts, there is no perf. Skips when nothing can be counted. In our own mount
 * namespace. Adds to outcome->functions and ->backends.
 */
void probe_open(struct perf *perf, const char *functions, struct outcome *outcome);

/*
 * Chooses the kernel's lock statistics instead, in a run of --locks: how often the locks of
 * sys/lock_stat.h are taken, held and waited for. Skips without them. Adds to outcome->locks.
 */
void probe_open_locks(struct perf *perf, struct outcome *outcome);

/* It is not perf that counts: region_begin() and region_end() must still be heard. */
bool probe_serves(void);
/* Answers them as perf would, from a thread of its own, on the other ends of the two FIFOs. */
void probe_serve(int control_fd, int ack_fd);

/*
 * What was counted becomes outcome->functions or ->locks, every metric is absent, and there are no samples.
 */
void probe_close(struct outcome *outcome);

#endif
