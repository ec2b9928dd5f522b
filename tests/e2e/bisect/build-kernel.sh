#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Stands in for ci/build-kernel.sh: the image of DIR@COMMIT is the text of its mm/value.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"

while [ $# -gt 0 ]; do
	[ "$1" != --source ] || SOURCE=$2
	shift 2
done
dir=${SOURCE%@*} commit=${SOURCE##*@}
value=$(git -C "$dir" cat-file blob "$commit:mm/value")
key=$(git -C "$dir" rev-parse "$commit^{tree}" | cut -c1-16)
image=$REPO/cache/images/$key
if [ ! -e "$image/bzImage" ]; then
	[ "$value" != error ] || die "$SOURCE does not build: mm/value:1:1: error: no number (log: nowhere)"
	mkdir -p "$image"
	git -C "$dir" ls-tree -r --name-only "$commit" mm/ | sed -n 's#^mm/\(.*\)\.c$#ffffffff81000000 T \1#p' >"$image/System.map"
	jq -n --arg key "$key" --arg code "$(git -C "$dir" rev-parse "$commit:mm")" '{key: $key, code: $code}' >"$image/image.json"
	printf '%s\n' "$value" >"$image/bzImage"
	say "built $SOURCE in 0:01"
fi
printf '%s\n' "$image/bzImage"
