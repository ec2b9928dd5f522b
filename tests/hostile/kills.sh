#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of every process of a run, at random moments of its life, of every case: after the next
# start the box is as it was. KILLS: how many (23); HOSTILE_SEED.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
own_box "$@"
readonly kills=${KILLS:-23}
results=$tmp/results
# Swap files are not for tmpfs.
swap=$(mktemp -d "$build/hostile.XXXXXX")
trap '[[ -z ${loop:-} ]] || losetup -d "$loop"; rm -rf "$tmp" "$swap"' EXIT

# --- what is run, and what there is to kill -----------------------------------------------------

lru=lru=classic
[[ ! -e /sys/kernel/mm/lru_gen/enabled ]] || lru=lru=mglru
declare -A variants=(
	[shmem-truncate]='op=close,state=swapped-half op=punch'
	[pagecache-truncate]='fs=ext4,state=dirty fs=xfs counted=yes'
	[shadow-entries]='evict=memcg evict=pageout'
	[dirty-reclaim]="swap=file,end=ops,$lru swap=zram,end=ops,$lru"
	[truncate-neighbour]='all'
)
declare -A servers=([shadow-entries]=fuse-server [dirty-reclaim]=stress-ng [truncate-neighbour]=fio)

declare -A length=() # of a whole run, ms: kills come at a part of it
jobs=() # CASE VARIANT VICTIM

start() { # CASE VARIANT: in a session of its own; its pid in $started
	local more=()
	[[ $2 != *swap=file* ]] || more=(--swap-device "$swap")
	[[ $1 != dirty-reclaim ]] || more+=(--size 64M)
	setsid ./run.sh --case "$1" --variant "$2" --scale smoke --runs 1 --label killed \
		--results "$results" "${more[@]}" >"$tmp/run.out" 2>"$tmp/run.err" &
	started=$!
}

for binary in "$build"/cases/*; do
	name=${binary##*/}
	for variant in ${variants[$name]:-all}; do
		for victim in run.sh parent inner perf ${servers[$name]:-}; do
			[[ $victim == perf ]] && ! command -v perf >/dev/null || jobs+=("$name $variant $victim")
		done
	done
done

records() {
	find "$results" -name '*.jsonl' -exec cat {} +
}

# How long a whole run takes; 0 where it is a skip.
measure() { # CASE VARIANT
	local began code=0
	began=$(now_ms)
	start "$1" "$2"
	wait "$started" || code=$?
	length[$1 $2]=$(($(now_ms) - began))
	((code != 4)) || length[$1 $2]=0
}

# --- a kill -------------------------------------------------------------------------------------

# The pids of the victim of the run that is under way.
victims() { # CASE VICTIM
	local parent
	parent=$(pgrep -P "$started" -x "${1:0:15}") || true
	case $2 in
	run.sh) echo "$started" ;;
	parent) echo "$parent" ;;
	inner) pgrep -f "^$build/cases/$1 --inner( |\$)" || true ;;
	stress-ng) pgrep '^stress-ng' || true ;;
	*) pgrep -x "$2" || true ;;
	esac
}

# Kills the victim at the moment, or as soon afterwards as there is one. False: the run had ended, which is
# then how long one takes: the box may have become faster.
kill_at() { # CASE VARIANT VICTIM MS
	local found began
	began=$(now_ms)
	start "$1" "$2"
	while kill -0 "$started" 2>/dev/null && (($(now_ms) - began < $4)); do
		sleep 0.01
	done
	while kill -0 "$started" 2>/dev/null; do
		mapfile -t found < <(victims "$1" "$3")
		[[ -n ${found[0]:-} ]] || continue
		kill -KILL "${found[RANDOM % ${#found[@]}]}" 2>/dev/null || continue
		return 0
	done
	length[$1 $2]=$(($(now_ms) - began))
	return 1
}

# What a run that lost a process may say of itself: all that an ok run has, or why not; and of a process
# of ours, never that the kernel or the workload failed.
honest() { # VICTIM
	records | jq -es --arg victim "$1" 'all(.[];
		if .status == "ok" then (.metrics | length > 0) and all(.checks[]; .ok) and .reason == null
		else (.reason | length > 0) and (.status != "fail" or ($victim | IN("fio", "stress-ng"))
			or (.reason | startswith("oom_kills"))) end)' >/dev/null
}

