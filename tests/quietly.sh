# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the tests' libraries.

# quietly FILE COMMAND..: in a subshell with -e, its output in FILE; how it ended is left in STATUS. Not to
# be called as the condition of anything: -e would be off in there.
quietly() {
	set +e
	(
		set -e
		"${@:2}"
	) >"$1" 2>&1
	# shellcheck disable=SC2034
	STATUS=$?
	set -e
}

# The end of what was printed, as comments of TAP.
shown() { # FILE
	tail -n 30 "$1" | sed 's/^/# /'
}
