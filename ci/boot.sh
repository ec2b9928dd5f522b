#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Boot a kernel, under QEMU or as User-Mode Linux, on this machine's own root, read-only, run one
# command in it and keep its records if, and only if, the boot was clean. See docs/kernels.md.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<'END'
usage: ci/boot.sh [options] -- RUN.SH OPTIONS | COMMAND [ARGUMENT..]
       ci/boot.sh [options] --shell
       ci/boot.sh [options] --check     nothing but whether these options can be
  --kernel IMAGE     what ci/build-kernel.sh printed (default: it is asked for linux-source-6.12)
  --engine NAME      kvm, tcg, icount or uml (default: kvm where the CPU has it, else icount)
  --cpus N           virtual CPUs (default 1; icount needs 1 for figures, uml has no more)
  --memory SIZE      of the guest, e.g. 1536M or 2G (default 2G)
  --swap SIZE        give the guest a swap disk, /dev/vda (uml: /dev/ubda)
  --append STRING    more kernel command line
  --results DIR      where the records of a clean boot go (default results)
  --boot-dir DIR     where this boot's console, output and files are (default below DIR, removed
                     after a clean boot, kept after a failed one)
  --info FILE        JSON whose keys are added to what records say of the boot
  --timeout SECONDS  of the whole boot (default 900)
  --boot-timeout SECONDS   until init runs (default 120)
After --, options go to run.sh, anything else is a command. Options parted by more of -- are several
starts of run.sh: those before the first belong to all, each group after one is a start. Exit: that of
the command; 125 for a failed boot (panic, hang, BUG or WARNING in the log, no exit.json), 2 for usage.
END
}

size_of() {
	local bytes
	bytes=$(numfmt --from=iec "${2^^}" 2>/dev/null || echo 0)
	# What a shell can count with: more than a petabyte is none.
	if [[ ! $bytes =~ ^[0-9]{7,15}$ ]] || [ "$bytes" -lt 1048576 ]; then
		die "$1: expected a size such as 2G, found '$2'" 2
	fi
	printf '%s' "$bytes"
}

info_of() {
	jq -ces 'if length == 1 and (.[0] | type) == "object" then .[0] else empty end' "$1" 2>/dev/null ||
		die "--info: expected a file that holds a JSON object, found '$1'" 2
}

KERNEL='' ENGINE='' CPUS=1 MEMORY=2G SWAP='' APPEND='' RESULTS='' BOOT_DIR='' INFO={} SHELL_WANTED=false
CHECK=false TIMEOUT=900 BOOT_TIMEOUT=120
while [ $# -gt 0 ]; do
	case $1 in
	--shell) SHELL_WANTED=true && shift && continue ;;
	--check) CHECK=true && shift && continue ;;
	--help | -h) usage && exit 0 ;;
	--) shift && break ;;
	--kernel | --engine | --cpus | --memory | --swap | --append | --results | --boot-dir | --info | \
		--timeout | --boot-timeout) [ $# -ge 2 ] || die "$1 needs a value" 2 ;;
	*) die "unknown argument $1 (--help lists them)" 2 ;;
	esac
	case $1 in
	--kernel) KERNEL=$2 ;;
	--engine) ENGINE=$2 ;;
	--cpus) number "$1" "$2" && CPUS=$2 ;;
	--memory) MEMORY=$2 ;;
	--swap) SWAP=$2 ;;
	--append) APPEND=$2 ;;
	--results) RESULTS=$2 ;;
	--boot-dir) BOOT_DIR=$2 ;;
	--info) INFO=$(info_of "$2") ;;
	--timeout) number "$1" "$2" && TIMEOUT=$2 ;;
	--boot-timeout) number "$1" "$2" && BOOT_TIMEOUT=$2 ;;
	esac
	shift 2