next_start() { # what was killed may take a while to let go of the lock
	local end=$((SECONDS + 30)) code=0
	while ./run.sh --cleanup >"$tmp/out" 2>"$tmp/err" && return 0 || code=$?; do
		grep -q 'another before-after holds' "$tmp/err" && ((SECONDS < end)) || return "$code"
		sleep 0.1
	done
}

undone=0
kill_one() { # NUMBER CASE VARIANT VICTIM
	local ms whole name="kill-$1-$4-of-$2" code=0 tries=0
	[[ -n ${length[$2 $3]:-} ]] || measure "$2" "$3"
	whole=${length[$2 $3]}
	ms=$((RANDOM * whole / 32768))
	((whole > 0)) || {
		skip "$name" "$3: $(records | jq -rs 'last.reason')"
		return
	}
	until kill_at "$2" "$3" "$4" "$ms"; do
		wait "$started" || true
		whole=${length[$2 $3]} tries=$((tries + 1))
		ms=$((tries < 8 ? RANDOM * whole / 32768 : 0))
		((tries < 10)) || {
			result "$name" 1 "$3: no $4 to kill even at $ms ms"
			return
		}
	done
	{ wait "$started" || code=$?; } 2>/dev/null
	if ! next_start; then
		result "$name" 1 "$3, after $ms ms: the next start: $(tail -1 "$tmp/err")"
		return
	fi
	# By run.sh's own next run, where that was not killed.
	undone=$((undone + $(cat "$tmp/run.err" "$tmp/err" | grep -c '^# undoing' || true)))
	box_as_it_was
	[[ $(ls "$swap") == $'before-after-swap-1\ndisk' ]] || LEFT+="swap files: $(ls "$swap")"
	if [[ -n $LEFT ]]; then
		result "$name" 1 "$3, after $ms ms: ${LEFT//$'\n'/; }"
	elif ((code != 0 && code != 1 && code != 99 && code != 137)); then
		result "$name" 1 "$3, after $ms ms: exit $code"
	elif ! honest "$4"; then
		result "$name" 1 "$3, after $ms ms: $(records | jq -c '[.status, .reason]' | tr '\n' ' ')"
	else
		result "$name" 0
	fi
	printf '# %s after %d ms of %d: exit %d\n' "$3" "$ms" "$whole" "$code"
}

# The victims in turn, each of another variant of its case the next time round.
mapfile -t jobs < <(printf '%s\n' "${jobs[@]}" | sort -k 1,1 -k 3,3 | awk '{ print ++n[$1 $3], $0 }' |
	sort -s -k 1,1n | cut -d ' ' -f 2-)
./run.sh --cleanup 2>/dev/null # makes the journal
# What has our names and is not ours: it must still be there, as it is, in the end.
echo other >"$swap/before-after-swap-1"
mkdir /tmp/before-after "/run/before-after-other" ${HOSTILE_CAGE:+"$HOSTILE_CAGE/before-after-1-other-0"}
truncate -s 1M "$swap/disk"
loop=$(losetup -f --show "$swap/disk" 2>/dev/null) || loop=''
box_is_now
for ((i = 0; i < kills && ${#jobs[@]}; i++)); do
	read -r name variant victim <<<"${jobs[i % ${#jobs[@]}]}"
	rm -f "$results"/killed/*.jsonl
	kill_one $((i + 1)) "$name" "$variant" "$victim"
done
printf '# %d changes were undone by the next start\n' "$undone"
((undone > 0)) || result kills-come-while-something-is-changed 1 'nothing was to be undone'

if [[ -n $loop ]]; then
	holds "others' loop device" test "$(losetup -n -O BACK-FILE "$loop")" == "$swap/disk"
fi

# Afterwards all is well, and nothing but records and reports is below the results: half a table of a
# process that is no more goes, that of one that may be writing it stays.
touch "$results/killed/report.md.before-after-"{99999999,1}.abcdef
start shmem-truncate op=punch
holds a-run-after-all-kills wait "$started"
holds half-a-table-of-one-that-lives-stays rm "$results/killed/report.md.before-after-1.abcdef"
odd=$(find "$results" -type f ! -name '*.jsonl' ! -name '*.env.json' ! -name report.md ! -name '*.torn')
result no-odd-files-below-results "$([[ -z $odd ]] && echo 0 || echo 1)" "$odd"
summary kills
