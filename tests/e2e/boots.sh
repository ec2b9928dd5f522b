#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What ci/boot.sh promises: a clean boot counts, any other is told from it within its timeout, the
# guest cannot write the host, and no process of the guest outlives the script.
#
#   boots.sh [tcg|uml]      default: tcg
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

ENGINE=${1:-tcg}
KERNEL=$("$REPO/ci/build-kernel.sh" --engine "$ENGINE")
DISK=/dev/vda
if [ "$ENGINE" = uml ]; then
	# Its processes are known by the program, so that has a name of this test's.
	DISK=/dev/ubda
	cp "$KERNEL" "$SCRATCH/linux"
	KERNEL=$SCRATCH/linux
fi

boot() {
	"$REPO/ci/boot.sh" --kernel "$KERNEL" --engine "$ENGINE" --results "$SCRATCH/results" "$@"
}

# guests_of DIR: the processes of the guest whose boot directory is DIR, and what starts them.
guests_of() {
	local exe
	pgrep -f "qemu-system.*$1|uml-box.sh $1" || true
	for exe in /proc/[0-9]*/exe; do
		[[ $(readlink "$exe" 2>/dev/null) != "$SCRATCH/linux"* ]] || echo "$exe"
	done
}

# failed_boot REASON OPTION..: the boot fails for this reason, keeps its console, leaves no process.
failed_boot() {
	local reason=$1 dir
	dir=$(mktemp -d "$SCRATCH/boot.XXXXXX")
	shift
	expect 125 boot --boot-dir "$dir" "$@" 2>"$dir.said"
	cat "$dir.said"
	grep -q "boot failed: .*$reason" "$dir.said"
	[ -e "$dir/console" ] || [ -e "$dir/qemu.log" ]
	[ ! -e "$dir/box" ]
	[ -z "$(guests_of "$dir")" ]
	[ ! -e "$SCRATCH/results/failed" ]
}

clean_boot() {
	expect 0 boot -- /bin/true
	expect 7 boot -- sh -c 'echo said; exit 7' >"$SCRATCH/out"
	[ "$(cat "$SCRATCH/out")" = said ]
	[ ! -e "$SCRATCH/results/.boots" ]
}

# What the engine's own options part by.
odd_place() {
	expect 0 boot --results "$SCRATCH/odd, this=one" -- sh -c 'mkdir /run/results/odd; echo {} >/run/results/odd/x.jsonl'
	[ -f "$SCRATCH/odd, this=one/odd/x.jsonl" ]
}

# Records of a clean boot arrive, those of a failed one do not.
records() {
	local write="mkdir /run/results/\$0; echo {} >/run/results/\$0/x.jsonl"
	expect 0 boot -- sh -c "$write" clean
	[ -f "$SCRATCH/results/clean/x.jsonl" ]
	expect 125 boot -- sh -c "$write; echo 'BUG: not really' >/dev/kmsg" failed 2>/dev/null
	[ ! -e "$SCRATCH/results/failed" ]
}

boot_ids() {
	local i engine=$ENGINE
	[ "$ENGINE" = uml ] || engine=icount # where nothing depends on chance
	for i in 1 2; do
		expect 0 boot --engine "$engine" -- cat /proc/sys/kernel/random/boot_id >>"$SCRATCH/ids"
	done
	cat "$SCRATCH/ids"
	[ "$(sort -u "$SCRATCH/ids" | wc -l)" -eq 2 ]
}

no_escape() {
	local name before
	name=escape-$$-$RANDOM
	before=$(stat -c '%a %u %h %s %Y' "$REPO/Makefile" /etc/hostname && cat /proc/sys/vm/stat_interval)
	expect 0 boot -- "$REPO/tests/e2e/escape.sh" "$name"
	[ "$before" = "$(stat -c '%a %u %h %s %Y' "$REPO/Makefile" /etc/hostname && cat /proc/sys/vm/stat_interval)" ]
	[ ! -e "/$name" ] && [ ! -e "/etc/$name" ] && [ ! -e "/usr/local/$name" ] && [ ! -e "/tmp/$name" ] &&
		[ ! -e "/dev/$name" ] && [ ! -e "/dev/shm/$name" ] && [ ! -e "$REPO/tests/e2e/$name" ]
}

