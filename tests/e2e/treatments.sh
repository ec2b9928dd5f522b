#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The suite tested with kernels whose difference is known: a treatment moves the variants that it
# lists, in the direction of its claim, and no other; a kernel against itself moves nothing.
#
#   treatments.sh [TREATMENT..]     default: 6.12-shmem-batch-remove; all: every one
#
# Each kernel is booted twice under icount, the base four times, and runs every case that one CPU shows;
# under icount one boot of a kernel is as good as another, so all treatments share the base's boots. The
# table is left in RESULTS/matrix.md, RESULTS being a directory of ours or the variable's.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

TREATMENTS=${TREATMENTS:-$REPO/ci/treatments}
[ $# -gt 0 ] || set -- 6.12-shmem-batch-remove
if [ "$1" = all ]; then
	mapfile -t all < <(cd "$TREATMENTS" && printf '%s\n' *.json)
	set -- "${all[@]%.json}"
fi
RESULTS=${RESULTS:-$SCRATCH/results}
mkdir -p "$RESULTS"
RUNS=${RUNS:-3}
JOBS=$(($(nproc) < 4 ? $(nproc) : 4))

# In the guest. Large folios first, and 64 MiB of them: after runs of single pages, freeing 8 of them took
# up to four times its 125000 instructions in some runs.
# shellcheck disable=SC2016
GUEST='run() { "$0" --engine-info /run/results/engine.json --results /run/results --label "$1" \
		--scale smoke --runs "$2" --events "" "${@:3}" || exit; }
	run "$@" --case shmem-truncate --variant folio=pmd --size 64M
	run "$@" --case shmem-truncate --variant folio=4k
	run "$@" --case shadow-entries,pagecache-truncate'

# boots LABEL IMAGE COUNT [OPTIONS OF BOOT.SH..]: COUNT boots' records in RESULTS/LABEL, JOBS at a time,
# those with options of their own one by one. Records that are there are kept. A boot that failed does not
# count and is done again, twice at most: now and then QEMU shows a CPU a breakpoint that another one has
# just taken out of a patched branch ("Oops: int3").
boots() {
	local label=$1 image=$2 left pids=() failed=0 pid jobs=$JOBS
	local command=(--engine icount -- bash -c "$GUEST" "$REPO/run.sh" "$label" "$RUNS")
	rm -rf "$SCRATCH/boots"
	[ $# -le 3 ] || command=("${@:4}" --label "$label") jobs=1 # of several CPUs
	mkdir -p "$RESULTS/$label"
	left=$(($3 - $(find "$RESULTS/$label" -name '*.jsonl' | wc -l)))
	while [ "$left" -gt 0 ] || [ ${#pids[@]} -gt 0 ]; do
		if [ "$left" -gt 0 ] && [ ${#pids[@]} -lt "$jobs" ]; then
			"$REPO/ci/boot.sh" --kernel "$image" --results "$RESULTS" --timeout 1800 \
				--boot-dir "$SCRATCH/boots/$label.$left.$failed" "${command[@]}" >"$SCRATCH/boot.$label.$left" &
			pids+=($!)
			left=$((left - 1))
			continue
		fi
		pid=${pids[0]} pids=("${pids[@]:1}")
		wait "$pid" || {
			failed=$((failed + 1))
			[ "$failed" -gt 2 ] || left=$((left + 1))
		}
	done
	[ "$failed" -le 2 ] || tail -n 5 "$SCRATCH/boot.$label".*
	[ "$failed" -le 2 ]
}

# compare BEFORE AFTER OUT: the comparison's own verdict is not asked here.
compare() {
	local status=0
	"$REPO/build/compare" --claims "$REPO"/cases/*.json --gate none --format json \
		"$RESULTS/$1" "$RESULTS/$2" >"$3" || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
}

# Every row that was measured, of claims and without, once: its variant, ratio and interval.
ROWS='[.[] | .claims[].rows[], .others[]? | select(.pooled.low != null)
	| select(.metric == "time" or .metric == "p1")] | unique_by([.case, .options, .metric])'
# shellcheck disable=SC2016
LISTED='def listed($moves): . as $row | any($moves[]; .case == $row.case and
	(.where | to_entries | all(.[]; $row.options[.key] == .value)));'

# moves TREATMENT IMAGE SOURCE: what it lists moves in the direction of its claim, nothing else by 0.5 %.
# Large folios cost 30 instructions a page in all, of which a batch's own work is half a percent: 1 %.
moves() {
	local name=$1 facts=$TREATMENTS/$1.json before=base-$3 after=$1
	[ "$(jq -r .side "$facts")" = after ] || { before=$1 after=base-$3; }
	boots "base-$3" "$(image_of "$facts")" 2
	boots "$name" "$2" 2
	compare "$before" "$after" "$RESULTS/$name.json"
	jq -rs --slurpfile facts "$facts" "$LISTED $ROWS"' | .[]
		| "| \($facts[0].treatment) | \(.case) | \(.options | to_entries | map("\(.key)=\(.value)") | join(",")) | \(
			if listed($facts[0].moves) then "yes" else "no" end) | \(.before.value * .shown_factor * 10 | round / 10) | \(
			.after.value * .shown_factor * 10 | round / 10) | \(.pooled.ratio * 10000 | round / 10000) | \(
			.pooled.low * 10000 | round / 10000) to \(.pooled.high * 10000 | round / 10000) |"' \
		"$RESULTS/$name.json" | tee -a "$RESULTS/matrix.md.new"
	jq -es --slurpfile facts "$facts" "$LISTED $ROWS"' as $rows | $facts[0].moves as $moves
		| [$rows[] | select(listed($moves))] as $moved | [$rows[] | select(listed($moves) | not)] as $still
		| ($moved | length > 0 or all($moves[]; .case == "dirty-reclaim")) and ($still | length > 0)
		  and all($moved[]; .pooled.high < 0.998)
		  and all($moved[] | select(.kind == "change"); (.pooled.high - .pooled.low) / 2 <= 0.005)
		  and all($still[]; ((.pooled.ratio | log) | fabs) <
			if .options.folio == "pmd" then 0.01 else 0.005 end)' "$RESULTS/$name.json"
}

# What several CPUs do to each other, counted under the interpreter with a thread for each: two boots
# settle nothing, but the direction of so large a difference shows.
moves_shared() {
	local name=$1 cpus=(--engine tcg --cpus 2 --swap 1G -- --case dirty-reclaim --scale smoke --runs 2
		--variant "swap=device,end=ops" --events "")
	boots "shared-base-$3" "$(image_of "$TREATMENTS/$1.json")" 2 "${cpus[@]}"
	boots "shared-$name" "$2" 2 "${cpus[@]}"
	compare "shared-base-$3" "shared-$name" "$RESULTS/shared-$name.json"
	jq -r '[.claims[].rows[], .others[]] | .[] | select(.before.value and .after.value)
		| "\(.id): \(.before.value) to \(.after.value), \(.verdict)"' "$RESULTS/shared-$name.json"
	jq -e '[.claims[].rows[] | select(.metric == "shootdowns_per_stolen_page")] | length > 0 and
		all(.[]; .pooled.ratio < 0.75)' "$RESULTS/shared-$name.json"
}

# alone DIR: nothing else ran in a region, whatever the preparation left to do: op=inval alone waits, for
# its server, and lets others in.
alone() {
	cat "$1"/*.jsonl | jq -es '[.[] | select(.status == "ok" and .metrics.time.value)] as $runs
		| $runs[] | select(.probes.off_cpu_ns > .metrics.time.value / 200)
		| "\(.variant) run \(.run): \(.probes.off_cpu_ns) of \(.metrics.time.value) ns off the CPU"' && return 1
	[ "$(cat "$1"/*.jsonl | jq -s '[.[] | select(.metrics.time.value)] | length')" -gt 0 ]
}

# Two boots of the base against two others.
still() {
	local file n=0
	boots "base-$1" "$2" 4
	alone "$RESULTS/base-$1"
	rm -rf "$RESULTS"/still-{a,b}
	mkdir "$RESULTS"/still-{a,b}
	for file in "$RESULTS/base-$1"/*.jsonl; do
		n=$((n + 1))
		cp "$file" "${file%.jsonl}.env.json" "$RESULTS/still-$([ $((n % 2)) -eq 0 ] && echo a || echo b)/"
	done
	compare still-a still-b "$RESULTS/still.json"
	jq -rs "$ROWS | .[] | \"\(.case) \(.options | tojson): d \(.pooled.d)\"" "$RESULTS/still.json"
	# What a claim says changes, to 0.1 %; short regions feel a single timer interrupt.
	jq -es "$ROWS"' | length > 0 and all(.[];
		(.pooled.d | fabs) < if .kind == "change" then 0.001 else 0.005 end)' "$RESULTS/still.json"
}

source_of() {
	jq -r .source "$1"
}

image_of() { # FACTS [PATCH]
	"$REPO/ci/build-kernel.sh" --source "$(source_of "$1")" ${2:+--patch "$2"}
}

# What cannot be tested is said and is no failure: a source that is not installed, a treatment whose
# code has changed since.
skip() {
	TESTS=$((TESTS + 1))
	printf 'ok %d - %s # SKIP %s\n' "$TESTS" "$1" "$2"
}

treatment() {
	local name=$1 facts=$TREATMENTS/$1.json patch=$TREATMENTS/$1.patch image source status=0
	source=$(source_of "$facts")
	if [ ! -r "/usr/src/$source.tar.xz" ]; then
		skip "$name" "$source is not installed"
		return
	fi
	image=$(image_of "$facts" "$patch" 2>"$SCRATCH/build") || status=$?
	if [ "$status" -eq 3 ]; then
		skip "$name" "stale: $(sed -n 's/.*: patch [0-9]* of [0-9]*, //p' "$SCRATCH/build")"
		return
	elif [ "$status" -ne 0 ]; then
		cat "$SCRATCH/build" >&2
	fi
	check "$name moves what it lists and nothing else" moves "$name" "$image" "$source"
	if jq -e 'any(.moves[]; .case == "dirty-reclaim")' "$facts" >/dev/null; then
		check "$name lessens what it lists" moves_shared "$name" "$image" "$source"
	fi
	if [ "$name" = 6.12-shmem-batch-remove ]; then
		check "$name keeps every byte and every count" model "$image"
	fi
	SOURCES+=" $source"
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

# A treatment whose code is no longer there.
stale() {
	local name=6.12-shadow-truncate
	mkdir "$SCRATCH/old"
	cp "$TREATMENTS/$name.json" "$SCRATCH/old/old.json"
	sed 's/^ \tdax = dax_mapping(mapping);/ \tdax = is_dax(mapping);/' "$TREATMENTS/$name.patch" >"$SCRATCH/old/old.patch"
	TREATMENTS=$SCRATCH/old RESULTS=$SCRATCH/old expect 0 "$0" old >"$SCRATCH/stale"
	cat "$SCRATCH/stale"
	grep -q '^ok 1 - old # SKIP stale: old.patch, does not apply to .*mm/truncate.c:.*(@@ .* truncate_folio_batch' "$SCRATCH/stale"
}

# The patched tmpfs is still a tmpfs, with small and large folios, with and without swap.
model() {
	# shellcheck disable=SC2016
	"$REPO/ci/boot.sh" --kernel "$1" --engine tcg --cpus 2 --swap 64M --results "$SCRATCH/model" -- \
		sh -e -c 'mkswap -q /dev/vda; swapon /dev/vda; mkdir /tmp/m
			"$0" /tmp/m huge=never 0 1 1000
			"$0" /tmp/m huge=never 1 2 300
			"$0" /tmp/m huge=always 0 3 300
			"$0" /tmp/m huge=always 1 4 300' "$REPO/build/tests/e2e/shmem_model"
}

SOURCES=
printf '%s\n' '| treatment | case | variant | listed | before | after | ratio | 90 % interval |' \
	'|---|---|---|---|---:|---:|---:|---|' >"$RESULTS/matrix.md.new"
for name; do
	[ -e "$TREATMENTS/$name.json" ] || {
		echo "treatments.sh: no treatment $name" >&2
		exit 2
	}
	treatment "$name"
done
mv "$RESULTS/matrix.md.new" "$RESULTS/matrix.md"
for source in $(tr ' ' '\n' <<<"$SOURCES" | sort -u); do
	check "$source against itself does not move" still "$source" \
		"$("$REPO/ci/build-kernel.sh" --source "$source")"
done
# Without a kernel that could be tested there is nothing to go on with.
[ -z "$SOURCES" ] || check 'kill -9, and on with the boots that are missing' resumes
[ -z "$SOURCES" ] || check 'a treatment whose code has changed since is stale' stale
finish
