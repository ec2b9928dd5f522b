#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# dirty-reclaim and truncate-neighbour from outside: what they say where something is missing, what
# a run leaves in its record, and a box that is afterwards as it was, kill -9 included.
# KILLS=N: at how many random moments (10).
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly build=$PWD/${BEFORE_AFTER_BUILD:-build}
readonly reclaim=$build/cases/dirty-reclaim neighbour=$build/cases/truncate-neighbour
# shellcheck source=tests/harness/lib.sh
. tests/harness/lib.sh
unset BEFORE_AFTER_SWAP_DEVICE
# The LRU that this kernel has.
lru=lru=classic
[[ ! -e /sys/kernel/mm/lru_gen/enabled ]] || lru=lru=mglru

if [[ $EUID != 0 ]]; then
	printf '1..0 # SKIP wanted root, found uid %d\n' "$EUID"
	exit 0
fi
[[ -x $reclaim ]] || {
	printf '1..0 # SKIP dirty-reclaim was not built: no libyaml\n'
	exit 0
}

# Processes that inherited our run directory, whatever they call themselves.
ours() {
	local f
	grep -lszx "BEFORE_AFTER_RUN_DIR=$tmp/run" /proc/[0-9]*/environ | while read -r f; do
		head -zn 1 "${f%environ}cmdline" 2>/dev/null | tr '\0' '\n' || true
	done | grep -E 'stress-ng|fio|dirty-reclaim|truncate-neighbour' || true
}

not_as_it_was() {
	box >"$tmp/box.now"
	diff "$tmp/box" "$tmp/box.now" | head -3 | tr '\n' ' '
	ours | head -1
}

same_box() { # NAME
	left_after not_as_it_was
	result "$1" "$([[ -z $LEFT ]] && echo 0 || echo 1)" "$LEFT"
}

says() { # NAME PATTERN COMMAND...: exit 4, and a line that matches
	local name=$1 pattern=$2 code=0
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	if [[ $code == 4 ]] && grep -qE -- "$pattern" "$tmp/out"; then
		result "$name" 0
	else
		result "$name" 1 "exit $code: $(tail -1 "$tmp/out")"
	fi
}

tried_skips() { # NAME PATTERN COMMAND...: the reason on the KTAP line of what only a run can tell
	says "$1" "^ok 1 .* # SKIP .*$2" "${@:3}"
}

skips() { # NAME PATTERN COMMAND...: .. and of what --check tells without one
	tried_skips "$@"
	says "$1-is-told-before" "^# [a-z]+: not met: .*$2" "${@:3}" --check
}

box >"$tmp/box"

# --- what is missing ----------------------------------------------------------------------------

mkdir "$tmp/bin" "$tmp/dir" "$tmp/tmpfs"
for tool in mkswap blkid perf; do
	! command -v "$tool" >/dev/null || ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
done
skips no-stress-ng 'wanted the command stress-ng, found none in PATH: sh ci/setup.sh installs it' \
	env PATH="$tmp/bin" "$reclaim"
skips no-fio 'wanted the command fio, found none in PATH: sh ci/setup.sh installs it' \
	env PATH="$tmp/bin" "$neighbour"
skips no-swap-device 'wanted a block device .* \(run.sh --swap-device DEV\), .* found none' "$reclaim" --variant "$lru"
skips no-swap-directory 'wanted a directory .* \(run.sh --swap-device DIR\), found none' \
	"$reclaim" --variant "swap=file,$lru"
skips device-is-a-file 'wanted a block device for swap' \
	env BEFORE_AFTER_SWAP_DEVICE="$tmp/box" "$reclaim" --variant "$lru"
skips directory-for-a-device 'wanted a block device .* found /' \
	env BEFORE_AFTER_SWAP_DEVICE="$tmp/dir" "$reclaim" --variant "$lru"
if (($(awk '/^SwapFree:/ { print $2 }' /proc/meminfo) < 131072)); then
	skips no-room-on-the-host 'swap=host: wanted 129 MiB of free swap, found [0-9]+: swapon' \
		"$reclaim" --variant "swap=host,$lru" --size 128M
else
	skip no-room-on-the-host 'this box has swap'
fi
if [[ -e /sys/kernel/mm/lru_gen/enabled ]]; then
	skip no-mglru 'this kernel has it'
else
	skips no-mglru 'wanted a kernel with CONFIG_LRU_GEN' "$reclaim" --variant swap=zram
fi
skips one-cpu 'wanted 2 CPUs, found 1' taskset -c 0 "$neighbour"
skips one-cpu-of-four 'wanted 4 CPUs, found 1' taskset -c 0 "$neighbour" --variant inserters=2
skips swap-of-half 'wanted a block device for swap' \
	env BEFORE_AFTER_SWAP_DEVICE="$tmp/box" "$build/cases/shmem-truncate" --scale smoke --variant state=swapped-half
skips no-workload 'fs=tmpfs,state=hole-read is no workload' "$build/cases/pagecache-truncate" --variant fs=tmpfs
if taskset -c 0 ./run.sh --list --case truncate-neighbour >"$tmp/out" 2>&1 &&
	grep -qx '  inserters=0  (skipped: wanted 2 CPUs, found 1: .*)' "$tmp/out"; then
	result list-says-what-is-skipped 0
