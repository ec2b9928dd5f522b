#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Boot a kernel under QEMU on this machine's own root, read-only, run one command in it and keep
# its records if, and only if, the boot was clean. See docs/kernels.md.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<'END'
usage: ci/boot.sh [options] -- RUN.SH OPTIONS | COMMAND [ARGUMENT..]
       ci/boot.sh [options] --shell
  --kernel IMAGE     what ci/build-kernel.sh printed (default: it is asked for linux-source-6.12)
  --engine NAME      kvm, tcg or icount (default: kvm where /dev/kvm opens, else icount)
  --cpus N           virtual CPUs (default 1; icount needs 1 for figures)
  --memory SIZE      of the guest, e.g. 1536M or 2G (default 2G)
  --swap SIZE        give the guest a swap disk, /dev/vda
  --append STRING    more kernel command line
  --results DIR      where the records of a clean boot go (default results)
  --boot-dir DIR     where this boot's console, output and files are (default below DIR, removed
                     after a clean boot, kept after a failed one)
  --info FILE        JSON whose keys are added to what records say of the boot
  --timeout SECONDS  of the whole boot (default 900)
  --boot-timeout SECONDS   until init runs (default 120)
After --, options go to run.sh, anything else is a command. Exit: that of the command; 125 for a
failed boot (panic, hang, BUG or WARNING in the log, no exit.json), 2 for usage.
END
}

size_of() {
	local bytes
	bytes=$(numfmt --from=iec "${2^^}" 2>/dev/null || echo 0)
	[ "$bytes" -ge 1048576 ] || die "$1: expected a size such as 2G, found '$2'" 2
	printf '%s' "$bytes"
}

seconds_of() {
	[[ $2 =~ ^[1-9][0-9]*$ ]] || die "$1: expected a number of at least 1, found '$2'" 2
	printf '%s' "$2"
}

KERNEL='' ENGINE='' CPUS=1 MEMORY=2G SWAP='' APPEND='' RESULTS='' BOOT_DIR='' INFO='' SHELL_WANTED=false
TIMEOUT=900 BOOT_TIMEOUT=120
while [ $# -gt 0 ]; do
	case $1 in
	--shell) SHELL_WANTED=true && shift && continue ;;
	--help | -h) usage && exit 0 ;;
	--) shift && break ;;
	--kernel | --engine | --cpus | --memory | --swap | --append | --results | --boot-dir | --info | \
		--timeout | --boot-timeout) [ $# -ge 2 ] || die "$1 needs a value" 2 ;;
	*) die "unknown argument $1 (--help lists them)" 2 ;;
	esac
	case $1 in
	--kernel) KERNEL=$2 ;;
	--engine) ENGINE=$2 ;;
	--cpus) CPUS=$(seconds_of "$1" "$2") ;;
	--memory) MEMORY=$2 ;;
	--swap) SWAP=$2 ;;
	--append) APPEND=$2 ;;
	--results) RESULTS=$2 ;;
	--boot-dir) BOOT_DIR=$2 ;;
	--info) INFO=$2 ;;
	--timeout) TIMEOUT=$(seconds_of "$1" "$2") ;;
	--boot-timeout) BOOT_TIMEOUT=$(seconds_of "$1" "$2") ;;
	esac
	shift 2
done
MEMORY=$(size_of --memory "$MEMORY")
[ -z "$SWAP" ] || SWAP=$(size_of --swap "$SWAP")
if ! $SHELL_WANTED && [ $# -eq 0 ]; then die "nothing to run: expected -- and run.sh options or a command, or --shell" 2; fi
QEMU=qemu-system-$(uname -m)
need "$QEMU" jq setpriv timeout
INIT=$REPO/build/ci/init
[ -x "$INIT" ] || die "$INIT is not built: make kernel" 2
if [ -z "$ENGINE" ]; then
	ENGINE=icount
	[ ! -w /dev/kvm ] || ENGINE=kvm
fi
if [ -z "$KERNEL" ]; then KERNEL=$("$CI/build-kernel.sh"); fi
[ -f "$KERNEL" ] || die "--kernel: no such image: $KERNEL" 2
[ "$(dd if="$KERNEL" bs=1 skip=514 count=4 status=none | tr -d '\0')" = HdrS ] ||
	die "--kernel: $KERNEL is not a bzImage (no HdrS at 0x202)" 2

CPU=qemu64,+rdrand FIFO=false
CMDLINE="console=ttyS0 panic=-1 oops=panic nokaslr root=root rootfstype=9p ro init=$INIT"
# brd's own default is 4 MiB, too small for a file system with a journal.
CMDLINE+=" brd.rd_size=32768"
CMDLINE+=" BEFORE_AFTER_REPO=$REPO"
CMDLINE+=" rootflags=trans=virtio,version=9p2000.L,msize=512000,cache=loose"
case $ENGINE in
kvm)
	[ -w /dev/kvm ] || die "--engine kvm: /dev/kvm cannot be opened here; use icount or tcg" 2
	CPU=host
	MACHINE=(-accel kvm -rtc base=utc)
	;;
