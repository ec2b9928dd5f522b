# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A box of its own for the tests that kill and break things, and what must be the same of it afterwards.
# Sourced after `set -euo pipefail`, in the project's directory:
#
#   wants_guest T   the kernel that `make kernel` builds, whatever else is in the cache, in $image; ends the
#                   test T as a skip where there is no qemu; before own_box, with which it is not built again
#   own_box "$@"    starts the script again in mount and PID namespaces of its own, with an empty /tmp,
#                   /run, /dev/shm and /var/tmp, and in a memory cgroup of its own; returns in there
#   box_is_now      remembers what must be the same
#   box_as_it_was   what is not, in LEFT: a line each, "" for nothing; .._at_once: without waiting
#
# Whatever is in these places is ours, whoever else works on the machine; run.sh uses its default ones.
# Kernel settings, zram and loop devices are the machine's: what others do to them passes, a leak stays.

# shellcheck disable=SC2034
readonly build=$PWD/${BEFORE_AFTER_BUILD:-build} run_dir=/run/before-after
seed=${HOSTILE_SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}
export HOSTILE_SEED=$seed

wants_guest() { # TEST
	if ! command -v qemu-system-x86_64 >/dev/null; then
		printf 'ok %s # SKIP wanted qemu\n' "$1"
		exit 0
	fi
	image=$(ci/build-kernel.sh)
}

