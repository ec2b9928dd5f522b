# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2153
# report.md of a night: its kernels, what build/history says of it, the tables of build/compare. Sourced by
# ci/nightly.sh; prints.

# Which kernels these are, and what has come since the last good one.
kernels_table() {
	local range
	jq -r '"# \(.date)\n\n| kernel | commit | | release |\n|---|---|---|---|",
		({"tonight": .kernel, "last good": .last_good, "anchor": .anchor} | to_entries[] | select(.value != null)
		| "| \(.key)\(.value.date // "" | if . == "" then . else " (\(.))" end) | \(.value.commit) | \(
			.value.describe // "") | \(.value.release // "") |"), ""' "$MINE/night.json"
	range=$(jq -r 'select(.last_good and .kernel) | "\(.last_good.commit)..\(.kernel.commit)"' "$MINE/night.json")
	if [ -z "$range" ] || ! in_mirror cat-file -e "${range%%..*}" 2>/dev/null; then return 0; fi
	printf 'Commits since the last good night: %s. In mm/, at most the newest 20:\n\n' \
		"$(in_mirror rev-list --count "$range")"
	in_mirror log --no-merges -n 20 --format='    %h %s' "$range" -- mm
	echo
}

# report.md: what build/history says of the night, then the tables of every comparison.
report() {
	local held
	kernels_table
	"$REPO/build/history" states --format markdown "${PREVIOUS[@]}" "$MINE" || true
	[ ${#UNCOMPARED[@]} -eq 0 ] || printf '\nNot compared: %s.\n' "${UNCOMPARED[@]}"
	for held in "${HELD[@]}"; do
		parts "$held"
		[ -e "$MINE/compare-$(file_name "$NAME").json" ] || continue
		printf '\n# %s: %s, then %s\n\n' "$NAME" "$BEFORE" "$AFTER"
		compare "$MINE/records" "$CLAIM" markdown
		[ -e "$MINE/confirm-$(file_name "$NAME").json" ] || continue
		printf '\n# %s: fresh boots\n\n' "$NAME"
		compare "$MINE/confirm" "$CLAIM" markdown
	done
}
