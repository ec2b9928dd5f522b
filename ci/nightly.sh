#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# One night: fetch, build tonight's kernel and what it is held against, boot them in turn, compare, and
# boot again what looks worse. What is judged and remembered is build/history's. See docs/nightly.md.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=ci/nightly/settings.sh
. "$CI/nightly/settings.sh"
# shellcheck source=ci/nightly/kernels.sh
. "$CI/nightly/kernels.sh"
# shellcheck source=ci/nightly/report.sh
. "$CI/nightly/report.sh"

# shellcheck disable=SC2317
finish() {
	local status=$?
	end_child
	rm -rf "${SCRATCH:-}"
	unconcluded "$status"
}
trap finish EXIT
trap 'say "stopped; the same command goes on from here"; exit 130' INT
trap 'say "stopped; the same command goes on from here"; exit 143' TERM HUP
SCRATCH=$(mktemp -d)

# --- which night ------------------------------------------------------------------------------

# put FILE: stdin, whole or not at all, also when the power goes.
put() {
	cat >"$1.new"
	place "$1"
}

place() { # FILE: its .new takes its place
	sync "$1.new"
	mv "$1.new" "$1"
}

# The nights that are ours, newest first: by name, by kind and by the mark in them.
nights() {
	local dir
	for dir in "$RESULTS"/20[0-9][0-9]-[01][0-9]-[0-3][0-9]; do
		[ -L "$dir" ] || [ ! -f "$dir/$MARK" ] || printf '%s\n' "${dir##*/}"
	done | sort -r
}

# Those before this one that are done.
earlier() {
	local date
	for date in $(nights); do
		[[ ! $date < $DATE ]] || [ ! -e "$RESULTS/$date/states.json" ] || printf '%s\n' "$date"
	done
}

# What a killed night started needs a moment to end; it holds the lock until then.
take_lock() {
	exec {LOCK}>>"$RESULTS/.lock"
	flock -w 10 "$LOCK" || die "another night runs in $RESULTS" 2
}

# Which it is: MINE.
choose_night() {
	RESULTS=${WANT[results]:-$REPO/results/nightly} MARK=.before-after-nightly
	mkdir -p "$RESULTS" || die "cannot make $RESULTS" 2
	RESULTS=$(cd "$RESULTS" && pwd)
	MIRROR=$CACHE/mirrors/$(key <<<"$URL") OURS=refs/before-after/$(key <<<"$RESULTS")
	take_lock
	DATE=${WANT[date]:-$(date -u +%F)}
	MINE=$RESULTS/$DATE
	if [ -e "$MINE" ] && [ ! -f "$MINE/$MARK" ]; then die "$MINE: expected a night of ours, found no $MARK in it" 2; fi
}

# A night that is done stays as it is; one that could not run is tried again.
already_done() {
	! $FRESH && [ -e "$MINE/states.json" ] && jq -e '.state == "done"' "$MINE/night.json" >/dev/null
}

# Nights of before that were stopped go first, each with a script of its own: whatever comes of it, tonight's
# follows. What can no longer be what it was begun as stays stopped, and so does what ends by itself.
take_up_stopped() {
	local date status
	[ -z "${WANT[date]:-}" ] && ! $FRESH || return 0
	for date in $(nights | sort); do
		if [[ ! $date < $DATE ]] || [ ! -e "$RESULTS/$date/plan.json" ] || [ -e "$RESULTS/$date/states.json" ]; then
			continue
		fi
		if ! begun_alike "$RESULTS/$date"; then
			stopped "$date" 'the programs or the settings were changed before it was done'
			continue
		fi
		say "$date was stopped: it is taken up first"
		exec {LOCK}>&-
		rm -f "$SCRATCH/why"
		spawn TERM env BEFORE_AFTER_WHY="$SCRATCH/why" "$0" "${ARGS[@]}" --date "$date"
		status=0
		wait "$CHILD" || status=$?
		CHILD=
		take_lock
		[ "$status" -ne 1 ] || EARLIER_WORSE=true
		case $status in 130 | 143) exit "$status" ;; esac
		[ -e "$RESULTS/$date/states.json" ] ||
			stopped "$date" "$(cat "$SCRATCH/why" 2>/dev/null || echo "ci/nightly.sh ended with $status")"
	done
}

# A night that will not be done is reported as it is.
stopped() { # DATE WHY
	local DATE=$1 MINE=$RESULTS/$1
	without_kernels stopped "$2"
}

# --- boots ------------------------------------------------------------------------------------

# Roles that are the same kernel are booted once: LABEL[ROLE] is the name that its records have.
declare -A LABEL=()
label_all() {
	local role other
	for role in tonight last-good anchor $(printf '%s\n' "${!IMAGE[@]}" | sort); do
		if [ -z "${IMAGE[$role]:-}" ] || [ -n "${LABEL[$role]:-}" ]; then continue; fi
		for other in "${!LABEL[@]}"; do
			[ "${IMAGE[$role]}" != "${IMAGE[$other]}" ] || LABEL[$role]=${LABEL[$other]}
		done
		LABEL[$role]=${LABEL[$role]:-$role}
	done
}