done
MEMORY=$(size_of --memory "$MEMORY")
[ -z "$SWAP" ] || SWAP=$(size_of --swap "$SWAP")
if ! $SHELL_WANTED && ! $CHECK && [ $# -eq 0 ]; then die "nothing to run: expected -- and run.sh options or a command, or --shell" 2; fi
need jq setpriv
INIT=$REPO/build/ci/init
[ -x "$INIT" ] || die "$INIT is not built: make kernel" 2
ENGINE=${ENGINE:-$(default_engine)}
[[ $ENGINE =~ ^(kvm|tcg|icount|uml)$ ]] ||
	die "--engine: expected kvm, tcg, icount or uml, found '$ENGINE'" 2
if [ -z "$KERNEL" ] && ! $CHECK; then KERNEL=$("$CI/build-kernel.sh" --engine "$ENGINE"); fi
[ -z "$KERNEL" ] || [ -f "$KERNEL" ] || die "--kernel: no such image: $KERNEL" 2

# What the file at OFFSET must hold to be what the engine can start.
signature() {
	[ -n "$KERNEL" ] || return 0
	[ "$(dd if="$KERNEL" bs=1 skip="$1" count=4 status=none | tr -d '\0')" = "$2" ] ||
		die "--kernel: $KERNEL is not a $3" 2
}

CMDLINE="panic=-1 oops=panic ro init=$INIT BEFORE_AFTER_REPO=$REPO"
# brd's own default is 4 MiB, too small for a file system with a journal.
CMDLINE+=" brd.rd_size=32768"

# qemu CPU CMDLINE MACHINE..: the engine is QEMU.
qemu() {
	QEMU=qemu-system-$(uname -m) FOR=QEMU CPU=$1 SWAP_DEVICE=/dev/vda
	need "$QEMU"
	signature 514 HdrS 'bzImage (no HdrS at 0x202)'
	CMDLINE+=" console=ttyS0 nokaslr root=root rootfstype=9p"
	CMDLINE+=" rootflags=trans=virtio,version=9p2000.L,msize=512000,cache=loose $2"
	MACHINE=("$("$QEMU" --version | head -n 1)" "${@:3}" -machine pc -cpu "$CPU" -smp "$CPUS"
		-m "$((MEMORY >> 20))M")
}

# uml: the engine is the kernel itself. A session's time is that of the host it runs on.
uml() {
	local free
	FOR=UML CPU=UML SWAP_DEVICE=/dev/ubda HOST_DECIDES=1
	[ "$(id -u)" -eq 0 ] || die "--engine uml needs root: the guest's box is made of mounts" 2
	need unshare setsid setarch pivot_root
	[ "$CPUS" -eq 1 ] || die "--cpus $CPUS: uml has one" 2
	signature 0 $'\177ELF' 'User-Mode Linux (no ELF)'
	free=$(awk '/^MemAvailable:/ {printf "%.0f", $2 * 1024}' /proc/meminfo)
	[ "$MEMORY" -lt "$free" ] ||
		die "--memory: expected less than the $((free >> 20)) MiB that are available here, found $((MEMORY >> 20)) MiB" 2
	CMDLINE+=" root=root rootfstype=hostfs rootflags=/ BEFORE_AFTER_SHARE=/dev/results"
	CMDLINE+=" console=ttyS0 ssl=null ssl0=null,fd:2 con=null"
	MACHINE=("mem=$((MEMORY >> 20))M")
}

FIFO=false
case $ENGINE in
kvm)
	[ -w /dev/kvm ] || die "--engine kvm: /dev/kvm cannot be opened here; use icount, tcg or uml" 2
	qemu host '' -accel kvm -rtc base=utc
	;;
tcg)
	# A CPU that the host lets wait for 21 s is the host's stall, not the kernel's.
	qemu qemu64,+rdrand 'tsc=reliable rcupdate.rcu_cpu_stall_timeout=300' \
		-accel "tcg,thread=multi" -rtc base=utc
	;;
icount)
	# A guest nanosecond is an instruction while the guest is not idle. Idle time passes as on the
	# host (sleep=on): with sleep=off the clock leaps to the next timer whenever the guest waits for
	# the 9p share, and timeouts of seconds fire at once. No address depends on chance.
	# The allocator's per-CPU lists hold as many pages as ever: by default their limit moves by the second,
	# and pages that do not fit are merged one by one, 7 % of a page's cost in some runs and boots.
	qemu qemu64,+rdrand 'norandmaps tsc=reliable sysctl.vm.percpu_pagelist_high_fraction=8' \
		-accel "tcg,thread=single" -icount "shift=0,sleep=on" -rtc "base=utc,clock=vm"
	# RCU callbacks, a million instructions at times, in a thread, which the command goes before.
	[ "$CPUS" -gt 1 ] || FIFO=true CMDLINE+=" rcutree.use_softirq=0"
	;;
uml) uml ;;
esac
! $CHECK || exit 0
CMDLINE+=${APPEND:+ $APPEND}

# --- this boot's directory --------------------------------------------------------------------

RESULTS=${RESULTS:-$REPO/results}
mkdir -p "$RESULTS" || die "cannot make $RESULTS" 2
RESULTS=$(cd "$RESULTS" && pwd)
OWN_DIR=false
if [ -z "$BOOT_DIR" ]; then
	OWN_DIR=true
	mkdir -p "$RESULTS/.boots"
	BOOT_DIR=$(mktemp -d "$RESULTS/.boots/$(date +%Y%m%d-%H%M%S).XXXX")
