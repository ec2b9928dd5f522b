#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Takes the place of ci/boot.sh: three runs of one variant, a page of each costs what the image says and up
# to half an instruction more, the same in all runs of a boot. FAKE_PANIC: a pattern of DIRECTORY/LABEL of the
# records whose kernel does not boot this time.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) KERNEL=$2 ;;
	--results) RESULTS=$2 ;;
	--boot-dir) DIR=$2 ;;
	--label) LABEL=$2 ;;
	esac
	shift
done
cost=$(<"$KERNEL")
sleep 0.2
if [ "$cost" = panic ] || [[ -n ${FAKE_PANIC:-} && $RESULTS/$LABEL =~ $FAKE_PANIC ]]; then
	say "boot failed: Kernel panic - not syncing: before-after test (console: $DIR/console)"
	exit 125
fi
read -r boot </proc/sys/kernel/random/uuid
mkdir -p "$DIR/share" "$RESULTS/$LABEL"
touch "$DIR/console"
jq -n --arg boot "$boot" '{boot: $boot, exit: 0}' >"$DIR/share/exit.json"
jq -n --arg boot "$boot" --arg image "$KERNEL" '{schema: 1, boot: $boot, invocations: {i: {
	match: {engine: "icount", icount_shift: 0, cpus: 1, memory: 2147483648, machine: "m", measure_hash: "h"},
	info: {release: "6.12.117", image: $image}}}}' >"$RESULTS/$LABEL/$boot.env.json"
jq -nc --arg boot "$boot" --arg kernel "$LABEL" --argjson time "$((cost * 4096 + RANDOM % 2048))" --arg now "$(date -u +%FT%TZ)" '
	range(1; 4) | {schema: 1, kernel: $kernel, boot: $boot, invocation: "i", case: "shmem-truncate",
	variant: "op=punch,folio=4k,fill=fallocate,state=resident",
	options: {op: "punch", folio: "4k", fill: "fallocate", state: "resident"}, scale: "smoke",
	params: {size: 16777216, pages: 4096}, identity: {backing: "tmpfs"}, run: ., seq: ., status: "ok", reason: null,
	started: $now, cost_ns: {prepare: 1, measure: $time, total: 9000000},
	metrics: {time: {value: $time, unit: "ns", better: "lower"}}, samples: [$time], sample_unit: "ns",
	counters: {}, counters_empty: {}, probes: {off_cpu_ns: 0}, checks: {}}' >"$RESULTS/$LABEL/$boot.jsonl"