# Nothing of the machine's /tmp is seen but the project, if it lies there.
empty_places() { # STAGE: an empty directory
	local place
	for place in /run /dev/shm /var/tmp; do
		mount -t tmpfs -o mode=1777 hostile "$place"
	done
	chmod 0755 /run
	mount -t tmpfs -o mode=1777 hostile "$1"
	if [[ $PWD == /tmp/* ]]; then
		mkdir -p "$1/${PWD#/tmp/}"
		mount --bind "$PWD" "$1/${PWD#/tmp/}"
	fi
	mount --rbind "$1" /tmp
	cd "$PWD" || exit 1
}

# Prints a new memory cgroup, below which cases then make theirs; nothing where it cannot be.
make_cage() {
	local point own
	point=$(findmnt -n -o TARGET -t cgroup -O memory | head -1)
	if [[ -n $point ]]; then
		own=$(sed -n 's/^[0-9]*:[^:]*\bmemory\b[^:]*://p' /proc/self/cgroup)
		mktemp -d "$point${own%/}/hostile-XXXXXX" 2>/dev/null || true
		return
	fi
	point=$(findmnt -n -o TARGET -t cgroup2 | head -1)
	[[ -n $point ]] || return 0
	mktemp -d "$point/hostile-XXXXXX" 2>/dev/null || true
}

# Version 2: processes in a leaf, so that there can be cgroups beside it.
enter_cage() { # DIRECTORY
	if [[ ! -e $1/cgroup.controllers ]]; then
		echo $$ >"$1/cgroup.procs"
		return
	fi
	mkdir "$1/leaf"
	echo $$ >"$1/leaf/cgroup.procs"
	echo +memory >"$1/cgroup.subtree_control"
}

leave_box() { # DIRECTORY..: what they were for may still be ending
	local dir
	for dir; do
		[[ ! -d $dir ]] || rmdir "$dir" 2>/dev/null || {
			sleep 1
			find "$dir" -depth -type d -exec rmdir {} +
		} || true
	done
}

own_box() {
	local code=0 stage cage
	if [[ -z ${HOSTILE_STAGE:-} ]]; then
		if ((EUID != 0)) || ! unshare -mpf --mount-proc true 2>/dev/null; then
			printf '1..0 # SKIP wanted root and the right to make namespaces\n'
			exit 0
		fi
		stage=$(mktemp -d)
		cage=$(make_cage)
		HOSTILE_STAGE=$stage HOSTILE_CAGE=$cage unshare -mpf --mount-proc --kill-child -- \
			"tests/hostile/${0##*/}" "$@" &
		# Its death is that of all in there.
		trap 'kill -KILL $! 2>/dev/null; exit 130' INT TERM HUP
		trap 'leave_box "$stage" ${cage:+"$cage/leaf" "$cage"}' EXIT
		wait $! || code=$?
		exit "$code"
	fi
	empty_places "$HOSTILE_STAGE"
	[[ -z $HOSTILE_CAGE ]] || enter_cage "$HOSTILE_CAGE"
	# shellcheck source=tests/harness/lib.sh
	. tests/harness/lib.sh
	unset BEFORE_AFTER_RUN_DIR
	printf '# HOSTILE_SEED=%d repeats it\n' "$seed"
	RANDOM=$seed
}

# Processes of this PID namespace but the test's own, which are its process group, and dead ones.
processes() {
	ps -eo pgid=,stat=,comm= | awk -v own="$(ps -o pgid= -p $$)" \
		'$1 != own + 0 && $2 !~ /^Z/ { print "own process", $3 }'
}

# Settings that a case or a probe run may change.
settings() {
	local thp=/sys/kernel/mm/transparent_hugepage f
	for f in "$thp/enabled" "$thp/shmem_enabled" "$thp"/hugepages-*/enabled \
		/sys/module/zswap/parameters/enabled /sys/kernel/mm/lru_gen/enabled \
		/sys/kernel/tracing/{set_ftrace_filter,function_profile_enabled,kprobe_events,current_tracer} \
		/proc/sys/kernel/{ftrace_enabled,perf_event_paranoid} \
		/proc/sys/vm/{swappiness,memfd_noexec,overcommit_memory,drop_caches}; do
		[[ ! -r $f ]] || printf 'shared %s %s\n' "$f" "$(tr '\n' ' ' <"$f")"
	done
}

# What appears among them; that one of somebody else's goes is no concern, but of the first loop
# devices, which are there from the beginning, none goes.
devices() {
	printf 'device %s\n' /sys/block/*
	printf 'shared %s\n' /sys/block/loop[0-7]
	tail -n +2 /proc/swaps | sed 's/ .*//; s/^/device swap /'
	"$build/tests/harness/marks" | sed 's/^/device loop /'
	grep -qs '^brd ' /proc/modules && echo 'device module brd'
	return 0
}

snapshot() {
	sed 's/^/own mount /' /proc/self/mountinfo
	[[ -z $HOSTILE_CAGE ]] || find "$HOSTILE_CAGE" -mindepth 1 -type d -printf 'own cgroup %p\n'
	# shellcheck disable=SC2154 # of tests/harness/lib.sh
	find /tmp /run /dev/shm /var/tmp /mnt /media /srv /opt -xdev -path "$tmp" -prune -o \
		-path "$run_dir/lock" -o -path "$PWD" -prune -o -type d -printf 'own directory %p\n' -o \
		-printf 'own file %p of %s bytes\n' 2>/dev/null
	processes
	settings
	devices
}

box_is_now() {
	snapshot | sort >"$tmp/box"
}

differences() {
	snapshot | sort | diff "$tmp/box" - | grep -v '^< device ' | grep '^[<>]' || true
}

box_as_it_was_at_once() {
	LEFT=$(differences)
}

# What is killed may yet have to give its memory back, and a mount namespace dies in the background:
# own things have 15 s, where only the machine's differ, somebody else may be at work: 90 s.
box_as_it_was() {
	local end=$((SECONDS + 90))
	while LEFT=$(differences) && [[ -n $LEFT ]] && ((SECONDS < end)); do
		((SECONDS < end - 75)) || ! grep -q '^. own ' <<<"$LEFT" || break
		sleep 0.1
	done
}

now_ms() {
	local t=$EPOCHREALTIME
	echo $((${t/./} / 1000))
}

# Sleeps for a random part of so many ms; says of how many in MS.
sleep_a_part_of() { # MS
	MS=$((RANDOM * $1 / 32768))
	sleep "$((MS / 1000)).$(printf '%03d' $((MS % 1000)))"
}