tcg)
	MACHINE=(-accel "tcg,thread=multi" -rtc base=utc)
	CMDLINE+=" tsc=reliable"
	;;
icount)
	# A guest nanosecond is an instruction while the guest is not idle. Idle time passes as on the
	# host (sleep=on): with sleep=off the clock leaps to the next timer whenever the guest waits for
	# the 9p share, and timeouts of seconds fire at once. No address depends on chance.
	MACHINE=(-accel "tcg,thread=single" -icount "shift=0,sleep=on" -rtc "base=utc,clock=vm")
	CMDLINE+=" norandmaps tsc=reliable"
	# RCU callbacks, a million instructions at times, in a thread, which the command goes before.
	[ "$CPUS" -gt 1 ] || FIFO=true CMDLINE+=" rcutree.use_softirq=0"
	;;
*) die "--engine: expected kvm, tcg or icount, found '$ENGINE'" 2 ;;
esac
MACHINE+=(-machine pc -cpu "$CPU" -smp "$CPUS" -m "$((MEMORY >> 20))M")
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

DEVICES=()
if [ -n "$SWAP" ]; then
	# Unlinked while open: no file is left behind, whatever kills us.
	disk=$(mktemp "$BOOT_DIR/swap.XXXXXX")
	exec {SWAP_FD}<>"$disk"
	rm "$disk"
	truncate -s "$SWAP" "/proc/self/fd/$SWAP_FD"
	DEVICES+=(-add-fd "fd=$SWAP_FD,set=1"
		-blockdev "driver=file,node-name=swap,filename=/dev/fdset/1,locking=off"
		-device "virtio-blk-pci,drive=swap")
fi

# What the guest cannot know: part of the environment its records carry.
jq -n --arg engine "$ENGINE" --argjson cpus "$CPUS" --argjson memory "$MEMORY" --arg cpu "$CPU" \
	--arg qemu "$("$QEMU" --version | head -n 1)" --arg image "$KERNEL" --arg cmdline "$CMDLINE" \
	--arg machine "$(printf '%s\n' "$("$QEMU" --version | head -n 1)" "${MACHINE[@]}" "swap=$SWAP" | key)" \
	--arg host "$(uname -srm)" --arg host_cpu "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)" \
	--slurpfile kernel <(cat "${KERNEL%/*}/image.json" 2>/dev/null || echo null) \
	--slurpfile more <(cat "${INFO:-/dev/null}") \
	'{match: ({engine: $engine, cpus: $cpus, memory: $memory, machine: $machine}
		+ if $engine == "icount" then {icount_shift: 0} else {} end),
	  info: ({qemu: $qemu, guest_cpu: $cpu, host: $host, host_cpu: $host_cpu, image: $image,
		  kernel: $kernel[0]} + ($more[0] // {}))}' >"$SHARE/engine.json"

GUEST=/run/results
if $SHELL_WANTED; then
	set -- /bin/bash -i
elif [[ $1 == -* ]]; then
	set -- "$REPO/run.sh" --engine-info "$GUEST/engine.json" --results "$GUEST" \
		${SWAP:+--swap-device /dev/vda} "$@"
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
	clear_progress
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

START=$SECONDS
INPUT=/dev/null
! $SHELL_WANTED || INPUT=/dev/stdin
spawn KILL "$QEMU" -nodefaults -no-user-config -display none -no-reboot "${MACHINE[@]}" \
	-kernel "$KERNEL" -append "$CMDLINE" \
	-serial "file:$BOOT_DIR/console" \
	-device virtio-serial-pci -chardev "stdio,id=command,signal=off" -device virtconsole,chardev=command \
	-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap" \
	-device virtio-9p-pci,fsdev=root,mount_tag=root \
	-fsdev "local,id=results,path=$SHARE,security_model=none" \
	-device virtio-9p-pci,fsdev=results,mount_tag=results \
	"${DEVICES[@]}" <$INPUT 2>"$BOOT_DIR/qemu.log"

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
[ "$STATUS" -eq 0 ] || failed "QEMU ended with $STATUS: $(tail -n 1 "$BOOT_DIR/qemu.log")"
first=$(grep -aoEm 1 "($BAD).*" "$CONSOLE" 2>/dev/null | tr -d '\r' || true)
[ -z "$first" ] || failed "$first"
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
