#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The documented recipe by hand, `fallocate -l SIZE f && time rm f`, beside op=unlink, in turn, on
# tmpfs mounts of the same options: the two must agree within 5 %.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C

readonly build=${BEFORE_AFTER_BUILD:-build} size=${SIZE:-4294967296} pairs=${PAIRS:-7}
tmp=$(mktemp -d)
mkdir -m 0700 "$tmp/run"
export BEFORE_AFTER_RUN_DIR=$tmp/run
trap 'rm -rf "$tmp"' EXIT

# Microseconds that `rm` of the filled file takes, less those of `rm` of an empty one: starting and
# ending the program is not what is compared.
by_hand() {
	mount -t tmpfs -o "size=$((size + (1 << 20))),huge=never" by-hand /mnt
	: >/mnt/empty
	local start=${EPOCHREALTIME/./}
	rm /mnt/empty
	local empty=$((${EPOCHREALTIME/./} - start))
	fallocate -l "$size" /mnt/f
	start=${EPOCHREALTIME/./}
	rm /mnt/f
	echo $((${EPOCHREALTIME/./} - start - empty))
}
export -f by_hand
export size

for ((i = 1; i <= pairs; i++)); do
	unshare -m bash -euc by_hand >>"$tmp/by-hand"
	"$build/cases/shmem-truncate" --variant op=unlink --size "$size" --run "$i" \
		--output "$tmp/unlink.jsonl" >/dev/null
	printf 'pair %d of %d: by hand %d ms, op=unlink %d ms\n' "$i" "$pairs" \
		"$(($(tail -1 "$tmp/by-hand") / 1000))" \
		"$(tail -1 "$tmp/unlink.jsonl" | jq '.metrics.time.value / 1e6 | floor')" >&2
done
jq -rn --slurpfile hand "$tmp/by-hand" --slurpfile runs "$tmp/unlink.jsonl" --argjson size "$size" '
	def median: sort | if length % 2 == 1 then .[length / 2 | floor]
		else (.[length / 2 - 1] + .[length / 2]) / 2 end;
	($hand | map(. / 1000)) as $h | ($runs | map(.metrics.time.value / 1e6)) as $u
	| ([range($h | length)] | map($u[.] / $h[.]) | median) as $ratio
	| "by hand, fallocate then rm, \($size / 1073741824) GiB: median \($h | median * 10 | round / 10) ms",
	  "op=unlink: median \($u | median * 10 | round / 10) ms",
	  "op=unlink / by hand, median of \($h | length) pairs: \($ratio * 1000 | round / 1000) (\(
		if ($ratio - 1 | fabs) <= 0.05 then "agrees within 5 %" else "does NOT agree within 5 %" end))",
	  (if ($ratio - 1 | fabs) <= 0.05 then empty else "" | halt_error(1) end)'
