#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Boot several kernels in turn and keep the records of each. Stopped anywhere, kill -9 included, the same
# command does the boots that are missing. What ci/ab.sh and ci/nightly.sh compare comes from here.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<'END'
usage: ci/boots.sh --out DIR --kernel LABEL=IMAGE.. [options] -- RUN.SH OPTIONS    (as ci/boot.sh)
  --out DIR          records in DIR/LABEL, consoles in DIR/boots; of this caller alone
  --boots N          of each kernel (default 2), in an order that is turned round every time: ABC CBA
  --jobs N           boots at a time (default: under icount, which does not notice, the processors but at
                     most 4; else 1)
  --code-path        the first boot of every kernel also counts which code ran: it is the same in each
  --keep-going       a kernel whose boot fails gets no more; the others do
  --engine NAME --cpus N --memory SIZE --swap SIZE --timeout SECONDS --boot-timeout SECONDS   as ci/boot.sh
On stdout: LABEL, a tab and why, for each kernel of which a boot failed.
Exit: 0 all boots are done, 2 usage, 125 a boot failed.
END
}

OUT='' BOOTS=2 JOBS='' ENGINE='' KEEP_GOING=false CODE_PATH=false LABELS=() IMAGES=() BOOT_ARGS=()
while [ $# -gt 0 ]; do
	case $1 in
	--keep-going) KEEP_GOING=true && shift && continue ;;
	--code-path) CODE_PATH=true && shift && continue ;;
	--help | -h) usage && exit 0 ;;
	--) shift && break ;;
	--out | --kernel | --boots | --jobs | --engine | --cpus | --memory | --swap | --timeout | \
		--boot-timeout)
		[ $# -ge 2 ] || die "$1 needs a value" 2
		;;
	*) die "unknown argument $1 (--help lists them)" 2 ;;
	esac
	case $1 in
	--out) OUT=$2 ;;
	--kernel)
		[[ $2 =~ ^([A-Za-z0-9._-]+)=(.+)$ ]] || die "--kernel: expected LABEL=IMAGE, found '$2'" 2
		LABELS+=("${BASH_REMATCH[1]}") IMAGES+=("${BASH_REMATCH[2]}")
		;;
	--boots) number "$1" "$2" && BOOTS=$2 ;;
	--jobs) number "$1" "$2" && JOBS=$2 ;;
	--engine) ENGINE=$2 ;;
	--cpus | --timeout | --boot-timeout) number "$1" "$2" && BOOT_ARGS+=("$1" "$2") ;;
	*) BOOT_ARGS+=("$1" "$2") ;;
	esac
	shift 2
