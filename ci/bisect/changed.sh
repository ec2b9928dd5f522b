#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What each commit of a kernel's git tree changes, a JSON line a commit. ci/bisect.sh weighs them by it.
#
#   ci/bisect/changed.sh DIR < COMMITS      COMMITS: "COMMIT PARENT.." a line, as git rev-list --parents has it
#
# {"commit", "brings": commits that a merge brings in (else 1), "files": [{"path", "functions": those that
# the changed lines stand in, "all": all of the file}]}. Of what is not C, and of a commit of more than
# 100 files, "functions" is null. The tree is only read.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ $# -ne 1 ] || [ "$1" = --help ]; then die "usage: ci/bisect/changed.sh DIR < COMMITS" 2; fi
DIR=$1
SCRATCH=$(mktemp -d)
trap 'clear_progress; rm -rf "$SCRATCH"' EXIT

tree() {
	GIT_OPTIONAL_LOCKS=0 git -C "$DIR" "$@"
}

# file PARENT COMMIT PATH: on both sides, since a function can come or go.
file() {
	tree cat-file blob "$1:$3" >"$SCRATCH/old" 2>/dev/null || : >"$SCRATCH/old"
	tree cat-file blob "$2:$3" >"$SCRATCH/new" 2>/dev/null || : >"$SCRATCH/new"
	changed_functions "$SCRATCH/old" "$SCRATCH/new" | sed 's/^/1\t/'
	awk -v lines=all -f "$CI/enclosing.awk" "$SCRATCH/old" "$SCRATCH/new" | sed 's/^/0\t/'
}

# Lines that begin with what they say: a commit, a file, a function that changes, one of the file.
commit() {
	local commit=$1 parent=${2:-} path paths brings=1
	[ -n "$parent" ] || parent=$(tree hash-object -t tree /dev/null)
	[ $# -le 2 ] || brings=$(tree rev-list --count "$commit" --not "$parent")
	printf 'commit\t%s\t%s\n' "$commit" "$brings"
	mapfile -d '' -t paths < <(tree diff-tree -r -z --no-renames --name-only "$parent" "$commit")
	for path in "${paths[@]}"; do
		path=${path//[$'\t\n']/ }
		if [[ $path == *.c && ${#paths[@]} -le 100 ]]; then
			printf 'c\t%s\n' "$path"
			file "$parent" "$commit" "$path"
		else
			printf 'file\t%s\n' "$path"
		fi
	done
}

n=0
while read -r -a words; do
	n=$((n + 1))
	progress "what commit $n changes"
	commit "${words[@]}"
done | jq -Rnc '
	foreach (inputs, null | if . then split("\t") else . end) as $line ({now: null, out: null};
		.out = null
		| if $line == null or $line[0] == "commit" then
			.out = .now
			| .now = if $line then {commit: $line[1], brings: ($line[2] | tonumber), files: []} else null end
		elif $line[0] == "file" then .now.files += [{path: $line[1], functions: null, all: null}]
		elif $line[0] == "c" then .now.files += [{path: $line[1], functions: [], all: []}]
		else .now.files[-1][if $line[0] == "1" then "functions" else "all" end] += [$line[1]] end;
		.out // empty)
	| .files |= map(if .functions then .functions |= unique | .all |= unique else . end)'
