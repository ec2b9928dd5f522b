#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Inside LAVA's test shell: runs cases as the definition's parameters say, then reports each variant
# and each of its metrics with lava-test-case. Records are kept in results/lava.
set -euo pipefail
export LC_ALL=C

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readonly here top=${here%/ci/lava}
readonly results=${RESULTS:-$top/results} build=${BEFORE_AFTER_BUILD:-$top/build}
command -v lava-test-case >/dev/null || {
	echo 'run.sh: wanted lava-test-case in PATH, found none: this runs in a LAVA test shell' >&2
	exit 99
}

code=0
"$top/run.sh" --label lava --results "$results" --scale "${SCALE:-quick}" ${CASES:+--case "$CASES"} \
	${VARIANT:+--variant "$VARIANT"} ${RUNS:+--runs "$RUNS"} \
	${SWAP_DEVICE:+--swap-device "$SWAP_DEVICE"} || code=$?

# A name may hold neither blanks nor "=", which end a word of LAVA's signals; nor may a unit.
report() {
	"$build/compare" --no-claims --single "$results/lava" --format json | jq -r '
		def id: [.case, (.options | to_entries[] | "\(.key)-\(.value)")] | join(".")
			| gsub("[^A-Za-z0-9._-]"; "_");
		def figure($name; $value; $unit): select($value != null)
			| [id + "." + $name, "pass", ($value | tostring), ($unit | gsub("[^A-Za-z0-9/%._-]"; "_"))];
		(.not_measured | map(select(.status != "skip") | id)) as $failed
		| ((.rows | map(id) | unique) - $failed | .[] | [., "pass"]),
		(.rows[] | figure(.metric; .median; .unit), figure("time_per_page"; .ns_per_page; "ns/page"),
			figure("instructions_per_page"; .instructions_per_page; "instructions/page")),
		(.not_measured[] | [id, (if .status == "skip" then "skip" else "fail" end)])
		| join(" ")'
}
if [[ $code == [014] ]]; then
	while read -r name result value unit; do
		lava-test-case "$name" --result "$result" \
			${value:+--measurement "$value"} ${unit:+--units "$unit"}
	done < <(report)
fi
case $code in
0) lava-test-case run --result pass ;;
4) lava-test-case run --result skip ;;
*) lava-test-case run --result fail ;;
esac