swap_disk() {
	# shellcheck disable=SC2016
	boot --swap 64M -- sh -c 'mkswap -q $0 && swapon $0 && grep -q "^$0" /proc/swaps' "$DISK"
}

panic() {
	failed_boot 'Kernel panic' --append init=/nonexistent -- true
}

oops() {
	failed_boot 'WARNING: CPU' -- sh -c 'echo "WARNING: CPU: 0 PID: 1 at mm/x.c" >/dev/kmsg'
}

hang() {
	failed_boot 'no end after 15 s' --timeout 15 -- sh -c 'while :; do :; done'
}

no_kernel() {
	head -c 4000000 /dev/urandom >"$SCRATCH/garbage"
	KERNEL=$SCRATCH/garbage expect 2 boot -- true
}

# Images that load: one falls over at its first instruction, one jumps to itself for ever.
dead_kernel() {
	local start
	start=$(($(od -An -tu1 -j497 -N1 "$KERNEL") + 1)) # behind the sectors of the real-mode part
	cp "$KERNEL" "$SCRATCH/dead"
	perl -e 'print "\xff\xff" x 2000000' | dd of="$SCRATCH/dead" bs=512 seek="$start" conv=notrunc status=none
	KERNEL=$SCRATCH/dead failed_boot 'wrote no exit.json\|QEMU ended' --boot-timeout 10 -- true
	perl -e 'print "\xeb\xfe" x 2000000' | dd of="$SCRATCH/dead" bs=512 seek="$start" conv=notrunc status=none
	KERNEL=$SCRATCH/dead failed_boot 'init did not start within 10 s' --boot-timeout 10 -- true
}

no_exit() {
	failed_boot 'wrote no exit.json' -- perl -e 'syscall(169, 0xfee1dead, 672274793, 0x4321fedc, 0)'
}

# A guest that reboots instead would run its command again.
reboots() {
	failed_boot 'wrote no exit.json\|UML ended with' -- \
		perl -e 'syscall(169, 0xfee1dead, 672274793, 0x01234567, 0)'
}

# kill -9 of the script, at several moments of a boot: the guest goes with it.
killed() {
	local after dir pid
	for after in 0.3 1.5 4; do
		dir=$(mktemp -d "$SCRATCH/kill.XXXXXX")
		boot --boot-dir "$dir" -- sh -c 'while :; do :; done' &
		pid=$!
		sleep "$after"
		kill -KILL "$(pgrep -P "$pid" -f boot.sh || echo "$pid")" "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
		wait_for "[ -z \"\$(guests_of $dir)\" ]"
	done
}

usage() {
	expect 2 boot --engine fast -- true
	if [ "$ENGINE" = uml ]; then
		expect 2 boot --cpus 2 -- true
		expect 2 boot --memory 900G -- true
		KERNEL=$("$REPO/ci/build-kernel.sh") expect 2 boot -- true
	fi
	expect 2 boot --memory lots -- true
	expect 2 boot --cpus
	expect 2 boot
	expect 2 "$REPO/ci/boot.sh" --kernel /nonexistent -- true
}

check 'a clean boot passes on the exit code and the output' clean_boot
check 'records count only after a clean boot' records
check 'results in a place of an odd name' odd_place
check 'two icount boots have two ids' boot_ids
check 'the guest cannot write the host' no_escape
check 'the swap disk is there' swap_disk
check 'a panic is a failed boot' panic
check 'a WARNING in the log is a failed boot' oops
check 'a hang ends at the timeout' hang
check 'an image that is none' no_kernel
[ "$ENGINE" = uml ] || check 'an image that does not boot' dead_kernel
check 'a guest that goes without exit.json' no_exit
check 'a guest that reboots' reboots
check 'kill -9 leaves no process' killed
check 'usage errors' usage
finish
