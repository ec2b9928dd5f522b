#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make install, man pages by mandoc, bash completion.
set -euo pipefail
# shellcheck source=tests/integrations/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

installs() {
	make -s install DESTDIR="$work/dest" PREFIX=/opt/suite
	cd "$work/dest/opt/suite"
	unset BEFORE_AFTER_BUILD
	bin/before-after --list --case shmem-truncate >"$work/list"
	grep -q '  op=punch' "$work/list"
	bin/before-after --case shmem-truncate --variant op=punch --scale smoke --runs 1 --label x \
		--results "$work/dest.results" >/dev/null
	# With the claims that were installed.
	bin/before-after-compare --single "$work/dest.results/x" >"$work/single"
	grep -q '550.7 → 435.8 ns/page at 8 GiB' "$work/single"
	[[ -f share/man/man1/before-after.1 && -f share/man/man5/before-after.5 ]]
	[[ -f share/bash-completion/completions/before-after-compare ]]
	[[ -f share/bash-completion/completions/before-after-history ]]
	# Nothing outside of PREFIX, nothing that points out of it.
	[[ $(find "$work/dest" -mindepth 1 -maxdepth 2 | wc -l) == 2 ]]
	[[ -z $(find . -type l -lname "/*") ]]
}

man_lint() {
	# Our own pages refer to each other before they are installed; mandoc.db is the box's.
	mandoc -Tlint docs/man/*.[15] 2>/dev/null >"$work/man" || true
	fails grep -v 'referenced manual not found: Xr before-after' "$work/man"
	grep -ho '^\.Xr before-after[a-z-]* [0-9]' docs/man/* | sort -u | while read -r _ name section; do
		[[ -f docs/man/$name.$section ]]
	done
}

# Every option of --help is in the page, and no other.
man_options() {
	local page command
	for page in before-after:run.sh before-after-compare:"$BEFORE_AFTER_BUILD/compare" \
		before-after-history:"$BEFORE_AFTER_BUILD/history"; do
		command=${page#*:} page=docs/man/${page%%:*}.1
		[[ $command == */* ]] || command=./$command
		"$command" --help | grep -oE '(^| |\[)--[a-z-]+' | tr -d ' [' | sort -u >"$work/help"
		grep -oE 'Fl -[a-z-]+' "$page" | sed 's/Fl -/--/' | grep -v -- --describe | sort -u >"$work/page"
		diff -u <(grep -v -- --help "$work/help") <(grep -v -- --help "$work/page")
	done
}

completion_lint() {
	shellcheck ci/completion/before-after
}

completes() {
	local line want
	# shellcheck source=/dev/null
	. ci/completion/before-after
	while IFS='|' read -r line want; do
		COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
		read -ra COMP_WORDS <<<"$line"
		[[ $line != *' ' ]] || COMP_WORDS+=('')
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		if [[ $line == *history* ]]; then
			_before_after_history "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		elif [[ $line == *compare* ]]; then
			_before_after_compare "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		else
			_before_after "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		fi
		[[ "${COMPREPLY[*]}" == "$want" ]] || {
			echo "$line: wanted '$want', found '${COMPREPLY[*]}'"
			return 1
		}
	done <<-END
		./run.sh --sc|--scale
		./run.sh --scale |smoke quick documented
		./run.sh --case shm|shmem-truncate
		./run.sh --case shmem-truncate,tr|shmem-truncate,truncate-neighbour
		./run.sh --case shadow-entries --variant op=d|dontneed
		./run.sh --case shmem-truncate --variant op=punch,fo|punch,folio=4k punch,folio=pmd
		./run.sh --runs |
		$build/compare --format j|json
		$build/compare --gate r|reproduced
		$build/history s|states
		$build/history states --p|--previous
		$build/history states --format m|markdown
		$build/history export --format github-benchmark-s|github-benchmark-smaller
		$build/history index te|tests
	END
}

check 'install: PREFIX and DESTDIR, runs from there' installs
! has 'man: mandoc -Tlint' mandoc || check 'man: mandoc -Tlint' man_lint
check 'man: the options of --help' man_options
! has 'completion: shellcheck' shellcheck || check 'completion: shellcheck' completion_lint
# The cases are looked for beside run.sh.
if [[ $BEFORE_AFTER_BUILD != "$top/build" ]]; then
	skip 'completion' 'another build directory'
else
	check 'completion: options, cases, variants' completes
fi

finish
