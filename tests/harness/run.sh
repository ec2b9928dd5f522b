#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The library, run.sh and the real case, seen from outside: exact output, exit codes, and a box that
# is afterwards as it was. UPDATE=1 rewrites tests/harness/expect/ from what is printed.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly build=${BEFORE_AFTER_BUILD:-build}
readonly fake=$PWD/$build/tests/harness/fake real=$build/cases/shmem-truncate
readonly knob=/sys/kernel/mm/transparent_hugepage/shmem_enabled
# shellcheck source=tests/harness/lib.sh
. tests/harness/lib.sh

# A command's exit code, standard output and error in one text; what differs by box or time is named.
transcript() {
	local code=0
	"$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	printf 'exit %d\n--- stdout\n' "$code"
	cat "$tmp/out"
	printf -- '--- stderr\n'
	cat "$tmp/err"
}

same_as_expected() { # NAME COMMAND...
	local name=$1 expect=tests/harness/expect/$1.txt
	shift
	transcript "$@" | sed -E -e 's/^# cycles ([0-9].*|absent: .*)$/# cycles: by the box/' \
		-e 's/: [0-9]+ \(fake\)/: PID (fake)/' -e "s#$tmp#TMP#g" -e "s#$fake#FAKE#g" \
		-e 's/pid [0-9]+/pid PID/' -e 's/found [0-9]+ MiB/found N MiB/' >"$tmp/got"
	if [[ ${UPDATE:-} == 1 ]]; then
		cp "$tmp/got" "$expect"
	fi
	if diff -u "$expect" "$tmp/got" >"$tmp/diff" 2>&1; then
		result "$name" 0
	else
		result "$name" 1 "differs from $expect"
		cat "$tmp/diff"
	fi
}

expect_code() { # NAME CODE PATTERN COMMAND...: exit code, and one line on stderr that matches
	local name=$1 want=$2 pattern=$3 code=0
	shift 3
	"$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	if [[ $code != "$want" ]]; then
		result "$name" 1 "wanted exit $want, found $code: $(head -1 "$tmp/err")"
	elif ! grep -qE -- "$pattern" "$tmp/err"; then
		result "$name" 1 "wanted /$pattern/ on stderr, found: $(head -1 "$tmp/err")"
	elif (($(wc -l <"$tmp/err") > 1)); then
		result "$name" 1 "wanted one line on stderr, found $(wc -l <"$tmp/err")"
	else
		result "$name" 0
	fi
}

box >"$tmp/box.before"

# --- cases that go wrong, one way each ----------------------------------------------------------

for what in $("$fake" --describe | jq -r '.options.do.values[]'); do
	[[ $what == *hang ]] && seconds=3 || seconds=30
	same_as_expected "fake-$what" env BEFORE_AFTER_TIMEOUT="$seconds" "$fake" \
		--variant "do=$what" --output "$tmp/fake.jsonl"
done
values=$("$fake" --describe | jq '.options.do.values | length')
# shellcheck disable=SC2016 # the variable is jq's
holds records-of-fakes jq -se --argjson n "$values" 'length == $n
	and all(.[]; .schema == 1 and (.status | IN("ok", "fail", "skip", "broken"))
		and (if .status == "ok" then .reason == null else (.reason | length > 0) end)
		and (.boot | length == 36) and .params.size == 2097152 and .sample_unit == "ns")
	and (map(select(.options.do == "pass"))[0]
		| .metrics.answer == {"value": 42, "unit": "widgets", "better": "higher"}
		and .checks.sum == {"want": 4, "got": 4, "ok": true} and (.samples | length == 1)
		and .params.pages == 7)
	and (map(select(.options.do == "check"))[0] | .checks.floor.ok == false and .status == "fail")' \
	"$tmp/fake.jsonl"
holds environment-file jq -e '.schema == 1 and (.invocations | length > 1) and all(.invocations[];
	.match.engine == "native" and .match.cpus > 0 and (.match.measure_hash | length == 16)
	and (.info.release | length > 0) and (.info.mglru | type == "string" or has("absent")))' \
	"$tmp/fake.env.json"

