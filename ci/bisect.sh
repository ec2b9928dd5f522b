#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Which commit of a kernel's git tree changed a figure of a case: builds, boots and measures commits
# between a good and a bad one; build/compare says what is next and what is known. See docs/bisect.md.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=ci/bisect/measure.sh
. "$CI/bisect/measure.sh"
# shellcheck source=ci/bisect/report.sh
. "$CI/bisect/report.sh"

usage() {
	cat <<'END'
usage: ci/bisect.sh GOOD BAD --case NAME --variant FILTER [options]
  --git DIR          the kernel's git tree (default: the working directory); it is only read
  --metric NAME      default: time, else the first that has a better direction
  --threshold PART   what the ends must differ by, e.g. 0.5% (default 1%)
  --engine NAME --cpus N --memory SIZE --swap SIZE --timeout SECONDS      as ci/boot.sh
  --scale SCALE --size BYTES --runs N     as run.sh (scale: smoke under icount, else quick; runs: 5)
  --boots N          boots of each kernel (default 1 under icount, else 3)
  --first-parent     follow only the first parents: a merge is one commit
  --base SPEC        GOOD is the source SPEC (as ci/build-kernel.sh takes it): build it with the commits'
                     changes as patches, sharing its objects
  --jobs N           of make
  --out DIR          instead of results/bisect
  --fresh            begin again
GOOD must be contained in BAD; only commits that contain GOOD are measured. Ends with the report on
stdout; it and bisect.json stay below results/bisect. The same command goes on where it was stopped.
Exit: 0 the commit is found, 1 the ends do not differ by enough, 2 usage, 3 not decided (only commits
that do not build or boot are left, or there are several), 125 an end does not build or boot.
END
}

ENDS=() DIR=. CASE='' VARIANT='' METRIC='' THRESHOLD=1% ENGINE='' CPUS=1 MEMORY=2G SWAP='' TIMEOUT=900
SCALE='' SIZE='' RUNS=5 BOOTS='' FIRST=() BASE='' JOBS=$(nproc) WHERE=$REPO/results/bisect FRESH=false
while [ $# -gt 0 ]; do
	case $1 in
	--fresh) FRESH=true && shift && continue ;;
	--first-parent) FIRST=(--first-parent) && shift && continue ;;
	--help | -h) usage && exit 0 ;;
	--git | --case | --variant | --metric | --threshold | --engine | --cpus | --memory | --swap | \
		--timeout | --scale | --size | --runs | --boots | --base | --jobs | --out)
		[ $# -ge 2 ] || die "$1 needs a value" 2
		;;
	-*) die "unknown argument $1 (--help lists them)" 2 ;;
	*) ENDS+=("$1") && shift && continue ;;
	esac
	case $1 in
	--git) DIR=$2 ;;
	--case) CASE=$2 ;;
	--variant) VARIANT=$2 ;;
	--metric) METRIC=$2 ;;
	--threshold) THRESHOLD=$2 ;;
	--engine) ENGINE=$2 ;;
	--cpus) CPUS=$2 ;;
	--memory) MEMORY=$2 ;;
	--swap) SWAP=$2 ;;
	--timeout) TIMEOUT=$2 ;;
	--scale) SCALE=$2 ;;
	--size) SIZE=$2 ;;
	--runs) RUNS=$2 ;;
	--boots) BOOTS=$2 ;;
	--base) BASE=$2 ;;
	--jobs) JOBS=$2 ;;
	--out) WHERE=$2 ;;
	esac
	shift 2
