#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A posted series against its base: what it touches chooses the cases, both sides are built and booted
# in turn, and the answer is a reply to paste. See docs/kernels.md.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<'END'
usage: ci/try.sh MBOX|MSGID [options]
  --base SPEC     what the series applies to: linux-source-VERSION, a tarball, a tree, TREE@REF, or
                  a ref of --tree (default: the series' base-commit line, looked up in --tree)
  --tree DIR      a git tree of the kernel (default: the working directory, where it is one)
  --case NAMES    instead of those that the touched functions choose
  --claim NAMES   instead of those whose source the series is; none: compare without a claim
  --times ENGINE  what takes times: kvm, uml or none (default: kvm where the CPU has it, else uml)
  --boots N       boots of each kernel (default 2)
  --runs N        runs of each variant in a boot (default 5)
  --gate GATE     as build/compare (default direction)
  --fresh         do not use the records of an earlier try
The series is counted under icount (what needs several CPUs: under tcg) and timed under --times. The
reply on stdout has at most 72 columns. Exit: 0 the gate passed, 1 it failed, 3 inconclusive, 2 usage,
125 it does not apply, build or boot. A part that fails fails the whole; where no row was measured on both
kernels it is 3, whatever the gate; else the counts decide, and times only where nothing could be counted.
END
}

SERIES='' BASE='' TREE='' CASES='' CLAIM='' TIMES='' BOOTS=2 RUNS=5 GATE=direction FRESH=false
ARGS=("$@")
while [ $# -gt 0 ]; do
	case $1 in
	--fresh) FRESH=true && shift && continue ;;
	--help | -h) usage && exit 0 ;;
	--base | --tree | --case | --claim | --times | --boots | --runs | --gate)
		[ $# -ge 2 ] || die "$1 needs a value" 2
		;;
	-*) die "unknown argument $1 (--help lists them)" 2 ;;
	*)
		[ -z "$SERIES" ] || die "expected one series, found $SERIES and $1" 2
		SERIES=$1 && shift && continue
		;;
	esac
	case $1 in
	--base) BASE=$2 ;;
	--tree) TREE=$2 ;;
	--case) CASES=$2 ;;
	--claim) CLAIM=$2 ;;
	--times) TIMES=$2 ;;
	--boots) BOOTS=$2 ;;
	--runs) RUNS=$2 ;;
	--gate) GATE=$2 ;;
	esac
	shift 2
done
[ -n "$SERIES" ] || die "a series is needed: an mbox or a message id" 2
[[ $TIMES =~ ^(|kvm|uml|none)$ ]] || die "--times: expected kvm, uml or none, found '$TIMES'" 2
[[ $GATE =~ ^(direction|reproduced|none)$ ]] ||
	die "--gate: expected direction, reproduced or none, found '$GATE'" 2
number --boots "$BOOTS" && number --runs "$RUNS"
need jq git flock
for f in build/compare build/ci/init; do
	[ -x "$REPO/$f" ] || die "$f is not built: make" 2
done
[ -z "$CASES" ] || run_takes --case "$CASES"
if [ -z "$TIMES" ]; then
	TIMES=uml
	! has_kvm || TIMES=kvm
	if [ "$TIMES" = uml ] && [ "$(id -u)" -ne 0 ]; then
		say "no times: uml needs root"
		TIMES=none
	fi
