#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds the Debian package of the tree as it stands, in build/deb, and prints its path. The packaging
# lives in ci/debian and is put in place in a copy.
set -euo pipefail
export LC_ALL=C

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readonly here top=${here%/ci/debian}
for tool in dh dpkg-buildpackage dpkg-parsechangelog; do
	command -v "$tool" >/dev/null || {
		printf 'build.sh: wanted %s, found none: apt-get install debhelper dpkg-dev\n' "$tool" >&2
		exit 2
	}
done
version=$(dpkg-parsechangelog -l "$here/changelog" -S Version)
work=$top/build/deb
copy=$work/before-after-$version
rm -rf "$work"
mkdir -p "$copy"
cd "$top"
{ git ls-files -z --cached --others --exclude-standard 2>/dev/null ||
	find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%P\0'; } |
	while IFS= read -r -d '' file; do
		[[ ! -e $file ]] || printf '%s\0' "$file"
	done | xargs -0 cp --parents -t "$copy"
mv "$copy/ci/debian" "$copy/debian"
rm "$copy/debian/build.sh"
cd "$copy"
dpkg-buildpackage -b -us -uc >"$work/log" 2>&1 || {
	tail -n 30 "$work/log" >&2
	exit 1
}
rm -rf "$copy"
ls "$work"/before-after_*.changes
