#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Boot two kernels alternately, run the same cases in each boot, compare. See docs/kernels.md.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<'END'
usage: ci/ab.sh --before SPEC --after SPEC [options]     (make ab BEFORE=.. AFTER=..)
A SPEC is `base`, an image, a kernel tree, TREE@REF, a tarball, linux-source-VERSION, a message id, or
a file (or a glob that matches one) ending in .patch or .mbox: base plus it.
  --base SPEC        what base is: linux-source-VERSION, a tarball, a tree or TREE@REF
                     (default linux-source-6.12)
  --boots N          boots of each kernel (default 2), in the order ABBA
  --until-settled    look after every N boots of each kernel, stop when nothing is inconclusive
  --looks K          how often at most (default 4); fixed when the comparison starts
  --engine NAME --cpus N --memory SIZE --swap SIZE --timeout SECONDS      as ci/boot.sh
  --case NAMES --variant FILTER --scale SCALE --size BYTES --runs N       as run.sh
                     (scale: smoke under icount, else quick)
  --jobs N           boots at a time (default: as ci/boots.sh)
  --locks            a lock boot, never timed: kernels with CONFIG_LOCK_STAT that count how often locks
                     are taken, held and waited for (default: tcg, 4 CPUs, one boot of each, no gate)
  --gate GATE        as build/compare
  --out DIR          records and reports (default: a directory below results/ab that belongs to
                     exactly this comparison; the same command goes on where it was stopped)
  --fresh            begin again
Ends with the report on stdout; DIR holds report.md, compare.json, the records and the consoles.
Exit: as build/compare (0 passed, 1 failed, 3 inconclusive); 2 usage; 125 a boot or build failed.
END
}

BEFORE='' AFTER='' BASE=linux-source-6.12 BOOTS='' SETTLE=false LOOKS=4 ENGINE='' CPUS='' MEMORY=2G
SWAP='' TIMEOUT=900 CASES='' VARIANT='' SCALE='' SIZE='' RUNS=5 GATE='' OUT='' FRESH=false JOBS=''
LOCKS=false
while [ $# -gt 0 ]; do
	case $1 in
	--until-settled) SETTLE=true && shift && continue ;;
	--fresh) FRESH=true && shift && continue ;;
	--locks) LOCKS=true && shift && continue ;;
	--help | -h) usage && exit 0 ;;
	--before | --after | --base | --boots | --looks | --engine | --cpus | --memory | --swap | \
		--timeout | --case | --variant | --scale | --size | --runs | --gate | --out | --jobs)
		[ $# -ge 2 ] || die "$1 needs a value" 2
		;;
	*) die "unknown argument $1 (--help lists them)" 2 ;;
	esac
	case $1 in
	--before) BEFORE=$2 ;;
	--after) AFTER=$2 ;;
	--base) BASE=$2 ;;
	--boots) BOOTS=$2 ;;
	--looks) LOOKS=$2 ;;
	--engine) ENGINE=$2 ;;
	--cpus) CPUS=$2 ;;
	--memory) MEMORY=$2 ;;
	--swap) SWAP=$2 ;;
	--timeout) TIMEOUT=$2 ;;
	--case) CASES=$2 ;;
	--variant) VARIANT=$2 ;;
	--scale) SCALE=$2 ;;
	--size) SIZE=$2 ;;
	--runs) RUNS=$2 ;;
	--gate) GATE=$2 ;;
	--jobs) JOBS=$2 ;;
	--out) OUT=$2 ;;
	esac
	shift 2
done
if [ -z "$BEFORE" ] || [ -z "$AFTER" ]; then
	die "two kernels are needed: --before SPEC --after SPEC" 2
fi
if $LOCKS; then
	ENGINE=${ENGINE:-tcg} CPUS=${CPUS:-4} BOOTS=${BOOTS:-1} GATE=${GATE:-none} SCALE=${SCALE:-smoke}
	[ "$ENGINE" != uml ] || die "--locks: UML has one CPU, so nobody waits: kvm, tcg or icount" 2
fi
BOOTS=${BOOTS:-2} CPUS=${CPUS:-1}
number --boots "$BOOTS" && number --looks "$LOOKS" && number --runs "$RUNS" && number --jobs "${JOBS:-1}"
[[ $GATE =~ ^(|direction|reproduced|none)$ ]] ||
	die "--gate: expected direction, reproduced or none, found '$GATE'" 2