else
	result list-says-what-is-skipped 1 "$(tail -1 "$tmp/out")"
fi
skips not-root 'wanted root, found uid 65534' setpriv --reuid 65534 --clear-groups \
	env BEFORE_AFTER_RUN_DIR="$tmp/none" "$reclaim"
sed 's/^\(memory\t.*\t\)1$/\10/' /proc/cgroups >"$tmp/cgroups"
disabled() {
	mount --bind "$tmp/cgroups" /proc/cgroups
	"$reclaim" --variant "swap=zram,$lru" "$@"
}
unmounted() {
	local point
	while point=$(findmnt -n -o TARGET -t cgroup,cgroup2 | tail -1) && [[ -n $point ]]; do
		umount "$point"
	done
	"$reclaim" --variant "swap=zram,$lru"
}
tmpfs_swap() {
	mount -t tmpfs -o mode=0755 none "$tmp/tmpfs"
	BEFORE_AFTER_SWAP_DEVICE=$tmp/tmpfs "$reclaim" --variant "swap=file,$lru" --scale smoke
}
export -f disabled unmounted tmpfs_swap
export tmp reclaim lru
skips no-controller 'wanted the cgroup controller memory, found it not enabled: boot without' \
	unshare -m bash -euc 'disabled "$@"' -
if [[ -e /sys/class/zram-control ]]; then
	tried_skips no-hierarchy 'wanted a mounted cgroup hierarchy with the memory controller, found none' \
		unshare -m bash -euc unmounted
else
	skip no-hierarchy 'no zram here to get so far'
fi
tried_skips swap-file-refused 'swapon .*before-after-swap-[0-9]+: ' unshare -m bash -euc tmpfs_swap
same_box box-after-skips

# --- a whole run ----------------------------------------------------------------------------------

swap=
[[ ! -e /sys/class/zram-control ]] || swap=zram
# A kernel may kill for lack of memory what it could swap out: then the run must say so, with its
# figures. A slow box may not get far enough in time.
whole() { # NAME COMMAND...
	local name=$1 code=0
	shift
	rm -f "$tmp/x.jsonl"
	"$@" --output "$tmp/x.jsonl" >"$tmp/out" 2>"$tmp/err" || code=$?
	if [[ $code == 4 ]]; then
		skip "$name" "$(jq -r .reason "$tmp/x.jsonl")"
	elif jq -es 'length == 1 and (.[0] | (.metrics | length > 4) and (.checks | length > 2)
		and if .status == "ok" then .reason == null and all(.checks[]; .ok)
		else .status == "fail" and (.reason | test("^(oom_kills|pswpout|limit_hits): wanted")) end)' \
		"$tmp/x.jsonl" >/dev/null; then
		printf '# %s\n' "$(jq -r '.status + " " + (.reason // "")' "$tmp/x.jsonl")"
		result "$name" 0
	else
		result "$name" 1 "exit $code: $(jq -c '[.status, .reason]' "$tmp/x.jsonl")"
	fi
}
if [[ -n $swap ]]; then
	whole zram "$reclaim" --scale smoke --variant "swap=zram,$lru"
	same_box box-after-zram
	whole by-work "$reclaim" --scale smoke --variant "swap=zram,end=ops,$lru"
	same_box box-after-work
else
	skip zram 'no zram here'
fi
BEFORE_AFTER_SWAP_DEVICE=$tmp/dir whole file "$reclaim" --scale smoke --variant "swap=file,$lru"
[[ -z $(ls "$tmp/dir") ]] || result swap-file-removed 1 "$(ls "$tmp/dir")"
same_box box-after-file
whole neighbour "$neighbour" --scale smoke
same_box box-after-neighbour

# --- kill -9 --------------------------------------------------------------------------------------

kill_at() { # NAME SECONDS COMMAND...
	local name=$1 pid
	sleep "$2" &
	local timer=$!
	shift 2
	"$@" >/dev/null 2>&1 &
	pid=$!
	wait "$timer"
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	"$reclaim" --cleanup >/dev/null 2>"$tmp/err" || {
		result "$name" 1 "cleanup: $(tail -1 "$tmp/err")"
		return
	}
	same_box "$name"
}
kills=${KILLS:-10}
for ((i = 1; i <= kills; i++)); do
	seconds=$((RANDOM % 7)).$((RANDOM % 10))
	if ((i % 4 == 3)); then
		kill_at "kill-$i-neighbour-after-${seconds}s" "$seconds" "$neighbour"
	elif [[ -z $swap ]] || ((i % 4 == 1)); then
		BEFORE_AFTER_SWAP_DEVICE=$tmp/dir kill_at "kill-$i-file-after-${seconds}s" "$seconds" \
			"$reclaim" --variant "swap=file,$lru"
	else
		kill_at "kill-$i-zram-after-${seconds}s" "$seconds" "$reclaim" --variant "swap=zram,$lru"
	fi
done
if [[ -n $(ls "$tmp/dir") ]]; then
	result kills-leave-no-file 1 "$(ls "$tmp/dir")"
else
	result kills-leave-no-file 0
fi

summary reclaim