# A kernel is not held against itself.
drop_same() {
	local held kept=()
	for held in "${HELD[@]}"; do
		parts "$held"
		if [ "${LABEL[$BEFORE]:-$BEFORE}" != "${LABEL[$AFTER]:-$AFTER}" ]; then
			kept+=("$held")
		else
			UNCOMPARED+=("$NAME: it is the same kernel as $AFTER")
		fi
	done
	HELD=("${kept[@]}")
}

# boot OUT GROUPS LABEL..: boots of each in turn, every group of run.sh options in each. A kernel of which
# one fails is none of the night's any more.
boot() {
	local out=$1 groups=() words kernels=() label role group why status=0
	mapfile -t words <<<"$2"
	for group in "${words[@]}"; do
		read -ra words <<<"$group"
		groups+=(-- "${words[@]}")
	done
	for label in "${@:3}"; do kernels+=(--kernel "$label=${IMAGE[$label]}"); done
	spawn TERM "$CI/boots.sh" --out "$out" --keep-going --code-path "${kernels[@]}" "${BOOT_ARGS[@]}" -- \
		"${COMMON[@]}" "${groups[@]}" >"$SCRATCH/broken"
	wait "$CHILD" || status=$?
	CHILD=
	[ "$status" -eq 0 ] || [ "$status" -eq 125 ] || exit 2
	while IFS=$'\t' read -r label why; do
		for role in "${!LABEL[@]}"; do
			[ "${LABEL[$role]}" != "$label" ] || STATE[$role]=boot-failed WHY[$role]=$why
		done
	done <"$SCRATCH/broken"
}

# --- comparisons ------------------------------------------------------------------------------

