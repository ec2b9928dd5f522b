#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What ci/bisect.sh promises. How it asks, concludes, goes on and gives up is tried with stand-ins for
# building and booting (tests/e2e/bisect/), which take no time; then real kernels are bisected.
#
#   bisect.sh [stand-ins | long]      long: sixteen commits built, booted and measured, twice
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/linux.sh
. "$(dirname "$0")/linux.sh"

WHO=(-c user.name=Nobody -c user.email=nobody@example.org)
export GIT_AUTHOR_DATE='2026-11-30T12:00:00Z' GIT_COMMITTER_DATE='2026-11-30T12:00:00Z'

# project: a project of its own whose kernels are stand-ins; a git tree of them in TREE.
project() {
	P=$SCRATCH/project TREE=$SCRATCH/tree
	rm -rf "$P" "$TREE"
	mkdir -p "$P/ci" "$TREE/mm" "$TREE/Documentation"
	cp -r "$REPO"/ci/{bisect,bisect.sh,lib.sh,enclosing.awk} "$REPO"/tests/e2e/bisect/*.sh "$P/ci"
	cp "$REPO/tests/golden/lib.sh" "$P/records.sh"
	ln -s "$REPO"/{build,cases,run.sh} "$P"
	: >"$P/boots"
	git init -q -b main "$TREE"
	touch "$TREE/Kbuild"
	commit good 1000
}

# commit SUBJECT VALUE [PATH]: it changes the value and a file, or the value alone.
commit() {
	local name
	printf '%s\n' "$2" >"$TREE/mm/value"
	if [ $# -gt 2 ]; then
		name=${3##*/}
		printf 'int %s(void)\n{\n\treturn %d;\n}\n' "${name%.*}" "$RANDOM" >"$TREE/$3"
	fi
	git -C "$TREE" add -A
	git -C "$TREE" "${WHO[@]}" commit -q --allow-empty -m "$1"
	git -C "$TREE" tag "$1"
}

# history CHANGED BY [SPECIAL WHAT]..: sixteen commits, from CHANGED on BY more; what is special has another value.
history_of() {
	local i value special
	project
	for ((i = 1; i <= 16; i++)); do
		value=$((1000 + (i >= $1 ? $2 : 0)))
		for ((special = 3; special < $#; special += 2)); do
			[ "${!special}" -ne "$i" ] || value=${*:special+1:1}
		done
		commit "c$i" "$value" "mm/file$i.c"
	done
}

# bisect STATUS ARGUMENT..: of shmem-truncate's usual variant.
VARIANT=op=ftruncate,folio=4k,fill=fallocate,state=resident
bisect() {
	local status=0
	"$P/ci/bisect.sh" --git "$TREE" --case shmem-truncate --variant "$VARIANT" --engine icount "${@:2}" \
		>"$SCRATCH/report" 2>"$SCRATCH/err" || status=$?
	cat "$SCRATCH/err" "$SCRATCH/report"
	[ "$status" -eq "$1" ] || {
		echo "expected exit $1, found $status"
		return 1
	}
}

boots() {
	wc -l <"$P/boots"
}

says() {
	local text
	for text; do
		grep -qF -- "$text" "$SCRATCH/report" || {
			echo "the report does not say: $text"
			return 1
		}
	done
}

json() { # FILTER
	jq -e "$1" "$P"/results/bisect/*/*..*/bisect.json
}

short() {
	git -C "$TREE" rev-parse --short=12 "$1"
}

everywhere() {
	local at
	for at in 1 9 16; do
		history_of "$at" 100
		bisect 0 good c16
		says "**$(short "c$at") (\"c$at\") changes it: "
		json '.decision | .verdict == "found" and (.searches[0].difference.percent - 10 | fabs) < 0.1'
		[ "$(boots)" -le 6 ]
	done
}

# Of sixteen one does not build, and the operation calls what three of them change.
weighed() {
	local i
	project
	for ((i = 1; i <= 16; i++)); do
		case $i in
		3 | 11 | 14) commit "c$i" $((i < 11 ? 1000 : 1012)) "mm/called$i.c" ;;
		9) commit "c$i" error "mm/file$i.c" ;;
		*) commit "c$i" $((i < 11 ? 1000 : 1012)) "mm/file$i.c" ;;
		esac
	done
	bisect 0 good c16
	says "**$(short c11) (\"c11\") changes it: " 'called11, which the operation calls' '| called11 | not a function of that image | 4096 |'
	[ "$(boots)" -le 5 ]
	json '.counts.boots <= 5 and .decision.plain_measurements >= 6'
}

# The user's tree stays as it is to the byte, whatever is asked of it.
untouched() {
	local before
	history_of 5 100 8 error
	echo dirty >>"$TREE/mm/value"
	before=$(cd "$TREE" && find . -type f -exec sha256sum {} + | sort)
	bisect 0 good c16
	[ "$before" = "$(cd "$TREE" && find . -type f -exec sha256sum {} + | sort)" ]
}