# A busy server of the parent's is not counted: a region that sleeps 0.3 s has next to no CPU time.
"$fake" --variant do=server-busy --output "$tmp/busy.jsonl" >/dev/null
if jq -e '.counters["task-clock"].absent' "$tmp/busy.jsonl" >/dev/null; then
	skip busy-server "no task-clock: $(jq -r '.counters["task-clock"].absent' "$tmp/busy.jsonl")"
else
	holds busy-server jq -e '.samples[0] > 300000000 and .counters["task-clock"].value < 100
		and .counters_empty["task-clock"].value < 5' "$tmp/busy.jsonl"
fi

# --- bad input ----------------------------------------------------------------------------------

same_as_expected describe "$fake" --describe
same_as_expected check "$fake" --check
same_as_expected help "$real" --help
expect_code unknown-option 2 'unrecognized' "$fake" --nonsense
expect_code unknown-word 2 "found 'word'" "$fake" word
expect_code unknown-variant 2 "wanted do=pass\|.*, found 'do=dance'" "$fake" --variant do=dance
expect_code unknown-key 2 "wanted do\|how=VALUE, found 'tempo=4'" "$fake" --variant tempo=4
expect_code bad-scale 2 "wanted smoke, quick or documented, found 'huge'" "$fake" --scale huge
for size in 0 -1 x 12Q 1.5G 99999999999999999999 9223372036854775808; do
	expect_code "bad-size-$size" 2 "wanted bytes .*, found '$size'" "$fake" --size="$size"
done
expect_code size-not-a-multiple 2 'wanted a multiple of 4096, found 4097' "$fake" --size 4097
expect_code bad-run 2 "wanted a number from 1, found '0'" "$fake" --run 0
same_as_expected size-over-memory "$real" --size 1T
expect_code no-such-directory 99 'wanted a file to append records to, found: No such file' \
	"$fake" --output "$tmp/nowhere/x.jsonl"
mkdir "$tmp/dir.jsonl"
expect_code output-is-a-directory 99 'Is a directory' "$fake" --output "$tmp/dir.jsonl"
ln -s "$tmp/elsewhere" "$tmp/link.jsonl"
expect_code output-is-a-link 99 'symbolic links' "$fake" --output "$tmp/link.jsonl"

chmod 0755 "$tmp"
mkdir -m 0777 "$tmp/nobody"
same_as_expected not-root setpriv --reuid 65534 --clear-groups env BEFORE_AFTER_RUN_DIR="$tmp/none" \
	"$real" --output "$tmp/nobody/x.jsonl"
rm -rf "$tmp/nobody"

# perf: none, one for another kernel, one that knows an event less, one without acknowledgements.
# Links in bin, programs of ours in shim: writing one over a link would write the box's own.
mkdir "$tmp/bin" "$tmp/shim"
for tool in jq true mkswap blkid; do
	ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
