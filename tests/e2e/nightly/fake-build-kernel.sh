#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Takes the place of ci/build-kernel.sh where the night is tested and not kernels: the "image" of
# MIRROR@COMMIT, patched, says what a page costs.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"
while [ $# -gt 0 ]; do
	case $1 in
	--source) SOURCE=$2 ;;
	--patch) PATCH=$2 ;;
	esac
	shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git --git-dir="${SOURCE%@*}" archive "${SOURCE#*@}" | tar -x -C "$work"
if [ -n "${PATCH:-}" ]; then
	(cd "$work" && GIT_CEILING_DIRECTORIES=${work%/*} git apply "$PATCH") ||
		die "patch 1 of 1, ${PATCH##*/}, does not apply: mm/shmem.c:1 ($(grep -m 1 '^@@' "$PATCH"))" 3
fi
! grep -q '#error' "$work/mm/shmem.c" || die "it does not build: $(grep '#error' "$work/mm/shmem.c")"
image=$CACHE/images/$(cat "$work"/mm/* | key)
if [ ! -e "$image/bzImage" ]; then
	sleep 0.2
	mkdir -p "$image"
	echo '{"release": "6.12.117"}' >"$image/image.json"
	if grep -q panic "$work/mm/oom_kill.c"; then
		cost='panic'
	elif grep -q shmem_remove_folios "$work/mm/shmem.c" && ! grep -q shmem_remove_each "$work/mm/shmem.c"; then
		cost=1400
	else
		cost=1549
	fi
	echo "$cost" >"$image/new" && mv "$image/new" "$image/bzImage"
fi
printf '%s\n' "$image/bzImage"
