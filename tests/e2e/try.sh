#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What ci/try.sh promises: from a posted series to a reply in one command, and one line where that cannot
# be.
#
#   try.sh [uml]      with uml, times too
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

TIMES=${1:-none}
# Times of a busy box may say anything, and what fails fails the whole.
WANT=0
[ "$TIMES" = none ] || WANT='[01]'
TRY=$REPO/ci/try.sh
TITLE='mm: optimize truncation of shadow entries'

# series TREATMENT TITLE OUT: the treatment as somebody would post it: a cover letter and a patch, made by
# git format-patch in a repository that holds no more than the files it touches.
series() {
	local patch=$REPO/ci/treatments/$1.patch dir=$SCRATCH/post path base tree
	local who=(-c user.name=Nobody -c user.email=nobody@example.org)
	rm -rf "$dir"
	git init -q "$dir"
	"$REPO/ci/build-kernel.sh" --patch "$patch" --touched >/dev/null # unpacks the source
	for tree in "${XDG_CACHE_HOME:-$HOME/.cache}"/before-after/sources/linux-source-6.12-*; do break; done
	while read -r path; do
		mkdir -p "$dir/${path%/*}"
		cp "$tree/$path" "$dir/$path"
	done < <(sed -n 's#^+++ b/##p' "$patch")
	cd "$dir"
	git add .
	git "${who[@]}" commit -qm base
	base=$(git rev-parse HEAD)
	git apply "$patch"
	git "${who[@]}" commit -qam "mm: the whole of it"
	git "${who[@]}" format-patch -q --cover-letter --base="$base" -o mails HEAD~
	sed -i "s|\*\*\* SUBJECT HERE \*\*\*|$2|; s|\*\*\* BLURB HERE \*\*\*|What it is about.|" mails/0000-*
	cat mails/* >"$3"
	cd - >/dev/null
	printf '%s\n' "$base" >"$SCRATCH/base"
}

# reply STATUS ARGUMENT..: ends so, a pattern, with a reply of mail's width.
reply() {
	local status=0
	"$TRY" "${@:2}" >"$SCRATCH/reply" || status=$?
	cat "$SCRATCH/reply"
	# shellcheck disable=SC2053
	[[ $status == $1 ]] || {
		echo "expected exit $1, found $status"
		return 1
	}
	[ "$(wc -L <"$SCRATCH/reply")" -le 72 ]
}

says() {
	local text
	for text; do
		tr '\n' ' ' <"$SCRATCH/reply" | tr -s ' ' | grep -qF -- "$text" || {
			echo "the reply does not say: $text"
			return 1
		}
	done
}

documented() {
	series 6.12-shadow-truncate "$TITLE" "$SCRATCH/shadow.mbox"
	reply "$WANT" "$SCRATCH/shadow.mbox" --base linux-source-6.12 --times "$TIMES"
	says "Tested: $TITLE" 'Base: linux-source-6.12' "the series says base-commit $(cat "$SCRATCH/base")" \
		'Changed functions: clear_shadow_range, truncate_folio_batch_exceptionals.' \
		'Cases, about functions in the files that it changes: pagecache-truncate, shadow-entries.' \
		'Held against the documented tables: shadow-truncate.' 'Instructions: passes' \
		"ci/try.sh shadow.mbox --base linux-source-6.12 --times $TIMES" \
		'ci/ab.sh --base linux-source-6.12'
	grep -q '^truncate .* reproduced$' "$SCRATCH/reply"
	[ "$TIMES" = none ] || says "Times under $TIMES"
}

# Held against no table the kernels are compared as they are; the records are there already. Every row
# counts then, and short ones are open at times.
unknown() {
	local start=$SECONDS
	reply '[013]' "$SCRATCH/shadow.mbox" --base linux-source-6.12 --times "$TIMES" --claim none
	says "Tested: $TITLE" 'No documented table is known of this series' 'improved'
	[ $((SECONDS - start)) -le 60 ]
}

# A tree whose only code is one function.
tree() {
	local dir=$SCRATCH/tree
	[ -d "$dir" ] || {
		mkdir -p "$dir/mm"
		touch "$dir/Kbuild"
		printf 'int nobody_asks(void)\n{\n\treturn 1;\n}\n' >"$dir/mm/nobody.c"
		git init -q "$dir"
		git -C "$dir" add .
		git -C "$dir" -c user.name=a -c user.email=a@b commit -qm one
	}
	printf 'From a Thu Jan  1 00:00:00 1970\nFrom: A <a@b>\nSubject: [PATCH] mm: two\n\n---\n%s\n' \
		"$(sed 's/1/2/' "$dir/mm/nobody.c" | diff -u --label a/mm/nobody.c --label b/mm/nobody.c \
			"$dir/mm/nobody.c" -)" >"$SCRATCH/two.mbox"
	export XDG_CACHE_HOME=$SCRATCH/cache
}

one_line() { # STATUS TEXT ARGUMENT..
	expect "$1" "$TRY" "${@:3}" 2>"$SCRATCH/err" >"$SCRATCH/out" || return 1
	sed -i '/: reading /d' "$SCRATCH/err"
	cat "$SCRATCH/err"
	[ ! -s "$SCRATCH/out" ] && [ "$(wc -l <"$SCRATCH/err")" -eq 1 ] && grep -qF -- "$2" "$SCRATCH/err"
}

refused() {
	tree
	local here=$SCRATCH/tree
	one_line 2 'has no base-commit line: --base SPEC' "$SCRATCH/two.mbox"
	printf 'base-commit: 0123456789012345678901234567890123456789\n' >>"$SCRATCH/two.mbox"
	one_line 2 'wanted a git tree that has it, found none' "$SCRATCH/two.mbox"
	one_line 2 'is not in' "$SCRATCH/two.mbox" --tree "$here"
	one_line 2 'no case is about nobody_asks' "$SCRATCH/two.mbox" --tree "$here" --base HEAD
	sed -i "s/^base-commit.*/base-commit: $(git -C "$here" rev-parse HEAD)/" "$SCRATCH/two.mbox"
	one_line 2 'no case is about nobody_asks' "$SCRATCH/two.mbox" --tree "$here"
	sed 's/return 1/return 3/' "$SCRATCH/two.mbox" >"$SCRATCH/three.mbox"
	one_line 125 'mm/nobody.c:1 (@@ -1,4 +1,4 @@)' "$SCRATCH/three.mbox" --tree "$here"
	echo 'no mail' >"$SCRATCH/none.mbox"
	one_line 2 'expected mails' "$SCRATCH/none.mbox" --base HEAD
	one_line 2 'a series is needed'
	one_line 2 'wanted a claim' "$SCRATCH/two.mbox" --tree "$here" --claim nobody-made
}

check 'what cannot be tried is said in one line' refused
check 'a series of a documented table ends in a reply' documented
check 'the same held against no table' unknown
finish
