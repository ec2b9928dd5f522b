#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ci/try.sh with mails that are none, or that somebody made to be misread: one line and exit 2, no command
# of theirs is run, nothing is left. Nothing is built or booted: none of these says a base that there is.
set -euo pipefail
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
cd - >/dev/null
box_is_now

for mails in "$tmp"/mails/*; do
	[[ $mails != */tree ]] || continue
	name=${mails##*/} code=0
	timeout 60 ci/try.sh "$mails" --tree "$tmp/mails/tree" --times none >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
	LEFT=$(differences | grep '^. own ' || true)
	if [[ $code != 2 || -s $tmp/out ]]; then
		result "$name" 1 "exit $code: $(head -1 "$tmp/out") $(tail -1 "$tmp/err")"
	elif (($(wc -l <"$tmp/err") != 1)) || grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$tmp/err"; then
		result "$name" 1 "wanted one line, found: $(head -c 300 "$tmp/err")"
	elif [[ -n $LEFT || -n $(find "$tmp" . -maxdepth 3 -name PWNED) ]]; then
		result "$name" 1 "left: $LEFT"
	else
		result "$name" 0
	fi
done
summary mbox
