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

# What cannot be is one line that names it, and the one code that says that there are no results.
tmt_refuses() {
	local bad code said kernels
	mkdir -p "$work/tmt/none"
	# shellcheck disable=SC2016 # it is text
	for bad in BOOTS=0 BOOTS=-1 BOOTS=abc BOOTS=1.5 BOOTS=08 'BOOTS=1 2' BOOTS=99999999999999999999 \
		'BOOTS=a[$(touch x)]' 'KERNELS= ' 'KERNELS=a b c' 'KERNELS=a a' TMT_TEST_DATA= BOOT_INTO= \
		'BOOT_INTO=exit 7' SCALE=huge; do
		code=0
		kernels=
		[[ $bad != BOOT_INTO=* ]] || kernels=other # one that is to be booted
		env TMT_TEST_DATA="$work/tmt/none" SCALE=smoke RUNS=1 CASES=shadow-entries KERNELS="$kernels" "$bad" \
			ci/tmt/tests/boots.sh >"$work/tmt/out" 2>"$work/tmt/err" || code=$?
		said=$(<"$work/tmt/err")
		printf '%s: %d: %s\n' "$bad" "$code" "$said"
		[[ $code == 1 && $said != *$'\n'* && ! -s $work/tmt/out ]]
		[[ $said =~ ^(boots.sh: ${bad%%=*}:|run.sh: --scale:)" " ]]
	done
	[[ ! -e x && ! -e $work/tmt/none/results.yaml ]]
}

tmt_lint() {
	tmt --root ci/tmt lint
}

! has 'tmt: yamllint' yamllint || check 'tmt: yamllint' tmt_yaml
! has 'tmt: tmt lint' tmt || check 'tmt: tmt lint' tmt_lint
check 'tmt: two kernels by reboots, custom results' tmt_boots
check 'tmt: what cannot be is one line and the documented code' tmt_refuses

finish
