#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Stands in for ci/boot.sh: the records are of the value that the image holds, a little off; of the
# functions asked for, mm/called.c's are called. SLOW: seconds that a boot takes.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/golden/lib.sh
. "$REPO/records.sh"

while [ "$1" != -- ]; do
	case $1 in
	--kernel) image=$2 ;;
	--results) results=$2 ;;
	--boot-dir) dir=$2 ;;
	esac
	shift 2
done
shift
while [ $# -gt 0 ]; do
	[[ $1 != *,* || $1 == *=* ]] || functions=$1
	[ "$1" != --label ] || label=$2
	[ "$1" != --variant ] || variant=$2
	shift
done
echo boot >>"$REPO/boots"
sleep "${SLOW:-0}"
value=$(<"$image")
[ "$value" != panic ] || die "boot failed: Kernel panic - not syncing: no (console: $dir/console)" 125
mkdir -p "$dir/share" "$results"
number=$(wc -l <"$REPO/boots")
export ENGINE=icount SCALE=smoke PARAMS='{"size":16777216,"pages":4096}' MATCH='{"icount_shift":0,"cpus":1}'
cd "$results"
for i in 0 1 3 2 1; do set -- "$@" $((value * 10000 + (number % 3) * value + i * value / 2)); done
runs "$label" "$number" "$variant" "$@"
jq -nc --arg functions "${functions:-}" '{probes: {functions: ($functions | split(",") | map(select(. != "")
	| {(.): {value: (if startswith("called") then 4096 else 0 end)}}) | add // {})}}' >"$dir/share/calls"
