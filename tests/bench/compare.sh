#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The comparator on a million samples in 2000 records a side: within a second and 200 MB of address
# space, and growing no faster than the records do.
#
#   compare.sh COMPARE

set -euo pipefail
export LC_ALL=C

compare=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# side KERNEL FIRST RECORDS: ten boots of so many records of 500 samples in all
side() {
	local kernel=$1 first=$2 records=$3 boot
	mkdir "$kernel"
	for boot in 0 1 2 3 4 5 6 7 8 9; do
		jq -nc --arg kernel "$kernel" --arg boot "boot-$((first + boot))" \
			--argjson records "$((records / 10))" '
			range($records) as $i |
			{schema:1, kernel:$kernel, boot:$boot, invocation:"i1", case:"pagecache-truncate",
			 variant:"", options:{state:"v\($i % 20)"}, scale:"quick", params:{pages:1024},
			 identity:{}, run:$i, seq:$i, status:"ok", reason:null,
			 started:"2026-11-30T12:00:00Z", cost_ns:{prepare:1, measure:1, total:3},
			 metrics:{time:{value:(250000 + $i % 7), unit:"ns", better:"lower"}},
			 samples:[range(500) | 240000 + (. * 7919 + $i * 104729) % 20011],
			 sample_unit:"ns", counters:{}, counters_empty:{}, probes:{}, checks:{}}' \
			>"$kernel/boot-$((first + boot)).jsonl"
		jq -n --arg boot "boot-$((first + boot))" '{schema:1, boot:$boot, invocations:{i1:{
			match:{engine:"native", cpus:2}, info:{}}}}' \
			>"$kernel/boot-$((first + boot)).env.json"
	done
}

# seconds BEFORE AFTER: processor time, the best of three; the clock would measure our neighbours
seconds() {
	local best=1000 spent TIMEFORMAT='%U %S'
	for _ in 1 2 3; do
		spent=$({ time (
			ulimit -v 204800
			"$compare" --no-claims --gate none "$1" "$2" >/dev/null
		); } 2>&1)
		best=$(jq -n --argjson user "${spent% *}" --argjson system "${spent#* }" \
			--argjson best "$best" '[$user + $system, $best] | min')
	done
	echo "$best"
}

side small-a 0 250
side small-b 100 250
side large-a 200 1000
side large-b 300 1000
small=$(seconds small-a small-b)
large=$(seconds large-a large-b)
jq -nr --argjson small "$small" --argjson large "$large" '
	"compare: 500 records, 250000 samples: \($small * 1000 | round) ms",
	"compare: 2000 records, 1000000 samples: \($large * 1000 | round) ms within 200 MB (allowed: 1000 ms)",
	"compare: four times the records take \($large / $small * 100 | round / 100) times as long (allowed: 5)",
	if $large < 1 and $large / $small < 5 then empty
	else "compare: too slow\n" | halt_error(1) end'
