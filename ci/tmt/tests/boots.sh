#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Inside tmt: one pass of the suite a boot, until every kernel has its boots, then results.yaml.
#
#   KERNELS    one release or two, "BEFORE AFTER" (default: the one that runs)
#   BOOTS      boots of each (1)
#   BOOT_INTO  a shell command that makes the release @KERNEL@ the one that is booted next
#   CASES VARIANT SCALE RUNS SWAP_DEVICE GATE   as of make run and build/compare
#
# Exit: 0 results were written (they hold what failed), 1 there are none.
set -euo pipefail
export LC_ALL=C

# Whatever ends it, the code is one of these.
trap 'code=$?; ((code == 0)) || exit 1' EXIT
die() {
	printf 'boots.sh: %s\n' "$*" >&2
	exit 1
}

[[ -n ${TMT_TEST_DATA:-} ]] || die 'TMT_TEST_DATA: wanted the directory that tmt gives a test, found none'
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readonly here top=${here%/ci/tmt/tests}
readonly records=$TMT_TEST_DATA/records build=${BEFORE_AFTER_BUILD:-$top/build}
release=$(uname -r)
read -ra kernels <<<"${KERNELS:-$release}"
boots=${BOOTS:-1}
((${#kernels[@]} == 1 || ${#kernels[@]} == 2)) ||
	die "KERNELS: wanted one or two releases, found ${#kernels[@]}"
[[ ${kernels[0]} != "${kernels[1]:-}" ]] || die "KERNELS: wanted two different releases, found '$KERNELS'"
[[ $boots =~ ^[1-9][0-9]{0,2}$ ]] || die "BOOTS: wanted a number from 1 to 999, found '$boots'"

boots_of() {
	find "$records/$1" -name '*.jsonl' 2>/dev/null | wc -l
}

# The kernel that lacks most; among equals the one that runs, which makes the order ABBA.
next_kernel() {
	local kernel count least=$boots next=''
	for kernel in "$release" "${kernels[@]}"; do
		[[ " ${kernels[*]} " == *" $kernel "* ]] || continue
		count=$(boots_of "$kernel")
		if ((count < least)); then
			least=$count next=$kernel
		fi
	done
	printf '%s' "$next"
}

if [[ " ${kernels[*]} " == *" $release "* ]] && (($(boots_of "$release") < boots)); then
	[[ -x $build/compare ]] || make -C "$top" -j "$(nproc)"
	# A failed run is a result of its own; only a broken environment ends it here.
	code=0
	"$top/run.sh" --label "$release" --results "$records" --scale "${SCALE:-quick}" \
		${CASES:+--case "$CASES"} ${VARIANT:+--variant "$VARIANT"} ${RUNS:+--runs "$RUNS"} \
		${SWAP_DEVICE:+--swap-device "$SWAP_DEVICE"} || code=$?
	[[ $code == [014] ]] || exit 1
fi

next=$(next_kernel)
if [[ -n $next ]]; then
	((${TMT_REBOOT_COUNT:-0} <= 2 * boots * ${#kernels[@]})) ||
		die "$next: wanted a boot of it, found $release after $TMT_REBOOT_COUNT reboots"
	if [[ $next != "$release" ]]; then
		[[ -n ${BOOT_INTO:-} ]] || die "BOOT_INTO: wanted the command that selects $next, found none"
		bash -euc "${BOOT_INTO//@KERNEL@/$next}" || die "BOOT_INTO: $next: ended with $?"
	fi
	tmt-reboot
	exit 0
fi

# --- results ------------------------------------------------------------------------------------

log=$TMT_TEST_DATA/report.txt
json=$TMT_TEST_DATA/report.json
code=0
# JSON is YAML. "/" is the test itself, the others are below it.
if ((${#kernels[@]} == 1)); then
	"$build/compare" --format text --single "$records/${kernels[0]}" >"$log"
	"$build/compare" --format json --single "$records/${kernels[0]}" >"$json"
	jq '
		def name: "/" + ([.case, (.options | to_entries[] | "\(.key)=\(.value)")] | join("/"));
		(.not_measured | map(select(.status != "skip") | name)) as $failed
		| [{name: "/", result: (if .rows == [] then "skip" elif $failed != [] then "fail" else "pass" end),
			log: ["report.txt"]}]
		+ (.rows | group_by(name) | map({name: (.[0] | name), result: "pass",
			note: map("\(.metric): \(.median // "absent, \(.absent)") \(if .median then .unit else "" end)")})
			| map(select(.name | IN($failed[]) | not)))
		+ (.not_measured | map({name: name, result: (if .status == "skip" then "skip" else "fail" end),
			note: ["\(.status): \(.reason)"]}))' "$json" >"$TMT_TEST_DATA/results.yaml"
else
	"$build/compare" --gate "${GATE:-direction}" --format text "$records/${kernels[0]}" \
		"$records/${kernels[1]}" >"$log" || code=$?
	((code != 2)) || exit 1
	"$build/compare" --gate "${GATE:-direction}" --format json "$records/${kernels[0]}" \
		"$records/${kernels[1]}" >"$json" || true
	jq '
		def result: if .outcome == "fail" then "fail" elif .verdict == "not measured" then "skip"
			elif .outcome == "pass" then "pass" else "info" end;
		def row: {name: "/\(.label)", result: result, note: [.verdict + (if .reason then ": \(.reason)" else "" end),
			(select(.pooled.ratio) | "\(.metric) after/before: \(.pooled.ratio), \(.pooled.low) to \(.pooled.high)")]};
		[{name: "/", result: {pass: "pass", fail: "fail", open: "info"}[.outcome],
			note: [.headline], log: ["report.txt"]}]
		+ [(.claims[].rows[], .others[]) | row]' "$json" >"$TMT_TEST_DATA/results.yaml"
fi
cat "$log"
