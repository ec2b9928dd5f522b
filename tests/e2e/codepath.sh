#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Which code ran, told by one boot of one kernel: base and each treatment run the code of one side of
# each claim, and the rates of calls are exact. Nothing of it depends on how fast or busy the host is.
#
#   codepath.sh [WHAT..]     base, neighbour, ways, base-dirty-reclaim or a treatment; default: all of them
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# One boot that only counts, of the claims' variants. probe LABEL CASES CPUS FILTER [BOOT OPTION..]
probe() {
	local label=$1 cases=$2 cpus=$3 filter=$4 patch image
	shift 4
	patch=$REPO/ci/treatments/$label.patch
	[ -e "$patch" ] || patch=
	image=$("$REPO/ci/build-kernel.sh" ${patch:+--patch "$patch"})
	"$REPO/ci/boot.sh" --kernel "$image" --engine icount --cpus "$cpus" --results "$SCRATCH/${cases//,/+}" "$@" -- \
		--probe --case "$cases" --scale smoke --variant "$filter" --label "$label"
}

# A line a claim: "shmem-batch-remove before filemap_remove_folio=1 delete_from_page_cache_batch=0".
paths() {
	"$REPO/build/compare" --format json --single "$1" | jq -r '.code_path[] | "\(.claim) \(.path)"
		+ ([.rates[] | select(.function) | def four: . * 10000 | round / 10000;
			" \(.function)=\(.low | four)\(if .low == .high then "" else "-\(.high | four)" end)"] | add)'
}

SHMEM_BEFORE='shmem-batch-remove before filemap_remove_folio=1 delete_from_page_cache_batch=0'
SHMEM_AFTER='shmem-batch-remove after filemap_remove_folio=0 delete_from_page_cache_batch=0.0325'
TRUNCATE_BEFORE='shadow-truncate before xas_load=2.0482'
TRUNCATE_AFTER='shadow-truncate after xas_load=1.0804'
INVALIDATE_BEFORE='shadow-invalidate before xas_load=2.0479'
INVALIDATE_AFTER='shadow-invalidate after xas_load=1.0802'
# Each truncate removes its 1024 pages in 34 batches.
PAGES_BEFORE='pagecache-batch-truncate before filemap_remove_folio=1 delete_from_page_cache_batch=0'
PAGES_AFTER='pagecache-batch-truncate after filemap_remove_folio=0 delete_from_page_cache_batch=0.0332'

# single LABEL LINE..: one CPU, the three cases that repeat to the call
single() {
	local label=$1 cases=pagecache-truncate,shadow-entries,shmem-truncate
	shift
	probe "$label" "$cases" 1 'state=resident,fill=fallocate,folio=4k evict=memcg counted=yes'
	printf '%s\n' "$@" | sort >"$SCRATCH/want"
	paths "$SCRATCH/${cases//,/+}/$label" | sort >"$SCRATCH/got"
	diff "$SCRATCH/want" "$SCRATCH/got"
}

# The neighbour's punches on two CPUs: the same functions, the counts are not the same each time.
neighbour() {
	probe "$1" truncate-neighbour 2 ''
	paths "$SCRATCH/truncate-neighbour/$1" | tee "$SCRATCH/got"
	grep -q "^neighbour-unchanged $2 " "$SCRATCH/got"
}

# stress-ng may lose a worker for lack of memory: such a run has flushed for its pages all the same.
reclaim() {
	probe "$1" dirty-reclaim 1 end=ops --swap 1G || [ $? -eq 1 ]
	paths "$SCRATCH/dirty-reclaim/$1" | tee "$SCRATCH/got"
	grep -q "^batch-dirty-tlb-flush $2 " "$SCRATCH/got"
}

