#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What ci/try.sh promises: from a posted series to a reply in one command, and one line where that cannot
# be.
#
#   try.sh [uml | stand-ins]     with uml, times too; stand-ins: no kernel is built or booted
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

TIMES=${1:-none}
[ "$TIMES" != stand-ins ] || TIMES=none
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

# --- with stand-ins for building and booting ---------------------------------------------------

# project: a project of its own whose kernels are files: base 1000, with a patch 900, or what AFTER says. Its
# options are still looked at by the real ci/boot.sh; what is built is noted in P/builds.
project() {
	P=$SCRATCH/project TRY=$SCRATCH/project/ci/try.sh
	rm -rf "$P"
	mkdir -p "$P/ci/guest" "$SCRATCH/mails"
	cp "$REPO"/ci/{ab,boots,lib,try}.sh "$P/ci"
	cp "$REPO/ci/guest/runs.sh" "$P/ci/guest"
	cp "$REPO/ci/boot.sh" "$P/ci/check.sh"
	cp "$REPO/tests/e2e/nightly/fake-boot.sh" "$P/ci/fake.sh"
	ln -s "$REPO"/{build,cases,run.sh} "$P"
	: >"$P/builds"
	cat >"$P/ci/boot.sh" <<'END'
#!/bin/bash
here=${0%/*}
case " $* " in *' --check '*) exec "$here/check.sh" "$@" ;; esac
exec "$here/fake.sh" "$@"
END
	cat >"$P/ci/build-kernel.sh" <<'END'
#!/bin/bash
set -euo pipefail
here=${0%/*} value=1000 source=
while [ $# -gt 0 ]; do
	case $1 in
	--touched) echo '{"functions":["shmem_undo_range"],"beside":[]}' && exit ;;
	--patch) value=${AFTER:-900} ;;
	--source) source=$2 ;;
	esac
	shift
done
echo "$source" >>"$here/../builds"
[ -z "${SLOW_BUILD:-}" ] || { touch "$here/../building" && sleep "$SLOW_BUILD"; }
mkdir -p "$here/../images/$value"
jq -n --arg source "$source" '{source: $source}' >"$here/../images/$value/image.json"
echo "$value" >"$here/../images/$value/bzImage"
realpath "$here/../images/$value/bzImage"
END
	chmod +x "$P"/ci/*.sh
	MAIL=$P/plain.mbox
	printf 'From a Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] mm: three\n\n---\n' >"$MAIL"
}

try() { # STATUS ARGUMENT..: as reply
	reply "$1" "$MAIL" --times none "${@:2}"
}

# refuses COMMAND..: with one line and 2.
refuses() {
	echo "$*" >>"$SCRATCH/refused"
	expect 2 "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null || {
		cat "$SCRATCH/out" "$SCRATCH/err"
		return 1
	}
	cat "$SCRATCH/err"
	[ ! -s "$SCRATCH/out" ]
	[ "$(wc -l <"$SCRATCH/err")" -eq 1 ]
}

# What the caller got wrong is one line and 2, before anything is built.
usage() {
	project
	local ab=("$P/ci/ab.sh" --before base --after "$MAIL" --engine tcg) words option
	while read -r option words; do
		refuses "$TRY" "$MAIL" --base x "--$option" "$words"
	done <<-'END'
		case shmem-trunc
		case ,
		gate bogus
		times bogus
		claim bogus
		boots 0
		boots 9223372036854775808
		runs 1X
		runs 100000
	END
	while read -r option words; do
		refuses "${ab[@]}" "--$option" "$words"
	done <<-'END'
		case bogus
		case ,
		gate bogus
		scale bogus
		variant bogus
		variant op=bogus
		size 1X
		runs 99999999999999999999
		engine bogus
		memory 1X
		memory 8E
		swap -1
		timeout 0
		cpus 99999999999999999999
		boots 9223372036854775808
		looks 1.5
		jobs x
	END
	[ ! -s "$P/builds" ]
	[ ! -e "$P/results" ]
}

# The same of boots: nothing is tried again, nothing is left.
boots_usage() {
	local options info boots=("$REPO/ci/boots.sh" --out "$SCRATCH/boots" --kernel "k=$SCRATCH/image" --engine tcg)
	echo no >"$SCRATCH/image"
	while read -r -a options; do
		refuses "${boots[@]}" "${options[@]}" -- --runs 1
		[ -z "$(find "$SCRATCH/boots" -type f 2>/dev/null)" ]
	done <<-'END'
		--memory 1X
		--memory 8E
		--engine bogus
		--cpus 99999999999999999999
		--boots 9223372036854775808
		--jobs 0
		--timeout 0x10
		--boot-timeout -1
		--boots 1
	END
	echo '{' >"$SCRATCH/bad"
	echo '[]' >"$SCRATCH/list"
	: >"$SCRATCH/empty"
	for info in bad list empty missing; do
		refuses "$REPO/ci/boot.sh" --kernel "$SCRATCH/image" --results "$SCRATCH/boot" --info "$SCRATCH/$info" -- true
		grep -q -- '--info: ' "$SCRATCH/err"
		[ ! -e "$SCRATCH/boot" ]
	done
	expect 0 "$REPO/ci/boot.sh" --check --engine tcg
	# What a guest's run.sh refuses ends them too; but one kernel's guest does not end a night.
	project
	# shellcheck disable=SC2016
	printf '%s\n' '#!/bin/bash' 'while [ "$1" != --boot-dir ]; do shift; done' \
		'mkdir "$2/share" && echo "{}" >"$2/share/exit.json" && echo refused && exit 2' >"$P/ci/boot.sh"
	boots=("$P/ci/boots.sh" --out "$P/out" --kernel "k=none" --engine tcg)
	refuses "${boots[@]}" -- --runs 1
	grep -q '^refused$' "$SCRATCH/err"
	expect 125 "${boots[@]}" --keep-going -- --runs 1
}

# Two at once: one answers, the other says who is at it; nothing of the first is lost.
twice() {
	local status=0 pid i
	project
	"$TRY" "$MAIL" --base x --times none >"$SCRATCH/first" 2>"$SCRATCH/first.err" &
	pid=$!
	wait_for "[ -s '$P/builds' ]"
	for i in '' --fresh; do
		expect 2 "$TRY" "$MAIL" --base x --times none $i >"$SCRATCH/out" 2>"$SCRATCH/err"
		[ ! -s "$SCRATCH/out" ]
		tail -n 1 "$SCRATCH/err" | grep -q "another try .* pid $pid, ci/try.sh"
	done
	wait "$pid" || status=$?
	cat "$SCRATCH/first.err"
	[ "$status" -eq 0 ]
	grep -q 'passes\.$' "$SCRATCH/first"
	[ "$(find "$P"/results/try/*/counts/before -name '*.jsonl' | wc -l)" -eq 4 ]
}

