# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts under ci/ share: messages, the cache, progress, children that cannot outlive us.
# Sourced after `set -euo pipefail`. It prints on stderr only: stdout belongs to the caller's result.

ME=${0##*/}
unset CDPATH # with it cd goes elsewhere, and says so on stdout
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

# Whether a guest can run at the CPU's own speed. A hypervisor may show a /dev/kvm that starts nothing.
has_kvm() {
	[ -w /dev/kvm ] && { [ "$(uname -m)" != x86_64 ] || grep -qwE 'vmx|svm' /proc/cpuinfo; }
}

# What boots a kernel where nobody says.
default_engine() {
	if has_kvm; then echo kvm; else echo icount; fi
}

# fetch_series MSGID DIR: the mails of a posted series as an mbox in DIR; prints its path.
fetch_series() {
	[[ $1 == *@* && $1 != */* ]] || die "no such patch: $1" 2
	need b4
	b4 -q am -o "$2" -n series "$1" >/dev/null 2>"$2/b4.log" || true
	[ -e "$2/series.mbx" ] || die "b4 could not fetch $1: $(tail -n 1 "$2/b4.log")"
	printf '%s\n' "$2/series.mbx"
}

# is_mail FILE: it begins as a mail or an mbox does, with a header that has a subject or a message id.
is_mail() {
	awk '{ sub(/\r$/, "") }
		!lines && $0 == "" { next }
		!lines++ && /^From .*[0-9]:[0-9]/ { mail = 1; exit }
		!/^[!-9;-~]+:/ && !/^[ \t]/ { exit }
		tolower($0) ~ /^(subject|message-id):/ { mail = 1; exit }
		END { exit !mail }' "$1"
}

# printable: stdin without what a terminal would obey.
printable() {
	tr -d '\000-\010\013-\037\177'
}

# split_mails MBOX DIR: each mail into the new directory DIR as NUMBER, and decoded as NUMBER.msg (what is
# said), .patch (from the first patch on), .info (where it can be read at all) and .subject (as it was
# sent, prefixes and all). Sets SPLIT_MAILS, their paths, and REPLIES, those that answer others, which no
# series holds. Fails where there is no mail.
split_mails() {
	local mail
	SPLIT_MAILS=() REPLIES=()
	mkdir "$2"
	git mailsplit -b --mboxrd -o"$2" "$1" >/dev/null 2>&1 || return 1
	for mail in "$2"/*; do
		[ -e "$mail" ] || continue
		git -c mailinfo.quotedCr=strip mailinfo "$mail.msg" "$mail.patch" <"$mail" >"$mail.info" 2>/dev/null ||
			rm -f "$mail.info"
		# Alone: a line "Subject:" of the body would be taken for it.
		{ awk '{ sub(/\r$/, "") } $0 == "" { exit } !/^[ \t]/ { on = tolower($0) ~ /^subject:/ } on' "$mail" && echo; } |
			git mailinfo -k /dev/null /dev/null 2>/dev/null | sed -n 's/^Subject: //p' |
			printable >"$mail.subject" || true
		if grep -qiE '^ *(re|aw|fwd?)(\[[0-9]+\])?:' "$mail.subject"; then
			REPLIES+=("$mail")
		else
			SPLIT_MAILS+=("$mail")
		fi
	done
}

# title MAIL: its subject without prefixes.
title() {
	{ sed -n 's/^Subject: //p' "$1.info" 2>/dev/null || true; } | printable
}

# read_mails MBOX DIR: what a series says, replies to it left out, decoded, in the new directory DIR: text,
# subjects and ids (message ids, change ids), a line each. Fails where there is no mail.
read_mails() {
	local mail
	mkdir "$2"
	: >"$2/text" && : >"$2/subjects" && : >"$2/ids"
	split_mails "$1" "$2/mails" || return 1
	for mail in "${SPLIT_MAILS[@]}"; do
		[ -e "$mail.info" ] || continue
		cat "$mail.msg" "$mail.patch" >>"$2/text"
		title "$mail" >>"$2/subjects"
		awk '{ sub(/\r$/, "") } $0 == "" { exit }
			on && sub(/^[ \t]+/, "") || sub(/^[Mm][Ee][Ss][Ss][Aa][Gg][Ee]-[Ii][Dd]:[ \t]*/, "") {
				gsub(/[<>]/, ""); on = $0 == ""; if (!on) print; next }
			{ on = 0 }' "$mail" >>"$2/ids"
	done
	sed -n 's/^change-id: *//p' "$2/text" >>"$2/ids"
}

# named_claims DIR: the claims whose source a series is that read_mails put there, by its id or by the title of
# one of its mails. A series that only speaks of another's id is not its source.
named_claims() {
	local f id title
	for f in "$REPO"/cases/*.json; do
		id=$(jq -r '.source.id // ""' "$f")
		title=$(jq -r '.source.title // ""' "$f")
		if { [ -n "$id" ] && grep -qxF -- "$id" "$1/ids"; } ||
			{ [ -n "$title" ] && grep -qxF -- "$title" "$1/subjects"; }; then
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
