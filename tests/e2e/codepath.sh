#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Which code ran, told by one boot of one kernel: base and each treatment run the code of one side of
# each claim, and the rates of calls are exact where the guest is.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# probe LABEL PATCH CASES BOOT-OPTION..: one icount boot that only counts.
probe() {
	local label=$1 patch=$2 cases=$3 image
	shift 3
	image=$("$REPO/ci/build-kernel.sh" ${patch:+--patch "$REPO/ci/treatments/$patch.patch"})
	"$REPO/ci/boot.sh" --kernel "$image" --engine icount --results "$SCRATCH/$cases" "$@" -- \
		--probe --case "$cases" --scale smoke --label "$label"
}

# path DIRECTORY CLAIM: "before filemap_remove_folio=1 delete_from_page_cache_batch=0"
path() {
	"$REPO/build/compare" --format json --single "$1" | jq -r --arg claim "$2" '.code_path[]
		| select(.claim == $claim)
		| "\(.path) \([.rates[] | "\(.function)=\(.low)" + (if .low == .high then "" else "-\(.high)" end)] | join(" "))"'
}

# runs LABEL PATCH CASE [CLAIM PATH]..: one boot, and what it says of each claim
runs() {
	local label=$1 patch=$2 case=$3 found
	shift 3
	probe "$label" "$patch" "$case"
	while [ $# -gt 0 ]; do
		found=$(path "$SCRATCH/$case/$label" "$1")
		echo "$1: $found"
		[ "$found" = "$2" ]
		shift 2
	done
}