# The ways to count agree, and the profiler's switch and filter are given back, after kill -9 too.
ways() {
	# shellcheck disable=SC2016
	"$REPO/ci/boot.sh" --kernel "$("$REPO/ci/build-kernel.sh")" --engine icount --results "$SCRATCH/ways" -- \
		bash -euc 'cd "$0"
		tracing=/sys/kernel/tracing
		count() { # WAY: calls for 4096 pages
			BEFORE_AFTER_PROBE_WAY=$1 build/cases/shmem-truncate --scale smoke --variant op=punch \
				--probe filemap_remove_folio,no_such_function --output "/tmp/$1.jsonl" >/dev/null
			jq -c ".probes | [.functions.filemap_remove_folio.value, .functions.filemap_remove_folio.by,
				.functions.filemap_remove_folio.scope, (.functions.no_such_function.absent | length > 0)]" "/tmp/$1.jsonl"
		}
		[ "$(count kprobe)" = "[4096,\"kprobe\",\"task\",true]" ]
		[ "$(count "hardware breakpoint")" = "[4096,\"hardware breakpoint\",\"task\",true]" ]
		[ "$(count "function profiler")" = "[4096,\"function profiler\",\"cpus\",true]" ]
		[ ! -s "$tracing/kprobe_events" ]
		grep -qx 0 "$tracing/function_profile_enabled"
		grep -q "all functions enabled" "$tracing/set_ftrace_filter"
		printf "schedule\n" >"$tracing/set_ftrace_filter"
		# This shell is SCHED_FIFO: what it kills must not be, or it would have ended before.
		BEFORE_AFTER_PROBE_WAY="function profiler" chrt --other 0 build/cases/shmem-truncate --size 512M --variant op=punch \
			--probe filemap_remove_folio >/dev/null 2>&1 &
		for ((i = 0; i < 300; i++)); do
			! grep -qx filemap_remove_folio "$tracing/set_ftrace_filter" || break
			sleep 0.02
		done
		kill -KILL $!
		grep -qx filemap_remove_folio "$tracing/set_ftrace_filter"
		build/cases/shmem-truncate --cleanup
		[ "$(cat "$tracing/set_ftrace_filter")" = schedule ]
		grep -qx 0 "$tracing/function_profile_enabled"' "$REPO"
}

of() {
	case $1 in
	base)
		check 'base: single pages of tmpfs, single shadow entries, batches of pages' single base \
			"$SHMEM_BEFORE" "$TRUNCATE_BEFORE" "$INVALIDATE_BEFORE" "$PAGES_AFTER"
		;;
	neighbour)
		check 'base: the neighbour punches single pages' neighbour base before
		check 'treatment: the neighbour punches batches' neighbour 6.12-shmem-batch-remove after
		;;
	ways) check 'the ways to count agree and give back what they set' ways ;;
	6.12-shmem-batch-remove)
		check "$1 is told from base" single "$1" \
			"$SHMEM_AFTER" "$TRUNCATE_BEFORE" "$INVALIDATE_BEFORE" "$PAGES_AFTER"
		;;
	6.12-shadow-truncate)
		check "$1 is told from base" single "$1" \
			"$SHMEM_BEFORE" "$TRUNCATE_AFTER" "$INVALIDATE_BEFORE" "$PAGES_AFTER"
		;;
	6.12-shadow-invalidate)
		check "$1 is told from base" single "$1" \
			"$SHMEM_BEFORE" "$TRUNCATE_BEFORE" "$INVALIDATE_AFTER" "$PAGES_AFTER"
		;;
	6.12-unbatch-pagecache-truncate)
		check "$1 is told from base" single "$1" \
			"$SHMEM_BEFORE" "$TRUNCATE_BEFORE" "$INVALIDATE_BEFORE" "$PAGES_BEFORE"
		;;
	base-dirty-reclaim) check 'base: a flush a page written' reclaim base before ;;
	6.12-dirty-tlb-batch) check "$1: a flush a batch" reclaim "$1" after ;;
	*) check "a treatment named $1" false ;;
	esac
}

[ $# -gt 0 ] || set -- base neighbour ways 6.12-shmem-batch-remove 6.12-shadow-truncate 6.12-shadow-invalidate \
	6.12-unbatch-pagecache-truncate base-dirty-reclaim 6.12-dirty-tlb-batch
for kernel; do of "$kernel"; done
finish
