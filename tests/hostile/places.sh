#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Bad places: results that are full, read-only, gone or slow, a box that somebody holds, one that cannot
# be written, without cgroups, with another perf, in another language. A run is then ok with all that
# it measures, or it says in one line that it is not; nothing is lost of what was there.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
own_box "$@"
export BEFORE_AFTER_TIMEOUT=60
read -r boot </proc/sys/kernel/random/boot_id
fake=$build/tests/harness/fake

suite() { # RESULTS ARGUMENT..: one short variant; its exit code in $code
	code=0
	./run.sh --case shmem-truncate --variant op=punch,folio=4k --scale smoke --runs 2 --events '' --label l \
		--results "$1" "${@:2}" >"$tmp/out" 2>"$tmp/err" || code=$?
}

ends() { # NAME CODE PATTERN: of what was run last
	if [[ $code != "$2" ]]; then
		result "$1" 1 "wanted exit $2, found $code: $(tail -1 "$tmp/err")"
	elif [[ -n $3 ]] && ! grep -qE -- "$3" "$tmp/err" "$tmp/out"; then
		result "$1" 1 "wanted /$3/, found: $(tail -1 "$tmp/err")"
	else
		result "$1" 0
	fi
}

whole_lines() { # NAME FILE: every line of it is a record
	holds "$1" jq -es 'length > 0 and all(.[]; .schema == 1)' "$2"
}

"$build/cases/shmem-truncate" --cleanup 2>/dev/null
box_is_now

# --- the results --------------------------------------------------------------------------------

mkdir "$tmp/full"
mount -t tmpfs -o size=64k,mode=0755 full "$tmp/full"
suite "$tmp/full"
ends 'a small file system' 0 ''
cp "$tmp/full/l/$boot.jsonl" "$tmp/records.before"
dd if=/dev/zero of="$tmp/full/ballast" bs=1k 2>/dev/null || true
suite "$tmp/full"
ends 'a full file system' 99 'No space left'
whole_lines 'a full file system has whole lines' "$tmp/full/l/$boot.jsonl"
holds 'a full file system keeps what it had' cmp -n "$(stat -c %s "$tmp/records.before")" "$tmp/records.before" "$tmp/full/l/$boot.jsonl"
holds 'a full file system keeps its environment' jq -e '.invocations | length > 0' "$tmp/full/l/$boot.env.json"
holds 'a full file system has no half files' test -z "$(find "$tmp/full" -name '*.new' -o -name 'report.md.*')"

mount -o remount,ro "$tmp/full"
suite "$tmp/full"
ends 'a read-only file system' 99 'wanted a directory to write records to, found: Read-only'
holds 'a read-only file system costs one line' test "$(wc -l <"$tmp/err")" == 1
umount "$tmp/full"

# Read-only from the middle on: the record of a run that is under way cannot be appended any more.
mount -t tmpfs ro "$tmp/full"
BEFORE_AFTER_TIMEOUT=10 "$fake" --variant do=hang --output "$tmp/full/x.jsonl" >"$tmp/out" 2>"$tmp/err" &
pid=$!
until_is test -e "$tmp/full/x.jsonl"
rm "$tmp/full/x.jsonl"
code=0
wait "$pid" || code=$?
ends 'removed while a run goes on' 99 'the record cannot be appended: No such file'
suite "$tmp/full/gone" --runs 40 &
pid=$!
until_is test -s "$tmp/full/gone/l/$boot.jsonl"
mv "$tmp/full/gone" "$tmp/full/aside" # at once: to remove a directory that is written to may fail
rm -rf "$tmp/full/aside"
wait "$pid" || true
# In a background function code and files are its own: what it printed tells.
holds 'a directory that is removed while the suite runs' grep -qE 'No such file|cannot be (appended|written)' "$tmp/err"
umount "$tmp/full"

if [[ -x $build/tests/hostile/slowfs && -c /dev/fuse ]]; then
	mkdir "$tmp/backing" "$tmp/slow"
	setsid "$build/tests/hostile/slowfs" "$tmp/backing" "$tmp/slow" 2>"$tmp/slow.err" &
	pid=$!
	until_is mountpoint -q "$tmp/slow"
	suite "$tmp/slow"
	ends 'a slow file system' 0 ''
	whole_lines 'a slow file system has whole lines' "$tmp/backing/l/$boot.jsonl"
	# 50 ms an operation are in what a run costs, and in nothing that it measures.
	holds 'a slow file system is not measured' jq -es 'all(.[] | select(.samples | length > 0);
		.cost_ns.total > 100000000 and .cost_ns.measure == .samples[0])' "$tmp/backing/l/$boot.jsonl"
	umount "$tmp/slow" || kill "$pid"
	wait "$pid" 2>/dev/null || true
else
	skip 'a slow file system' 'no FUSE'
fi

# --- two at once --------------------------------------------------------------------------------

# The first goes on for as long as the second needs, however fast the box is.
setsid ./run.sh --case shmem-truncate --variant op=punch,folio=4k --scale smoke --runs 99999 --events '' \
	--label a --results "$tmp/two" >/dev/null 2>&1 &
