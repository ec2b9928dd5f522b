#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# shadow-entries where it is bad: what is missing is a skip, what breaks is told in one line, nothing
# hangs, and afterwards nothing is mounted, no process and no cgroup is left.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly case=$PWD/${BEFORE_AFTER_BUILD:-build}/cases/shadow-entries
if [[ $EUID != 0 || ! -x $case || ! -c /dev/fuse ]]; then
	printf 'ok 1 shadow-entries # SKIP wanted root, /dev/fuse and a build with fuse3\n'
	exit 0
fi
# shellcheck source=tests/harness/lib.sh
. tests/harness/lib.sh
number=0

report() { # NAME WHY, "" when it holds
	number=$((number + 1))
	printf '%sok %d %s%s\n' "${2:+not }" "$number" "$1" "${2:+: $2}"
	[[ -z $2 ]] || failed=$((failed + 1))
}

cgroups() {
	find /sys/fs/cgroup -type d -name "before-after-${1:-*}-shadow-entries-*" 2>/dev/null || true
}

# The case leads its process group; a process that died but is not reaped yet is nobody's leak.
servers_of() {
	ps -eo pid=,pgid=,comm=,stat= | awk -v p="$1" '$2 == p && $3 == "fuse-server" && $4 !~ /^Z/ {print $1}'
}

# What of the run that was process PID is there.
left_of() {
	cgroups "$1"
	ps -eo pgid=,comm= | awk -v p="$1" '$1 == p'
	grep -h before-after /proc/self/mountinfo || true
}

# NAME CODE PATTERN COMMAND..: exit code, and the pattern in its one line
ends() {
	local name=$1 want=$2 pattern=$3 code=0 why=''
	shift 3
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	if [[ $code != "$want" ]]; then
		why="wanted exit $want, found $code: $(tail -1 "$tmp/out") $(head -1 "$tmp/err")"
	elif ! grep -qE -- "$pattern" "$tmp/out"; then
		why="wanted /$pattern/, found: $(tail -1 "$tmp/out")"
	fi
	report "$name" "$why"
}

# --- what is missing ----------------------------------------------------------------------------

# Runs its arguments from the second on with what the first does to the mounts.
with=(unshare -m bash "$tmp/with")
mkdir "$tmp/dev"
mknod "$tmp/dev/null" c 1 3
smoke=("$case" --scale smoke)
available=$(awk '$1 == "MemAvailable:" {printf "%.0f", $2 * 1024}' /proc/meminfo)

ends 'no /dev/fuse' 4 'SKIP wanted /dev/fuse, found: No such file' \
	"${with[@]}" "mount --bind $tmp/dev /dev" "${smoke[@]}"
ends 'a /dev/fuse that is none' 4 'SKIP wanted the right to mount FUSE on .*, found: ' \
	"${with[@]}" 'mount --bind /dev/null /dev/fuse' "${smoke[@]}"
ends 'no right to mount' 4 'SKIP wanted .*, found: Operation not permitted' \
	setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "${smoke[@]}"
ends 'memory too small for the nodes' 4 'SKIP wanted [0-9]+ MiB of available memory, found [0-9]+ MiB' \
	"$case" --size "$((available * 400 >> 21 << 21))"
ends 'a kernel before 6.5' 4 'SKIP wanted kernel 6.5 or newer, found 2.6' \
	setarch "$(uname -m)" --uname-2.6 "${smoke[@]}"
ends 'no memcg, evict=pageout' 0 '^ok 1' "${with[@]}" 'umount -R /sys/fs/cgroup' "${smoke[@]}" \
	--variant evict=pageout --output "$tmp/none.jsonl"
report 'no memcg, as recorded' "$(jq -r '.identity.memcg | select(. != "none")' "$tmp/none.jsonl")"
ends 'no memcg, default' 4 'SKIP wanted a mounted cgroup hierarchy.*; evict=pageout does without' \
	"${with[@]}" 'umount -R /sys/fs/cgroup' "${smoke[@]}"

# --- what breaks --------------------------------------------------------------------------------

# The server of the run that is process PID has worked for 0.2 s, or the run has ended.
serves() { # PID
	local server ticks
	! ended "$1" || return 0
	server=$(servers_of "$1")
	[[ -n $server ]] || return 1
	ticks=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
	((ticks * 5 >= $(getconf CLK_TCK)))
}

ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# NAME CODE PATTERN SIGNAL WHOM: while the file is being filled; WHOM is case or server
breaks() {
	local name=$1 want=$2 pattern=$3 signal=$4 whom=$5 code=0 why='' pid server
	shift 5
	BEFORE_AFTER_TIMEOUT=${LIMIT:-60} setsid "$case" --size 100G "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	until_is serves "$pid"
	server=$(servers_of "$pid")
	if [[ $whom == case ]]; then
		kill "-$signal" "$pid"
	else
		kill "-$signal" "$server"
	fi
	until_is ended "$pid"
	if kill -0 "$pid" 2>/dev/null; then
		why='hangs'
		kill -KILL "$pid" "$server"
	fi
	{ wait "$pid" || code=$?; } 2>/dev/null
	if [[ -z $why && $code != "$want" ]]; then
		why="wanted exit $want, found $code"
	elif [[ -z $why ]] && ! grep -qE -- "$pattern" "$tmp/err" "$tmp/out"; then
		why="wanted /$pattern/, found: $(tail -1 "$tmp/out")"
	elif [[ -z $why ]] && (($(wc -l <"$tmp/err") > 1)); then
		why="wanted one line on standard error, found $(wc -l <"$tmp/err")"
	fi
	if [[ $signal == KILL && $whom == case ]]; then
		[[ -n $(cgroups "$pid") || ! -d /sys/fs/cgroup ]] || why+=' wanted a cgroup left by kill -9, found none'
		left_after servers_of "$pid" # which may take a while to let go of the lock
		"$case" --cleanup 2>/dev/null || why+=" --cleanup: exit $?"
	fi
	left_after left_of "$pid"
	report "$name" "$why${LEFT:+left: $LEFT}"
}

breaks 'the server dies' 99 'broken: .*(server|Transport endpoint|Software caused)' KILL server
breaks 'the server dies, without perf' 99 'broken: .*(server|Transport endpoint|Software caused)' \
	KILL server --events ''
LIMIT=8 breaks 'the server does not answer' 99 'broken: timed out after 8 s' STOP server
LIMIT=8 breaks 'the server does not answer, without perf' 99 'broken: timed out after 8 s' STOP server \
	--events ''
breaks 'SIGINT' 99 'broken: interrupted: Interrupt' INT case
breaks 'SIGTERM' 99 'broken: interrupted: Terminated' TERM case
# The shell tells of a killed job.
breaks 'kill -9, and what the next start undoes' 137 '' KILL case 2>/dev/null

# --- what holds ---------------------------------------------------------------------------------

for op in truncate dontneed inval; do
	for evict in pageout memcg; do
		"$case" --scale smoke --variant "op=$op,evict=$evict" --output "$tmp/runs.jsonl" >/dev/null || true
		report "op=$op,evict=$evict" "$(tail -1 "$tmp/runs.jsonl" | jq -r '
			select(.status != "ok" or .params.pages != 16384 or .checks.evicted_before.got < 16368
				or .checks.cached_before.got != 0 or .checks.evicted_after.got != 0
				or (.metrics.time_per_page.value > 0 | not)) | "\(.status) \(.reason) \(.checks)"')"
	done
done

printf '# %d tests, %d failed\n' "$number" "$failed"
((failed == 0))
