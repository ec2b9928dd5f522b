#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Lock boots: kernels with CONFIG_LOCK_STAT count what icount cannot see. How often a lock is taken for a
# page is exact; who waits for it depends on the host, and only that somebody does is held.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
TREATMENT=$REPO/ci/treatments/6.12-shmem-batch-remove.patch

# ab DIR ARGUMENT..: one lock boot of base and of the treatment
ab() {
	"$REPO/ci/ab.sh" --before base --after "$TREATMENT" --locks --out "$1" "${@:2}" | tee "$SCRATCH/report"
	grep -qF '**Locks counted, nothing timed.**' "$SCRATCH/report"
}

# One CPU, so that nobody else takes them: each page alone takes i_pages and i_lock, a batch of 31 once.
taken() {
	ab "$SCRATCH/taken" --engine icount --cpus 1 --case shmem-truncate --variant state=resident,fill=fallocate,folio=4k
	jq -e '[.locks[] | select(.lock == "i_pages" or .lock == "i_lock")] | length == 8 and all(.[];
		(.before.taken | . >= 1 and . < 1.02) and (.after.taken | . >= 1 / 31 and . < 0.05)
		and .before.held_ns > 0 and .before.contended == 0 and .after.contended == 0)' \
		"$SCRATCH/taken/compare.json"
}

# Four CPUs that put pages into one file and take them out.
contended() {
	ab "$SCRATCH/contended" --case truncate-neighbour --variant inserters=2
	jq -e '[.locks[] | select(.lock == "i_pages")] | length == 1 and
		all(.[]; .before.contended > 0 and .before.waited_ns > 0 and .after.contended > 0)' \
		"$SCRATCH/contended/compare.json"
}

# A kernel without them says so in one line, and so does a guest whose knob cannot be had.
without() {
	"$REPO/ci/boot.sh" --kernel "$("$REPO/ci/build-kernel.sh")" --engine icount --results "$SCRATCH/without" -- \
		--locks --case shmem-truncate --variant op=punch,folio=4k --scale smoke --label base >"$SCRATCH/without.said" 2>&1 || [ $? -eq 4 ]
	cat "$SCRATCH/without.said"
	[ "$(grep -c 'locks: not told here: wanted /proc/lock_stat (CONFIG_LOCK_STAT)' "$SCRATCH/without.said")" -eq 1 ]
}

check 'a page alone takes i_pages and i_lock, a batch takes them once' taken
check 'inserters wait for i_pages' contended
check 'a kernel without lock statistics says so' without
finish
