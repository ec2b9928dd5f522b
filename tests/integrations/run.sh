#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The places where others run tests, each held by its own tool.
# usage: run.sh [NAME..]    kselftest lkp lava tmt install debian; all without
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

(($#)) || set -- kselftest lkp lava tmt install debian
failed=0
for name; do
	[[ -x $here/$name.sh && $name != run ]] || {
		printf "run.sh: wanted kselftest, lkp, lava, tmt, install or debian, found '%s'\n" "$name" >&2
		exit 2
	}
	"$here/$name.sh" || failed=1
done
exit "$failed"
