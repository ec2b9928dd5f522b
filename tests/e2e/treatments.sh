#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The suite tested with kernels whose difference is known: a treatment moves the variants that it
# lists, in the direction of its claim, and no other; a kernel against itself moves nothing.
#
#   treatments.sh [TREATMENT..]     default: 6.12-shmem-batch-remove
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || set -- 6.12-shmem-batch-remove
BOOTS=2 RUNS=5

# ab OUT BEFORE AFTER CASES: the comparison's own verdict is not asked here. The variants of
# shmem-truncate are compared apart by folio size: after runs of single pages, freeing 8 PMD-sized folios
# took up to four times its 125000 instructions in some runs (the allocator's per-CPU lists, we think).
# 64 MiB for the large folios, since 16 MiB of them repeat to 0.7 % only.
one_ab() {
	local status=0 out=$1 before=$2 after=$3
	shift 3
	"$REPO/ci/ab.sh" --before "$before" --after "$after" --boots "$BOOTS" --runs "$RUNS" \
		--engine icount --out "$out" --gate none "$@" || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
}

ab() {
	if [ "$4" != shmem-truncate ]; then
		one_ab "$1/all" "$2" "$3" --case "$4"
		return
	fi
	one_ab "$1/4k" "$2" "$3" --case "$4" --variant folio=4k &&
		one_ab "$1/pmd" "$2" "$3" --case "$4" --variant folio=pmd --size 64M
}

# Every row that was measured, of claims and without, once: its variant, ratio and interval.
ROWS='[.[] | .claims[].rows[], .others[]? | select(.pooled.low != null) | select(.metric == "time" or .metric == null)]
	| unique_by([.case, .options, .metric])'

moves() {
	local name=$1 patch=$REPO/ci/treatments/$1.patch facts=$REPO/ci/treatments/$1.json
	local cases before=base after=$patch
	cases=$(jq -r '[.moves[].case] | unique | join(",")' "$facts")
	[ "$(jq -r .side "$facts")" = after ] || { before=$patch after=base; }
	ab "$SCRATCH/$name" "$before" "$after" "$cases"
	jq -rs "$ROWS | .[] | \"\(.case) \(.options | tojson): ratio \(.pooled.ratio), 90 % \(.pooled.low) to \(.pooled.high)\"" \
		"$SCRATCH/$name"/*/compare.json
	jq -es --slurpfile facts "$facts" "$ROWS"' as $rows
		| $facts[0].moves as $moves
		| def listed: . as $row | any($moves[]; .case == $row.case and
			(.where | to_entries | all(.[]; $row.options[.key] == .value)));
		  [$rows[] | select(listed)] as $moved | [$rows[] | select(listed | not)] as $still
		| ($moved | length > 0)
		  and all($moved[]; .pooled.high < 0.998)
		  and all($moved[] | select(.kind == "change"); (.pooled.high - .pooled.low) / 2 <= 0.005)
		  and all($still[]; .pooled.ratio > 0.995 and .pooled.ratio < 1.005)' \
		"$SCRATCH/$name"/*/compare.json
}

still() {
	ab "$SCRATCH/aa" base base "$1"
	jq -rs "$ROWS | .[] | \"\(.case) \(.options | tojson): d \(.pooled.d)\"" "$SCRATCH/aa"/*/compare.json
	# What a claim says changes, to 0.1 %; short regions feel a single timer interrupt, and op=undo
	# allocates in its region: its medians differed by 1.5 % once.
	jq -es "$ROWS"' | length > 0 and all(.[];
		(.pooled.d | fabs) < if .kind == "change" then 0.001
			elif .options.op == "undo" then 0.02 else 0.005 end)' \
		"$SCRATCH/aa"/*/compare.json
}

# Stopped by kill -9 in its second boot, the comparison goes on with what is missing.
resumes() {
	local out=$SCRATCH/resumed pid n
	"$REPO/ci/ab.sh" --before base --after base --boots 1 --runs 1 --jobs 1 --engine icount \
		--case shmem-truncate --variant op=punch,folio=pmd --out "$out" --gate none >/dev/null &
	pid=$!
	wait_for "[ -e $out/boots/01-base/done ] && [ -e $out/boots/02-base-again/console ]"
	kill -KILL "$pid"
	wait "$pid" || true
	wait_for "[ -z \"\$(qemus_of $out)\" ]"
	n=$(stat -c %Y "$out/boots/01-base/done")
	expect 0 "$REPO/ci/ab.sh" --before base --after base --boots 1 --runs 1 --jobs 1 --engine icount \
		--case shmem-truncate --variant op=punch,folio=pmd --out "$out" --gate none
	[ "$n" -eq "$(stat -c %Y "$out/boots/01-base/done")" ]
	[ "$(find "$out/base" -name '*.jsonl' | wc -l)" -eq 1 ]
	[ "$(find "$out/base-again" -name '*.jsonl' | wc -l)" -eq 1 ]
}

# The patched tmpfs is still a tmpfs, with small and large folios, with and without swap.
model() {
	local image
	image=$("$REPO/ci/build-kernel.sh" --patch "$REPO/ci/treatments/6.12-shmem-batch-remove.patch")
	# shellcheck disable=SC2016
	"$REPO/ci/boot.sh" --kernel "$image" --engine tcg --cpus 2 --swap 64M --results "$SCRATCH/model" -- \
		sh -e -c 'mkswap -q /dev/vda; swapon /dev/vda; mkdir /tmp/m
			"$0" /tmp/m huge=never 0 1 1000
			"$0" /tmp/m huge=never 1 2 300
			"$0" /tmp/m huge=always 0 3 300
			"$0" /tmp/m huge=always 1 4 300' "$REPO/build/tests/e2e/shmem_model"
}

for treatment; do
	check "$treatment moves what it lists and nothing else" moves "$treatment"
	if [ "$treatment" = 6.12-shmem-batch-remove ]; then
		check "$treatment keeps every byte and every count" model
	fi
done
check 'a kernel against itself does not move' still shmem-truncate
check 'kill -9, and on with the boots that are missing' resumes
finish
