#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What ci/nightly.sh promises, on a repository in which a gain comes, is lost, and something else is changed:
# states, alarms, index and change point; killed anywhere, the same report.
#
#   nightly.sh [all | fake]
#
# Three nights of kernels before, at and after a loss, the first of them killed ten times; all: the last of
# them, its build and its fresh boots included; older nights for a history, stale treatments, a series, and
# nights that cannot run.
# The repository is made of linux-source-6.12. It stays in the cache at one place and its commits are always
# the same, so that the second time little is compiled: all its kernels share one object tree. fake: all of
# it, of two short files; scripts take the place of the compiler and of the guest, the rest is the same.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/linux.sh
. "$REPO/tests/e2e/linux.sh"

HERE=$REPO/tests/e2e/nightly
NIGHTS=$SCRATCH/nights

# Sets the commits. BASE, tagged; GAIN; LOST, where the patch that undoes the gain still applies; OTHER,
# something else; REVERTED, where it does not apply; UNBUILT and UNBOOTED.
repository() {
	local gain=$REPO/ci/treatments/6.12-shmem-batch-remove.patch
	NIGHTLY=$REPO/ci/nightly.sh
	linux_repository
	# A branch of it moves from night to night.
	exec {LOCK}>"$LINUX.lock"
	flock "$LOCK"
	GAIN=$(linux_commit "$BASE" 'mm/shmem: remove truncated folios in batches' "$gain")
	LOST=$(linux_commit "$GAIN" 'mm/shmem: remove folios one by one' "$HERE/lose.patch")
	OTHER=$(linux_commit "$LOST" 'mm/oom_kill: say it shorter' "$HERE/unrelated.patch")
	REVERTED=$(linux_commit "$GAIN" 'Revert "mm/shmem: remove truncated folios in batches"' "$gain" -R)
	UNBOOTED=$(linux_commit "$BASE" 'does not boot' "$HERE/no-boot.patch")
	printf -- '--- a/mm/shmem.c\n+++ b/mm/shmem.c\n@@ -1 +1,2 @@\n+#error no\n /*\n' >"$SCRATCH/broken.patch"
	UNBUILT=$(linux_commit "$BASE" 'does not build' "$SCRATCH/broken.patch" --unidiff-zero)
}

# The same of two short files, and a copy of ci/ in which the compiler and the guest are played.
fake_repository() {
	local fake=$SCRATCH/fake dir=$SCRATCH/tree
	export XDG_CACHE_HOME=$SCRATCH/cache
	NIGHTLY=$fake/ci/nightly.sh LINUX=$SCRATCH/linux
	mkdir -p "$fake" "$dir/mm" "$XDG_CACHE_HOME/before-after"
	cp -r "$REPO/ci" "$fake/"
	cp "$HERE/fake-build-kernel.sh" "$fake/ci/build-kernel.sh"
	cp "$HERE/fake-boot.sh" "$fake/ci/boot.sh"
	ln -s "$REPO"/{build,cases,run.sh} "$fake/"
	git init -q --bare "$LINUX"
	printf '%s\n' '/*' ' */' 1 2 3 4 5 6 truncate_inode_folio 7 8 9 >"$dir/mm/shmem.c"
	echo 'killable' >"$dir/mm/oom_kill.c"
	BASE=$(changed '' 'Linux 6.12')
	git -C "$LINUX" tag v6.12 "$BASE"
	sed -i s/truncate_inode_folio/shmem_remove_folios/ "$dir/mm/shmem.c"
	GAIN=$(changed "$BASE" 'mm/shmem: remove truncated folios in batches')
	sed -i '2a shmem_remove_each' "$dir/mm/shmem.c"
	LOST=$(changed "$GAIN" 'mm/shmem: remove folios one by one')
	sed -i s/killable/kill/ "$dir/mm/oom_kill.c"
	OTHER=$(changed "$LOST" 'mm/oom_kill: say it shorter')
	git -C "$LINUX" --work-tree="$dir" checkout -q -f "$BASE" -- .
	REVERTED=$(changed "$GAIN" 'Revert "mm/shmem: remove truncated folios in batches"')
	echo panic >"$dir/mm/oom_kill.c"
	UNBOOTED=$(changed "$BASE" 'does not boot')
	echo '#error no' >>"$dir/mm/shmem.c"
	UNBUILT=$(changed "$BASE" 'does not build')
}

