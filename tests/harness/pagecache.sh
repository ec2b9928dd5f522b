#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# pagecache-truncate killed with SIGKILL at random moments: after the next start no loop device, no
# mount, no content of a RAM disk and no process of it is left. KILLS (10), SEED (printed).
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C

readonly build=${BEFORE_AFTER_BUILD:-build} kills=${KILLS:-10} seed=${SEED:-$$}
readonly real=$build/cases/pagecache-truncate marks=$build/tests/harness/marks
((EUID == 0)) || {
	printf 'ok pagecache-killed # SKIP wanted root, found uid %d\n' "$EUID"
	exit 0
}
"$marks" >/dev/null || {
	printf 'not ok pagecache-killed: wanted %s, found it cannot be run: make check-pagecache\n' "$marks"
	exit 1
}
# shellcheck source=tests/harness/lib.sh
. tests/harness/lib.sh
journal=$tmp/run/journal.jsonl
RANDOM=$seed
printf '# SEED=%d\n' "$seed"
journalled=0

bad() {
	failed=$((failed + 1))
	printf 'not ok %s\n' "$*"
}

# Processes of ours, by the run directory in their environment; this shell and its children not.
ours() {
	local environ pid
	for environ in /proc/[0-9]*/environ; do
		pid=${environ#/proc/}
		pid=${pid%/environ}
		[[ $pid != "$$" && $pid != "$BASHPID" ]] || continue
		[[ $(readlink "/proc/$pid/exe" 2>/dev/null) != */bash ]] || continue
		grep -qzsF "BEFORE_AFTER_RUN_DIR=$tmp/run" "$environ" && echo "$pid"
	done
	return 0
}

# What of one killed run, whose journal was kept, is still there.
left() { # JOURNAL
	local mark number device pid
	while read -r mark; do
		! "$marks" | grep -qF "$mark" || echo "a loop device of $mark"
	done < <(jq -r 'select(.kind == "loop") | .mark' "$1")
	while read -r number; do
		[[ ! -e /sys/block/loop$number ]] || echo "the added device loop$number"
	done < <(jq -r 'select(.kind == "loop" and .added) | .number' "$1")
	while read -r device; do
		cmp -s -n "$(blockdev --getsize64 "$device")" "$device" /dev/zero || echo "content on $device"
	done < <(jq -r 'select(.kind == "brd") | .device' "$1")
	[[ ! -s $journal ]] || echo "a journal: $(<"$journal")"
	for pid in $(ours); do
		echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
	done
	diff "$tmp/mounts" /proc/self/mountinfo || true
}

# Something on the box reclaimed or wrote back, which is no fault of the kernel: the run is broken.
disturbed() {
	grep -q '# ERROR .* before they were used' "$tmp/out"
}

# Kill a run of VARIANT at a random moment of its life, whose length is this box's own: a run that has
# ended by then is started again, for half the time. Sets ms.
kill_somewhere() { # VARIANT
	local pid try
	ms=$((RANDOM % 900))
	for ((try = 0; try < 10; try++)); do
		"$real" --scale quick --variant "$1" >"$tmp/out" 2>&1 &
		pid=$!
		sleep "0.$(printf '%03d' "$ms")"
		if kill -KILL "$pid" 2>/dev/null; then
			wait "$pid" 2>/dev/null || true
			return
		fi
		wait "$pid" || disturbed || bad "kill $i: $1 by itself: $(tail -1 "$tmp/out")"
		ms=$((ms / 2))
	done
	bad "kill $i: $1 had ended even after $ms ms: $(tail -1 "$tmp/out")"
}

variants=("fs=ext4" "fs=xfs" "fs=ext4,state=dirty" "fs=xfs,state=written-clean"
	"fs=ext4,counted=yes,state=dirty")
"$real" --scale smoke --variant fs=ext4 >"$tmp/out" || disturbed
cp /proc/self/mountinfo "$tmp/mounts"
for ((i = 1; i <= kills; i++)); do
	variant=${variants[i % ${#variants[@]}]}
	kill_somewhere "$variant"
	cp "$journal" "$tmp/kept"
	entries=$(wc -l <"$tmp/kept")
	journalled=$((journalled + (entries > 0)))
	# The next start, at once: it finds what is going away by itself half gone.
	if ! "$real" --cleanup 2>"$tmp/err"; then
		bad "kill $i: the next start: $(tail -1 "$tmp/err")"
	fi
	left_after left "$tmp/kept"
	[[ -z $LEFT ]] || bad "kill $i after $ms ms, $variant: ${LEFT//$'\n'/; }"
	printf '# kill %d of %d after %d ms, %s: %d entries in the journal\n' "$i" "$kills" "$ms" \
		"$variant" "$entries"
done
# Somebody's sync while pages should stay dirty: the run is broken, or it was quicker; it does not fail.
while sync; do :; done &
syncing=$!
written=0
for ((i = 0; i < 10; i++)); do
	code=0
	"$real" --scale quick --variant fs=ext4,state=dirty,counted=yes --events '' >"$tmp/out" 2>&1 || code=$?
	if ((code != 0)); then
		{ ((code == 99)) && disturbed; } || bad "while others sync: $(tail -1 "$tmp/out")"
		written=$((written + 1))
	fi
done
kill "$syncing"
wait "$syncing" 2>/dev/null || true
printf '# %d of 10 runs were disturbed by sync\n' "$written"
((journalled > 0)) || bad "no kill came while something was journalled: nothing was tested"
"$real" --scale smoke --variant fs=ext4 --output "$tmp/last.jsonl" >"$tmp/out" || disturbed ||
	bad "a run after all kills: $(jq -r .reason "$tmp/last.jsonl")"
((failed == 0)) || exit 1
printf 'ok pagecache-killed: %d kills, %d of them with something to undo\n' "$kills" "$journalled"
