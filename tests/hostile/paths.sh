#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Root writes results below a directory that another user can write: whatever that user puts there, and
# however fast he exchanges it, nothing is written, made or changed where he has no right to. RACES: how
# many runs against an attacker that never rests (6).
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
own_box "$@"
export BEFORE_AFTER_TIMEOUT=60
readonly races=${RACES:-6} attacker=$build/tests/hostile/attacker
read -r boot </proc/sys/kernel/random/boot_id
chmod 0755 "$tmp"
cp "$attacker" "$tmp/attacker" # nobody may not be able to reach the project
mkdir "$tmp/root"

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# What is root's alone, and how it is: the names, the contents, the times.
roots() {
	find "$tmp/root" -printf '%p %m %u %n %s %T@ %C@\n' | sort
	find "$tmp/root" -type f -exec cat {} +
}

fresh() { # a directory of nobody's and one of root's
	rm -rf "$tmp/root" "$tmp/his"
	mkdir -m 0755 "$tmp/root"
	echo 'precious' >"$tmp/root/file"
	mkdir "$tmp/his"
	chown 65534:65534 "$tmp/his"
	roots >"$tmp/roots"
}

run_there() { # DIRECTORY
	code=0
	./run.sh --case shmem-truncate --variant op=punch,folio=4k --scale smoke --runs 1 --events '' --label l \
		--results "$1" >"$tmp/out" 2>"$tmp/err" || code=$?
}

untouched() { # NAME
	if roots | cmp -s - "$tmp/roots"; then
		result "$1" 0
	else
		result "$1" 1 "$(roots | diff "$tmp/roots" - | head -4 | tr '\n' ' ')"
	fi
}

refused() { # NAME PATTERN
	untouched "$1"
	if ((code == 99)) && grep -q "$2" "$tmp/err"; then
		result "$1, and says so" 0
	else
		result "$1, and says so" 1 "exit $code: $(tail -1 "$tmp/err")"
	fi
}

# --- put there before ---------------------------------------------------------------------------

fresh
as_nobody ln -s "$tmp/root" "$tmp/his/results"
run_there "$tmp/his/results"
refused 'results is a link to a directory of root' 'a symbolic link that another user could have put there'

fresh
as_nobody mkdir "$tmp/his/results"
as_nobody ln -s "$tmp/root" "$tmp/his/results/l"
run_there "$tmp/his/results"
refused 'the label is a link to a directory of root' 'a symbolic link that another user could have put there'

fresh
as_nobody mkdir -p "$tmp/his/results/l"
as_nobody ln -s "$tmp/root/file" "$tmp/his/results/l/$boot.jsonl"
run_there "$tmp/his/results"
refused 'the records are a link' 'symbolic links'

fresh
as_nobody mkdir -p "$tmp/his/results/l"
as_nobody ln -s "$tmp/root/file" "$tmp/his/results/l/$boot.env.json"
run_there "$tmp/his/results"
refused 'the environment is a link' 'wanted an environment file'

fresh
as_nobody mkdir -p "$tmp/his/results/l"
as_nobody mkfifo "$tmp/his/results/l/$boot.env.json"
run_there "$tmp/his/results"
refused 'the environment is a pipe' 'found another kind'

fresh
as_nobody mkdir -p "$tmp/his/results/l"
ln "$tmp/root/file" "$tmp/his/results/l/$boot.jsonl" # as where fs.protected_hardlinks is 0
roots >"$tmp/roots"
run_there "$tmp/his/results"
refused 'the records are a second name' 'wanted a file of one name'

for name in report.md "$boot.env.json.new" "$boot.jsonl.torn" report.md.new; do
	fresh
	as_nobody mkdir -p "$tmp/his/results/l"
	as_nobody ln -s "$tmp/root/file" "$tmp/his/results/l/$name"
	[[ $name != *.torn ]] || printf torn | as_nobody tee "$tmp/his/results/l/$boot.jsonl" >/dev/null
	run_there "$tmp/his/results"
	untouched "$name is a link"
done

# A link of root's own is followed: results may lie elsewhere.
fresh
mkdir "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$tmp/mine"
run_there "$tmp/mine"
holds 'a link of our own is followed' test "$code" == 0 -a -s "$tmp/elsewhere/l/$boot.jsonl"

# --- swap ---------------------------------------------------------------------------------------

fresh
"$build/cases/dirty-reclaim" --describe >/dev/null 2>&1 || skip 'swap files' 'dirty-reclaim was not built'
mkdir "$tmp/his/root-made"
lru=lru=classic
[[ ! -e /sys/kernel/mm/lru_gen/enabled ]] || lru=lru=mglru
for dir in "$tmp/his" "$tmp/his/root-made" /tmp; do
	code=0
	BEFORE_AFTER_SWAP_DEVICE=$dir "$build/cases/dirty-reclaim" --scale smoke --variant "swap=file,$lru" \
		>"$tmp/out" 2>"$tmp/err" || code=$?
	if ((code == 4)) && grep -q 'which others can write' "$tmp/out"; then
		result "no swap file in ${dir#"$tmp"/}" 0
	else
		result "no swap file in ${dir#"$tmp"/}" 1 "exit $code: $(tail -1 "$tmp/out")"
	fi
done

# --- exchanged all the time ---------------------------------------------------------------------

# Each place in turn is a link every few microseconds; runs go on over it.
places=(results results/l "results/l/$boot.jsonl" "results/l/$boot.env.json" results/l/report.md
	"results/l/$boot.env.json.new")
wrote=0
for ((i = 0; i < races; i++)); do
	place=${places[i % ${#places[@]}]}
	fresh
	as_nobody mkdir -p "$tmp/his/results/l"
	target=$tmp/root
	[[ $place == *l || $place == results ]] || target=$tmp/root/file
	setsid setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/attacker" "$tmp/his/$place" "$target" 2>/dev/null &
	pid=$!
	for _ in 1 2 3; do
		run_there "$tmp/his/results"
		wrote=$((wrote + (code == 0)))
	done
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null || true
	untouched "race for $place"
done
printf '# %d of %d runs against an attacker wrote their records\n' "$wrote" $((3 * races))

# Predictable names that a shared /tmp would let others take: none of ours appears there.
box_is_now
fresh
run_there "$tmp/elsewhere"
box_as_it_was_at_once
result 'nothing in /tmp, /run and /dev/shm' "$([[ -z $LEFT ]] && echo 0 || echo 1)" "$LEFT"
summary paths
