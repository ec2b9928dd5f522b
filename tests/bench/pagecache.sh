#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What pagecache-truncate's samples cost: samples a second, and how much of the loop is timed and not
# filling. The first row is the documented count. VARIANTS, a space between two.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C

readonly build=${BEFORE_AFTER_BUILD:-build}
read -ra variants <<<"${VARIANTS:-fs=ext4 fs=xfs fs=ext4,state=written-clean fs=ext4,state=dirty fs=tmpfs,state=dirty}"
tmp=$(mktemp -d)
mkdir -m 0700 "$tmp/run"
export BEFORE_AFTER_RUN_DIR=$tmp/run
trap 'rm -rf "$tmp"' EXIT

scale=documented
for variant in "${variants[@]}"; do
	"$build/cases/pagecache-truncate" --scale "$scale" --variant "$variant" \
		--output "$tmp/records.jsonl" >/dev/null
	tail -1 "$tmp/records.jsonl" | jq -r '
		def round_to($n): . * $n | round / $n;
		(.samples | length) as $count | .cost_ns.measure as $loop
		| "\(.variant): \($count) samples in \(.cost_ns.total / 1e9 | round_to(10)) s, "
		+ "\($count / ($loop / 1e9) | round) a second, "
		+ "\((.samples | add) / $loop * 100 | round) % of the loop timed"'
	scale=quick
done
