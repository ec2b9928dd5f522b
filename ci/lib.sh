# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts under ci/ share: messages, the cache, progress, children that cannot outlive us.
# Sourced after `set -euo pipefail`. It prints on stderr only: stdout belongs to the caller's result.

ME=${0##*/}
CI=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034
REPO=${CI%/ci}
# shellcheck disable=SC2034
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/before-after
export LC_ALL=C

# With BEFORE_AFTER_WHY, a file, whoever started us finds the line there too.
die() {
	clear_progress
	[ -z "${BEFORE_AFTER_WHY:-}" ] || printf '%s\n' "$1" >"$BEFORE_AFTER_WHY"
	printf '%s: %s\n' "$ME" "$1" >&2
	exit "${2:-1}"
}

say() {
	clear_progress
	printf '%s: %s\n' "$ME" "$*" >&2
}

need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || die "$tool is not installed (sh ci/setup.sh installs it)" 2
	done
}

# The first 16 hex digits of the hash of stdin: the name of a cache entry.
key() {
	sha256sum | cut -c1-16
}

# What a kernel or series is called, as part of a file's name.
file_name() {
	printf '%s\n' "${1//[^A-Za-z0-9._-]/-}"
}

# A line that is overwritten on a terminal; nothing in a log, where plain lines say what happened.
PROGRESS=
progress() {
	[ -t 2 ] || return 0
	PROGRESS=1
	printf '\r\033[K%s' "$*" >&2
}

clear_progress() {
	[ -n "$PROGRESS" ] || return 0
	PROGRESS=
	printf '\r\033[K' >&2
}

# min:sec of a number of seconds.
clock() {
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Sleep without a child, so that a signal is handled at once.
exec {NEVER}<> <(:)
nap() {
	read -rt "$1" -u "$NEVER" _ || true
}

# spawn SIGNAL COMMAND...: start COMMAND in the background; the kernel sends it SIGNAL when this
# script dies, kill -9 included. Its pid is left in CHILD.
spawn() {
	local sig=$1
	shift
	# A parent that died before the request was made is noticed by the number.
	# shellcheck disable=SC2016
	setpriv --pdeathsig "$sig" bash -c '[ "$PPID" = "$0" ] && exec "$@"' $$ "$@" <&0 &
	# shellcheck disable=SC2034
	CHILD=$!
}

# On the way out: what spawn started goes first.
end_child() {
	[ -z "${CHILD:-}" ] || kill -TERM "$CHILD" 2>/dev/null || true
	wait 2>/dev/null || true
	clear_progress
}

# conclude STATUS: a script's way out where 1 and 3 are verdicts. In its EXIT trap, with the status as it
# came, unconcluded: a command that failed under set -e, a full disk say, concluded nothing, and is 2.
CONCLUDED=
conclude() {
	CONCLUDED=$1
	exit "$1"
}
unconcluded() { # STATUS
	case $1 in 0 | 125 | 130 | 143 | "$CONCLUDED") ;; *) exit 2 ;; esac
}

# What boots a kernel where nobody says.
default_engine() {
	if [ -w /dev/kvm ]; then echo kvm; else echo icount; fi
}

# fetch_series MSGID DIR: the mails of a posted series as an mbox in DIR; prints its path.
fetch_series() {
	[[ $1 == *@* && $1 != */* ]] || die "no such patch: $1" 2
	need b4
	b4 -q am -o "$2" -n series "$1" >/dev/null 2>"$2/b4.log" || true
	[ -e "$2/series.mbx" ] || die "b4 could not fetch $1: $(tail -n 1 "$2/b4.log")"
	printf '%s\n' "$2/series.mbx"
}

# subjects MBOX DIR: of its mails, a line each; they are split into DIR. Fails where it holds no mail.
subjects() {
	local mail
	mkdir "$2"
	git mailsplit -b --mboxrd -o"$2" "$1" >/dev/null 2>&1 || return 1
	for mail in "$2"/*; do
		git mailinfo /dev/null /dev/null <"$mail" 2>/dev/null | sed -n 's/^Subject: //p'
	done
}

# named_claims TEXT SUBJECTS: the claims whose source a series is, by its id in the file TEXT or by a title
# that is a line of the file SUBJECTS.
named_claims() {
	local f id title
	for f in "$REPO"/cases/*.json; do
		id=$(jq -r '.source.id // ""' "$f")
		title=$(jq -r '.source.title // ""' "$f")
		if { [ -n "$id" ] && grep -qF -- "$id" "$1"; } ||
			{ [ -n "$title" ] && grep -qxF -- "$title" "$2"; }; then
			jq -r .claim "$f"
		fi
	done
}

# changed_functions OLD NEW: the functions of either C file that the changed lines stand in.
changed_functions() {
	local hunks
	hunks=$(git diff --no-index --no-color --no-ext-diff --no-textconv -U0 "$1" "$2" |
		sed -n 's/^@@ -\([^ ]*\) +\([^ ]*\) @@.*/\1 \2/p' || true)
	awk -v lines="$(cut -d' ' -f1 <<<"$hunks" | paste -sd ' ')" -f "$CI/enclosing.awk" "$1"
	awk -v lines="$(cut -d' ' -f2 <<<"$hunks" | paste -sd ' ')" -f "$CI/enclosing.awk" "$2"
}

# The hash of everything that runs in a guest: records of two different ones are of two comparisons.
programs_key() {
	cat "$REPO/run.sh" "$CI/guest/runs.sh" "$REPO"/build/cases/* "$REPO/build/ci/init" 2>/dev/null | key
}

# number OPTION VALUE: one that a shell can count with, or usage.
number() {
	[[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || die "$1: expected a number from 1 to 99999, found '$2'" 2
}

# run_takes OPTION..: what run.sh would refuse in a guest, it refuses here, before anything is built. What
# this machine lacks and a guest may have is no matter.
run_takes() {
	local said status=0
	said=$("$REPO/run.sh" "$@" --list 2>&1 >/dev/null) || status=$?
	[ "$status" -ne 2 ] || die "${said##*$'\n'}" 2
}
