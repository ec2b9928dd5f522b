#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The Debian package, by debhelper and lintian.
set -euo pipefail
# shellcheck source=tests/integrations/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

package() {
	# The tests run outside of the package's build.
	DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" ci/debian/build.sh
}

lintian_clean() {
	local out
	out=$(lintian --fail-on error,warning,info --display-info build/deb/before-after_*.changes)
	printf '%s\n' "$out"
	[[ -z $out ]]
}

if command -v dh >/dev/null && command -v dpkg-buildpackage >/dev/null; then
	check 'debian: the package builds' package
	! has 'debian: lintian' lintian || check 'debian: lintian' lintian_clean
else
	skip 'debian' 'no debhelper'
fi
finish