changed() { # PARENT MESSAGE: what the work tree of the fake holds
	GIT_INDEX_FILE=$SCRATCH/index git -C "$LINUX" --work-tree="$SCRATCH/tree" add -A .
	linux_commit_index "$@"
}

# What undoes the gain, as a treatment, and what brings it, as a posted series.
patches() {
	mkdir "$SCRATCH/undo"
	git -C "$LINUX" diff "$GAIN" "$BASE" >"$SCRATCH/undo/6.12-undo-shmem-batch-remove.patch"
	jq '.treatment = "6.12-undo-shmem-batch-remove" | .side = "before"
		| .moves |= map(select(.case == "shmem-truncate"))' \
		"$REPO/ci/treatments/6.12-shmem-batch-remove.json" >"$SCRATCH/undo/6.12-undo-shmem-batch-remove.json"
	{
		printf 'From a Thu Jan  1 00:00:00 1970\nFrom: A <a@b>\nSubject: [PATCH] %s\n\n---\n' \
			"$(jq -r .source.title "$REPO/cases/shmem-truncate.shmem-batch-remove.json")"
		git -C "$LINUX" diff "$BASE" "$GAIN"
	} >"$SCRATCH/proposed.mbox"
}

# start DATE COMMIT [OPTION..]: tonight mm-unstable is COMMIT. Becomes ci/nightly.sh, whose nights are in IN.
start() {
	git -C "$LINUX" update-ref refs/heads/mm-unstable "$2"
	exec "$NIGHTLY" --git "$LINUX" --anchor v6.12 --treatments "${USES:-$SCRATCH/undo}" --engine icount --boot-timeout 600 --memory 512M \
		--run '--case shmem-truncate --variant op=punch,folio=4k' --results "${IN:-$NIGHTS}" --date "$1" "${@:3}"
}

# night STATUS DATE COMMIT [OPTION..]: it ends with STATUS.
night() {
	local status=0
	(start "${@:2}") || status=$?
	[ "$status" -eq "$1" ] || {
		echo "night of ${*:2}: expected exit $1, found $status"
		return 1
	}
}

# says FILE JQ: true of the JSON file.
says() {
	jq -e "$2" "$NIGHTS/$1" >/dev/null || {
		echo "$1: not so: $2"
		return 1
	}
}

# Nights of the kernel that has the gain: history, for e-divisive to tell a change from.
seeds() {
	local date
	for date in "${SEEDS[@]}"; do night 0 "$date" "$GAIN"; done
	says 2026-03-01/night.json '.last_good == null'
	says 2026-03-02/night.json '.last_good.date == "2026-03-01" and all(.comparisons[]; .kind != "last-good") and
		.info.not_compared == ["last-good: it is the same kernel as tonight"]'
	says 2026-03-04/states.json '[.claims[] | {claim, state}] == [{claim: "shmem-batch-remove", state: "kept"}]'
}

kept() {
	local start=$SECONDS
	night 0 2026-03-05 "$GAIN"
	echo $((SECONDS - start)) >"$SCRATCH/took"
	says 2026-03-05/states.json 'any(.claims[]; .state == "kept" and (.text | test("still saves [0-9.]+ instructions a page")))'
	[ -s "$NIGHTS/2026-03-05/report.md" ] && [ -s "$NIGHTS/index.md" ]
}