first=$!
until_is grep -q "^pid $first, run.sh" "$run_dir/lock"
suite "$tmp/two"
ends 'the second of two says who holds the box' 99 "another before-after holds this box: pid $first, run.sh"
holds '.. and writes nothing' test ! -e "$tmp/two/l/report.md"
kill "$first"
wait "$first" || true
# With run directories of their own both work, side by side.
mkdir -m 0700 "$tmp/run1" "$tmp/run2"
for i in 1 2; do
	BEFORE_AFTER_RUN_DIR=$tmp/run$i "$build/cases/pagecache-truncate" --scale smoke --variant fs=ext4 \
		--events '' --output "$tmp/apart$i.jsonl" >/dev/null 2>&1 &
	pids[i]=$!
done
for i in 1 2; do
	code=0
	wait "${pids[i]}" || code=$?
	if ((code == 4)); then
		skip "apart: run $i" "$(jq -r .reason "$tmp/apart$i.jsonl")"
	else
		holds "apart: run $i" test "$code" == 0
	fi
done

# --- a box that is less -------------------------------------------------------------------------

# In a mount namespace of its own: WHAT is done to it, then every case runs; each is ok or says why not.
every_case_in() { # NAME WHAT [UNSHARE-OPTION..]
	local name=$1 what=$2 case
	shift 2
	for case in "$build"/cases/*; do
		# Others' work on this box may spoil a run; the place would spoil the next one too.
		if case_is_right "$what" "$case" "$@" || case_is_right "$what" "$case" "$@"; then
			result "$name: ${case##*/}" 0
		else
			result "$name: ${case##*/}" 1 "exit $code: $(tail -1 "$tmp/out") $(tail -1 "$tmp/err")"
		fi
	done
}

case_is_right() { # WHAT CASE [UNSHARE-OPTION..]
	code=0
	rm -f "$tmp/x.jsonl"
	unshare -m "${@:3}" bash "$tmp/with" "$1" "$2" --scale smoke --events '' \
		--output "$tmp/x.jsonl" >"$tmp/out" 2>"$tmp/err" || code=$?
	((code == 0 || code == 4)) && jq -es 'length == 1 and (.[0] |
		if .status == "ok" then (.metrics | map(.value // empty) | length > 0) and all(.checks[]; .ok)
		else .status == "skip" and (.reason | test("wanted|swapon|mkswap")) end)' "$tmp/x.jsonl" >/dev/null
}

# As in a container, the case being its first process.
# shellcheck disable=SC2016
readonly container='for point in $(findmnt -Rrn -o TARGET /sys | tac) /proc/sys; do
	mountpoint -q "$point" || mount --bind "$point" "$point"
	mount -o remount,bind,ro "$point" 2>/dev/null || mount -o remount,ro,bind "$point" || true
done; mount -t tmpfs none /run; mkdir -m 0700 /run/before-after'
every_case_in 'first process of a container, /sys read-only' "$container" -pf --mount-proc
code=0
unshare -mpf --mount-proc bash "$tmp/with" "$container" ./run.sh --case pagecache-truncate --variant fs=tmpfs,state=dirty --scale smoke --runs 1 \
	--events '' --label c --results "$tmp/container" >"$tmp/out" 2>"$tmp/err" || code=$?
ends 'run.sh as the first process of a container' 0 ' ok, '
every_case_in 'no cgroups' 'umount -R /sys/fs/cgroup'
every_case_in 'no /sys' 'mount -t tmpfs none /sys'
every_case_in 'no controller in a cgroup of version 2' 'umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup'
if [[ -z $HOSTILE_CAGE || ! -e $HOSTILE_CAGE/cgroup.controllers ]]; then
	every_case_in 'hybrid' "mount -t cgroup2 none $tmp/full"
else
	skip 'hybrid' 'the memory controller is one of version 2 here: other hierarchies cannot have it'
fi

# What does not fit is skipped; nobody is killed for want of memory.
# shellcheck disable=SC2016
readonly limited='small=$HOSTILE_CAGE/small; mkdir -p "$small"; for file in memory.limit_in_bytes memory.max; do
	[[ ! -e $small/$file ]] || echo 64M >"$small/$file"
done; echo $$ >"$small/cgroup.procs"'
if [[ -n $HOSTILE_CAGE ]]; then
	every_case_in 'a memory limit of 64 MiB' "$limited"
	rmdir "$HOSTILE_CAGE/small"
else
	skip 'a memory limit of 64 MiB' 'no memory controller'
fi

# --- another perf -------------------------------------------------------------------------------

mkdir "$tmp/shim"
perf_prints() { # LINE..: a perf that counts nothing and prints these
	printf '%s\n' "$@" >"$tmp/rows"
	cat >"$tmp/shim/perf" <<-END
		#!/bin/bash
		[[ \$* == *--control* ]] || exit 1
		while [[ \$1 != -- ]]; do [[ \$1 != -o ]] || out=\$2; shift; done
		shift
		(while read -r _ <&7; do printf 'ack\n\0' >&8; done) &
		"\$@"
		code=\$?
		kill \$!
		wait \$! 2>/dev/null
		cat $tmp/rows >"\$out"
		exit \$code
	END
	chmod +x "$tmp/shim/perf"
	rm -f "$tmp/perf.jsonl"
	code=0
	PATH=$tmp/shim:$PATH "$fake" --events task-clock,cycles --output "$tmp/perf.jsonl" >"$tmp/out" 2>"$tmp/err" || code=$?
}
perf_is() { # NAME FILTER, on the record
	holds "$1" jq -es 'last | .status == "ok" and all(.counters[]; (.value != null) != (.absent != null))
		and '"($2)" "$tmp/perf.jsonl"
}
perf_prints '{"event" : "task-clock", "counter-value" : 1.5, "unit" : "msec", "pcnt-running" : 100}' \
	'{"event" : "cycles", "counter-value" : 7}'
perf_is 'perf: numbers instead of strings' '.counters["task-clock"].value == 1.5 and .counters.cycles.value == 7'
perf_prints '# started on Mon' '' '{"interval" : 1.0, "cpu" : "0", "event" : "task-clock", "counter-value" : "1.5", "unit" : "msec",
	"event-runtime" : 5, "pcnt-running" : 50.0, "metrics" : [{"metric-value" : "1"}]}'
