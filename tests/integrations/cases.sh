#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What a new case or claim lacks, a line each: declarations (declaration.c), claims without a case or
# under another name than their file's, and the template, which must compile, measure and be complete.
set -euo pipefail
export LC_ALL=C
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly build=${BEFORE_AFTER_BUILD:-build}
failed=0
result() { # NAME OK
	if [[ $2 == 0 ]]; then
		printf 'ok - %s\n' "$1"
	else
		printf 'not ok - %s\n' "$1"
		failed=1
	fi
}

# said COMMAND..: 0 when it ends with 0; what it prints is shown otherwise.
said() {
	local out
	out=$("$@" 2>&1) || {
		printf '%s\n' "$out"
		return 1
	}
}

for source in cases/*.c tests/template/template.c; do
	name=$(basename "$source" .c)
	checker=$build/tests/declarations/$name
	if [[ ! -x $checker ]]; then
		printf 'ok - declaration of %s # SKIP not built: a library is missing\n' "$name"
		continue
	fi
	ok=0
	said "$checker" "$source" || ok=1
	result "declaration of $name" "$ok"
done

claim_named() { # FILE
	local case claim
	case=$(basename "$1" .json) claim=${case#*.} case=${case%%.*}
	[[ -e $(dirname "$1")/$case.c ]] || {
		printf '%s: wanted the case %s/%s.c, found none: a claim is CASE.CLAIM.json\n' "$1" "$(dirname "$1")" "$case"
		return 1
	}
	jq -e --arg case "$case" --arg claim "$claim" '.case == $case and .claim == $claim' "$1" >/dev/null || {
		printf '%s: wanted the case "%s" and the claim "%s" in it, found %s\n' "$1" "$case" "$claim" \
			"$(jq -c '[.case, .claim]' "$1" 2>&1)"
		return 1
	}
}
for file in cases/*.json tests/template/*.json; do
	ok=0
	claim_named "$file" || ok=1
	result "claim of $file" "$ok"
done
# What a newcomer has to mend is the last that he reads.
((failed == 0)) || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -m 0700 "$work/run"
template() {
	"$build/tests/template/template" --describe >"$work/describe.json" &&
		said "$build/compare" --check-claims "$work/describe.json" tests/template/*.json &&
		said env BEFORE_AFTER_RUN_DIR="$work/run" "$build/tests/template/template" --scale smoke &&
		said env BEFORE_AFTER_RUN_DIR="$work/run" "$build/tests/template/template" --scale smoke \
			--variant op=munmap
}
ok=0
template || ok=1
result 'the template runs, and its claim agrees with it' "$ok"

# Each thing that can be missing is found, and the line names it.
broken() { # NAME PATTERN SED: the template with one thing wrong
	sed "$3" tests/template/template.c >"$work/$1.c"
	cmp -s "$work/$1.c" tests/template/template.c && {
		result "$1: the template has nothing that '$3' changes" 1
		return
	}
	# shellcheck disable=SC2086 # lists of words
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -w -iquote lib -o "$work/$1" "$work/$1.c" \
		"$build/obj/tests/integrations/declaration.o" "$build/libcase.a" "$build/libcompare.a" \
		$BEFORE_AFTER_LIBS || {
		result "$1: it does not compile" 1
		return
	}
	if "$work/$1" cases/template.c 2>"$work/said"; then
		result "$1 is found" 1
	elif grep -qE -- "$2" "$work/said" && (($(wc -l <"$work/said") <= 2)); then
		result "is found: $(tail -n 1 "$work/said")" 0
	else
		cat "$work/said"
		result "$1 is found" 1
	fi
}
if [[ -n ${BEFORE_AFTER_LIBS:-} ]]; then
	broken no-verify 'cases/template.c: .verify: wanted a proof' '/\.verify = /d'
	broken no-measure '.measure: wanted' '/\.measure = /d'
	broken no-metrics '.metrics: wanted at least one' '/\.metrics = /d'
	broken unknown-unit "time: wanted a unit such as .*found 'milliseconds'" \
		's/\.metrics = case_time_metrics/.metrics = (const struct case_metric[]){{"time", "milliseconds", BETTER_LOWER}, {0}}/'
	broken other-name "wanted that of the file, template, found 'other'" 's/\.name = "template"/.name = "other"/'
	broken unknown-variant ".variants: wanted options of this case, found 'op=unmap'" 's/"op=munmap"),/"op=unmap"),/'
	broken no-functions '.functions: wanted the kernel functions' '/\.functions = /d'
	broken small-quick 'smoke <= quick <= documented' 's/256 << 20/1 << 20/'
fi
mkdir "$work/cases"
cp tests/template/template.example.json "$work/cases/nowhere.example.json"
cp tests/template/template.example.json "$work/cases/here.example.json"
touch "$work/cases/here.c"
for name in nowhere here; do
	ok=0
	! claim_named "$work/cases/$name.example.json" >"$work/said" || ok=1
	result "is found: $(sed "s#$work/##g" "$work/said")" "$ok"
done
exit "$failed"
