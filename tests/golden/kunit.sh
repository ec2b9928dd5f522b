#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every KTAP output among the golden files must be accepted by the kernel's own parser,
# tools/testing/kunit/kunit.py, from the distribution's kernel source. It is kept in the user's
# cache. Skips, with the reason, where python3 or the source is missing.

set -euo pipefail

here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
	echo "ok - kunit # SKIP $1"
	exit 0
}

find_kunit() {
	local cache archive
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/before-after/kunit
	kunit=$cache/tools/testing/kunit/kunit.py
	[ -e "$kunit" ] && return
	archive=$(find /usr/src -maxdepth 1 -name 'linux-source-*.tar.xz' 2>/dev/null | sort -V | tail -n 1)
	[ -n "$archive" ] || skip "no kernel source (Debian package linux-source)"
	rm -rf "$cache.new"
	mkdir -p "$cache.new"
	tar -xJf "$archive" -C "$cache.new" --strip-components=1 --wildcards '*/tools/testing/kunit/*'
	rm -rf "$cache"
	mv "$cache.new" "$cache"
}

command -v python3 >/dev/null || skip "no python3"
find_kunit

# The outputs of all "--format ktap" commands, one file each.
awk -v work="$work" '
	/^\$ / { out = ""; if (/--format ktap/) out = work "/" ++n ".ktap" }
	out && /^\| / { print substr($0, 3) > out }
' "$here"/*.out

failed=0
for file in "$work"/*.ktap; do
	# Exit 1 means that a test failed, which some are here to do.
	python3 "$kunit" parse "$file" >"$work/parsed" 2>"$work/errors" || [ $? = 1 ]
	# A claim that is skipped as a whole is a leaf; a claim with rows is not.
	wanted=$(awk '/^ +(not )?ok /{n++; rows++; next} /^(not )?ok /{if (!rows) n++; rows = 0} END{print n}' "$file")
	found=$(sed -n 's/.*Ran \([0-9]*\) tests.*/\1/p' "$work/parsed")
	if [ "$wanted" != "$found" ] || [ -s "$work/errors" ] || grep -q '\[ERROR\]\|errors:\|crashed:' "$work/parsed"; then
		echo "not ok - kunit: $wanted tests written, $found read:"
		cat "$file" "$work/parsed" "$work/errors"
		failed=1
	fi
done
[ "$failed" = 1 ] || echo "ok - kunit: $(find "$work" -name '*.ktap' | wc -l) outputs parsed by the kernel's kunit.py"
exit "$failed"