need jq flock
for f in build/compare build/ci/init run.sh; do
	[ -x "$REPO/$f" ] || die "$f is not built: make" 2
done
ENGINE=${ENGINE:-$(default_engine)}
if [ -z "$SCALE" ]; then
	SCALE=quick
	[ "$ENGINE" != icount ] || SCALE=smoke
fi
$SETTLE || LOOKS=1
[ $((BOOTS * LOOKS)) -le 99999 ] ||
	die "--looks: expected at most 99999 boots of each kernel in all, found $LOOKS times $BOOTS" 2

RUN_ARGS=(--runs "$RUNS" --scale "$SCALE")
[ -z "$CASES" ] || RUN_ARGS+=(--case "$CASES")
[ -z "$VARIANT" ] || RUN_ARGS+=(--variant "$VARIANT")
[ -z "$SIZE" ] || RUN_ARGS+=(--size "$SIZE")
# No PMU under icount: perf would only cost its start in every run. (UML lets perf say itself why.)
[ "$ENGINE" != icount ] || RUN_ARGS+=(--events '')
! $LOCKS || RUN_ARGS+=(--locks)
BOOT_ARGS=(--engine "$ENGINE" --cpus "$CPUS" --memory "$MEMORY" --timeout "$TIMEOUT")
[ -z "$SWAP" ] || BOOT_ARGS+=(--swap "$SWAP")
# What is wrong with them is said before minutes go into kernels.
"$CI/boot.sh" --check "${BOOT_ARGS[@]}" || exit 2
run_takes "${RUN_ARGS[@]}"

IMAGE_FILE=
# shellcheck disable=SC2317
finish() {
	local status=$?
	end_child
	[ -z "$IMAGE_FILE" ] || rm -f "$IMAGE_FILE"
	unconcluded "$status"
}
trap finish EXIT
trap 'say "stopped; the same command goes on from here"; exit 130' INT
trap 'say "stopped; the same command goes on from here"; exit 143' TERM HUP

# --- the two kernels --------------------------------------------------------------------------

# resolve SIDE SPEC: sets IMAGE and LABEL, building what has to be built.
resolve() {
	local side=$1 spec=$2 args=(--source "$BASE") extra=() found=()
	LABEL=$spec
	args+=(--engine "$ENGINE")
	! $LOCKS || extra=(--config-extra "$CI/kernel/lock-stat.config")
	case $spec in
	base) ;;
	*.patch | *.mbox)
		if [ -e "$spec" ]; then found=("$spec"); else mapfile -t found < <(compgen -G "$spec" || true); fi
		[ ${#found[@]} -eq 1 ] ||
			die "--$side: expected one file, $spec matches ${#found[@]}${found:+: ${found[*]}}" 2
		args+=(--patch "${found[0]}")
		LABEL=$(basename "${found[0]%.*}")
		;;
	*)
		if [[ -f $spec && ! $spec =~ \.tar(\.[a-z0-9]+)?$ ]]; then
			IMAGE=$(realpath "$spec")
			LABEL=$(basename "$spec")
			return
		elif [[ $spec == *@* && ! -d ${spec%@*} ]]; then
			args+=(--patch "$spec")
		else
			args=(--source "$spec" --engine "$ENGINE")
			LABEL=$(basename "$spec")
		fi
		;;
	esac
	IMAGE_FILE=$(mktemp)
	spawn TERM "$CI/build-kernel.sh" "${args[@]}" "${extra[@]}" >"$IMAGE_FILE"
	if wait "$CHILD"; then :; else
		STATUS=$?
		CHILD=
		[ "$STATUS" -eq 2 ] || STATUS=125
		exit "$STATUS"
	fi
	CHILD=
	IMAGE=$(<"$IMAGE_FILE")
	rm -f "$IMAGE_FILE"
	IMAGE_FILE=
}

resolve before "$BEFORE"
IMAGE_A=$IMAGE LABEL_A=$(file_name "$LABEL")
resolve after "$AFTER"
IMAGE_B=$IMAGE LABEL_B=$(file_name "$LABEL")
# The same kernel twice is an A/A run: it needs two names.
[ "$LABEL_A" != "$LABEL_B" ] || LABEL_B+=-again

