#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of ci/ab.sh, of its boots and of qemu at random moments: no process and no file is left outside
# the comparison's own directory, the same command then goes on to its end, and no boot counts twice.
# KILLS: how many (6); HOSTILE_SEED.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
wants_guest guests-killed
own_box "$@"
# The machine's settings and devices are nothing to guests.
settings() { :; }
devices() { :; }

# --- a boot that was killed when its records were there already: no guest is needed ----------------

mkdir -p "$tmp/fake"
cp -r ci "$tmp/fake/ci"
cat >"$tmp/fake/ci/boot.sh" <<'END'
#!/bin/bash
set -euo pipefail
while (($#)); do
	case $1 in --results) results=$2 ;; --boot-dir) dir=$2 ;; --label) label=$2 ;; esac
	shift
done
read -r id </proc/sys/kernel/random/uuid
mkdir -p "$dir/share" "$results/$label"
jq -n --arg boot "$id" '{schema: 1, boot: $boot, exit: 0, signal: null}' >"$dir/share/exit.json"
touch "$results/$label/$id.env.json" "$results/$label/$id.jsonl"
[[ -e $results/killed ]] || { touch "$results/killed" && kill -KILL $$; }
END
boots() {
	code=0
	"$tmp/fake/ci/boots.sh" --out "$tmp/boots" --kernel k=none --boots 1 --engine tcg -- --runs 1 >"$tmp/out" 2>"$tmp/err" || code=$?
}
boots
result 'a boot killed with its records delivered fails' "$((code != 125))" "exit $code: $(tail -1 "$tmp/err")"
boots
result '.. and is done again' "$code" "exit $code: $(tail -1 "$tmp/err")"
result '.. and counts once' "$([[ $(find "$tmp/boots/k" -name '*.jsonl' | wc -l) == 1 ]] && echo 0 || echo 1)" "$(ls "$tmp/boots/k")"

# --- guests -----------------------------------------------------------------------------------------

start() { # OUT: in a session of its own; its pid in $started
	setsid ci/ab.sh --before "$image" --after "$image" --boots 2 --engine tcg --jobs 2 --runs 1 --memory 512M \
		--scale smoke --case shmem-truncate --variant op=punch --gate none --timeout 3600 --out "$1" \
		>"$tmp/out" 2>"$tmp/err" &
	started=$!
}

victims() { # VICTIM
	case $1 in
	ab.sh) echo "$started" ;;
	boot.sh) pgrep -f '^bash .*ci/boot.sh --kernel' || true ;;
	*) pgrep '^qemu-system' || true ;;
	esac
}

# Kills the victim at the moment, or as soon afterwards as there is one. False: all had ended.
kill_at() { # VICTIM
	local found
	start "$tmp/killed"
	sleep_a_part_of "$whole"
	while kill -0 "$started" 2>/dev/null; do
		mapfile -t found < <(victims "$1")
		[[ -n ${found[0]:-} ]] && kill -KILL "${found[RANDOM % ${#found[@]}]}" 2>/dev/null && return 0
		sleep 0.1
	done
	return 1
}

# The records of a comparison: the side and the run of each, without what differs from boot to boot.
records_of() { # OUT
	(cd "$1" && find . -path ./boots -prune -o -name '*.jsonl' -print | sort) | while read -r file; do
		jq -r --arg side "$(dirname "$file")" '[$side, .case, .variant, .run, .status] | join(" ")' "$1/$file"
	done | sort
}

began=$(now_ms) code=0
start "$tmp/whole"
wait "$started" || code=$?
whole=$(($(now_ms) - began))
result 'a comparison that nobody kills' "$code" "exit $code: $(tail -1 "$tmp/err")"
records_of "$tmp/whole" >"$tmp/wanted"
holds '.. has measured' grep -q ' ok$' "$tmp/wanted"
box_is_now

victims=(ab.sh boot.sh qemu)
killed=0 again=0
while ((killed < ${KILLS:-6} && again < 10 * ${KILLS:-6})); do
	victim=${victims[killed % 3]} code=0
	if ! kill_at "$victim"; then
		wait "$started" || true
		rm -rf "$tmp/killed" # It had ended: the next one has it all to do again.
		again=$((again + 1))
		continue
	fi
	{ wait "$started" || code=$?; } 2>/dev/null
	killed=$((killed + 1))
	box_as_it_was
	result "kill-$killed-$victim-after-$MS-ms-of-$whole" "$([[ -z $LEFT && $code != 0 ]] && echo 0 || echo 1)" \
		"exit $code; ${LEFT//$'\n'/; }"
	printf '# exit %d, %s of 4 boots done\n' "$code" "$(find "$tmp/killed/boots" -name 'done' 2>/dev/null | wc -l)"
done
result "all of the kills came" "$((killed < ${KILLS:-6}))" "only $killed"
code=0
start "$tmp/killed"
wait "$started" || code=$?
result 'and in the end it is done' "$code" "exit $code: $(tail -1 "$tmp/err")"
records_of "$tmp/killed" >"$tmp/found"
result '.. with the records of one that nobody killed' "$(cmp -s "$tmp/wanted" "$tmp/found" && echo 0 || echo 1)" \
	"$(diff "$tmp/wanted" "$tmp/found" | head -4 | tr '\n' ' ')"
box_as_it_was
result 'the box as it was' "$([[ -z $LEFT ]] && echo 0 || echo 1)" "$LEFT"
summary guests