done
absent() { # NAME REASON: every counter is absent for the reason, and the run is ok
	if jq -se --arg reason "$2" 'last | .status == "ok" and (.counters | length == 7)
		and all(.counters[]; .absent // "" | contains($reason))' "$tmp/perf.jsonl" >/dev/null; then
		result "$1" 0
	else
		result "$1" 1 "$(jq -sc 'last | [.status, .reason, .counters]' "$tmp/perf.jsonl")"
	fi
}
PATH=$tmp/bin "$fake" --output "$tmp/perf.jsonl" >/dev/null || true
absent no-perf 'no perf in PATH'
printf '#!/bin/sh\necho "perf not found for kernel 9.9" >&2\nexit 2\n' >"$tmp/shim/perf"
chmod +x "$tmp/shim/perf"
PATH=$tmp/shim:$tmp/bin "$fake" --output "$tmp/perf.jsonl" >/dev/null || true
absent perf-for-another-kernel 'perf not found for kernel 9.9'
rm "$tmp/shim/perf"
if command -v perf >/dev/null; then
	"$fake" --events task-clock,no-such-event --output "$tmp/perf.jsonl" >/dev/null || true
	holds unknown-event jq -se 'last | .status == "ok" and .counters["task-clock"].value > 0
		and (.counters["no-such-event"].absent | length > 0)' "$tmp/perf.jsonl"
	"$fake" --events '{task-clock,page-faults},no-such-event' --output "$tmp/perf.jsonl" >/dev/null || true
	holds group-of-events jq -se 'last.counters | .["task-clock"].value > 0 and .["page-faults"].value >= 0
		and (keys | length) == 3 and (.["no-such-event"].absent | length > 0)' "$tmp/perf.jsonl"
	LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$fake" --output "$tmp/perf.jsonl" >/dev/null
	holds foreign-locale jq -se 'last.counters["task-clock"].value > 0' "$tmp/perf.jsonl"
	# One that answers after 0.3 s: what the answers take is no part of the time.
	cat >"$tmp/shim/perf" <<-'END'
		#!/bin/bash
		[[ $* == *--control* ]] || exit 1
		while [[ $1 != -- ]]; do shift; done
		shift
		(while read -r _ <&7; do sleep 0.3 && printf 'ack\n\0' >&8; done) &
		"$@"
		code=$?
		# Reaped too: a subshell that is still dying would be a process left behind.
		kill $!
		wait $! 2>/dev/null
		exit $code
	END
	chmod +x "$tmp/shim/perf"
	PATH=$tmp/shim:$PATH "$fake" --output "$tmp/perf.jsonl" >/dev/null || true
	holds slow-acknowledgements jq -se 'last | .status == "ok" and .samples[0] < 250000000
		and .cost_ns.total > 1200000000' "$tmp/perf.jsonl"
	# A wrapper that takes our words but loses the control descriptors.
	cat >"$tmp/shim/perf" <<-END
		#!/bin/bash
		words=()
		while ((\$#)); do
			[[ \$1 == --control ]] && shift 2
			words+=("\$1")
			shift
		done
		exec $(command -v perf) "\${words[@]}"
	END
	chmod +x "$tmp/shim/perf"
	expect_code perf-without-acknowledgement 99 'wanted an acknowledgement of enable within 2 s' \
		env PATH="$tmp/shim:$PATH" "$fake"
	rm "$tmp/shim/perf"
fi

# --- records ------------------------------------------------------------------------------------

"$fake" --output "$tmp/torn.jsonl" >/dev/null
printf '{"schema":1,"kern' >>"$tmp/torn.jsonl"
"$fake" --output "$tmp/torn.jsonl" >/dev/null
if [[ $(jq -s length "$tmp/torn.jsonl") == 2 && $(<"$tmp/torn.jsonl.torn") == '{"schema":1,"kern' ]]; then
	result torn-line-moved-aside 0
else
	result torn-line-moved-aside 1
fi

# A full disk: the file keeps its whole lines and nothing of the new one.
full() {
	mount -t tmpfs -o size=12k,mode=0755 full "$tmp/full"
	export BEFORE_AFTER_INVOCATION=full
	"$fake" --output "$tmp/full/x.jsonl" >/dev/null
	cp "$tmp/full/x.jsonl" "$tmp/full.first"
	dd if=/dev/zero of="$tmp/full/ballast" bs=1k 2>/dev/null || true
	while "$fake" --output "$tmp/full/x.jsonl" >/dev/null 2>"$tmp/full.err"; do
		:
	done
	cp "$tmp/full/x.jsonl" "$tmp/full.last"
}
mkdir "$tmp/full"
export -f full
export tmp fake
unshare -m bash -euc full
if grep -q 'cannot be appended: No space left' "$tmp/full.err" && jq -s . "$tmp/full.last" >/dev/null &&
	[[ $(tail -c 1 "$tmp/full.last") == '' ]]; then
	result disk-full 0
else
	result disk-full 1 "$(head -1 "$tmp/full.err")"
fi

readonly_results() {
	mount -t tmpfs -o ro ro "$tmp/full"
	./run.sh --scale smoke --results "$tmp/full"
}
export -f readonly_results
expect_code read-only-results 99 'wanted a directory to write records to' \
	unshare -m bash -euc readonly_results

# A probe run is not timed; one of what cannot be probed is a skip whose record says why.
code=0
"$fake" --probe no_such_function --output "$tmp/probe.jsonl" >"$tmp/out" || code=$?
holds probe-of-nothing-is-a-skip test "$code" == 4
holds probe-of-nothing-says-why grep -q '# SKIP probe: ' "$tmp/out"
holds probe-of-nothing-is-recorded-so jq -e '.status == "skip" and (.probes.functions.no_such_function.absent | length > 0)
	and (.probes.backends | length > 0)' "$tmp/probe.jsonl"
if "$fake" --probe sched:sched_switch --output "$tmp/probe.jsonl" >/dev/null; then
	holds probe-is-not-timed jq -se 'last | .status == "ok" and .samples == []
		and all(.metrics[]; .absent == "a probe run is not timed") and (.counters | length == 0)
		and .probes.functions["sched:sched_switch"].by == "tracepoint"' "$tmp/probe.jsonl"
else
	skip probe-is-not-timed 'no tracepoints for perf here'
fi

# A lock run is one too, and a skip on a kernel that has no statistics of its locks.
rm -f "$tmp/probe.jsonl"
code=0
"$fake" --locks --output "$tmp/probe.jsonl" >"$tmp/out" || code=$?
if [[ -r /proc/lock_stat ]]; then
	holds lock-run-counts jq -e '.status == "ok" and .samples == [] and .probes.locks.i_pages.shown_as' "$tmp/probe.jsonl"
else
	holds no-lock-statistics-are-a-skip test "$code" == 4
	holds no-lock-statistics-say-why grep -qF '# SKIP locks: wanted /proc/lock_stat (CONFIG_LOCK_STAT)' "$tmp/out"
	holds no-lock-statistics-are-recorded-so jq -e '.status == "skip" and .probes.locks == {}' "$tmp/probe.jsonl"
fi
expect_code probe-of-a-pattern 2 "--probe: wanted names of functions and tracepoints, found 'filemap_[*]'" \
	"$fake" --probe 'filemap_*'
expect_code probe-of-too-many 2 '--probe: wanted at most 2047 characters, found 3000' \
	"$fake" --probe "$(printf 'f%.0s' {1..3000})"
expect_code events-too-many 2 '--events: wanted at most 2047 characters, found 3000' \
	"$fake" --events "$(printf 'f%.0s' {1..3000})"
expect_code probe-and-locks-at-once 2 'wanted --probe or --locks, found both' "$fake" --probe f --locks

# --- kills, and two at once ---------------------------------------------------------------------

hold() { # NAME VARIANT: a hanging run in the background; its pid in $held
	BEFORE_AFTER_TIMEOUT=60 "$fake" --variant "$2" --output "$tmp/$1.jsonl" >/dev/null 2>&1 &
	held=$!
	until_is measures "$held"
}
# Or it has ended, a skip.
measures() { # PID
	! kill -0 "$1" || pgrep -P "$(pgrep -P "$1" -x perf || echo "$1")" -f -- --inner
}
children() { pgrep -f -- "$fake" || true; }
# What was killed may take a while to let go of the lock.
kill_held() {
	kill -KILL "$held" || true
	{ wait "$held" || true; } 2>/dev/null
	left_after children
}

# An inner process whose perf or parent died before it could ask to die with them ends at once.
code=0
BEFORE_AFTER_PARENT_PID=1 BEFORE_AFTER_PERF=7,8 "$fake" --inner 7<>/dev/null 8<>/dev/null || code=$?
holds orphan-ends-at-once test "$code" == 99

was=$(<"$knob")
hold killed do=knob-hang
expect_code two-at-once 99 'another before-after holds this box: pid [0-9]+, fake' "$fake"
expect_code two-at-once-run.sh 99 'another before-after holds this box: pid [0-9]+, fake' \
	./run.sh --scale smoke --results "$tmp/two"
[[ $(<"$knob") != "$was" ]] || result knob-set-while-running 1
kill_held
result kill-9-takes-all-processes "$([[ -z $LEFT ]] && echo 0 || echo 1)" "$LEFT"
holds kill-9-leaves-no-record test ! -s "$tmp/killed.jsonl"
"$fake" >/dev/null 2>"$tmp/err"
holds kill-9-knob-restored-at-next-start test "$(<"$knob")" == "$was"
holds kill-9-undoing-is-said grep -q 'undoing what a killed run left' "$tmp/err"
# Of a holder that is dead the children may have the lock for a while.
bash -c 'exec 5<>"$1" && flock -n 5 && echo "pid $$, killed" >&5 && exec sleep 1 &' - "$BEFORE_AFTER_RUN_DIR/lock"
until_is grep -q ', killed' "$BEFORE_AFTER_RUN_DIR/lock"
holds kill-9-is-waited-for ./run.sh --case shmem-truncate --variant op=punch,folio=4k --scale smoke \
	--runs 1 --events '' --results "$tmp/two"

swaps=$(</proc/swaps)
zrams=$(ls /sys/block)
hold killed do=swap-hang
if [[ $(</proc/swaps) == "$swaps" ]]; then
	skip kill-9-swap 'no swap area could be added'
	kill_held
else
	kill_held
	./run.sh --cleanup 2>/dev/null
	holds kill-9-swap-off-after-cleanup test "$(</proc/swaps) $(ls /sys/block)" == "$swaps $zrams"
fi

# --swap-device: what holds anything else, or is in use, is refused and stays as it is; a relative
# name is turned off from another directory too.
truncate -s 8M "$tmp/disk"
if loop=$(losetup -f --show "$tmp/disk" 2>/dev/null); then
	swap_on() { (cd /dev && BEFORE_AFTER_SWAP_DEVICE=$1 BEFORE_AFTER_TIMEOUT=${2:-1} "$fake" --variant do=swap-hang); }
	refused() { # NAME: the device is named in a skip, and not a byte of it has changed
		local code=0 sum
		sum=$(sha256sum <"$tmp/disk")
		swap_on "${loop#/dev/}" >"$tmp/out" 2>&1 || code=$?
		sync
		holds "$1" test "$code $(sha256sum <"$tmp/disk")" == "4 $sum"
		grep -q "SKIP $loop: wanted" "$tmp/out" || result "$1-says-why" 1 "$(tail -1 "$tmp/out")"
	}
	mkfs.ext4 -q "$loop" && refused swap-device-with-a-file-system
	wipefs -qa "$loop" 2>/dev/null && printf '\125\252' | dd of="$loop" bs=1 seek=510 conv=notrunc status=none
	printf '\203' | dd of="$loop" bs=1 seek=450 conv=notrunc status=none
	printf '\001' | dd of="$loop" bs=1 seek=454 conv=notrunc status=none
	printf '\001' | dd of="$loop" bs=1 seek=459 conv=notrunc status=none
	refused swap-device-with-partitions
	wipefs -qa "$loop" 2>/dev/null && mkswap -q "$loop" && swapon "$loop"
	refused swap-device-in-use
	holds swap-device-in-use-stays-on grep -q "^$loop " /proc/swaps
	swapoff "$loop"
	swap_on "${loop#/dev/}" 60 >"$tmp/out" 2>&1 &
	until_is grep -q "^$loop " /proc/swaps
	held=$(pgrep -P $! -f -- swap-hang) || held=$!
	kill_held
	wait $! 2>/dev/null || true
	./run.sh --cleanup 2>/dev/null
	holds swap-device-off-after-cleanup bash -c "! grep -q '^$loop ' /proc/swaps"
	losetup -d "$loop"
else
	skip swap-device 'no loop device'
fi

for signal in INT TERM HUP; do
	hold "signal-$signal" do=knob-hang
	kill -"$signal" "$held"
	code=0
	wait "$held" || code=$?
	if [[ $code == 99 && ! -s $tmp/signal-$signal.jsonl && $(<"$knob") == "$was" &&
		-z $(children) ]]; then
		result "signal-$signal" 0
	else
		result "signal-$signal" 1 "exit $code, $(<"$knob"), $(children)"
	fi
done

# A program that setup() waits for and that never ends: the time is limited, and signals work.
printf '#!/bin/sh\nexec sleep 60\n' >"$tmp/shim/mkswap"
chmod +x "$tmp/shim/mkswap"
if [[ -e /sys/class/zram-control ]]; then
	expect_code setup-hangs 99 'broken: timed out outside the measuring process' \
		env PATH="$tmp/shim:$PATH" BEFORE_AFTER_TIMEOUT=2 timeout 30 "$fake" --variant do=swap-hang
	PATH=$tmp/shim:$PATH "$fake" --variant do=swap-hang >/dev/null 2>&1 &
	held=$!
	until_is pgrep -P "$held" -x sleep
	kill -TERM "$held"
	code=0
	wait "$held" || code=$?
	holds setup-hangs-signal test "$code $(children)" == '99 '
else
	skip setup-hangs 'no zram'
fi
rm "$tmp/shim/mkswap"

# perf killed with the gigabyte that the run holds still to be freed: nothing is known of the kernel.
"$real" --size 1G --variant op=close,fill=write >/dev/null 2>"$tmp/err" &
held=$!
filled() { # a quarter of it was written, or the run has ended
	! kill -0 "$held" || { perf=$(pgrep -P "$held" -x perf) &&
		(($(awk '$1 == "wchar:" { print $2 }' "/proc/$(pgrep -P "$perf")/io") >= 1 << 28)); }
}
until_is filled
kill -KILL "${perf:-}" 2>/dev/null || true
code=0
wait "$held" || code=$?
holds perf-killed test "$code" != 1

# nohup is respected; a job of the shell that became the case is not a process left behind.
BEFORE_AFTER_TIMEOUT=5 nohup "$fake" --variant do=hang >/dev/null 2>"$tmp/err" &
held=$!
until_is measures "$held"
kill -HUP "$held"
wait "$held" || true
holds nohup grep -q 'timed out after 5 s' "$tmp/err"
# shellcheck disable=SC2016 # the inner shell's
holds job-of-the-shell bash -c 'sleep 5 & job=$!; (kill -0 $job); exec "$0"' "$fake"
"$fake" --output "$tmp/closed.jsonl" >&- || true
holds closed-standard-output jq -se 'length == 1 and .[0].status == "ok"' "$tmp/closed.jsonl"

# --- the region ---------------------------------------------------------------------------------

# Between the acknowledgement of enable and the return of the operation there is no other call.
if command -v strace >/dev/null; then
	strace -ff -o "$tmp/trace" "$real" --scale smoke >/dev/null 2>&1 || true
	traced=$(grep -l '^execve.*"--inner", ' "$tmp"/trace.* | xargs grep -L '^execve("[^"]*perf"' | tail -1)
	between=$(sed -n '/write([0-9]*, "enable/,/write([0-9]*, "disable/p' "$traced" |
		sed -n '/^read.*ack/,$p' | sed '1d;/^clock_gettime(CLOCK_MONOTONIC_RAW/d' | head -1)
	holds nothing-but-the-operation test "${between%%(*}" == ftruncate
else
	skip nothing-but-the-operation 'no strace'
fi

# --- run.sh and the real case -------------------------------------------------------------------

expect_code run.sh-unknown-case 2 "wanted one of .*shmem-truncate.*, found 'shmem'" ./run.sh --case shmem
expect_code run.sh-unknown-option 2 "found '--frob'" ./run.sh --frob
expect_code run.sh-unknown-key 2 "wanted options of" ./run.sh --case shmem-truncate --variant tempo=4
expect_code run.sh-unknown-value 2 "wanted op=ftruncate.*found 'op=eat'" \
	./run.sh --case shmem-truncate --variant op=eat
expect_code run.sh-bad-scale 2 "found 'tiny'" ./run.sh --scale tiny
expect_code run.sh-bad-size 2 "found '3x'" ./run.sh --size 3x
expect_code run.sh-bad-runs 2 "found '0'" ./run.sh --runs 0
expect_code run.sh-bad-label 2 "found '../up'" ./run.sh --label ../up
expect_code run.sh-bad-node 2 "found '77'" ./run.sh --node 77
expect_code run.sh-missing-value 2 'wanted a value' ./run.sh --case
same_as_expected run.sh-variants ./run.sh --case shmem-truncate --list \
	--variant 'op=punch,folio=4k op=close,fill=write'
same_as_expected run.sh-dry-run ./run.sh --case shmem-truncate --dry-run --label base --results TMP \
	--variant op=unlink,folio=4k

# The knob's deny and force overrule a mount's huge=: not the variant, and not the kernel's failure.
overruled() { # WORD VARIANT
	printf 'always within_size advise never [%s]\n' "$1" >"$tmp/word"
	mount --bind "$tmp/word" "$knob"
	"$real" --scale smoke --variant "$2" | grep "SKIP .*found $1, which overrules"
}
export -f overruled
export real knob
if [[ -e $knob ]]; then
	holds shmem-denied unshare -m bash -c 'overruled deny op=punch,folio=pmd'
	holds shmem-forced unshare -m bash -c 'overruled force op=punch'
else
	skip shmem-denied 'no THP'
fi

code=0
./run.sh --case shmem-truncate --scale smoke --results "$tmp/results" --label smoke \
	>"$tmp/table.md" 2>"$tmp/err" || code=$?
variants=$("$real" --describe | jq '.variants | length')
if [[ $code == 0 ]] && jq -se --argjson n "$variants" 'map(select(.probes.functions == null))
	| length == 2 * $n and all(.[]; .status | IN("ok", "skip"))
	and (map(.seq) == [range(1; 2 * $n + 1)]) and (.[0].variant == .[$n].variant)
	and all(.[] | select(.status == "ok"); all(.checks[]; .ok)
		and (.checks | has("bytes_left") and has("pages_freed") and has("swap_left")))' \
	"$tmp"/results/smoke/*.jsonl >/dev/null && cmp -s "$tmp/table.md" "$tmp/results/smoke/report.md"; then
	result smoke-of-shmem-truncate 0
else
	result smoke-of-shmem-truncate 1 "exit $code: $(tail -1 "$tmp/err")"
fi
# One probe run a variant: calls counted, or one line why not, and the same in the report.
# shellcheck disable=SC2016
holds probe-run-of-each-variant jq -se --argjson n "$variants" '[.[] | select(.probes.functions)]
	| length == $n and all(.[]; .samples == [] and .seq > 2 * $n)' "$tmp"/results/smoke/*.jsonl
if grep -q '^- shmem-batch-remove: absent (probe: ' "$tmp/table.md"; then
	holds no-probes-are-one-line test "$(grep -c '^code path: not told here: kprobe: ' "$tmp/err")" == 1
else
	holds code-path-in-the-table grep -Eq '^- shmem-batch-remove: (before|after) ' "$tmp/table.md"
fi
code=0
./run.sh --case shmem-truncate --scale smoke --runs 1 --results "$tmp/skipped" \
	--variant op=undo,folio=pmd >"$tmp/out" 2>"$tmp/err" || code=$?
holds run.sh-all-skipped test "$code" == 4

box >"$tmp/box.after"
diff "$tmp/box.before" "$tmp/box.after" || true
holds box-as-it-was cmp "$tmp/box.before" "$tmp/box.after"
summary harness