fi
mkdir -p "$BOOT_DIR" && BOOT_DIR=$(cd "$BOOT_DIR" && pwd)
SHARE=$BOOT_DIR/share
[ ! -e "$SHARE" ] || die "$BOOT_DIR holds another boot" 2
mkdir "$SHARE"

DEVICES=() SWAP_FD=''
if [ -n "$SWAP" ]; then
	# Unlinked while open: no file is left behind, whatever kills us.
	disk=$(mktemp "$BOOT_DIR/swap.XXXXXX")
	exec {SWAP_FD}<>"$disk"
	rm "$disk"
	truncate -s "$SWAP" "/proc/self/fd/$SWAP_FD"
	DEVICES=(-add-fd "fd=$SWAP_FD,set=1"
		-blockdev "driver=file,node-name=swap,filename=/dev/fdset/1,locking=off"
		-device "virtio-blk-pci,drive=swap")
fi

HOST=$(uname -srm) HOST_CPU=$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)
# What the guest cannot know: part of the environment its records carry.
jq -n --arg engine "$ENGINE" --argjson cpus "$CPUS" --argjson memory "$MEMORY" --arg cpu "$CPU" \
	--arg qemu "${QEMU:+${MACHINE[0]}}" --arg image "$KERNEL" --arg cmdline "$CMDLINE" \
	--arg machine "$(printf '%s\n' "${MACHINE[@]}" ${HOST_DECIDES:+"$HOST" "$HOST_CPU"} "swap=$SWAP" | key)" \
	--arg host "$HOST" --arg host_cpu "$HOST_CPU" \
	--slurpfile kernel <(cat "${KERNEL%/*}/image.json" 2>/dev/null || echo null) \
	--slurpfile more <(printf '%s\n' "$INFO") \
	'{match: ({engine: $engine, cpus: $cpus, memory: $memory, machine: $machine}
		+ if $engine == "icount" then {icount_shift: 0} else {} end),
	  info: ({guest_cpu: $cpu, host: $host, host_cpu: $host_cpu, image: $image,
		  kernel: $kernel[0]} + if $qemu == "" then {} else {qemu: $qemu} end + $more[0])}' >"$SHARE/engine.json"

GUEST=/run/results
if $SHELL_WANTED; then
	set -- /bin/bash -i
elif [[ $1 == -* ]]; then
	RUN=$REPO/run.sh
	[[ " $* " != *' -- '* ]] || RUN=$CI/guest/runs.sh
	set -- "$RUN" --engine-info "$GUEST/engine.json" --results "$GUEST" \
		${SWAP:+--swap-device "$SWAP_DEVICE"} "$@"
fi
jq -n --arg cwd "$REPO" --arg term "${TERM:-dumb}" --argjson shell "$SHELL_WANTED" \
	--argjson fifo "$FIFO" '{argv: $ARGS.positional, cwd: $cwd, shell: $shell, fifo: $fifo,
	  env: {PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		HOME: "/tmp", TERM: $term, LC_ALL: "C"}}' --args -- "$@" >"$SHARE/command.json"

# --- the boot ---------------------------------------------------------------------------------

# shellcheck disable=SC2317
finish() {
	if [ -n "${CHILD:-}" ]; then
		kill -KILL "$CHILD" 2>/dev/null || true
		wait "$CHILD" 2>/dev/null || true
	fi
	[ -z "${TYPIST:-}" ] || kill "$TYPIST" 2>/dev/null || true
	[ -z "$STTY" ] || stty "$STTY" <&"$TERMINAL"
	rmdir "$BOOT_DIR/box" 2>/dev/null || true
	clear_progress
}
STTY=''
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