# A comparison whose records are gone when it is judged is not passed over.
lost() {
	project
	# shellcheck disable=SC2016
	sed -i 's/^judge counts$/rm "$(find "$OUT\/counts\/after" -name "*.jsonl" | head -n 1)"\n&/' "$TRY"
	expect 2 "$TRY" "$MAIL" --base x --times none >"$SCRATCH/out" 2>"$SCRATCH/err"
	[ ! -s "$SCRATCH/out" ]
	grep -q 'found it gone or changed' "$SCRATCH/err"
}

# Without a gate nothing passes; without a row on both sides nothing is told.
gates() {
	project
	try 0 --base x --gate none
	says 'Verdict: not judged.' 'Instructions: not judged'
	try 0 --base x
	says 'Verdict: the gate (direction) passes.'
	project
	# shellcheck disable=SC2016
	sed -i '$s/$/\n[ "$cost" = 1000 ] || sed -i "s,\\"status\\":\\"ok\\",\\"status\\":\\"broken\\",; s,\\"reason\\":null,\\"reason\\":\\"no\\"," "$RESULTS\/$LABEL\/$boot.jsonl"/' \
		"$P/ci/fake.sh"
	try 3 --base x --gate none
	says 'Verdict: the gate (none) is open (no row was measured on both kernels).'
	try 3 --base x
}

prerequisites() {
	project
	printf 'prerequisite-patch-id: %040d\n' 1 >>"$MAIL"
	try 0 --base x
	says '; 1 prerequisite patch was not applied.'
	printf 'prerequisite-patch-id: %040d\n' 2 2 >>"$MAIL"
	try 0 --base x
	says '; 2 prerequisite patches were not applied.'
}

# What is printed can be pasted, whatever the names hold.
pasted() {
	project
	local odd="$SCRATCH/it's [a] *" words=()
	mkdir -p "$odd" "$SCRATCH/lin@x"
	cp "$MAIL" "$odd/a b.mbox"
	: >"$SCRATCH/lin@x/linux.tar"
	cd "$odd"
	touch x1 x2
	"$TRY" "$odd/a b.mbox" --times none --base "$SCRATCH/lin@x/linux.tar" >"$SCRATCH/reply"
	says "Base: $SCRATCH/lin@x/linux.tar (given)."
	[ "$(sed "s,$SCRATCH,,g" "$SCRATCH/reply" | wc -L)" -le 72 ]
	"$TRY" "$odd/a b.mbox" --times none --base 'x*' >"$SCRATCH/reply"
	eval "words=($(sed -n '/^ci\/try.sh/,/[^\\]$/p' "$SCRATCH/reply"))"
	printf '<%s>\n' "${words[@]}"
	[ "${words[1]}" = 'a b.mbox' ]
	[ "${words[5]}" = 'x*' ]
	says "ci/ab.sh --base 'x*' --before base --after 'a b.mbox'"
}

# A build that is stopped leaves nothing in TMPDIR.
interrupted() {
	local pid
	project
	mkdir "$SCRATCH/tmp"
	SLOW_BUILD=60 TMPDIR=$SCRATCH/tmp "$P/ci/ab.sh" --before base --after "$MAIL" --engine tcg 2>/dev/null &
	pid=$!
	wait_for "[ -e '$P/building' ]"
	kill -TERM "$pid"
	expect 143 wait "$pid"
	[ -z "$(ls "$SCRATCH/tmp")" ]
}

if [ -x "$REPO/build/ci/init" ]; then
	check 'what is asked for wrongly is said before anything is built' usage
	check 'and of boots, and once' boots_usage
	check 'two at once' twice
	check 'records that are gone' lost
	check 'no gate, and nothing to judge' gates
	check 'patches that the series wants before it' prerequisites
	check 'the commands can be pasted' pasted
	check 'a build that is stopped leaves nothing' interrupted
fi
if [ "${1:-}" = stand-ins ]; then
	finish
	exit
fi
TRY=$REPO/ci/try.sh
check 'what cannot be tried is said in one line' refused
check 'a series of a documented table ends in a reply' documented
check 'the same held against no table' unknown
finish
