#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of ci/ab.sh, of its boots and of qemu at random moments: no process and no file is left outside
# the comparison's own directory, and the same command then goes on to its end. Not natively a box's
# matter: it boots the newest image that is in the cache. KILLS: how many (6); HOSTILE_SEED.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
image=$(find "${XDG_CACHE_HOME:-$HOME/.cache}/before-after/images" -name bzImage -printf '%T@ %p\n' 2>/dev/null |
	sort -n | tail -1 | cut -d ' ' -f 2)
if [[ -z $image ]] || ! command -v qemu-system-x86_64 >/dev/null; then
	printf 'ok guests-killed # SKIP wanted qemu and an image in the cache: make kernel\n'
	exit 0
fi
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
own_box "$@"

start() { # OUT: in a session of its own; its pid in $started
	setsid ci/ab.sh --before "$image" --after "$image" --boots 1 --engine tcg --jobs 2 --runs 1 --memory 512M \
		--case shmem-truncate --variant op=punch --gate none --out "$1" >"$tmp/out" 2>"$tmp/err" &
	started=$!
}

victims() { # VICTIM
	case $1 in
	ab.sh) echo "$started" ;;
	boot.sh) pgrep -f '^bash .*ci/boot.sh --kernel' || true ;;
	*) pgrep '^qemu-system' || true ;;
	esac
}

began=$(now_ms) code=0
start "$tmp/whole"
wait "$started" || code=$?
whole=$(($(now_ms) - began))
result 'a comparison that nobody kills' "$code" "exit $code: $(tail -1 "$tmp/err")"
box_is_now

victims=(ab.sh boot.sh qemu)
for ((i = 0; i < ${KILLS:-6}; i++)); do
	victim=${victims[i % 3]} code=0
	start "$tmp/killed"
	sleep_a_part_of "$whole"
	mapfile -t found < <(victims "$victim")
	if [[ -n ${found[0]:-} ]] && kill -KILL "${found[RANDOM % ${#found[@]}]}" 2>/dev/null; then
		{ wait "$started" || code=$?; } 2>/dev/null
		box_as_it_was
		result "$victim-killed-after-$MS-ms-of-$whole" "$([[ -z $LEFT && $code != 0 ]] && echo 0 || echo 1)" \
			"exit $code; ${LEFT//$'\n'/; }"
	else
		wait "$started" || code=$?
		rm -rf "$tmp/killed" # It had ended: the next one has it all to do again.
	fi
done
code=0
start "$tmp/killed"
wait "$started" || code=$?
result 'and in the end it is done' "$code" "exit $code: $(tail -1 "$tmp/err")"
box_as_it_was
result 'the box as it was' "$([[ -z $LEFT ]] && echo 0 || echo 1)" "$LEFT"
summary guests
