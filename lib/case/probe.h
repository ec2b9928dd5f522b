/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe run counts the calls of kernel functions in the region instead of timing it: which code
 * ran, not how fast. Each function is a kprobe event on the task, a name with a colon a tracepoint.
 * Probes slow what they count, so such a run has no time.
 */
#ifndef CASE_PROBE_H
#define CASE_PROBE_H

#include "case/outcome.h"
#include "case/perf.h"

/*
 * Makes perf count `functions` (comma separated) and nothing else; those that cannot be counted
 * are dropped with their reason. Skips when none can be. In our own mount namespace.
 */
void probe_open(struct perf *perf, const char *functions);

/*
 * Turns the outcome into that of a probe run: the counters become outcome->functions, every metric
 * is absent, and there are no samples.
 */
void probe_close(struct outcome *outcome);

#endif