no_difference() {
	history_of 5 4
	bisect 1 good c16
	says 'The ends do not differ by enough' 'wanted 1 % and 10 times the noise'
	[ "$(boots)" -eq 2 ]
	# Enough for a lower threshold, and yet not ten times the noise.
	bisect 1 good c16 --threshold 0.3%
	says 'wanted 0.3 % and 10 times the noise'
	json '.decision.noise.of == "what boots of one kernel differ by under icount"'
	[ "$(boots)" -eq 2 ]
}

two_changes() {
	local i
	project
	for ((i = 1; i <= 16; i++)); do commit "c$i" $((1000 + (i >= 4 ? 50 : 0) + (i >= 12 ? 50 : 0))) "mm/file$i.c"; done
	bisect 3 good c16
	says 'More than one commit changes it' "- $(short c4) (\"c4\"): " "- $(short c12) (\"c12\"): " '| neither'
	json '.decision.verdict == "several"'
}

only_skipped() {
	history_of 8 100 7 error 6 panic
	bisect 3 good c16
	says '**Not decided.**' 'one of these' "$(short c6)" "$(short c7)" "$(short c8)" \
		'does not build: mm/value:1:1: error: no number' 'boot failed: Kernel panic - not syncing: no'
	json '[.decision.searches[0].left | length] == [3]'
}

failing_ends() {
	history_of 8 100 16 error
	bisect 125 good c16
	says 'An end cannot be measured' 'does not build'
	history_of 8 100 16 panic
	bisect 125 good c16
	says 'An end cannot be measured' 'Kernel panic'
	[ "$(boots)" -eq 3 ] # it is tried twice
}

# What changes nothing that is built, and what was measured for another range, is not booted again.
known() {
	local i
	project
	for ((i = 1; i <= 16; i++)); do
		commit "c$i" $((i < 11 ? 1000 : 1100)) "$([ "$i" -eq 11 ] && echo mm/file11.c || echo "Documentation/text$i.rst")"
	done
	bisect 0 good c16
	says "$(short c11) (\"c11\") changes it" 'of the same code as one that was measured' ', same code as '
	[ "$(boots)" -eq 2 ]
	bisect 0 good c15
	says "$(short c11) (\"c11\") changes it"
	bisect 0 good c16 --threshold 2%
	says 'kernels that were measured before'
	[ "$(boots)" -eq 2 ]
}

# Killed at any moment it goes on: no boot is done twice but the one that was under way.
killed() {
	local pid all
	history_of 11 100 9 error
	bisect 0 good c16
	all=$(boots)
	rm -rf "$P/results" "$P/cache"
	: >"$P/boots"
	for n in 1 2 3; do
		SLOW=1 setsid "$P/ci/bisect.sh" --git "$TREE" --case shmem-truncate --variant "$VARIANT" \
			--engine icount good c16 >"$SCRATCH/out" 2>&1 &
		pid=$!
		wait_for "[ \$(wc -l <'$P/boots') -ge $((2 * n)) ]"
		expect 2 "$P/ci/bisect.sh" --git "$TREE" --case shmem-truncate --variant "$VARIANT" --engine icount good c16 2>"$SCRATCH/locked"
		grep -q 'another bisection of this figure runs' "$SCRATCH/locked"
		kill -9 "$pid"
		wait "$pid" || true
		wait_for "! pgrep -f '$P/ci/boot.sh'"
		# Its last children hold the lock until they have noticed.
		wait_for "flock -n '$P'/results/bisect/*/.lock true"
	done
	bisect 0 good c16
	says "$(short c11) (\"c11\") changes it"
	[ "$(boots)" -le $((all + 3)) ]
	# What a replay says is what was said.
	cp "$SCRATCH/report" "$SCRATCH/first"
	bisect 0 good c16
	cmp "$SCRATCH/report" "$SCRATCH/first"
}

# good - c1 - c2 ------- m - c5     b1 and b2 come in by the merge m, and old from before good.
merges() {
	project
	git -C "$TREE" "${WHO[@]}" checkout -q --orphan elder
	commit older 700
	git -C "$TREE" checkout -q main
	git -C "$TREE" "${WHO[@]}" merge -q --allow-unrelated-histories -s ours -m start older
	git -C "$TREE" tag start
	git -C "$TREE" checkout -q -b old older
	commit old 700 mm/old.c
	git -C "$TREE" checkout -q -b branch start
	commit b1 1000 mm/b1.c
	commit b2 1200 mm/b2.c
	git -C "$TREE" checkout -q main
	commit c1 1000 mm/c1.c
	commit c2 1000 mm/c2.c
	git -C "$TREE" "${WHO[@]}" merge -q -X theirs -m merge branch
	git -C "$TREE" tag m
	git -C "$TREE" "${WHO[@]}" merge -q -s ours -m merge-old old
	commit c5 1200 mm/c5.c
	bisect 0 start c5
	says "$(short b2) (\"b2\") changes it" '1 more came in by merges of branches that do not contain the good one'
	bisect 0 start c5 --first-parent
	says "$(short m) (\"merge\") changes it" "ci/bisect.sh $(short start) $(short b2)"
	one_line '--first-parent: expected GOOD' b1 m --first-parent
	# What is not contained in the other cannot be bisected.
	bisect 2 old c2
	grep -q "is not contained in BAD .*both come from $(short older)" "$SCRATCH/err"
}

