#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Lays out DEST, a directory below tools/testing/selftests, that builds and runs in a kernel tree:
# sources, one NAME.sh a case with its usual variants, lib.mk's Makefile, config and settings.
# usage: install.sh DEST          BEFORE_AFTER_BUILD: where the case programs are
set -euo pipefail
export LC_ALL=C

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readonly here top=${here%/ci/kselftest}
readonly build=${BEFORE_AFTER_BUILD:-$top/build}

die() {
	printf 'install-kselftest: %s\n' "$*" >&2
	exit 2
}

dest=${1:-}
[[ -n $dest ]] || die 'wanted DEST=<linux>/tools/testing/selftests/before-after, found none'
[[ -f $(dirname "$dest")/lib.mk ]] || die "$dest: wanted a directory beside lib.mk of tools/testing/selftests"
if [[ -e $dest && -n $(ls -A "$dest") ]]; then
	# What stands there is replaced only when it is an earlier layout of ours.
	[[ -f $dest/Makefile && $(sed -n 2p "$dest/Makefile") == '# before-after as a kselftest collection'* ]] ||
		die "$dest: wanted no such directory or an earlier layout of ours, found something else"
fi

mkdir -p "$dest"
rm -rf "${dest:?}/cases" "${dest:?}/lib"
mkdir -p "$dest/cases" "$dest/lib/case" "$dest/lib/sys"
cp "$top"/cases/*.c "$dest/cases"
cp "$top"/lib/case/*.[ch] "$dest/lib/case"
cp "$top"/lib/sys/*.[ch] "$dest/lib/sys"
cp "$here"/{Makefile,config,settings,variants.sh} "$dest"
printf '# SPDX-License-Identifier: GPL-2.0-only\nobj/\n' >"$dest/.gitignore"
rm -f "$dest"/*-*.sh

count=0
for source in "$top"/cases/*.c; do
	name=$(basename "$source" .c)
	[[ -x $build/cases/$name ]] ||
		die "$build/cases/$name: wanted every case built, to ask it for its variants: sh ci/setup.sh"
	summary=$("$build/cases/$name" --describe | jq -r .summary)
	variants=$("$top/run.sh" --list --scale smoke --case "$name" |
		sed -n 's/^  \([^ ]*\).*/\1/p' | sed 's/^$/-/')
	[[ -n $variants ]] || die "$name: wanted variants from run.sh --list, found none"
	{
		printf '#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0-only\n# %s: %s.\n' "$name" "$summary"
		printf '# Laid out by "make install-kselftest" of before-after.\n'
		printf "# shellcheck disable=SC2034\nvariants='\n%s\n'\n" "$variants"
		# shellcheck disable=SC2016
		printf '# shellcheck source=/dev/null\n. "$(dirname "$0")/variants.sh"\n'
	} >"$dest/$name.sh"
	chmod 755 "$dest/$name.sh"
	printf '%s\n' "$name" >>"$dest/.gitignore"
	count=$((count + 1))
done
printf 'install-kselftest: %d tests in %s\n' "$count" "$dest"