fi
SCRATCH=$(mktemp -d)
# shellcheck disable=SC2317
finish() {
	local status=$?
	end_child
	rm -rf "$SCRATCH"
	unconcluded "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# --- the series -------------------------------------------------------------------------------

# Sets MBOX (its mails), TEXT (what they say, the cover letter first), SUBJECTS (the first is the series').
read_series() {
	MBOX=$SERIES TEXT=$SCRATCH/mails/text
	if [ ! -e "$SERIES" ]; then
		MBOX=$(fetch_series "$SERIES" "$SCRATCH")
		cat "$SCRATCH/series.cover" >"$SCRATCH/mbox" 2>/dev/null || true
	elif [ ! -f "$SERIES" ] || [ ! -r "$SERIES" ]; then
		die "cannot read $SERIES" 2
	fi
	cat "$MBOX" >>"$SCRATCH/mbox"
	read_mails "$SCRATCH/mbox" "$SCRATCH/mails" || die "$SERIES is not an mbox" 2
	mapfile -t SUBJECTS <"$SCRATCH/mails/subjects"
	[ ${#SUBJECTS[@]} -gt 0 ] || die "$SERIES: expected mails, found none with a subject" 2
}

# Sets SOURCE, what ci/build-kernel.sh takes, and BASE_SAYS, how it was found.
find_base() {
	local commit
	commit=$(grep -m 1 -oE '^base-commit: [0-9a-f]{12,40}' "$TEXT" | cut -d' ' -f2 || true)
	if [ -z "$TREE" ] && [ -e Kbuild ] && [ -e .git ]; then TREE=.; fi
	if [ -n "$BASE" ]; then
		SOURCE=$BASE BASE_SAYS="given"
		if [ -n "$TREE" ] && git -C "$TREE" rev-parse -q --verify "$BASE^{commit}" >/dev/null; then
			SOURCE=$TREE@$BASE
		fi
		[ -z "$commit" ] || BASE_SAYS+="; the series says base-commit $commit"
		return
	fi
	[ -n "$commit" ] || die "$SERIES has no base-commit line: --base SPEC says what it applies to" 2
	[ -n "$TREE" ] ||
		die "base-commit $commit: wanted a git tree that has it, found none: --tree DIR, or --base SPEC" 2
	git -C "$TREE" rev-parse -q --verify "$commit^{commit}" >/dev/null ||
		die "base-commit $commit is not in $TREE: fetch it there, or --base SPEC" 2
	SOURCE=$TREE@$commit BASE_SAYS="base-commit of the series"
}

# --- what to run ------------------------------------------------------------------------------

# choose LIST: the cases that are about a function of LIST of what is touched.
choose() {
	local binary
	for binary in "$REPO"/build/cases/*; do
		"$binary" --describe | jq -r --argjson touched "$(jq -c ".$1" <<<"$TOUCHED")" \
			'select(any(.functions[]; IN($touched[]))) | .case'
	done
}

claim_file() {
	local f
	for f in "$REPO"/cases/*."$1".json; do
		[ -e "$f" ] || die "--claim: wanted a claim of cases/, found '$1'" 2
		printf '%s\n' "$f"
		return
	done
}

# Sets CHOSEN (cases), CASES_SAY (why these), NAMED (claims), CLAIMS (for build/compare).
plan() {
	local claim file case
	NAMED=() CHOSEN=()
	case $CLAIM in
	none) ;;
	'') mapfile -t NAMED < <(named_claims "$SCRATCH/mails") ;;
	*) IFS=, read -ra NAMED <<<"$CLAIM" ;;
	esac
	if [ -n "$CASES" ]; then
		IFS=, read -ra CHOSEN <<<"$CASES"
		CASES_SAY="named"
	else
		mapfile -t CHOSEN < <(choose functions)
		CASES_SAY="about functions that it changes"
		if [ ${#CHOSEN[@]} -eq 0 ]; then
			mapfile -t CHOSEN < <(choose beside)
			CASES_SAY="about functions in the files that it changes"
		fi
	fi
	CLAIMS=()
	for claim in "${NAMED[@]}"; do
		file=$(claim_file "$claim")
		CLAIMS+=(--claims "$file")
		case=$(jq -r .case "$file")
		[[ " ${CHOSEN[*]} " == *" $case "* ]] || CHOSEN+=("$case")
	done
	[ ${#NAMED[@]} -gt 0 ] || CLAIMS=(--no-claims)
	[ ${#CHOSEN[@]} -gt 0 ] ||
		die "no case is about $(jq -r '.functions | join(", ")' <<<"$TOUCHED" | cut -c1-300): --case names one" 2
}

# --- running ----------------------------------------------------------------------------------

# ab PART ENGINE OPTION..: one comparison. Records of several are gathered in PART for one report.
ab() {
	local part=$1 engine=$2 out status=0 label
	shift 2
	COMPARISONS=$((COMPARISONS + 1))
	PARTS[COMPARISONS]=$part
	out=$OUT/$COMPARISONS
	COMMANDS+=("$(command_lines ci/ab.sh --base "$SOURCE" --before base --after "$SHOWN" --engine "$engine" \
		--boots "$BOOTS" --runs "$RUNS" "$@")")
	spawn TERM "$CI/ab.sh" --base "$SOURCE" --before base --after "$MBOX" --engine "$engine" \
		--boots "$BOOTS" --runs "$RUNS" --gate none --out "$out" "$@" >/dev/null
	wait "$CHILD" || status=$?
	CHILD=
	case $status in 0 | 3) ;; 2) exit 2 ;; *) exit 125 ;; esac
	for label in before after; do
		mkdir -p "$OUT/$part/$label"
		cp "$out/$(jq -r ".$label" "$out/plan.json")"/*.{jsonl,env.json} "$OUT/$part/$label/"
	done
}

# one_cpu PART ENGINE SCALE: the chosen cases that one CPU shows. Large folios apart, and larger: after
# small ones their few instructions depend on what the page allocator's lists hold.
one_cpu() {
	local part=$1 engine=$2 scale=$3 case rest=''
	for case in "${CHOSEN[@]}"; do
		case $case in
		dirty-reclaim | truncate-neighbour) ;;
		shmem-truncate)
			ab "$part" "$engine" --case "$case" --variant folio=4k --scale "$scale" --memory 3G
			[ "$engine" != icount ] ||
				ab "$part" "$engine" --case "$case" --variant folio=pmd --scale "$scale" --size 64M
			;;
		*) rest+=${rest:+,}$case ;;
		esac
	done
	[ -z "$rest" ] || ab "$part" "$engine" --case "$rest" --scale "$scale"
}

# Sets BASE_NAME, what the base is to somebody else: a commit, or a package with its version.
name_base() {
	local status=0
	if [[ ! -e $SOURCE && $SOURCE == *@* ]]; then
		BASE_NAME=$(git -C "${SOURCE%@*}" log -1 --format='%H ("%s")' "${SOURCE##*@}")
		return
	fi
	spawn TERM "$CI/build-kernel.sh" --source "$SOURCE" >"$SCRATCH/image"
	wait "$CHILD" || status=$?
	CHILD=
	[ "$status" -eq 0 ] || exit "$((status == 2 ? 2 : 125))"
	BASE_NAME=$(jq -r .source "$(dirname "$(<"$SCRATCH/image")")/image.json")
}

# What happens between CPUs: counted under the interpreter with threads, timed where there is KVM.
several_cpus() {
	local case
	for case in "${CHOSEN[@]}"; do
		case $case in
		dirty-reclaim) ab shared tcg --cpus 2 --swap 1G --case "$case" --scale smoke ;;
		truncate-neighbour)
			if [ "$TIMES" = kvm ]; then
				ab times kvm --cpus 2 --case "$case" --scale quick --memory 3G
			else
				LEFT_OUT+=("$case: it takes times of two CPUs, which only KVM gives")
			fi
			;;
		esac
	done
}

# --- the reply --------------------------------------------------------------------------------

wrap() {
	fold -s -w 72 | sed 's/ *$//'
}

# A command in lines of 72 columns that a shell takes as one; a longer word is a longer line.
command_lines() {
	local line='' word
	for word; do
		[[ $word =~ ^[A-Za-z0-9_@%+=:,./-]+$ ]] || word=${word@Q}
		if [ -n "$line" ] && [ $((${#line} + ${#word} + 3)) -gt 72 ]; then
			printf '%s \\\n' "$line"
			line="    $word"
		else
			line+=${line:+ }$word
		fi
	done
	printf '%s\n' "$line"
}

# judge PART: the report in PART.text; adds the part's outcome to OUTCOMES, and to COMPARED how many rows were
# measured on both sides. The records of each comparison that the reply lists must be there.
judge() {
	local dir=$OUT/$1 status=0 n label file
	[[ " ${PARTS[*]} " == *" $1 "* ]] || return 0
	for n in "${!PARTS[@]}"; do
		[ "${PARTS[n]}" = "$1" ] || continue
		for label in before after; do
			for file in "$OUT/$n/$(jq -r ".$label" "$OUT/$n/plan.json")"/*.jsonl; do
				cmp -s "$file" "$dir/$label/${file##*/}" ||
					die "$dir/$label: expected $file there, found it gone or changed" 2
			done
		done
	done
	"$REPO/build/compare" "${CLAIMS[@]}" --gate "$GATE" --format text "$dir/before" "$dir/after" \
		>"$dir.text" || status=$?
	[ "$status" -ne 2 ] || exit 125
	OUTCOMES[$1]=$status
	"$REPO/build/compare" "${CLAIMS[@]}" --gate none --format json "$dir/before" "$dir/after" \
		>"$SCRATCH/json" 2>/dev/null || true
	COMPARED[$1]=$(jq '[(.claims[].rows[], .others[])
		| select(.before.value != null and .after.value != null)] | length' "$SCRATCH/json")
}

rows_compared() {
	echo $((${COMPARED[counts]:-0} + ${COMPARED[shared]:-0} + ${COMPARED[times]:-0}))
}

# A fail wins; where nothing could be compared, nothing passes; then what was counted decides; then the times.
gate() {
	local part
	for part in "${!OUTCOMES[@]}"; do [ "${OUTCOMES[$part]}" -ne 1 ] || return 1; done
	[ "$(rows_compared)" -gt 0 ] || return 3
	if [ -n "${OUTCOMES[counts]:-}${OUTCOMES[shared]:-}" ]; then
		[ "${OUTCOMES[counts]:-0}" -eq 0 ] && [ "${OUTCOMES[shared]:-0}" -eq 0 ] || return 3
		return 0
	fi
	return "${OUTCOMES[times]}"
}

verdict() { # STATUS ROWS
	case $1-$2-$GATE in
	1-*) echo FAILS ;;
	*-0-*) echo 'is open (no row was measured on both kernels)' ;;
	0-*-none) echo 'not judged' ;;
	0-*) echo passes ;;
	*) echo 'is open (inconclusive)' ;;
	esac
}