done
[ ${#ENDS[@]} -eq 2 ] || die "expected two commits, GOOD and BAD, found ${#ENDS[@]}" 2
for n in "boots ${BOOTS:-1}" "runs $RUNS" "jobs $JOBS" "cpus $CPUS" "timeout $TIMEOUT"; do
	[[ ${n#* } =~ ^[1-9][0-9]*$ ]] || die "--${n% *}: expected a number of at least 1, found '${n#* }'" 2
done
[[ $THRESHOLD =~ ^[0-9]*\.?[0-9]+%$ && $THRESHOLD =~ [1-9] ]] ||
	die "--threshold: expected a part above 0 such as 0.5%, found '$THRESHOLD'" 2
need jq git flock setpriv
for f in build/compare build/ci/init run.sh; do
	[ -x "$REPO/$f" ] || die "$f is not built: make" 2
done
ENGINE=${ENGINE:-$(default_engine)}
if [ -z "$BOOTS" ]; then
	BOOTS=3
	[ "$ENGINE" != icount ] || BOOTS=1
fi
[ "$BOOTS" -gt 1 ] || [ "$ENGINE" = icount ] ||
	die "--boots: expected 2 or more under $ENGINE, whose boots differ by what one cannot show" 2
if [ -z "$SCALE" ]; then
	SCALE=quick
	[ "$ENGINE" != icount ] || SCALE=smoke
fi

STAGE=''
# shellcheck disable=SC2317
finish() {
	local status=$?
	end_child
	[ -z "$STAGE" ] || rm -rf "$STAGE"
	unconcluded "$status"
}
trap finish EXIT
trap 'say "stopped; the same command goes on from here"; exit 130' INT
trap 'say "stopped; the same command goes on from here"; exit 143' TERM HUP
STAGE=$(mktemp -d)

# --- what is asked -----------------------------------------------------------------------------

# The user's repository is only read: no command here writes an object, a ref or the index.
tree() {
	GIT_OPTIONAL_LOCKS=0 git -C "$DIR" "$@"
}

# commit_of SIDE REF
commit_of() {
	local said
	said=$(tree rev-parse -q --verify "$2^{commit}" 2>&1) ||
		die "$1: expected a commit of $DIR, found $2${said:+ ($(tail -n 1 <<<"$said"))}" 2
	printf '%s\n' "$said"
}

[ -d "$DIR" ] || die "--git: no such directory: $DIR" 2
DIR=$(cd "$DIR" && pwd)
said=$(tree rev-parse --git-dir 2>&1) || die "--git: expected a git tree, found $DIR (${said%%$'\n'*})" 2
GOOD=$(commit_of GOOD "${ENDS[0]}")
BAD=$(commit_of BAD "${ENDS[1]}")
[ "$GOOD" != "$BAD" ] || die "GOOD and BAD are the same commit, ${GOOD:0:12}" 2
tree merge-base --is-ancestor "$GOOD" "$BAD" || {
	said=$(tree merge-base "$GOOD" "$BAD" || true)
	die "GOOD (${GOOD:0:12}) is not contained in BAD (${BAD:0:12}); ${said:+both come from ${said:0:12}}" 2
}

# Oldest first. Without GOOD in it a commit lacks more than what is looked for.
mapfile -t HISTORY < <(tree rev-list --reverse --topo-order --parents "${FIRST[@]}" --ancestry-path "$GOOD..$BAD")
[ ${#HISTORY[@]} -gt 0 ] ||
	die "--first-parent: expected GOOD (${GOOD:0:12}) among the first parents of BAD, found it on a branch that was merged" 2
ALL=$(tree rev-list --count "${FIRST[@]}" "$GOOD..$BAD")
[ ${#HISTORY[@]} -le 20000 ] || die "${#HISTORY[@]} commits are too many: at most 20000" 2

[ -n "$CASE" ] || die "--case is needed" 2
[ -x "$REPO/build/cases/$CASE" ] || die "--case: expected one of $(cd "$REPO/build/cases" && echo *), found '$CASE'" 2
"$REPO/run.sh" --list --case "$CASE" --variant "$VARIANT" --scale "$SCALE" ${SIZE:+--size "$SIZE"} \
	>"$STAGE/list" || exit 2
mapfile -t found < <(sed -n 's/^  \([^ ]*\).*/\1/p' "$STAGE/list")
[ ${#found[@]} -eq 1 ] || die "--variant: expected one variant, '$VARIANT' matches ${#found[@]}: ${found[*]}" 2
VARIANT=${found[0]}
METRICS=$("$REPO/build/cases/$CASE" --describe | jq -r '.metrics | to_entries[] | select(.value.better != "neither") | .key')
if [ -z "$METRIC" ]; then
	METRIC=$(grep -x time <<<"$METRICS" || head -n 1 <<<"$METRICS")
fi
grep -qxF -- "$METRIC" <<<"$METRICS" || die "--metric: expected one of ${METRICS//$'\n'/, }, found '$METRIC'" 2

# --- where its state is ------------------------------------------------------------------------

RUN_ARGS=(--case "$CASE" --variant "$VARIANT" --scale "$SCALE" --runs "$RUNS" ${SIZE:+--size "$SIZE"})
# No PMU under icount: perf would only cost its start in every run.
[ "$ENGINE" != icount ] || RUN_ARGS+=(--events '')
BOOT_ARGS=(--engine "$ENGINE" --cpus "$CPUS" --memory "$MEMORY" --timeout "$TIMEOUT" --boot-timeout 300 ${SWAP:+--swap "$SWAP"})
# Kernels measured alike are shared by all bisections of this figure; a range has a state of its own.
OUT=$(realpath -m "$WHERE")/$CASE-$(printf '%s\n' "$DIR" "$BASE" "$BOOTS" "${RUN_ARGS[@]}" "${BOOT_ARGS[@]}" "$(programs_key)" | key | cut -c1-8)
RANGE=$OUT/${GOOD:0:12}..${BAD:0:12}-$METRIC-${THRESHOLD%\%}${FIRST:+-first-parent}
mkdir -p "$OUT/kernels" || die "cannot make $OUT" 2
exec {LOCK}>"$OUT/.lock"
flock -n "$LOCK" || die "another bisection of this figure runs in $OUT" 2
# What other ranges know of these kernels goes with them.
! $FRESH || rm -rf "$OUT/kernels" "$OUT"/*..*
mkdir -p "$RANGE" "$OUT/kernels"
STATE=$RANGE/state.json

# change FILTER [jq option..]: the state is replaced as a whole or not at all.
change() {
	jq "${@:2}" "$1" "$STATE" >"$STATE.new"
	mv "$STATE.new" "$STATE"
}

[ -e "$STATE" ] || {
	say "$CASE $VARIANT, $METRIC: ${#HISTORY[@]} commits from ${GOOD:0:12} to ${BAD:0:12}, in $RANGE"
	printf '%s\n' "${HISTORY[@]}" | jq -Rn --arg case "$CASE" --arg variant "$VARIANT" --arg metric "$METRIC" \
		--arg threshold "${THRESHOLD%\%}" --arg good "$GOOD" --arg bad "$BAD" '
		{schema: 1, case: $case, metric: $metric, threshold: ($threshold | tonumber / 100), good: $good, bad: $bad,
		 options: ($variant | split(",") | map(split("=") | {(.[0]): (.[1:] | join("="))}) | add),
		 commits: [inputs | split(" ") | {commit: .[0], parents: .[1:], weight: 1}], weighed: false, log: []}' >"$STATE.new"
	mv "$STATE.new" "$STATE"
}

[ -e "$RANGE/changed.jsonl" ] || {
	: >"$RANGE/changed.jsonl.new"
	if [ ${#HISTORY[@]} -le 500 ]; then
		printf '%s\n' "${HISTORY[@]}" | "$CI/bisect/changed.sh" "$DIR" >"$RANGE/changed.jsonl.new"
	else
		say "more than 500 commits: all count alike, whatever they change"
	fi
	mv "$RANGE/changed.jsonl.new" "$RANGE/changed.jsonl"
}

# --- until it is known -------------------------------------------------------------------------

# Sets VERDICT, NEXT, STEP and LEFT, words for what is left.
decide() {
	"$REPO/build/compare" --bisect "$STATE" >"$RANGE/decision.json.new" || exit 2
	mv "$RANGE/decision.json.new" "$RANGE/decision.json"
	eval "$(jq -r '@sh "VERDICT=\(.verdict) NEXT=\(.next // "") STEP=\(.steps | length + 1) LEFT=\(
		if .left then "; \(.left) commits left, about \(.steps_left) more to measure" else "" end)"' \
		"$RANGE/decision.json")"
}

decide
while [ "$VERDICT" = open ]; do
	if [ -n "$LEFT" ] && [ "$STEP" -eq 3 ] && [ "$(jq .weighed "$STATE")" = false ]; then
		weigh
		decide
	fi
	measure "$NEXT"
	decide
done

report >"$RANGE/report.md.new"
mv "$RANGE/report.md.new" "$RANGE/report.md"
cat "$RANGE/report.md"
say "in $RANGE"
case $VERDICT in
found) conclude 0 ;;
'no difference') conclude 1 ;;
'end failed')
	# The same command tries it again.
	change '.log |= map(select(.skipped | not))'
	exit 125
	;;
*) conclude 3 ;;
esac