one_line() { # TEXT ARGUMENT..
	bisect 2 "${@:2}"
	[ ! -s "$SCRATCH/report" ] && [ "$(wc -l <"$SCRATCH/err")" -eq 1 ] && grep -qF -- "$1" "$SCRATCH/err"
}

refused() {
	history_of 3 100
	one_line 'expected two commits, GOOD and BAD, found 1' good
	one_line 'GOOD: expected a commit of' no-such-ref c16
	one_line 'BAD: expected a commit of' good 0123456789
	one_line 'are the same commit' c3 c3
	one_line 'is not contained in BAD' c16 good
	one_line '--git: expected a git tree' good c16 --git "$SCRATCH/project"
	one_line '--git: no such directory' good c16 --git /nonexistent
	one_line '--case: expected one of' good c16 --case nobody
	one_line "wanted options of shmem-truncate, found 'nothing=such'" good c16 --variant nothing=such
	one_line "wanted op=ftruncate|punch" good c16 --variant op=nothing
	one_line 'expected one variant' good c16 --variant folio=4k
	one_line '--metric: expected one of time, ' good c16 --metric tmie
	one_line '--threshold: expected a part above 0' good c16 --threshold 0%
	one_line '--threshold: expected a part above 0' good c16 --threshold much
	one_line '--boots: expected 2 or more under tcg' good c16 --engine tcg --boots 1
	one_line '--runs: expected a number' good c16 --runs x
	one_line 'unknown argument' good c16 --good
	[ "$(boots)" -eq 0 ]
}

# --- real kernels -------------------------------------------------------------------------------

# series PATCH..: the commits on top of v6.12, by the numbers of tests/e2e/bisect/series; the last is in
# BAD, each in COMMIT[NUMBER]. Their objects are those of the package, which v6.12 is.
declare -A COMMIT=()
series() {
	local n patch
	linux_repository
	BAD=$BASE
	for n; do
		patch=$REPO/tests/e2e/bisect/series/$n.patch
		BAD=$(linux_commit "$BAD" "$(sed -n 3p "$patch")" "$patch")
		COMMIT[$n]=$BAD
	done
}

# real NUMBER: the bisection names this commit, with its table and what ran.
real() {
	local start=$SECONDS dir out=$SCRATCH/$1-of-${#COMMIT[@]}
	"$REPO/ci/bisect.sh" "$BASE" "$BAD" --git "$LINUX" --base linux-source-6.12 --case shmem-truncate \
		--variant "$VARIANT" --engine icount --out "$out" >"$SCRATCH/report"
	cat "$SCRATCH/report"
	says "**${COMMIT[$1]:0:12} (" '| verdict' '## Code path' 'shmem-batch-remove: ' "mm/page_alloc.c:"
	# The whole sentence, though it is wrapped where it comes from.
	grep -qE '^- shmem-batch-remove: .* [a-z]+ \(.*\), .* [a-z]+ \(.* page\)\.$' "$SCRATCH/report"
	dir=$(echo "$out"/*/*..*)
	jq -e '.counts.boots <= 5 and .decision.verdict == "found"' "$dir/bisect.json"
	cp "$SCRATCH/report" "$REPO/build/bisect-${out##*/}.md"
	echo "$((SECONDS - start)) s"
	[ $((SECONDS - start)) -le 1200 ]
}

# Two kinds of a lost batch: folios freed one by one cost 3 % of the instructions, a third of a batch 1 %.
four() {
	series 07 08 09 11
	real 11
}

sixteen() {
	series 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16
	real 11
}

one_percent() {
	series 01 02 03 04 05 06 07 08 09 10 11-one-percent 12 13 14 15 16
	real 11-one-percent
	grep -q ' changes it: .* [+-]1\.[0-9]* %' "$SCRATCH/report"
}

if [ "${1:-}" = long ]; then
	check 'four commits of a real kernel' four
	check 'sixteen commits of a real kernel' sixteen
	check 'the same with a change of 1 % of the instructions a page' one_percent
	finish
	exit
fi
check 'what cannot be bisected is said in one line' refused
check 'the commit is found wherever it is' everywhere
check 'what the operation calls is suspected first: at most five boots for sixteen commits' weighed
check 'the git tree stays as it is to the byte' untouched
check 'ends that do not differ by enough' no_difference
check 'two changes are both found' two_changes
check 'only what cannot be measured is left' only_skipped
check 'an end that does not build or boot' failing_ends
check 'what is known is not booted again' known
check 'kill -9 at any moment, then on' killed
check 'branches and merges' merges
[ "${1:-}" = stand-ins ] || check 'four commits of a real kernel' four
finish
