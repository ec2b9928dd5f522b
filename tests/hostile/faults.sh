#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every system call of lib/sys, lib/case and the cases failing in turn, one a run: the run is then ok with
# all that it measures, or it says in one line that it is not, and the box is as it was. FAULTS: how
# many, chosen by HOSTILE_SEED (40); all; or those that match a regular expression, as inner:close:.*:EIO.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
own_box "$@"
readonly faults=${FAULTS:-40} programs=$build/tests/hostile
export BEFORE_AFTER_TIMEOUT=30
lru=lru=classic
[[ ! -e /sys/kernel/mm/lru_gen/enabled ]] || lru=lru=mglru

# What is run: the case, its arguments, its events; perf starts take most of the time, so only two have it.
runs=(
	"shmem-truncate op=close,state=swapped-half task-clock"
	"shmem-truncate op=undo,fill=write"
	"shmem-truncate op=punch,folio=pmd"
	"pagecache-truncate fs=ext4,state=dirty"
	"pagecache-truncate fs=tmpfs,state=dirty"
	"shadow-entries evict=memcg"
	"shadow-entries evict=pageout"
	"truncate-neighbour all"
	"dirty-reclaim swap=zram,end=ops,$lru"
)

run_it() { # RUN: with what is in the environment; its exit code in $code
	local name variant events arguments
	read -r name variant events <<<"$1"
	arguments=(--scale smoke --events "$events" --output "$tmp/x.jsonl")
	[[ $variant == all ]] || arguments+=(--variant "$variant")
	[[ $name != dirty-reclaim ]] || arguments+=(--size 16M)
	rm -f "$tmp"/x.*
	code=0
	setsid timeout -s KILL 60 "$programs/$name" "${arguments[@]}" >"$tmp/out" 2>"$tmp/err" || code=$?
}

# --- what there is to fail ----------------------------------------------------------------------

# "SITE FUNCTION FILE:LINE" of all places of a trace.
places() { # CASE TRACE
	local sites
	mapfile -t sites < <(cut -d ' ' -f 4 "$2" | sort -u)
	# A return address is behind its call.
	for site in "${sites[@]}"; do printf '0x%x\n' $((0x$site - 1)); done |
		addr2line -f -s -e "$programs/$1" | paste -d ' ' - - |
		paste -d ' ' <(printf '%s\n' "${sites[@]}") -
}

# The first calls from each place, and the errors they fail with: those that say different things and,
# of a call that a signal can end or that can do a part, these too. A place that more than one run comes
# by is looked at in the first.
plan() { # RUN-NUMBER TRACE PLACES
	awk -v run="$1" '
		FILENAME ~ /places$/ { place[$1] = $2 " " $3; next }
		$1 != "call" || seen[$2, $3, $4, $5]++ { next }
		$5 <= 3 || $5 == 8 {
			n = split("ENOSPC EIO EPERM ENOMEM", e, " ")
			if ($3 ~ /^(read|write|pread64|pwrite64|open64|openat64|flock|fallocate64|ftruncate64|fsync|dup2|ioctl|waitpid|poll|close|swapoff)$/)
				e[++n] = "EINTR"
			if ($3 ~ /^(read|write|pread64|pwrite64)$/)
				e[++n] = "SHORT"
			for (i = 1; i <= n; i++)
				if ($5 == 1 || e[i] ~ /EIO|EINTR|SHORT/)
					print run, $2 ":" $3 ":" $4 ":" $5 ":" e[i], place[$4]
		}' "$3" "$2"
}

: >"$tmp/plan"
for number in "${!runs[@]}"; do
	read -r name _ <<<"${runs[number]}"
	BEFORE_AFTER_FAULT_TRACE=$tmp/trace run_it "${runs[number]}"
	cp "$tmp/x.jsonl" "$tmp/reference.$number"
	echo "$code" >"$tmp/reference.$number.code"
	printf '# %s: %d places, exit %d\n' "${runs[number]}" "$(cut -d ' ' -f 2-4 "$tmp/trace" | sort -u | wc -l)" "$code"
	places "$name" "$tmp/trace" >"$tmp/places"
	plan "$number" "$tmp/trace" "$tmp/places" >>"$tmp/plan"
	rm -f "$tmp/trace"
done
awk '{ split($2, f, ":") } !seen[f[1], f[2], f[4], f[5], $3, $4]++' "$tmp/plan" >"$tmp/once"
count=$faults
[[ $faults =~ ^[0-9]+$ ]] || count=$(wc -l <"$tmp/once")
[[ $faults =~ ^[0-9]+$ || $faults == all ]] || {
	mv "$tmp/once" "$tmp/all"
	grep -E -- "$faults" "$tmp/all" >"$tmp/once" || true
}
shuf -n "$count" --random-source=<(yes "$seed") "$tmp/once" >"$tmp/chosen"
printf '# %d faults of %d\n' "$(wc -l <"$tmp/chosen")" "$(wc -l <"$tmp/once")"

