#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ci/try.sh with mails that are none, or that somebody made to be misread: one line and exit 2 (125 of a patch
# that is refused), no command of theirs is run, no file of ours is gone, nothing is left. Nothing is built or
# booted.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
own_box "$@"
[[ -x build/ci/init ]] || {
	printf 'ok mbox # SKIP wanted build/ci/init: make kernel\n'
	exit 0
}

mail() { # SUBJECT BODY
	printf 'From 0000 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: %s\nMessage-Id: <1@b>\n\n%s\n---\n a | 1 +\n\n--\n' "$1" "$2"
}
mkdir "$tmp/mails"
cd "$tmp/mails"
: >empty
head -c 4096 /dev/urandom >noise
printf 'no mail at all\n' >text
mail 'x' '' | head -c 40 >"cut"
mail '' 'base-commit: 0123456789abcdef' >no-subject
# shellcheck disable=SC2016
mail '$(touch PWNED) `touch PWNED` %n%s' 'base-commit: $(touch PWNED)' >shell
mail 'x' 'base-commit: --upload-pack=touch PWNED' >option
mail 'x' 'base-commit: 0123456789abcdef0123456789abcdef01234567' >unknown-base
mail "$(printf 'a%.0s' {1..100000})" "$(printf 'base-commit: 0%.0s' {1..2000})" >long
mail $'=?utf-8?q?=1b[2J=0aok_99?=' 'base-commit: ffffffffffffffff' >encoded
printf 'From 0000 Mon Sep 17 00:00:00 2001\nSubject: a\0b\n\n\0\0\n' >nul
mail '../../../PWNED' 'base-commit: ../../PWNED' >path
mkfifo pipe
mkdir directory
git init -q tree
touch tree/Kbuild
git -C tree add .
git -C tree -c user.name=a -c user.email=a@b commit -qm base
# Of a base that there is: what is refused then says so.
base="base-commit: $(git -C tree rev-parse HEAD)"
patch=$base$'\ndiff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x'
declare -A says=(
	[cover]='no patch in' [encoded-base]='no patch in' [reply]='found none with a subject' [versions]='found v1 and v2'
	[missing]='found no 2/3' [up]='would change ../../../../victim' [absolute]="would change $tmp/victim"
)
mail '[PATCH 0/3] cover' "$base"$'\n\n--- before ---\n1163\n--- after ---\n913' >cover
mail 'x' "$(base64 <<<"$base")" | sed 's/^Message-Id/Content-Transfer-Encoding: base64\n&/; /^---$/,$d' >encoded-base
mail 'Re: [PATCH] x' "$patch" >reply
{ mail '[PATCH 1/2] x' "$patch" && mail '[PATCH v2 2/2] x' "$patch"; } >versions
{ mail '[PATCH 1/3] x' "$patch" && mail '[PATCH 3/3] x' "$patch"; } >missing
outside() { # PATH
	mail '[PATCH] =?utf-8?q?=1b[2Jx?=' "$base"$'\n\n'"--- a/$1"$'\n'"+++ b/$1"$'\n@@ -1 +1 @@\n-precious\n+owned'
}
outside ../../../../victim >up
outside "$tmp/victim" >absolute
echo precious >"$tmp/victim"
export XDG_CACHE_HOME=$tmp/cache
cd - >/dev/null
box_is_now

for mails in "$tmp"/mails/*; do
	[[ $mails != */tree ]] || continue
	name=${mails##*/} code=0 wanted=2
	[[ $name != @(up|absolute) ]] || wanted=125
	timeout 60 ci/try.sh "$mails" --tree "$tmp/mails/tree" --times none >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
	LEFT=$(differences | grep '^. own ' || true)
	if [[ $code != "$wanted" || -s $tmp/out ]]; then
		result "$name" 1 "exit $code: $(head -1 "$tmp/out") $(tail -1 "$tmp/err")"
	elif (($(wc -l <"$tmp/err") != 1)) || grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$tmp/err"; then
		result "$name" 1 "wanted one line, found: $(head -c 300 "$tmp/err")"
	elif ! grep -qF -- "${says[$name]:-}" "$tmp/err"; then
		result "$name" 1 "wanted ${says[$name]}, found: $(head -c 300 "$tmp/err")"
	elif [[ $(cat "$tmp/victim") != precious ]]; then
		result "$name" 1 "a file of ours is gone"
	elif [[ -n $LEFT || -n $(find "$tmp" . -maxdepth 3 -name PWNED) ]]; then
		result "$name" 1 "left: $LEFT"
	else
		result "$name" 0
	fi
done
summary mbox
