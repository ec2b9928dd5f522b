#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Golden tests of build/compare and build/history: each NAME.test writes small results directories and
# calls check (or history), which records the command, its exit code, stdout and stderr; all of it must
# equal NAME.out.
#
#   run.sh COMPARE [NAME..]      UPDATE=1 writes the expected files instead

set -euo pipefail
export LC_ALL=C

compare=$(realpath "$1")
history=$(dirname "$compare")/history
shift
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# shellcheck disable=SC2317 # the tests call it
# check ARGUMENT..: runs the comparator in the test's directory
check() {
	record "$compare" "$@"
}

# shellcheck disable=SC2317
# history ARGUMENT..: the same of build/history
history() {
	record "$history" "$@"
}

# shellcheck disable=SC2317
record() {
	local code=0 program=$1
	shift
	"$program" "$@" >"$work/stdout" 2>"$work/stderr" || code=$?
	{
		printf '$ %s' "$(basename "$program")"
		[ $# = 0 ] || printf ' %q' "$@"
		printf '\nexit %d\n' "$code"
		sed 's/^/| /' "$work/stdout"
		sed 's/^/! /' "$work/stderr"
		printf '\n'
	} >>"$work/actual"
}

run_test() {
	local test=$1 name
	name=$(basename "$test" .test)
	: >"$work/actual"
	rm -rf "$work/dir"
	mkdir "$work/dir"
	if ! (
		cd "$work/dir"
		# shellcheck source=/dev/null
		. "$here/lib.sh"
		# shellcheck source=/dev/null
		. "$test"
	); then
		echo "not ok - $name: the test could not be set up"
		failed=1
	elif [ "${UPDATE:-}" = 1 ]; then
		cp "$work/actual" "$here/$name.out"
		echo "updated $name"
	elif diff -u "$here/$name.out" "$work/actual"; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		failed=1
	fi
}

for test in "$here"/*.test; do
	if [ $# = 0 ] || [[ " $* " = *" $(basename "$test" .test) "* ]]; then
		run_test "$test"
	fi
done
exit "$failed"
