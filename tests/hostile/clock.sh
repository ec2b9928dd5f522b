#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# In a guest of the newest image in the cache: the clock of the day jumps by days, forward and back, while
# cases run. What is measured does not jump with it, no timeout strikes, and the memory controller there is
# one of version 2. `clock.sh inside` is what the guest runs.
set -euo pipefail
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

image=$(find "${XDG_CACHE_HOME:-$HOME/.cache}/before-after/images" -name bzImage -printf '%T@ %p\n' 2>/dev/null |
	sort -n | tail -1 | cut -d ' ' -f 2)
if [[ -z $image ]] || ! command -v qemu-system-x86_64 >/dev/null; then
	printf 'ok clock # SKIP wanted qemu and an image in the cache: make kernel\n'
	exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
code=0
ci/boot.sh --kernel "$image" --engine tcg --memory 1G --results "$tmp" -- "$PWD/tests/hostile/clock.sh" inside \
	>"$tmp/out" 2>&1 || code=$?
# Nanoseconds of days would show: a run takes minutes at most, and none is negative.
if ((code == 0)) && cat "$tmp"/jumped/*.jsonl | jq -es 'any(.[]; .status == "ok") and all(.[];
	(.status | IN("ok", "skip")) and (.cost_ns.total | . > 0 and . < 600e9) and all(.samples[]; . > 0 and . < 600e9))' >/dev/null &&
	jq -es 'all(.[].invocations[]; .info.cgroup == "v2")' "$tmp"/jumped/*.env.json >/dev/null; then
	printf 'ok clock\n'
else
	printf 'not ok clock: exit %d\n' "$code"
	tail -n 5 "$tmp/out" | sed 's/^/# /'
	exit 1
fi
