# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the integration tests share: TAP lines, a scratch directory, tools that may be missing (a SKIP
# with its reason). Sourced after `set -euo pipefail`; changes to the project's directory.

unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# What the make that runs us was told is not for the makes of a kernel tree or of a package.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

readonly top=$PWD build=${BEFORE_AFTER_BUILD:-build}
export BEFORE_AFTER_BUILD=$top/${build#"$top/"}
work=$(mktemp -d)
mkdir -m 0700 "$work/run"
export BEFORE_AFTER_RUN_DIR=$work/run
trap 'rm -rf "$work"' EXIT
failed=0
# shellcheck source=tests/quietly.sh
. tests/quietly.sh

skip() { # NAME REASON
	printf 'ok - %s # SKIP %s\n' "$1" "$2"
}

has() { # NAME TOOL: or a SKIP
	command -v "$2" >/dev/null || {
		skip "$1" "no $2"
		return 1
	}
}

# check NAME FUNCTION: runs it in a subshell with -e; what it printed is shown when it fails.
check() {
	quietly "$work/said" "$2"
	if ((STATUS == 0)); then
		printf 'ok - %s\n' "$1"
	else
		printf 'not ok - %s\n' "$1"
		shown "$work/said"
		failed=1
	fi
}

yaml_lint() {
	local rules='line-length: {max: 110}, document-start: disable, comments-indentation: disable'
	yamllint -d "{extends: default, rules: {$rules, indentation: disable}}" "$@"
}

# fails COMMAND..: that it fails; "!" alone would be ignored by -e.
fails() {
	! "$@"
}

finish() {
	((failed == 0))
}
