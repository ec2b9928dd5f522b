#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# In a guest: the clock of the day jumps by days, forward and back, while cases run. What is measured does
# not jump with it, no timeout strikes, and the memory controller there is one of version 2. `clock.sh
# inside` is what the guest runs.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C

if [[ ${1:-} == inside ]]; then
	(while sleep 0.5; do date -s '+3 days' && sleep 0.5 && date -s '-5 days'; done) >/dev/null 2>&1 &
	jumper=$!
	code=0
	BEFORE_AFTER_TIMEOUT=600 ./run.sh --case shmem-truncate,pagecache-truncate --variant 'op=punch,folio=4k fs=ext4' \
		--scale smoke --runs 2 --events '' --label jumped --results /run/results || code=$?
	kill "$jumper"
	exit "$code"
fi

# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
wants_guest clock
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
code=0
ci/boot.sh --kernel "$image" --engine tcg --memory 1G --timeout 3600 --boot-timeout 600 --results "$tmp" -- \
	"$PWD/tests/hostile/clock.sh" inside >"$tmp/out" 2>&1 || code=$?
# Nanoseconds of days would show: a run takes minutes at most, and none is negative. That the clock jumped
# is in the records: of two in a row the later one began before the other.
if ((code == 0)) && cat "$tmp"/jumped/*.jsonl | jq -es 'any(.[]; .status == "ok") and all(.[];
	(.status | IN("ok", "skip")) and (.cost_ns.total | . > 0 and . < 600e9) and all(.samples[]; . > 0 and . < 600e9))' >/dev/null &&
	jq -es '[.[].started] | . != sort' "$tmp"/jumped/*.jsonl >/dev/null &&
	jq -es 'all(.[].invocations[]; .info.cgroup == "v2")' "$tmp"/jumped/*.env.json >/dev/null; then
	printf 'ok clock\n'
else
	printf 'not ok clock: exit %d\n' "$code"
	tail -n 5 "$tmp/out" | sed 's/^/# /'
	jq -c '[.status, .reason, .started, .cost_ns.total]' "$tmp"/jumped/*.jsonl 2>/dev/null | sed 's/^/# /' || true
	exit 1
fi
