# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A few lines of TAP for the end-to-end tests. Sourced after `set -euo pipefail`.

# shellcheck disable=SC2034
unset CDPATH
REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
SCRATCH=$(mktemp -d /var/tmp/before-after-e2e.XXXXXX)
trap 'rm -rf "$SCRATCH"' EXIT
export LC_ALL=C
TESTS=0 FAILED=0

# shellcheck source=tests/quietly.sh
. "$REPO/tests/quietly.sh"

# check NAME FUNCTION [ARGUMENT..]: runs it in a subshell; its output is shown when it fails.
check() {
	local name=$1 start=$SECONDS
	shift
	TESTS=$((TESTS + 1))
	quietly "$SCRATCH/said" "$@"
	if [ "$STATUS" -eq 0 ]; then
		printf 'ok %d - %s # %d s\n' "$TESTS" "$name" $((SECONDS - start))
	else
		FAILED=$((FAILED + 1))
		printf 'not ok %d - %s\n' "$TESTS" "$name"
		shown "$SCRATCH/said"
	fi
}

finish() {
	printf '1..%d\n' "$TESTS"
	[ "$FAILED" -eq 0 ]
}

# expect STATUS COMMAND..: fails, saying so, when it ends otherwise.
expect() {
	local want=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" -eq "$want" ] || {
		echo "expected exit $want, found $got: $*"
		return 1
	}
}

# The QEMU processes that hold a file below DIR: what a killed boot must not leave.
qemus_of() {
	pgrep -f "qemu-system.*$1" || true
}

wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		! eval "$1" || return 0
		sleep 0.1
	done
	echo "waited 60 s in vain for: $1"
	return 1
}