# --- one fault ----------------------------------------------------------------------------------

# Why the end of the run is not one that it may have; nothing where it is.
wrong() { # RUN-NUMBER ERROR PLACE
	local was
	was=$(<"$tmp/reference.$1.code")
	case $code in
	0 | 1 | 4 | 99) ;;
	*)
		echo "exit $code"
		return
		;;
	esac
	# What is timed is not called again.
	if [[ $2 == EINTR && $code != "$was" && ! ($code == 99 && $3 == measure*) ]]; then
		echo "a signal's interruption ended it: exit $code"
	fi
	if ((code == 4)); then
		grep -q '^ok 1 .* # SKIP .' "$tmp/out" || echo 'a skip without a reason'
	elif ((code != 0)) && [[ $(grep -vc '^# undoing' "$tmp/err") != 1 ]]; then
		echo "wanted one line on standard error, found: $(grep -v '^# undoing' "$tmp/err" | paste -s -d '|')"
	fi
	# The record says what the exit does; where that could not be written, none is half written.
	if [[ -s $tmp/x.jsonl ]]; then
		jq -s --argjson code "$code" --arg place "$3" --slurpfile was "$tmp/reference.$1" -r '
			def codes: {ok: 0, fail: 1, skip: 4, broken: 99};
			if length != 1 then "\(length) records"
			elif codes[.[0].status] != $code and $code != 99 then "the record says \(.[0].status)"
			elif $code != 0 then empty
			else .[0] as $now | ($was[0].metrics | to_entries[] | select(.value.value != null)
					| select($now.metrics[.key] | (.value == null) and ((.absent // "") == "")) | "no metric \(.key)"),
				($was[0].checks | keys[] | select($now.checks[.] == null and
					(if . == "pages_above_order_0" then $now.identity.folio != "order not told"
					# Only cachestat(2) tells; to a container it may be forbidden, and older kernels have none.
					elif . == "dirty_pages" then $place | startswith("cachestat ") | not
					else true end)) | "not checked: \(.)"),
				(if ($now.metrics | map(select(.value != null)) | length) == 0 then "nothing was measured" else empty end),
				(if ($now.samples | length) == 0 and ($was[0].samples | length) > 0 then "no samples" else empty end)
			end' "$tmp/x.jsonl" 2>/dev/null || echo 'a record that is no JSON'
	elif [[ $code != 99 ]]; then
		echo 'no record'
	fi
}

# What is left, which a run that could not undo it must have said, and the next start undoes. Of the
# machine's settings and devices others may hold some for a while.
left() {
	box_as_it_was_at_once
	if [[ -n $LEFT && $code != 99 ]]; then
		grep -q '^. own ' <<<"$LEFT" || box_as_it_was
		LEFT_BEHIND=$LEFT
	fi
	[[ -n $LEFT ]] || return 0
	"$build/cases/shmem-truncate" --cleanup 2>"$tmp/cleanup" || LEFT_BEHIND+="; the next start: $(tail -1 "$tmp/cleanup")"
	box_as_it_was
	LEFT_BEHIND+=$LEFT
}

"$build/cases/shmem-truncate" --cleanup 2>/dev/null
box_is_now
declare -A table=()
done_=0 began=$SECONDS
while read -r number fault place; do
	IFS=: read -r role call _ n error <<<"$fault"
	export BEFORE_AFTER_FAULT=$fault
	BEFORE_AFTER_FAULT_TRACE=$tmp/trace run_it "${runs[number]}"
	unset BEFORE_AFTER_FAULT
	done_=$((done_ + 1))
	hit=not-reached
	! grep -q '^hit ' "$tmp/trace" || hit=$code
	rm -f "$tmp/trace"
	table[$error $hit]=$((${table[$error $hit]:-0} + 1))
	LEFT_BEHIND=
	why=$(wrong "$number" "$error" "$place" | paste -s -d ';')
	left
	if [[ -n $why || -n $LEFT_BEHIND ]]; then
		result "${runs[number]}: $role's $call number $n fails with $error in $place" 1 \
			"$why${LEFT_BEHIND:+ left: ${LEFT_BEHIND//$'\n'/; }} (exit $code: $(tail -1 "$tmp/err")) $fault"
		[[ -z $LEFT_BEHIND ]] || box_is_now
	else
		passed=$((passed + 1))
	fi
	((done_ % 100)) || printf '# %d of %d, %d s\n' "$done_" "$(wc -l <"$tmp/chosen")" $((SECONDS - began))
done <"$tmp/chosen"

printf '# %-8s %8s %8s %8s %8s %8s\n' error ok fail skip broken missed
for error in ENOSPC EIO EPERM ENOMEM EINTR SHORT; do
	printf '# %-8s %8d %8d %8d %8d %8d\n' "$error" "${table[$error 0]:-0}" "${table[$error 1]:-0}" \
		"${table[$error 4]:-0}" "${table[$error 99]:-0}" "${table[$error not-reached]:-0}"
done
summary faults
