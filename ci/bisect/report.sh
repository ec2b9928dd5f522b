# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What ci/bisect.sh found, as bisect.json and report.md. Sourced by it.
# shellcheck disable=SC2154

# Of every commit that the report names: who, when, what.
names() {
	jq -r '[.steps[].commit, (.searches // [] | .[] | .from, .to, .before, .left[])] | unique[]' "$RANGE/decision.json" |
		tree log --no-walk=unsorted --stdin --format='%H%x00%P%x00%an <%ae>%x00%aI%x00%s' |
		jq -Rn '[inputs | split("\u0000") | {(.[0]): {parents: (.[1] | split(" ")), author: .[2], date: .[3], subject: .[4]}}]
			| add // {}'
}

# found: of each commit that was found, it and what it was measured against.
found() {
	jq -r '.searches // [] | .[] | select(.state == "found") | "\(.before) \(.to)"' "$RANGE/decision.json"
}

# How often what a commit changes was called, before it and with it.
calls_of() {
	jq --arg commit "$2" --slurpfile before <(cat "$(dir_of "$1")/calls" 2>/dev/null) \
		--slurpfile after <(cat "$(dir_of "$2")/calls" 2>/dev/null) -n '
		def calls($runs; $f): first($runs[] | .probes.functions[$f] // empty | .value // "absent: \(.absent)") // "not a function of that image";
		[inputs | select(.commit == $commit) | .files[].functions // [] | .[]] | unique | map(. as $f
			| {commit: $commit, function: $f, before: calls($before; $f), after: calls($after; $f)})' "$RANGE/changed.jsonl"
}

report() {
	local before after
	while read -r before after; do calls_of "$before" "$after"; done < <(found) | jq -s 'add // []' >"$STAGE/calls"
	names >"$STAGE/names"
	# Where a merge that was found forks: its other side can be bisected from there.
	while read -r before after; do
		[ "$(tree rev-list --no-walk --parents "$after" | wc -w)" -le 2 ] ||
			printf '%s %s\n' "$after" "$(tree merge-base "$after^1" "$after^2")"
	done < <(found) | jq -Rn '[inputs | split(" ") | {(.[0]): .[1]}] | add // {}' >"$STAGE/forks"
	jq -n --slurpfile state "$STATE" --slurpfile decision "$RANGE/decision.json" --slurpfile names "$STAGE/names" \
		--slurpfile calls "$STAGE/calls" --slurpfile forks "$STAGE/forks" --arg git "$DIR" --arg base "$BASE" --arg variant "$VARIANT" --arg engine "$ENGINE" \
		--argjson branches $((ALL - ${#HISTORY[@]})) '$state[0] as $s
		| {schema: 1, git: $git, base: $base, good: $s.good, bad: $s.bad, case: $s.case, variant: $variant, metric: $s.metric,
		   engine: $engine, threshold: $s.threshold, commits: ($s.commits | length), branches: $branches, forks: $forks[0],
		   counts: {boots: ([$s.log[].boots] | add // 0), builds: ([$s.log[] | select(.built)] | length),
			known: ([$s.log[] | select(.records and .boots == 0 and (.same | not))] | length),
			same: ([$s.log[] | select(.same)] | length)},
		   decision: $decision[0], names: $names[0], calls: $calls[0],
		   why: ($s.commits | map(select(.why) | {(.commit): .why}) | add // {}),
		   same: ($s.log | map(select(.same) | {(.commit): .same}) | add // {})}' >"$RANGE/bisect.json.new"
	mv "$RANGE/bisect.json.new" "$RANGE/bisect.json"
	jq -r -f "$CI/bisect/report.jq" "$RANGE/bisect.json"
	while read -r before after; do
		printf '\n## %s against %s\n\n' "${after:0:12}" "${before:0:12}"
		[ "$BOOTS" -gt 1 ] ||
			printf 'One boot of each has no interval: the commit is told by the noise above, and no row below can be decided.\n\n'
		before=$(records_of "$before") after=$(records_of "$after")
		{ "$REPO/build/compare" --no-claims --gate none --format markdown "$before" "$after" || [ $? -eq 3 ]; } |
			sed '/^## How to reproduce/,$d; s/^## /### /'
		code_path "$before" "$after"
	done < <(found)
}

# By which code the claims of the case tell before from after.
code_path() {
	local f claims=()
	for f in "$REPO/cases/$CASE".*.json; do [ ! -e "$f" ] || claims+=(--claims "$f"); done
	[ ${#claims[@]} -gt 0 ] || return 0
	printf '\n## Code path\n\n'
	{ "$REPO/build/compare" "${claims[@]}" --gate none --format markdown "$@" || [ $? -eq 3 ]; } |
		awk '/^## / {claim = $2}
			/^Code path: / {sub(/^Code path: /, ""); printf "- %s: %s", claim, $0; path = 1; next}
			path && /^$/ {print ""; path = 0}
			path {printf " %s", $0}
			END {if (path) print ""}'
}

records_of() {
	jq -r --arg commit "$1" 'last(.log[] | select(.commit == $commit)) | .records' "$STATE"
}
