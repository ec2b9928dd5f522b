# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the harness tests share: a run directory of their own, TAP lines, and what must be the same of
# the box afterwards. Sourced after `set -euo pipefail`, in the project's directory.

tmp=$(mktemp -d)
mkdir -m 0700 "$tmp/run"
export BEFORE_AFTER_RUN_DIR=$tmp/run
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

result() { # NAME OK [WHY]
	if [[ $2 == 0 ]]; then
		passed=$((passed + 1))
		printf 'ok %s\n' "$1"
	else
		failed=$((failed + 1))
		printf 'not ok %s%s\n' "$1" "${3:+: $3}"
	fi
}

holds() { # NAME COMMAND...
	local name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		result "$name" 0
	else
		result "$name" 1 "$*"
	fi
}

skip() { # NAME WHY
	skipped=$((skipped + 1))
	printf 'ok %s # SKIP %s\n' "$1" "$2"
}

# Ours only: other programs of the box make cgroups and use their swap while a test runs.
box() {
	local thp=/sys/kernel/mm/transparent_hugepage
	cat "$thp/enabled" "$thp/shmem_enabled" "$thp"/hugepages-*/enabled \
		/sys/module/zswap/parameters/enabled /sys/kernel/mm/lru_gen/enabled 2>/dev/null || true
	cut -d ' ' -f 1 /proc/swaps
	cat /proc/self/mountinfo
	ls /sys/block /mnt /media
	find /sys/fs/cgroup -maxdepth 3 -type d -name 'before-after-*' 2>/dev/null | sort
}

# Tests wait for what they need and never for a time: boxes are fast and slow.
until_is() { # COMMAND..: waits for it to be true, 30 s at most; what follows then says what is wrong
	local try
	for ((try = 0; try < 600; try++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
}

# What FUNCTION prints is still there: after at most 15 s, since what was killed may yet have to give its
# memory back. Left in LEFT, "" for nothing.
left_after() { # FUNCTION [ARGUMENT..]
	local try
	for ((try = 0; try < 150; try++)); do
		LEFT=$("$@")
		[[ -n $LEFT ]] || return 0
		sleep 0.1
	done
}

summary() { # NAME: the last line, and the exit code
	printf '%s: %d passed, %d failed, %d skipped\n' "$1" "$passed" "$failed" "$skipped"
	((failed == 0))
}

# A command's own mounts: unshare -m [OPTION..] bash "$tmp/with" WHAT-IS-DONE-TO-THEM COMMAND..
cat >"$tmp/with" <<'END'
set -eu
mount --make-rprivate /
eval "$1"
shift
exec "$@"
END
