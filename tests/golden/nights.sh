# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-only
# Small nights for the golden tests of build/history, on top of lib.sh: records of two boots a kernel
# as an icount guest writes them, compared by the real comparator.

ENGINE=icount SCALE=smoke PARAMS='{"size":16777216,"pages":4096}' MATCH='{"icount_shift":0,"cpus":1}'

# kernel NAME BOOT FTRUNCATE PUNCH: instructions a page, in two boots that differ a little
kernel() {
	local name=$1 boot=$2 ftruncate=$3 punch=$4 b
	for b in 0 1; do
		runs "$name" $((boot + b)) "op=ftruncate,$S4K" $(((ftruncate * 100 + b) * 4096 / 100)) \
			$((ftruncate * 4096)) $(((ftruncate * 100 + 1) * 4096 / 100))
		runs "$name" $((boot + b)) "op=punch,$S4K" $(((punch * 100 + b) * 4096 / 100)) \
			$((punch * 4096)) $(((punch * 100 + 1) * 4096 / 100))
	done
}

# against NAME BEFORE AFTER NIGHT [CLAIM..]: the comparison as NIGHT/NAME.json
against() {
	local name=$1 before=$2 after=$3 night=$4 claims=() c code=0
	shift 4
	for c; do claims+=(--claims "$c"); done
	[ $# -gt 0 ] || claims=(--no-claims)
	mkdir -p "$night"
	"$compare" "${claims[@]}" --format json "$before" "$after" >"$night/$name.json" || code=$?
	[ $code != 2 ]
}

# comparison KIND NAME CLAIM [CONFIRM]: one that is done, as JSON
comparison() {
	jq -n --arg kind "$1" --arg name "$2" --arg claim "$3" --arg confirm "${4:-}" '
		{kind: $kind, name: $name, claim: (if $claim == "" then null else $claim end),
		 compare: ($name + ".json"),
		 confirm: (if $confirm == "" then null else $confirm + ".json" end),
		 state: "done", reason: null}'
}

# night NIGHT COMPARISON..: night.json of a night that is done, and its report
night() {
	local night=$1
	shift
	mkdir -p "$night"
	echo "# $(basename "$night")" >"$night/report.md"
	printf '%s\n' "$@" | jq -s --arg date "$(basename "$night")" '
		def kernel(ref; day): {ref: ref, commit: (day | gsub("-"; "") | . + "c0ffee"),
			release: "6.12.117", describe: ("v6.12-" + day)};
		{schema: 1, date: $date, state: "done", reason: null,
		 started: ($date + "T01:00:00Z"), finished: ($date + "T02:30:00Z"),
		 kernel: kernel("mm-unstable"; $date),
		 last_good: (kernel("mm-unstable"; "2026-11-01") + {date: "2026-11-01"}),
		 anchor: {ref: "v6.12", commit: "adc218676eef", release: "6.12.0", describe: null},
		 comparisons: ., stale: [], report: "report.md", consoles: null, info: {}}' \
		>"$night/night.json"
}

# edit_night NIGHT JQ..
edit_night() {
	local night=$1
	shift
	jq "$@" "$night/night.json" >"$night/night.json.new"
	mv "$night/night.json.new" "$night/night.json"
}