# compare RECORDS TABLES FORMAT: BEFORE and AFTER, on stdout; what went wrong is in SCRATCH/compare. TABLES
# is a claim, all, or empty for none.
compare() {
	local claims=() status=0
	case $2 in
	all) ;;
	'') claims=(--no-claims) ;;
	*) claims=(--claims "$REPO"/cases/*."$2".json) ;;
	esac
	"$REPO/build/compare" "${claims[@]}" --gate none --format "$3" "$1/${LABEL[$BEFORE]}" \
		"$1/${LABEL[$AFTER]}" 2>"$SCRATCH/compare" || status=$?
	[ "$status" -ne 2 ]
}

# compare_into FILE RECORDS: the same for build/history, in a file of the night.
compare_into() {
	local tables=$CLAIM
	case $KIND in anchor | last-good) tables=all ;; esac
	compare "$2" "$tables" json >"$MINE/$1.new" || return
	place "$MINE/$1"
}

# One of HELD as night.json has it; its numbers in compare-NAME.json.
comparison() {
	local role state='done' why='' file
	parts "$1"
	file=compare-$(file_name "$NAME").json
	for role in "$AFTER" "$BEFORE"; do
		[ -z "${STATE[$role]:-}" ] || state=${STATE[$role]} why=${WHY[$role]}
	done
	rm -f "${MINE:?}/$file"
	if [ "$state" = 'done' ] && ! compare_into "$file" "$MINE/records"; then
		state=skipped why=$(tail -n 1 "$SCRATCH/compare")
	fi
	jq -n --arg kind "$KIND" --arg name "$NAME" --arg claim "$CLAIM" --arg file "$file" --arg state "$state" \
		--arg why "$why" 'def given: if . == "" then null else . end;
		{kind: $kind, name: $name, claim: ($claim | given), confirm: null, state: $state,
		 reason: ($why | given), compare: (if $state == "done" then $file else null end)}'
}

# --- the night --------------------------------------------------------------------------------

# night STATE REASON [COMPARISON..]: night.json.
night() {
	local plan
	plan=$(cat "$MINE/plan.json" 2>/dev/null || jq -n --arg started "$STARTED" '{started: $started}')
	jq -n --arg date "$DATE" --arg state "$1" --arg reason "$2" --arg finished "$(date -u +%FT%TZ)" \
		--arg release "$(release_of tonight)" --arg anchor "$(release_of anchor)" \
		--arg consoles "$([ ! -d "$MINE/records/boots" ] || echo records/boots)" \
		--argjson plan "$plan" --slurpfile comparisons <([ $# -le 2 ] || printf '%s\n' "${@:3}") '
		def given: if . == "" then null else . end;
		{schema: 1, date: $date, state: $state, reason: ($reason | given),
		 started: $plan.started, finished: $finished,
		 kernel: (if $plan.kernel then $plan.kernel + {release: ($release | given)} else null end),
		 last_good: $plan.last_good,
		 anchor: (if $plan.anchor then $plan.anchor + {release: ($anchor | given)} else null end),
		 comparisons: $comparisons,
		 stale: [$comparisons[] | select(.state == "stale") | {treatment: .name, hunk: .reason}],
		 report: "report.md", consoles: ($consoles | given),
		 info: {settings: $plan.settings, not_compared: $ARGS.positional}}' \
		--args -- "${UNCOMPARED[@]}" | put "$MINE/night.json"
}

# What build/history makes of night.json: states.json.new, its exit status in OUTCOME.
judge() {
	local previous
	PREVIOUS=()
	read -r previous < <(earlier) || true
	[ -z "$previous" ] || PREVIOUS=(--previous "$RESULTS/$previous")
	OUTCOME=0
	"$REPO/build/history" states "${PREVIOUS[@]}" "$MINE" >"$MINE/states.json.new" || OUTCOME=$?
	[ -s "$MINE/states.json.new" ] || die "build/history could not judge $MINE" 2
}

# What looks worse is booted again, both kernels of each comparison, and only that counts as an alarm.
confirm() {
	local names cases groups=() labels=() group held file
	names=$(jq -r '[.confirm[].comparison] | unique[]' "$MINE/states.json.new")
	cases=$(jq -r '[.confirm[].case] | unique | join(" ")' "$MINE/states.json.new")
	[ -n "$names" ] || return 0
	say "fresh boots for what looks worse: ${names//$'\n'/, }"
	for group in "${RUN[@]}"; do ! runs "$group" "$cases" || groups+=("$group"); done
	for held in "${HELD[@]}"; do
		parts "$held"
		! grep -qxF -- "$NAME" <<<"$names" || labels+=("${LABEL[$BEFORE]}" "${LABEL[$AFTER]}")
	done
	mapfile -t labels < <(printf '%s\n' "${labels[@]}" | sort -u)
	boot "$MINE/confirm" "$(printf '%s\n' "${groups[@]}")" "${labels[@]}"
	for held in "${HELD[@]}"; do
		parts "$held"
		grep -qxF -- "$NAME" <<<"$names" || continue
		file=confirm-$(file_name "$NAME").json
		compare_into "$file" "$MINE/confirm" || continue
		jq --arg name "$NAME" --arg file "$file" '(.comparisons[] | select(.name == $name)).confirm = $file' \
			"$MINE/night.json" | put "$MINE/night.json"
	done
	judge
}

# states.json comes last: with it the night is done.
publish() {
	judge
	[ "$1" = again ] || confirm
	report | put "$MINE/report.md"
	place "$MINE/states.json"
	show
}

# What follows from the night for all of them; the same again does no harm.
show() {
	retire
	"$REPO/build/history" index "$RESULTS" || die "build/history cannot write the index of $RESULTS" 2
	cat "$MINE/report.md"
}

# A night without a kernel to compare is a night too.
without_kernels() { # STATE WHY
	say "$DATE: $1: $2"
	HELD=()
	night "$1" "$2"
	publish again
}

give_up() {
	without_kernels "$@"
	conclude "$OUTCOME"
}

# Everything in one of our nights but the mark.
empty() {
	find "$1" -mindepth 1 ! -name "$MARK" -delete
}

# The night whose kernel tonight was held against stays: a loss since is told by it.
retire() {
	local n=0 date good
	good=$(jq -r '.last_good.date // ""' "$MINE/night.json")
	for date in $(nights); do
		n=$((n + 1))
		[ "$date" != "$good" ] || continue
		if [ "$n" -gt "${WANT[keep]:-30}" ]; then
			rm -rf "${RESULTS:?}/$date"/{records,confirm}
			in_mirror update-ref -d "$OURS/$date" 2>/dev/null || true
		fi
		if [ -n "${WANT[keep-nights]:-}" ] && [ "$n" -gt "${WANT[keep-nights]}" ]; then
			empty "$RESULTS/$date"
			rm "$RESULTS/$date/$MARK"
			rmdir "$RESULTS/$date"
		fi
	done
}

EARLIER_WORSE=false
choose_night
read_settings
take_up_stopped
if already_done; then
	say "$DATE is done$(begun_alike "$MINE" || echo ', with other settings or programs than these: --fresh does it again')"
	judge
	rm "$MINE/states.json.new"
	show
else
	plan
	build_all
	label_all
	drop_same
	mapfile -t LABELS < <(printf '%s\n' "${LABEL[@]}" | sort -u)
	boot "$MINE/records" "$(printf '%s\n' "${RUN[@]}")" "${LABELS[@]}"
	[ -z "${STATE[tonight]:-}" ] || give_up boot-failed "${WHY[tonight]}"
	COMPARED=()
	for held in "${HELD[@]}"; do COMPARED+=("$(comparison "$held")"); done
	night 'done' '' "${COMPARED[@]}"
	publish first
fi
if $EARLIER_WORSE && [ "$OUTCOME" -ne 2 ]; then OUTCOME=1; fi
conclude "$OUTCOME"
