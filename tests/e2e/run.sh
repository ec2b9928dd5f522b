#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The end-to-end tests: kernels built, booted and compared. Skipped, saying so, where that cannot be.
#
#   run.sh [long]      long: what takes too long for every change: all treatments, and User-Mode Linux,
#                      whose kernel is one of its own
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")"

for tool in "qemu-system-$(uname -m)" flex bison bc jq setpriv; do
	command -v "$tool" >/dev/null || {
		echo "ok 1 - end to end # SKIP $tool is not installed"
		exit 0
	}
done
[ "$(id -u)" -eq 0 ] || {
	echo 'ok 1 - end to end # SKIP needs root: a guest reads the root of the host'
	exit 0
}
failed=0
part() {
	echo "# $*"
	"./$1.sh" "${@:2}" || failed=1
}
if [ "${1:-}" = long ]; then
	part boots uml
	part treatments all
	part codepath
	part locks
	part try uml
	part nightly
	part bisect long
else
	part build
	part boots
	part treatments
	part codepath base 6.12-shmem-batch-remove
	part nightly fake
	part bisect
fi
exit "$failed"
