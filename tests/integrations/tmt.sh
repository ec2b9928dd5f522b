#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tmt: the metadata, and the test with reboots that a stub stands for.
set -euo pipefail
# shellcheck source=tests/integrations/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tmt_yaml() {
	yaml_lint ci/tmt/tests/main.fmf ci/tmt/plans/main.fmf
	[[ $(<ci/tmt/.fmf/version) == 1 ]]
}

# Two kernels of two boots each, by a machine whose reboots give the records another boot's name.
tmt_boots() {
	local i
	mkdir -p "$work/tmt/bin" "$work/tmt/data"
	cat >"$work/tmt/bin/uname" <<-END
		#!/bin/sh
		[ "\$1" = -r ] && exec cat "$work/tmt/release"
		exec /bin/uname "\$@"
	END
	cat >"$work/tmt/bin/tmt-reboot" <<-'END'
		#!/usr/bin/env bash
		set -e
		read -r old </proc/sys/kernel/random/boot_id
		read -r new </proc/sys/kernel/random/uuid
		for file in "$TMT_TEST_DATA"/records/*/"$old".*; do
			sed "s/$old/$new/" "$file" >"${file/$old/$new}"
			rm "$file"
		done
	END
	chmod +x "$work"/tmt/bin/*
	echo one >"$work/tmt/release"
	for ((i = 0; i < 4; i++)); do
		cat "$work/tmt/release" >>"$work/tmt/order"
		env PATH="$work/tmt/bin:$PATH" TMT_TEST_DATA="$work/tmt/data" TMT_REBOOT_COUNT="$i" BOOTS=2 \
			KERNELS='one two' BOOT_INTO="echo @KERNEL@ >'$work/tmt/release'" CASES=shadow-entries \
			SCALE=smoke RUNS=1 ci/tmt/tests/boots.sh
	done
	# ABBA
	[[ $(<"$work/tmt/order") == $'one\ntwo\ntwo\none' ]]
	jq -e '.[0].name == "/" and (map(.name) | contains(["/shadow-truncate.truncate"]))
		and all(.[]; .result | IN("pass", "info", "fail", "skip"))' "$work/tmt/data/results.yaml"
}

tmt_lint() {
	tmt --root ci/tmt lint
}

! has 'tmt: yamllint' yamllint || check 'tmt: yamllint' tmt_yaml
! has 'tmt: tmt lint' tmt || check 'tmt: tmt lint' tmt_lint
check 'tmt: two kernels by reboots, custom results' tmt_boots

finish
