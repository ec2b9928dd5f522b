#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# In a guest: several starts of run.sh in one boot, since one start has one size and one scale for all
# its cases.
#
#   runs.sh COMMON OPTIONS -- OPTIONS [-- OPTIONS]..
#
# Exit: 1 if runs of any failed, else 0 if runs of any went well, else 4; at once what else one ended with.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

common=() group=() status=4
start() {
	local code=0
	"$here/../../run.sh" "${common[@]}" "${group[@]}" || code=$?
	case $code in
	0) [ "$status" -eq 1 ] || status=0 ;;
	1) status=1 ;;
	4) ;;
	*) exit "$code" ;;
	esac
}

while [ $# -gt 0 ] && [ "$1" != -- ]; do
	common+=("$1")
	shift
done
[ $# -gt 0 ] || exit 2
shift
for argument; do
	if [ "$argument" = -- ]; then
		start
		group=()
	else
		group+=("$argument")
	fi
done
start
exit "$status"