# Lost: suspected, booted again, confirmed.
lost() {
	night 1 2026-03-06 "$LOST"
	says 2026-03-06/states.json 'any(.claims[]; .claim == "shmem-batch-remove" and .state == "lost") and
		any(.alarms[]; .comparison == "last-good" and .state == "confirmed")'
	says 2026-03-06/night.json '.last_good.date == "2026-03-05" and
		any(.comparisons[]; .kind == "last-good" and .confirm != null)'
	# Two of each kernel, though tonight's is in two comparisons.
	[ "$(find "$NIGHTS/2026-03-06/confirm" -name '*.jsonl' | wc -l)" -eq 6 ]
}

# A later night is still held against the last good one: a loss does not become the usual.
still_lost() {
	local start=$SECONDS
	night 1 2026-03-07 "$OTHER"
	echo $((SECONDS - start)) >"$SCRATCH/took"
	says 2026-03-07/night.json '.last_good.date == "2026-03-05"'
	says 2026-03-07/states.json 'any(.claims[]; .state == "lost") and
		any(.alarms[]; .comparison == "last-good" and .state == "standing")'
}

index() {
	local date
	# For a look at what was printed.
	cat "$NIGHTS"/{index.md,trends.md,2026-03-06/report.md} >"$REPO/build/nightly${MODE:+-$MODE}.md"
	cat "$NIGHTS"/{index,trends}.md
	for date in "${SEEDS[@]}" 2026-03-0{5,6,7}; do grep -q "^| $date .*report" "$NIGHTS/index.md"; done
	grep -q '^| 2026-03-06 .*worse.*| 0 of 1 ' "$NIGHTS/index.md"
	grep -q '^| 2026-03-05 .*fine.*| 1 of 1 ' "$NIGHTS/index.md"
	grep -q '^| 2026-03-06 .*undo: .*fresh boots' "$NIGHTS/trends.md"
	[ ! -x "$(command -v gnuplot)" ] || [ -s "$NIGHTS/plots/undo.shmem-batch-remove.punch.icount.smoke.svg" ]
}

# The third night after the change is what the series needs to tell it, of both histories and nowhere else.
told() {
	night 1 2026-03-08 "$OTHER"
	sed -n '/## Changes/,$p' "$NIGHTS/trends.md" | tee "$SCRATCH/changes"
	[ "$(grep -c 'e-divisive' "$SCRATCH/changes")" -eq 2 ]
	[ "$(grep -c '^| 2026-03-06 .*e-divisive' "$SCRATCH/changes")" -eq 2 ]
}

# What does not depend on how often it was stopped: everything but figures, and how wide they are printed.
plain() {
	sed -E 's#/(nights|again)/#/nights/#g; s/[+-]?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?/N/g; s/[ -]+/ /g' "$1"
}

gist() {
	plain "$1/report.md"
	jq -S '[.outcome, [.claims[] | [.claim, .state, .confirmed]], [.alarms[] | [.comparison, .["label"], .state]]]' \
		"$1/states.json"
}

whole() { # DIR: nothing in it is half written
	find "$1" -name '*.json' -not -path '*/share/*' -print0 | xargs -0rn 1 jq -e . >/dev/null
}

# Killed at ten moments of the newest night, and started again each time.
killed() { # STATUS DATE COMMIT
	local n=0 pid status=$1 date=$2 commit=$3 took again=$SCRATCH/again
	took=$(cat "$SCRATCH/took")
	RANDOM=10
	cp -r "$NIGHTS" "$again"
	rm -r "${again:?}/$date"
	while [ "$n" -lt 10 ]; do
		IN=$again start "$date" "$commit" >"$SCRATCH/killed" 2>&1 &
		pid=$!
		# What is done stays, so ten parts of a third come past its end.
		sleep "$((RANDOM % (took / 3 + 1))).$((RANDOM % 10))"
		if kill -KILL "$pid" 2>/dev/null; then
			n=$((n + 1))
			echo "killed after: $(tail -n 1 "$SCRATCH/killed")"
		else
			rm -r "${again:?}/$date" # it had come to its end: from the beginning
		fi
		wait "$pid" || true
		whole "$again"
	done
	IN=$again night "$status" "$date" "$commit"
	diff <(gist "$NIGHTS/$date") <(gist "$again/$date")
	diff <(plain "$NIGHTS/index.md") <(plain "$again/index.md")
	[ -z "$(qemus_of "$again")" ]
}