section() { # PART TITLE
	[ -n "${OUTCOMES[$1]:-}" ] || return 0
	printf '\n%s: %s\n\n' "$2" "$(verdict "${OUTCOMES[$1]}" "${COMPARED[$1]}")"
	cat "$OUT/$1.text"
}

# What the series says must be applied before it: patches that we do not have.
prerequisites() {
	local count
	count=$(grep -oE '^prerequisite-patch-id: [0-9a-f]{40}' "$TEXT" | sort -u | wc -l || true)
	case $count in
	0) ;;
	1) printf '; 1 prerequisite patch was not applied' ;;
	*) printf '; %d prerequisite patches were not applied' "$count" ;;
	esac
}

reply() {
	local n verdict
	verdict=$(verdict "$GATED" "$(rows_compared)")
	[ "$verdict" = 'not judged' ] || verdict="the gate ($GATE) $verdict"
	{
		printf '%s\n' "Tested: ${SUBJECTS[0]}"
		printf '%s\n\n' "Verdict: $verdict."
		printf '%s\n' "Base: $BASE_NAME ($BASE_SAYS)$(prerequisites)."
		printf '%s\n' "Changed functions: $(jq -r '.functions | join(", ")' <<<"$TOUCHED")."
		printf '%s\n' "Cases, $CASES_SAY: $(printf '%s, ' "${CHOSEN[@]}" | sed 's/, $//')."
		if [ ${#NAMED[@]} -gt 0 ]; then
			printf '%s\n' "Held against the documented tables: $(printf '%s, ' "${NAMED[@]}" | sed 's/, $//')."
		else
			printf '%s\n' "No documented table is known of this series: one kernel against the other."
		fi
		[ ${#LEFT_OUT[@]} -eq 0 ] || printf 'Left out: %s.\n' "${LEFT_OUT[@]}"
	} | wrap
	section counts 'Instructions'
	section shared 'Counts between CPUs'
	section times "Times under $TIMES"
	printf '\nTo repeat, with before-after:\n\n'
	command_lines ci/try.sh "${ARGS_SHOWN[@]}"
	printf '\nIt runs:\n\n'
	printf '%s\n' "${COMMANDS[@]}"
}

# --- together ---------------------------------------------------------------------------------

read_series
find_base
STATUS=0
TOUCHED=$("$CI/build-kernel.sh" --source "$SOURCE" --patch "$MBOX" --touched) || STATUS=$?
[ "$STATUS" -eq 0 ] || exit "$((STATUS == 2 ? 2 : 125))"
plan
say "cases: ${CHOSEN[*]}; claims: ${NAMED[*]:-none}"
for n in icount "$TIMES"; do
	MEMORY=2G
	[[ $n != uml || " ${CHOSEN[*]} " != *' shmem-truncate '* ]] || MEMORY=3G
	[ "$n" = none ] || "$CI/boot.sh" --check --engine "$n" --memory "$MEMORY" || exit 2
done

# What a reader elsewhere has is the series, not our path of it.
SHOWN=${SERIES##*/}
ARGS_SHOWN=()
for n in "${ARGS[@]}"; do
	[ "$n" != "$SERIES" ] || n=$SHOWN
	[ "$n" = --fresh ] || ARGS_SHOWN+=("$n")
done
OUT=$REPO/results/try/${SHOWN%.*}-$({
	printf '%s\n' "$SOURCE" "$BOOTS" "$RUNS" "${CHOSEN[@]}" "$TIMES"
	cat "$MBOX"
	programs_key
} | key | cut -c1-8)
mkdir -p "${OUT%/*}" || die "cannot make ${OUT%/*}" 2
# Beside it, so that it outlives --fresh.
exec {LOCK}<>"$OUT.lock"
if ! flock -n "$LOCK"; then
	read -r n <"$OUT.lock" || n='who it is is not known'
	die "$OUT: another try of this series is at work there: $n" 2
fi
printf 'pid %d, ci/try.sh\n' $$ >"$OUT.lock"
! $FRESH || rm -rf "${OUT:?}"
mkdir -p "$OUT" || die "cannot make $OUT" 2
rm -rf "$OUT"/{counts,shared,times}{,.text}
# ab.sh knows an mbox by its name, and names the kernel by it.
if [[ $MBOX != "$SERIES" || $MBOX != *.@(mbox|patch) ]]; then
	SHOWN=${SHOWN%.*}.mbox
	cp "$MBOX" "$OUT/$SHOWN"
	MBOX=$OUT/$SHOWN
fi

name_base
COMMANDS=() LEFT_OUT=() COMPARISONS=0 PARTS=()
declare -A OUTCOMES=() COMPARED=()
one_cpu counts icount smoke
several_cpus
[ "$TIMES" = none ] || one_cpu times "$TIMES" quick
judge counts
judge shared
judge times
[ ${#OUTCOMES[@]} -gt 0 ] || die "nothing of ${CHOSEN[*]} can be measured here" 125
GATED=0
gate || GATED=$?
reply | tee "$OUT/reply"
conclude "$GATED"