# --- the plan ---------------------------------------------------------------------------------

# Everything that makes one boot comparable with the next, the programs included.
PLAN=$(jq -n --arg before "$LABEL_A" --arg after "$LABEL_B" \
	--arg before_image "$(key <"$IMAGE_A")" --arg after_image "$(key <"$IMAGE_B")" \
	--arg programs "$(programs_key)" \
	'{schema: 1, before: $before, after: $after, before_image: $before_image,
	  after_image: $after_image, programs: $programs, arguments: $ARGS.positional}' \
	--args -- "${BOOT_ARGS[@]}" "${RUN_ARGS[@]}")
OUT=${OUT:-$REPO/results/ab/$LABEL_A..$LABEL_B-$(key <<<"$PLAN" | cut -c1-8)}
mkdir -p "$OUT" || die "cannot make $OUT" 2
OUT=$(cd "$OUT" && pwd)
exec {LOCK}>"$OUT/.lock"
flock -n "$LOCK" || die "another comparison runs in $OUT" 2
! $FRESH || rm -rf "${OUT:?}"/{boots,"$LABEL_A","$LABEL_B",plan.json,report.md,compare.json}
PLAN=$(jq --argjson boots "$BOOTS" --argjson looks "$LOOKS" '. + {boots: $boots, looks: $looks}' <<<"$PLAN")
if [ -e "$OUT/plan.json" ]; then
	other=$(jq -r --argjson plan "$PLAN" \
		'[to_entries[] | select(.value != $plan[.key]) | .key] | join(", ")' "$OUT/plan.json") ||
		die "$OUT/plan.json is not a plan of ours; --fresh begins again" 2
	[ -z "$other" ] || [ "$other" = boots ] ||
		die "$OUT holds another comparison (it differs in: $other); --fresh begins again" 2
fi
printf '%s\n' "$PLAN" >"$OUT/plan.json.new" && mv "$OUT/plan.json.new" "$OUT/plan.json"
say "$LABEL_A against $LABEL_B: $BOOTS boot(s) of each under $ENGINE, $RUNS run(s) a boot, in $OUT"

# --- the boots --------------------------------------------------------------------------------

# boot_all N: N boots of each kernel, those included that are done already.
boot_all() {
	local status=0 path=()
	$LOCKS || path=(--code-path)
	spawn TERM "$CI/boots.sh" --out "$OUT" --kernel "$LABEL_A=$IMAGE_A" --kernel "$LABEL_B=$IMAGE_B" \
		--boots "$1" ${JOBS:+--jobs "$JOBS"} "${BOOT_ARGS[@]}" "${path[@]}" -- "${RUN_ARGS[@]}" >/dev/null
	wait "$CHILD" || status=$?
	CHILD=
	[ "$status" -eq 0 ] || exit "$status"
}

CLAIMS=()
for f in "$REPO"/cases/*.json; do
	name=${f##*/}
	if [ -z "$CASES" ] || [[ ,$CASES, == *",${name%%.*},"* ]]; then CLAIMS+=(--claims "$f"); fi
done
COMPARE=("$REPO/build/compare" "${CLAIMS[@]}" ${GATE:+--gate "$GATE"})
! $SETTLE || COMPARE+=(--looks "$LOOKS")

VERDICT=0
for ((look = 1; look <= LOOKS; look++)); do
	boot_all $((BOOTS * look))
	VERDICT=0
	"${COMPARE[@]}" --format markdown "$OUT/$LABEL_A" "$OUT/$LABEL_B" >"$OUT/report.md" || VERDICT=$?
	[ "$VERDICT" -ne 2 ] || exit 2
	if [ "$VERDICT" -ne 3 ] || [ "$look" -eq "$LOOKS" ]; then break; fi
	say "look $look of $LOOKS: not settled"
done
"${COMPARE[@]}" --format json "$OUT/$LABEL_A" "$OUT/$LABEL_B" >"$OUT/compare.json.new" 2>/dev/null || true
mv "$OUT/compare.json.new" "$OUT/compare.json"
cat "$OUT/report.md"
conclude "$VERDICT"