done
[ -n "$OUT" ] || die "--out is needed" 2
[ ${#LABELS[@]} -gt 0 ] || die "a kernel is needed: --kernel LABEL=IMAGE" 2
[ $# -gt 0 ] || die "nothing to run: expected -- and run.sh options" 2
ENGINE=${ENGINE:-$(default_engine)}
BOOT_ARGS+=(--engine "$ENGINE")
if [ -z "$JOBS" ]; then
	JOBS=1
	[ "$ENGINE" != icount ] || JOBS=$(($(nproc) < 4 ? $(nproc) : 4))
fi
need jq
mkdir -p "$OUT" || die "cannot make $OUT" 2
OUT=$(cd "$OUT" && pwd)

declare -A RUNNING=() BEGAN=() BROKEN=() # boots under way: number -> pid, when; label -> why it failed
SPENT=0 DONE_HERE=0 TOTAL=$((BOOTS * ${#LABELS[@]}))

# shellcheck disable=SC2317
finish() {
	local pid
	for pid in ${CHILD:-} "${RUNNING[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	clear_progress
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# kernel_of N: the index of its kernel. What drifts with time meets all kernels alike: ABBA, ABCCBA.
kernel_of() {
	local kernels=${#LABELS[@]}
	local round=$((($1 - 1) / kernels)) place=$((($1 - 1) % kernels))
	echo $((round % 2 ? kernels - 1 - place : place))
}

label_of() {
	echo "${LABELS[$(kernel_of "$1")]}"
}

dir_of() {
	printf '%s/boots/%02d-%s' "$OUT" "$1" "$(label_of "$1")"
}

# finished DIR: this boot is done, and its records are what they were then; after a power cut they may not be.
finished() {
	local name=${1##*/}
	[ -s "$1/done" ] && (cd "$OUT/${name#*-}" && sha256sum --check --status "$1/done") 2>/dev/null
}

# Sets FINISHED[DIR]. Records of boots that were not finished do not count: these are done again.
declare -A FINISHED=()
forget_unfinished() {
	local dir file label name
	local -A kept=()
	for dir in "$OUT"/boots/*; do
		finished "$dir" || continue
		FINISHED[$dir]=1
		while read -r _ name; do kept[$name]=1; done <"$dir/done"
	done
	for label in "${LABELS[@]}"; do
		for file in "$OUT/$label"/*.jsonl "$OUT/$label"/*.env.json; do
			[ ! -e "$file" ] || [ -n "${kept[${file##*/}]:-}" ] || rm "$file"
		done
	done
}

# The same of one boot that has just failed.
take_back() {
	local dir=$1 label=$2 id
	id=$(jq -r .boot "$dir/share/exit.json" 2>/dev/null || true)
	[ -z "$id" ] || rm -f "$OUT/$label/$id".*
}

# Seconds that the boots not yet done will take, from those done: $1 of them are left.
time_left() {
	if [ "$DONE_HERE" -eq 0 ]; then
		echo 'time left not yet known'
		return
	fi
	local left=$((SPENT * $1 / DONE_HERE)) n
	for n in "${!RUNNING[@]}"; do left=$((left - (SECONDS - BEGAN[$n]))); done
	left=$((left / JOBS))
	echo "about $(clock $((left > 0 ? left : 0))) left"
}

start_boot() {
	local n=$1 label dir path=()
	label=$(label_of "$n") dir=$(dir_of "$n")
	rm -rf "$dir"
	mkdir -p "$dir"
	! $CODE_PATH || [ "$n" -gt ${#LABELS[@]} ] || path=(--code-path)
	spawn TERM "$CI/boot.sh" --kernel "${IMAGES[$(kernel_of "$n")]}" "${BOOT_ARGS[@]}" --results "$OUT" \
		--boot-dir "$dir" -- --label "$label" "${path[@]}" "${RUN[@]}" >"$dir/output" 2>"$dir/errors"
	RUNNING[$n]=$CHILD CHILD=
	BEGAN[$n]=$SECONDS
}

# end_boot N LEFT: the boot has ended; LEFT are still to be done.
end_boot() {
	local n=$1 label dir status=0 took
	label=$(label_of "$n") dir=$(dir_of "$n") took=$((SECONDS - BEGAN[$n]))
	wait "${RUNNING[$n]}" || status=$?
	unset "RUNNING[$n]"
	clear_progress
	case $status in
	0) ;;
	2) misused "$dir" || { broken "$n" "$label" "$dir" "$status" && return; } ;;
	1) say "boot $n ($label): some runs failed: see $dir/output" ;;
	*) broken "$n" "$label" "$dir" "$status" && return ;;
	esac
	(cd "$OUT/$label" && sha256sum -- "$(jq -r .boot "$dir/share/exit.json")".*) >"$dir/done"
	SPENT=$((SPENT + took)) DONE_HERE=$((DONE_HERE + 1))
	say "boot $n of $TOTAL ($label): $(clock "$took"), $(time_left "$2")"
}

# The boot was asked for wrongly, and so is every other. Not so if a guest that others need not have ended
# with it, when these are to go on.
misused() {
	if [ -e "$1/share/exit.json" ]; then
		! $KEEP_GOING || return 1
		tail -n 3 "$1/output" >&2
	fi
	cat "$1/errors" >&2
	rm -rf "$1"
	exit 2
}

# What a boot that does not count leaves is kept beside the others, under a name of its own.
broken() {
	local n=$1 label=$2 dir=$3 status=$4 kept why
	cat "$dir/errors" >&2
	[ "$status" -eq 125 ] || tail -n 3 "$dir/output" | sed 's/^/  | /' >&2
	kept=$dir.failed.$(date +%H%M%S).$$
	# boot.sh itself was killed: it may have delivered some.
	[ "$status" -le 128 ] || take_back "$dir" "$label"
	mv "$dir" "$kept"
	why=$(sed -n 's/^boot\.sh: boot failed: \(.*\) (console: .*/\1/p' "$kept/errors" | head -n 1)
	say "boot $n ($label) does not count (status $status); the same command tries it again"
	[ -n "${BROKEN[$label]:-}" ] ||
		printf '%s\t%s\n' "$label" "${why:-the command in it ended with $status} (${kept#"$OUT/"})"
	BROKEN[$label]=1
	$KEEP_GOING || exit 125
}

# Do the boots 1..TOTAL that are not done yet, JOBS at a time.
boot_all() {
	local todo=() n
	forget_unfinished
	for ((n = 1; n <= TOTAL; n++)); do [ -n "${FINISHED[$(dir_of "$n")]:-}" ] || todo+=("$n"); done
	while [ ${#todo[@]} -gt 0 ] || [ ${#RUNNING[@]} -gt 0 ]; do
		while [ ${#todo[@]} -gt 0 ] && [ ${#RUNNING[@]} -lt "$JOBS" ]; do
			[ -n "${BROKEN[$(label_of "${todo[0]}")]:-}" ] || start_boot "${todo[0]}"
			todo=("${todo[@]:1}")
		done
		progress "boot $(printf '%s\n' "${!RUNNING[@]}" | sort -n | paste -sd ,) of $TOTAL," \
			"$(time_left $((${#todo[@]} + ${#RUNNING[@]})))"
		nap 0.2
		for n in "${!RUNNING[@]}"; do
			kill -0 "${RUNNING[$n]}" 2>/dev/null ||
				end_boot "$n" $((${#todo[@]} + ${#RUNNING[@]} - 1))
		done
	done
}

RUN=("$@")
boot_all
[ ${#BROKEN[@]} -eq 0 ] || exit 125
