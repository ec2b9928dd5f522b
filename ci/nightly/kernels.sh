# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2153
# The kernels of a night: which they are, fetched, and built. Sourced by ci/nightly.sh.
# Sets IMAGE[ROLE], or STATE[ROLE] and WHY[ROLE] where there is none; HELD, what tonight's kernel is held
# against.

in_mirror() {
	git --git-dir="$MIRROR" "$@"
}

# fetch REF NAME: keep what REF is now as NAME; a fetch that fails ends the night. What git would do in the
# background afterwards would hold the night's lock.
fetch() {
	local start=$SECONDS
	spawn TERM git --git-dir="$MIRROR" -c gc.auto=0 -c maintenance.auto=false fetch -q --no-tags "$URL" "+$1:$OURS/$2" \
		'+refs/tags/v*:refs/tags/v*' 2>"$SCRATCH/fetch"
	while kill -0 "$CHILD" 2>/dev/null; do
		[ ! -t 2 ] || progress "fetching $1: $(clock $((SECONDS - start)))," \
			"the mirror has $(du -sh "$MIRROR" | cut -f1)"
		nap 1
	done
	if wait "$CHILD"; then CHILD=; else
		CHILD=
		give_up fetch-failed "$URL $1: $(tail -n 1 "$SCRATCH/fetch")"
	fi
	clear_progress
}

# facts REF NAME: what is known of a fetched kernel before it is built.
facts() {
	jq -n --arg ref "$1" --arg commit "$(in_mirror rev-parse "$OURS/$2^{commit}")" \
		--arg describe "$(in_mirror describe --tags --always "$OURS/$2" 2>/dev/null)" \
		'{ref: $ref, commit: $commit, release: null, describe: $describe}'
}

# The kernel of the newest earlier night that was held against its own last good one and showed no loss, or
# null. A loss that was only suspected is none that is gone, and what was not compared tells nothing.
last_good() {
	local date
	for date in $(earlier); do
		if jq -es '.[0].state == "done" and all(.[0].comparisons[]; .kind != "last-good" or .state == "done") and
				all(.[1].alarms[]; .comparison != "last-good" or .state == "dismissed")' \
			"$RESULTS/$date"/{night,states}.json >/dev/null; then
			jq --arg date "$date" '.kernel + {date: $date}' "$RESULTS/$date/night.json"
			return
		fi
	done
	echo null
}

# Sets ANCHOR: that of the last night that had one, unless another is asked for; in the first the newest
# release.
find_anchor() {
	local date ref=${WANT[anchor]:-}
	for date in $(earlier); do
		ANCHOR=$(jq --arg ref "$ref" '.anchor | select(. and ($ref == "" or .ref == $ref))' \
			"$RESULTS/$date/night.json")
		[ -n "$ANCHOR" ] || continue
		! in_mirror cat-file -e "$(jq -r .commit <<<"$ANCHOR")" 2>/dev/null || return 0
		ref=$(jq -r .ref <<<"$ANCHOR")
		break
	done
	if [ -z "$ref" ]; then
		ref=$(in_mirror describe --tags --abbrev=0 --match 'v[0-9]*' --exclude '*-rc*' "$OURS/$DATE" 2>/dev/null) ||
			die "--anchor: expected a release tag before $REF in $URL, found none: give one" 2
	fi
	fetch "$ref" anchor
	ANCHOR=$(facts "$ref" anchor)
}

# Everything that a night's boots depend on but the commits: SETTINGS.
read_settings() {
	SETTINGS=$(jq -n '$ARGS.positional' --args -- "$(programs_key)" \
		"$(find "${SERIES[@]}" "$TREATMENTS" "$CI/kernel" -maxdepth 1 -type f -print0 | sort -z | xargs -0r cat | key)" \
		"$URL" "$REF" "${WANT[anchor]:-}" "${WANT[good]:-}" "${BOOT_ARGS[@]}" "${COMMON[@]}" "${RUN[@]}" "${SERIES[@]}")
}

begun_alike() { # NIGHT
	jq -e --argjson settings "$SETTINGS" '.settings == $settings' "$1/plan.json" >/dev/null 2>&1
}

# What this night is about, fixed before anything is built: plan.json. Of a night that goes on it is there.
plan() {
	local good=null commit
	if ! $FRESH && begun_alike "$MINE"; then
		say "$DATE goes on"
		return
	fi
	[ ! -e "$MINE" ] || empty "$MINE"
	mkdir -p "$MINE" && touch "$MINE/$MARK"
	git init -q --bare "$MIRROR"
	STARTED=$(date -u +%FT%TZ)
	say "fetching $REF of $URL"
	fetch "$REF" "$DATE"
	if [ -n "${WANT[good]:-}" ]; then
		fetch "${WANT[good]}" good
		good=$(facts "${WANT[good]}" good | jq '. + {date: null}')
	else
		good=$(last_good)
		commit=$(jq -r '.commit // ""' <<<"$good")
		# A mirror that was removed may no longer get it from a branch that was rebased: the night says so.
		if [ -n "$commit" ] && { in_mirror cat-file -e "$commit^{commit}" ||
			in_mirror fetch -q --no-tags "$URL" "$commit"; } 2>/dev/null; then
			in_mirror update-ref "$OURS/good" "$commit"
		fi
	fi
	find_anchor
	jq -n --argjson settings "$SETTINGS" --arg started "$STARTED" --argjson kernel "$(facts "$REF" "$DATE")" \
		--argjson good "$good" --argjson anchor "$ANCHOR" '{schema: 1, settings: $settings,
		  started: $started, kernel: $kernel, last_good: $good, anchor: $anchor}' | put "$MINE/plan.json"
}