perf_is 'perf: a row on two lines is none' '.counters["task-clock"].absent | length > 0'
perf_prints '{"event" : "cpu_core/cycles/", "counter-value" : "5"}' '{"event" : "cpu_atom/cycles/", "counter-value" : "6"}'
perf_is 'perf: a row for each kind of CPU' '.counters.cycles.absent | length > 0'
perf_prints '{"event" : "task-clock", "counter-value" : "1,5", "unit" : "msec"}' '{"event" : "cycles", "counter-value" : "nan"}'
perf_is 'perf: numbers of another language, and none' '(.counters["task-clock"].absent | length > 0) and (.counters.cycles.absent | length > 0)'
perf_prints '{"event" : "task-clock", "counter-value" : "1e999"}' '{"event" : "cycles", "counter-value" : "-3"}'
perf_is 'perf: numbers that cannot be' '(.counters["task-clock"].absent | length > 0) and (.counters.cycles.absent | length > 0)'
perf_prints '[' '{"event" : ["task-clock"], "counter-value" : {}},' 'task-clock;1.5;msec' '{"event" : "cycles", "counter-v'
perf_is 'perf: nothing that can be read' '(.counters["task-clock"].absent | length > 0) and (.counters.cycles.absent | length > 0)'

# --- another language ---------------------------------------------------------------------------

export LOCPATH=$tmp/locales
mkdir "$LOCPATH"
if localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8" 2>/dev/null &&
	[[ $(LC_ALL=de_DE.UTF-8 bash -c 'printf %.1f 1,5' 2>&1) == 1,5 ]]; then
	export LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 LANGUAGE=de
	# What the language spoils is spoilt every time; what others' work on this box does is not.
	for ((try = 1; try <= 3; try++)); do
		code=0 language=$tmp/language.$try
		./run.sh --scale smoke --runs 1 --label de --results "$language" >"$tmp/out" 2>"$tmp/err" || code=$?
		bad=$(jq -c 'select((.status | IN("ok", "skip")) or
			(.case == "dirty-reclaim" and (.reason | startswith("oom_kills"))) | not)
			| [.case, .variant, .status, .reason]' "$language"/de/*.jsonl)
		[[ -n $bad ]] || break
		printf '# try %d: %s\n' "$try" "${bad//$'\n'/; }"
	done
	result 'decimal commas: every run is what it is elsewhere' "$([[ -z $bad ]] && echo 0 || echo 1)" "$bad"
	holds 'decimal commas: numbers are read' jq -es '
		any(.[]; .status == "ok" and .case == "truncate-neighbour" and .metrics.fault_p50.value > 0) and
		any(.[]; .counters["task-clock"].value > 0 or .counters["task-clock"].absent != null)' \
		<(cat "$language"/de/*.jsonl)
	commas=$(grep -cE '[0-9],[0-9]+ (ms|s|ns|µs)' "$language/de/report.md") || true
	points=$(grep -cE '[0-9]\.[0-9]+ (ms|s|ns|µs)' "$language/de/report.md") || true
	holds 'decimal commas: none in the table' test "$commas" == 0 -a "$points" -gt 0
	LC_ALL=C ./run.sh --cleanup 2>/dev/null
	"$build/compare" --single "$language/de" --claims cases/*.json >"$tmp/de.md"
	LC_ALL=C "$build/compare" --single "$language/de" --claims cases/*.json >"$tmp/C.md"
	holds 'decimal commas: the comparator prints the same' cmp "$tmp/de.md" "$tmp/C.md"
	export LC_ALL=C
else
	skip 'decimal commas' 'no German locale can be made: sh ci/setup.sh installs locales'
fi

box_as_it_was
result 'the box as it was' "$([[ -z $LEFT ]] && echo 0 || echo 1)" "$LEFT"
summary places