start_qemu() {
	local input=/dev/null
	! $SHELL_WANTED || input=/dev/stdin
	spawn KILL "$QEMU" -nodefaults -no-user-config -display none -no-reboot "${MACHINE[@]:1}" \
		-kernel "$KERNEL" -append "$CMDLINE" \
		-serial "file:$BOOT_DIR/console" \
		-device virtio-serial-pci -chardev "stdio,id=command,signal=off" \
		-device virtconsole,chardev=command \
		-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=results,path=${SHARE//,/,,},security_model=none" \
		-device virtio-9p-pci,fsdev=results,mount_tag=results \
		"${DEVICES[@]}" <$input 2>"$BOOT_DIR/qemu.log"
}

# UML waits for its channels to be writable, which a file never says: both go through a pipe. When
# the readers are at the end, no process of the guest is left.
start_uml() {
	local words=() channel=con0=null,fd:3 out log
	ENGINE_LOG=$BOOT_DIR/console
	! $SHELL_WANTED || channel=con0=fd:0,fd:3
	read -ra words <<<"$CMDLINE"
	[ -z "$SWAP_FD" ] || words+=("ubd0=/proc/self/fd/$SWAP_FD")
	mkdir "$BOOT_DIR/box"
	if $SHELL_WANTED; then
		# Through a pipe too: of a terminal only the processes of its own session are told.
		exec {TERMINAL}<&0
		[ ! -t 0 ] || STTY=$(stty -g)
		[ -z "$STTY" ] || stty raw -echo
		exec < <(exec cat <&"$TERMINAL")
		TYPIST=$!
	else
		exec </dev/null
	fi
	exec {out}> >(exec cat)
	READERS=$!
	exec {log}> >(exec cat >"$BOOT_DIR/console")
	READERS+=" $!"
	spawn KILL unshare --mount --pid --net --ipc --kill-child=KILL --propagation private \
		"$CI/uml-box.sh" "$BOOT_DIR/box" "$SHARE" "$MEMORY" "${SWAP_FD:--}" \
		"$KERNEL" "${MACHINE[@]}" "${words[@]}" "$channel" 1>&"$log" 2>&1 3>&"$out"
	exec {out}>&- {log}>&-
}

START=$SECONDS ENGINE_LOG=$BOOT_DIR/qemu.log
if [ "$ENGINE" = uml ]; then start_uml; else start_qemu; fi

HANG=
while kill -0 "$CHILD" 2>/dev/null; do
	nap 0.1
	! $SHELL_WANTED || continue
	if [ $((SECONDS - START)) -ge "$TIMEOUT" ]; then
		HANG="no end after $TIMEOUT s"
	elif [ ! -e "$SHARE/started" ] && [ $((SECONDS - START)) -ge "$BOOT_TIMEOUT" ]; then
		HANG="init did not start within $BOOT_TIMEOUT s"
	else
		continue
	fi
	kill -KILL "$CHILD" 2>/dev/null || true
	break
done
STATUS=0
wait "$CHILD" 2>/dev/null || STATUS=$?
CHILD=
# shellcheck disable=SC2086
[ -z "${READERS:-}" ] || wait $READERS || true
rmdir "$BOOT_DIR/box" 2>/dev/null || true

# --- the judgement ----------------------------------------------------------------------------

# What a clean boot never prints; the command's own output is not in this log.
BAD='Kernel panic|kernel BUG at|BUG: |WARNING: |Oops|general protection fault|rcu: INFO: .* stall|before-after init: cannot|Attempted to kill init'
CONSOLE=$BOOT_DIR/console
failed() {
	local lines
	say "boot failed: $1 (console: $CONSOLE)"
	lines=$(grep -aE "$BAD" "$CONSOLE" 2>/dev/null | head -n 5 || true)
	[ -n "$lines" ] || lines=$(tail -n 3 "$CONSOLE" 2>/dev/null || true)
	[ -z "$lines" ] || tr -d '\r' <<<"$lines" | sed 's/^/  | /' >&2
	exit 125
}

# A boot directory that nobody asked for goes, unless it tells of a failure.
tidy() {
	$OWN_DIR || return 0
	rm -rf "$BOOT_DIR"
	rmdir "$RESULTS/.boots" 2>/dev/null || true
}

if $SHELL_WANTED; then
	tidy
	exit 0
fi
[ -z "$HANG" ] || failed "$HANG"
first=$(grep -aoEm 1 "($BAD).*" "$CONSOLE" 2>/dev/null | tr -d '\r' || true)
[ -z "$first" ] || failed "$first"
[ "$STATUS" -eq 0 ] || failed "$FOR ended with $STATUS: $(tail -n 1 "$ENGINE_LOG")"
[ -f "$SHARE/exit.json" ] || failed "the guest wrote no exit.json"
CODE=$(jq -er 'if .exit != null then .exit else 128 + .signal end' "$SHARE/exit.json" 2>/dev/null) ||
	failed "exit.json is not what init writes"

# A clean boot's records, regular files only. The environment goes first: records never lack theirs.
for suffix in env.json jsonl; do
	while IFS= read -r -d '' file; do
		label=$(basename "$(dirname "$file")")
		mkdir -p "$RESULTS/$label"
		mv "$file" "$RESULTS/$label/"
	done < <(find "$SHARE" -mindepth 2 -maxdepth 2 -type f -name "*.$suffix" -print0)
done
tidy
exit "$CODE"