# kernel ROLE COMMIT [PATCH]: build it: IMAGE[ROLE], or STATE[ROLE] and WHY[ROLE], why there is none.
declare -A IMAGE=() STATE=() WHY=()
kernel() {
	local role=$1 status=0
	rm -f "$SCRATCH/why"
	spawn TERM env BEFORE_AFTER_WHY="$SCRATCH/why" "$CI/build-kernel.sh" --source "$MIRROR@$2" \
		--engine "$ENGINE" ${3:+--patch "$3"} >"$SCRATCH/image"
	wait "$CHILD" || status=$?
	CHILD=
	IMAGE[$role]=$(<"$SCRATCH/image")
	[ "$status" -ne 0 ] || return 0
	unset "IMAGE[$role]"
	STATE[$role]=build-failed
	[ "$status" -ne 3 ] || STATE[$role]=stale
	WHY[$role]=$(cat "$SCRATCH/why" 2>/dev/null || echo "ci/build-kernel.sh ended with $status")
}

# held KIND NAME CLAIM BEFORE AFTER: something that tonight's kernel will be held against. What it is not,
# and why, is in UNCOMPARED.
HELD=() UNCOMPARED=()
held() {
	HELD+=("$(printf '%s\037' "$@")")
}

# unique NAME: sets NAME to it, or to it with a number where another comparison would have the same files.
unique() {
	local held other n=1 name=$1 wanted=$1
	while :; do
		for held in "${HELD[@]}"; do
			parts "$held"
			other=$(file_name "$NAME")
			if [ "$other" = "$(file_name "$name")" ]; then
				n=$((n + 1)) name=$wanted-$n
				continue 2
			fi
		done
		NAME=$name
		return
	done
}

parts() { # ONE OF HELD
	IFS=$'\037' read -r KIND NAME CLAIM BEFORE AFTER _ <<<"$1"
}

# Patches of ours for tonight's version: one side of a documented gain is tonight's kernel, the other
# tonight's with the patch.
treatments() {
	local commit=$1 version=$2 file name pattern claim role cases
	for file in "$TREATMENTS"/*.json; do
		[ -e "$file" ] || continue
		name=$(basename "$file" .json)
		pattern=${name%%-*}
		# shellcheck disable=SC2053
		[[ $version == ${pattern//x/*} ]] || continue
		claim=$(jq -r .claim "$file") role=with-$name
		cases=$(jq -r '[.moves[].case] | unique | join(" ")' "$file")
		if ! run_any "$cases"; then
			UNCOMPARED+=("$name: of its cases ($cases) none is run")
			continue
		fi
		kernel "$role" "$commit" "${file%.json}.patch"
		if [ "$(jq -r .side "$file")" = before ]; then
			held undo "$name" "$claim" "$role" tonight
		else
			held series "$name" "$claim" tonight "$role"
		fi
	done
}

# runs GROUP CASES: does this start of run.sh run one of the cases?
runs() {
	local case
	[[ " $1" == *' --case '* ]] || return 0
	for case in $2; do
		[[ ,$(sed -nE 's/.*--case ([^ ]*).*/\1/p' <<<"$1"), != *,"$case",* ]] || return 0
	done
	return 1
}

run_any() { # CASES
	local group
	for group in "${RUN[@]}"; do ! runs "$group" "$1" || return 0; done
	return 1
}

# A proposed series: held against the tables that it is the source of, or against none.
series() {
	local commit=$1 file name claims claim role
	for file in "${SERIES[@]}"; do
		unique "$(basename "$file")"
		name=$NAME role=with-$(file_name "$NAME")
		kernel "$role" "$commit" "$file"
		read_mails "$file" "$SCRATCH/mails.$role" || true
		mapfile -t claims < <(named_claims "$SCRATCH/mails.$role")
		held series "$name" "${claims[0]:-}" tonight "$role"
		for claim in "${claims[@]:1}"; do
			unique "$name, $claim"
			held series "$NAME" "$claim" tonight "$role"
		done
	done
}

# Everything that tonight needs, tonight's own first: without it there is no night.
build_all() {
	local role commit release
	commit=$(jq -r .kernel.commit "$MINE/plan.json")
	kernel tonight "$commit"
	[ -z "${STATE[tonight]:-}" ] || give_up build-failed "${WHY[tonight]}"
	release=$(release_of tonight)
	for role in last_good anchor; do
		[ "$(jq -r ".$role.commit // \"\"" "$MINE/plan.json")" != "" ] || continue
		kernel "${role/_/-}" "$(jq -r ".$role.commit" "$MINE/plan.json")"
		held "${role/_/-}" "${role/_/-}" '' "${role/_/-}" tonight
	done
	treatments "$commit" "$(cut -d. -f1-2 <<<"$release")"
	series "$commit"
}

release_of() { # ROLE; empty where it was not built
	[ -z "${IMAGE[$1]:-}" ] || jq -r .release "${IMAGE[$1]%/*}/image.json"
}