# With its boots done the last steps again give the same bytes, and no other boot.
same_bytes() {
	local dir=$NIGHTS/2026-03-07
	cp "$dir/report.md" "$SCRATCH/report"
	cp "$NIGHTS/index.md" "$SCRATCH/index"
	find "$dir" -name '*.jsonl' -exec sha256sum {} + | sort >"$SCRATCH/records"
	rm "$dir"/{report.md,states.json,night.json} "$dir"/compare-*.json
	night 1 2026-03-07 "$OTHER"
	cmp "$dir/report.md" "$SCRATCH/report"
	cmp "$NIGHTS/index.md" "$SCRATCH/index"
	find "$dir" -name '*.jsonl' -exec sha256sum {} + | sort | cmp - "$SCRATCH/records"
}

# The same of a night whose kernel has to be built, and of its fresh boots.
killed_building() {
	local image
	image=$(jq -r '.invocations[].info.image' "$NIGHTS/2026-03-07"/records/tonight/*.env.json | head -n 1)
	rm -r "${image%/*}"
	killed 1 2026-03-07 "$OTHER"
}

# A gain that is simply reverted: what undoes it is stale, which is said, and last night's kernel tells.
# The same as a proposed series: not yet.
reverted() {
	mkdir "$SCRATCH/reverted"
	cp -r "$NIGHTS/2026-03-05" "$SCRATCH/reverted/"
	NIGHTS=$SCRATCH/reverted
	night 1 2026-03-06 "$REVERTED" --series "$SCRATCH/proposed.mbox"
	says 2026-03-06/night.json 'any(.comparisons[]; .kind == "undo" and .state == "stale" and (.reason | test("mm/shmem.c.*@@"))) and
		(.stale | length == 1) and all(.comparisons[]; .kind != "anchor")'
	says 2026-03-06/states.json 'any(.claims[]; .claim == "shmem-batch-remove" and .state == "not yet")
		and any(.alarms[]; .comparison == "last-good" and .state == "confirmed")'
}

# Nights that could not run are nights; tried again, they are another one.
could_not() {
	NIGHTS=$SCRATCH/could-not
	night 2 2026-03-01 "$GAIN" --ref no-such-branch
	says 2026-03-01/night.json '.state == "fetch-failed" and (.reason | test("no-such-branch"))'
	night 2 2026-03-02 "$UNBUILT"
	says 2026-03-02/night.json '.state == "build-failed" and (.reason | test("error no"))'
	night 2 2026-03-03 "$UNBOOTED"
	says 2026-03-03/night.json '.state == "boot-failed" and (.reason | test("before-after test"))'
	[ "$(grep -c '2026-03-0[123]' "$NIGHTS/index.md")" -ge 3 ]
}

# Old nights give up their records, then, where that is wanted, themselves; nothing that is not ours goes.
retired() {
	NIGHTS=$SCRATCH/again
	mkdir -p "$NIGHTS/2026-01-01/records" "$SCRATCH/elsewhere/records"
	touch "$SCRATCH/elsewhere/.before-after-nightly"
	ln -s "$SCRATCH/elsewhere" "$NIGHTS/2026-01-02"
	night 1 2026-03-07 "$OTHER" --keep 2 --keep-nights 4
	[ -d "$NIGHTS/2026-03-07/records" ] && [ -d "$NIGHTS/2026-03-06/records" ] && [ ! -e "$NIGHTS/2026-03-04/records" ]
	[ -s "$NIGHTS/2026-03-05/night.json" ] && [ ! -e "$NIGHTS/2026-03-03" ]
	[ -d "$NIGHTS/2026-01-01/records" ] && [ -L "$NIGHTS/2026-01-02" ] && [ -d "$SCRATCH/elsewhere/records" ]
}

# --- what must not be forgotten: with stand-ins ---------------------------------------------------

# Without what undoes the gain only the last good night's kernel tells a loss.
bare() { # STATUS DATE COMMIT [OPTION..]
	mkdir -p "$SCRATCH/none"
	USES=$SCRATCH/none night "$@"
}

# A night in which the last good kernel did not boot, or the fresh boots did not, is no good night.
untold() {
	NIGHTS=$SCRATCH/untold
	bare 0 2026-03-01 "$GAIN"
	FAKE_PANIC='/last-good$' bare 3 2026-03-02 "$LOST"
	says 2026-03-02/night.json 'any(.comparisons[]; .kind == "last-good" and .state == "boot-failed")'
	FAKE_PANIC='/confirm/' bare 3 2026-03-03 "$LOST"
	says 2026-03-03/states.json 'any(.alarms[]; .comparison == "last-good" and .state == "suspected")'
	bare 1 2026-03-04 "$LOST" --keep-nights 2
	says 2026-03-04/night.json '.last_good.date == "2026-03-01"'
	says 2026-03-04/states.json 'any(.alarms[]; .comparison == "last-good" and .state == "confirmed")'
	# However few nights stay, that of the last good kernel does, or the loss would be gone with it.
	bare 1 2026-03-05 "$OTHER" --keep-nights 2
	[ -d "$NIGHTS/2026-03-01" ] && [ ! -e "$NIGHTS/2026-03-03" ]
	# Done is done; that other settings change nothing is said.
	bare 1 2026-03-05 "$OTHER" --good "$LOST" 2>"$SCRATCH/said"
	grep -q '2026-03-05 is done, with other settings or programs than these: --fresh' "$SCRATCH/said"
	bare 0 2026-03-06 "$OTHER" --good "$LOST"
}

# A mirror that was removed and a branch that was rebased: the last good kernel is fetched by its name; where it
# cannot be had, that is said.
rebased() {
	NIGHTS=$SCRATCH/rebased
	bare 0 2026-03-01 "$GAIN"
	rm -r "$XDG_CACHE_HOME/before-after/mirrors"
	bare 1 2026-03-02 "$BASE"
	says 2026-03-02/night.json '.last_good.date == "2026-03-01"'
	git init -q --bare "$SCRATCH/elsewhere.git"
	git -C "$SCRATCH/elsewhere.git" fetch -q "$LINUX" v6.12:refs/tags/v6.12
	LINUX=$SCRATCH/elsewhere.git
	bare 3 2026-03-03 "$BASE"
	says 2026-03-03/night.json 'any(.comparisons[]; .kind == "last-good" and .state == "build-failed")'
	bare 3 2026-03-04 "$BASE"
	bare 3 2026-03-05 "$BASE" --good v6.12
	says 2026-03-05/night.json '.info.not_compared[0] == "last-good: it is the same kernel as tonight"'
}

# tonight STATUS COMMIT [OPTION..]: without a date, as a timer starts it.
tonight() {
	local status=0
	git -C "$LINUX" update-ref refs/heads/mm-unstable "$2"
	"$NIGHTLY" --git "$LINUX" --anchor v6.12 --treatments "$SCRATCH/none" --engine icount --memory 512M \
		--results "$NIGHTS" --run '--case shmem-truncate --variant op=punch,folio=4k' "${@:3}" || status=$?
	[ "$status" -eq "$1" ] || {
		echo "tonight: expected exit $1, found $status"
		return 1
	}
	says "$(date -u +%F)/night.json" '.state == "done"'
	rm -r "${NIGHTS:?}/$(date -u +%F)"
}

cut_off() { # DATE COMMIT: killed when it has its plan
	local pid
	USES=$SCRATCH/none IN=$NIGHTS start "$1" "$2" >"$SCRATCH/cut" 2>&1 &
	pid=$!
	wait_for "[ -e '$NIGHTS/$1/plan.json' ]"
	kill -KILL "$pid"
	wait "$pid" || true
	[ ! -e "$NIGHTS/$1/states.json" ]
}

# Whatever becomes of a night that was stopped, tonight's follows.
taken_up() {
	NIGHTS=$SCRATCH/taken-up
	mkdir -p "$SCRATCH/none"
	cut_off 2026-03-01 "$GAIN"
	tonight 0 "$GAIN" --boot-timeout 600
	says 2026-03-01/states.json '.outcome == "fine"'
	cut_off 2026-03-02 "$UNBOOTED"
	tonight 0 "$GAIN" --boot-timeout 600
	says 2026-03-02/night.json '.state == "boot-failed"'
	cut_off 2026-03-03 "$GAIN"
	tonight 0 "$GAIN" --boot-timeout 601
	says 2026-03-03/night.json '.state == "stopped" and (.reason | test("settings were changed"))'
	grep -q '^| 2026-03-03 .*settings were changed' "$NIGHTS/index.md"
}

# Series of the same name, and no treatment at all.
namesakes() {
	NIGHTS=$SCRATCH/namesakes
	mkdir "$SCRATCH"/v{1,2}
	cp "$SCRATCH/proposed.mbox" "$SCRATCH/v1/anchor"
	cp "$SCRATCH/proposed.mbox" "$SCRATCH/v2/anchor"
	bare 0 2026-03-01 "$BASE" --series "$SCRATCH/v1/anchor" --series "$SCRATCH/v2/anchor"
	says 2026-03-01/night.json '[.comparisons[].name] | unique == ["anchor-2", "anchor-3"]'
}

# A disk that is full is no verdict.
full() {
	local status=0
	NIGHTS=$SCRATCH/full
	mkdir "$NIGHTS"
	git -C "$LINUX" update-ref refs/heads/mm-unstable "$GAIN"
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount -t tmpfs -o size=64k full "$1"; shift; exec "$@"' _ "$NIGHTS" "$NIGHTLY" --git "$LINUX" \
		--anchor v6.12 --treatments "$SCRATCH/undo" --results "$NIGHTS" --date 2026-03-01 \
		--run '--case shmem-truncate --variant op=punch,folio=4k' || status=$?
	[ "$status" -eq 2 ]
}

MODE=${1:-}
case $MODE in
'' | all) repository ;;
fake) fake_repository ;;
*)
	echo 'usage: nightly.sh [all | fake]' >&2
	exit 2
	;;
esac
patches
SEEDS=()
if [ -n "$MODE" ]; then
	SEEDS=(2026-03-01 2026-03-02 2026-03-03 2026-03-04)
	check 'nights of a kernel that has the gain' seeds
fi
check 'the gain is kept' kept
[ -n "$MODE" ] || check 'killed at ten moments: the same report' killed 0 2026-03-05 "$GAIN"
check 'the gain is lost: suspected, booted again, confirmed' lost
check 'it is still lost when something else changes' still_lost
check 'the index and the trends' index
[ -z "$MODE" ] || check 'killed at ten moments: the same report' killed_building
check 'the end once more: the same bytes' same_bytes
if [ -n "$MODE" ]; then
	check 'the change point' told
	check 'a stale treatment, and a series that is not in yet' reverted
	check 'nights that could not run' could_not
	check 'retention' retired
fi
if [ "$MODE" = fake ]; then
	check 'a night that could not tell is no good night' untold
	check 'a branch that was rebased' rebased
	check 'nights that were stopped' taken_up
	check 'series of the same name' namesakes
	check 'a full disk' full
fi
finish
