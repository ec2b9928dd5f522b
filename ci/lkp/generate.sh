#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes what LKP must know of the cases, from their --describe and run.sh's usual variants:
# programs/before-after/include, jobs/before-after.yaml and index.yaml. usage: generate.sh DIR
set -euo pipefail
export LC_ALL=C

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readonly here top=${here%/ci/lkp}
readonly build=${BEFORE_AFTER_BUILD:-$top/build}
out=${1:?wanted the directory to write to, found none}
mkdir -p "$out/programs/before-after" "$out/jobs"
readonly header='# SPDX-License-Identifier: GPL-2.0-only
# Written by ci/lkp/generate.sh from the cases; make check compares.'

names=()
described=()
for source in "$top"/cases/*.c; do
	name=$(basename "$source" .c)
	[[ -x $build/cases/$name ]] || {
		printf 'generate.sh: %s: wanted every case built: sh ci/setup.sh\n' "$build/cases/$name" >&2
		exit 2
	}
	names+=("$name")
	described+=("$("$build/cases/$name" --describe)")
done
ask() { # FILTER
	printf '%s\n' "${described[@]}" | jq -rs -L "$top/ci" "include \"needs\"; $1"
}

# Variants, a line each, without what is default. A job names no device that may be overwritten: what
# would be swapped to one is swapped to zram. LKP's result paths keep 31 characters of a value, in which
# two variants must differ.
short() { # CASE
	local lines
	lines=$(jq -rRn --argjson case "$("$build/cases/$1" --describe)" '
		inputs | gsub("\\bswap=device\\b"; "swap=zram") | split(",") | map(split("=") | {key: .[0], value: .[1]})
		| (map(select(.value != $case.options[.key].default)) | select(. != [])) // .[:1]
		| map("\(.key)=\(.value)") | join(",")')
	[[ -z $(cut -c-31 <<<"$lines" | sort | uniq -d) ]] || {
		printf 'generate.sh: %s: wanted variants that differ in 31 characters, found:\n%s\n' "$1" "$lines" >&2
		return 1
	}
	sed '/./s/^/    - /' <<<"$lines"
}

# LKP runs its includes through ERB; lines with % are Ruby.
{
	printf '%s\n\nneed_kconfig:\n' "$header"
	# shellcheck disable=SC2016
	ask '(map(kconfig) | . as $every | .[0] | map(select(. as $k | all($every[]; index($k))))) as $all
		| ($all[] | "- \(.): y"), "",
		(.[] | (kconfig - $all) as $own | select($own != [])
			| "% if ___.test == \"\(.case)\"", ($own[] | "- \(.)"), "% end", "")'
	ask '.[] | select(.needs.kernel) | "% if ___.test == \"\(.case)\"", "need_kernel_version:",
		"- '"'"'>= v\(.needs.kernel), gcc'"'"'", "- '"'"'>= v\(.needs.kernel), clang'"'"'", "% end", ""'
	# shellcheck disable=SC2016
	ask '.[] as $case | ["smoke", "quick", "documented"][] as $scale | $case | memory_mib($scale) | select(.)
		| "% if ___.test == \"\($case.case)\" && ___.scale == \"\($scale)\"", "need_memory: \(.)MB", "% end"'
} >"$out/programs/before-after/include"

{
	printf '%s\n\nsuite: before-after\ntestcase: before-after\ncategory: benchmark\n' "$header"
	separator=
	for name in "${names[@]}"; do
		printf '%s\nbefore-after:\n  test: %s\n  scale:\n    - quick\n    - documented\n' "$separator" "$name"
		variants=$("$top/run.sh" --list --case "$name" | sed -n 's/^  \([^ ]\+\).*/\1/p' | short "$name")
		[[ -z $variants ]] || printf '  variant:\n%s\n' "$variants"
		separator=$'\n---'
	done
} >"$out/jobs/before-after.yaml"

# The lines for etc/index-perf.yaml and etc/index-perf-all.yaml: 1 where more is better, -1 less.
{
	printf '%s\n\n' "$header"
	ask '[.[].metrics | to_entries[] | select(.value.better != "neither")
		| {(.key): (if .value.better == "higher" then 1 else -1 end)}] | add
		| to_entries | sort_by(.key)[] | "before-after\\..+\\.\(.key): \(.value)"'
} >"$out/index.yaml"
