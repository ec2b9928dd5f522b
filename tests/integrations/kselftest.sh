#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kselftest: the layout in a kernel tree, by lib.mk, the runner and kunit.py.
set -euo pipefail
# shellcheck source=tests/integrations/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A copy of what kselftest is in the distribution's kernel source, kept in the user's cache.
kernel_tree() {
	local cache archive
	archive=$(find /usr/src -maxdepth 1 -name 'linux-source-*.tar.xz' 2>/dev/null | sort -V | tail -n 1)
	[[ -n $archive ]] || return 1
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/before-after/kselftest/$(basename "$archive" .tar.xz)
	if [[ ! -e $cache/tools/testing/selftests/lib.mk ]]; then
		rm -rf "$cache.new"
		mkdir -p "$cache.new"
		tar -xJf "$archive" -C "$cache.new" --strip-components=1 --wildcards \
			'*/tools/testing/selftests/Makefile' '*/tools/testing/selftests/*.mk' \
			'*/tools/testing/selftests/*.sh' '*/tools/testing/selftests/kselftest/*' \
			'*/tools/testing/selftests/kselftest*.h' '*/tools/testing/kunit/*' '*/scripts/subarch.include'
		rm -rf "$cache"
		mv "$cache.new" "$cache"
	fi
	printf '%s' "$cache"
}

layout() {
	cp -a "$tree" "$work/linux"
	ci/kselftest/install.sh "$selftests/before-after"
	ci/kselftest/install.sh "$selftests/before-after"
	shellcheck "$selftests"/before-after/*.sh
	mkdir -p "$selftests/other" && touch "$selftests/other/Makefile"
	fails ci/kselftest/install.sh "$selftests/other"
	fails ci/kselftest/install.sh "$work/nowhere"
}

# What the declarations need of the kernel is in `config`, and our own guests have all of `config`.
configuration() {
	local name line
	for name in "$BEFORE_AFTER_BUILD"/cases/*; do
		"$name" --describe
	done | jq -r -L ci 'include "needs"; "CONFIG_\(kconfig[])=y"' | sort -u >"$work/needed"
	[[ -z $(comm -23 "$work/needed" <(sort ci/kselftest/config)) ]]
	while read -r line; do
		grep -qx "$line" ci/kernel/x86_64.config || [[ $line == CONFIG_SHMEM=y ]]
	done <ci/kselftest/config
	sort -c ci/kselftest/config
}

# The runner opens /dev/stdout anew to append to it, which in a file loses lines: into a pipe.
built() {
	make -C "$selftests" TARGETS=before-after
	make -C "$selftests" TARGETS=before-after run_tests | cat >"$work/run_tests"
	cat "$work/run_tests"
	fails grep '^not ok' "$work/run_tests"
	grep -q '^ok [0-9] selftests: before-after: shmem-truncate.sh$' "$work/run_tests"
	# A number is a word a parser can find: CASE VARIANT: METRIC VALUE UNIT.
	grep -qE '^# # shmem-truncate [^ ]+: time [0-9]+ ns$' "$work/run_tests"
}

kunit_parses() {
	"$selftests/before-after/shadow-entries.sh" >"$work/ktap" || [[ $? == 4 ]]
	python3 "$tree/tools/testing/kunit/kunit.py" parse "$work/ktap" >"$work/parsed" || [[ $? == 1 ]]
	fails grep -i 'error' "$work/parsed"
	grep -q 'Ran 3 tests' "$work/parsed"
}

# 0 pass, 1 fail, 4 all skipped; a case that is not there skips; nothing is 2 or 3.
exit_codes() {
	local code=0 name
	mkdir "$work/codes"
	cd "$work/codes"
	cp "$top/ci/kselftest/variants.sh" .
	for name in ok fail skip broken silent mixed; do
		cat >"$name" <<-'END'
			#!/bin/sh
			name=$(basename "$0")
			case $*:$name in
			*v=2*:mixed) name=ok ;;
			*:mixed) name=skip ;;
			esac
			[ "$name" != silent ] || exit 99
			echo 'KTAP version 1'
			echo 1..1
			echo '# time 1 ns'
			case $name in
			ok) echo 'ok 1 a b' ;;
			fail) echo 'not ok 1 a b' && exit 1 ;;
			skip) echo 'ok 1 a b # SKIP c' && exit 4 ;;
			broken) echo 'not ok 1 a b # ERROR c' && exit 99 ;;
			esac
		END
		# shellcheck disable=SC2016
		printf '#!/bin/sh\nvariants="v=1 v=2"\n. "$(dirname "$0")/variants.sh"\n' >"$name.sh"
		chmod +x "$name" "$name.sh"
	done
	sed 's/v=1 v=2/-/' ok.sh >gone.sh && chmod +x gone.sh
	for name in ok:0 fail:1 skip:4 broken:1 silent:1 mixed:0 gone:4; do
		code=0
		"./${name%:*}.sh" >"$name.out" || code=$?
		[[ $code == "${name#*:}" ]] || {
			echo "$name: exit $code"
			cat "$name.out"
			return 1
		}
	done
	[[ $(<silent:1.out) == *'not ok 2 silent v=2 # ERROR ended without a result'* ]]
	[[ $(<ok:0.out) == $'KTAP version 1\n1..2\n# ok v=1: time 1 ns\nok 1 a b\n# ok v=2: time 1 ns\nok 2 a b' ]]
}

# A test that is stopped ends when its case has given back what it had, so that the next one finds
# the box free: by the runner's timeout (its group, then the script alone), by each signal, by kill -9.
stopped() {
	local how code signal script began
	mkdir "$work/stopped"
	cd "$work/stopped"
	cp "$top/ci/kselftest/variants.sh" .
	cat >slow <<-'END'
		#!/bin/bash
		trap 'sleep 1; echo "not ok 1 slow # ERROR stopped"; rm "$0.runs"; exit 99' TERM
		echo $$ >"$0.runs"
		while :; do sleep 0.05; done
	END
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nvariants="v=1 v=2"\n. "$(dirname "$0")/variants.sh"\n' >slow.sh
	sed 's/v=1 v=2/-/' slow.sh >pagecache-truncate.sh
	chmod +x slow ./*.sh
	ln -s "$BEFORE_AFTER_BUILD/cases/pagecache-truncate" "$BEFORE_AFTER_BUILD/cases/shmem-truncate" .
	for how in 'timeout --foreground 1 timeout 1' 'timeout --foreground 1' 'timeout -s INT --foreground 1' \
		'timeout -s HUP --foreground 1'; do
		code=0
		$how ./slow.sh >slow.out || code=$?
		[[ $code == 124 && ! -e slow.runs ]]
		[[ $(<slow.out) == $'KTAP version 1\n1..2\nnot ok 1 slow # ERROR stopped' ]]
	done
	for signal in TERM KILL; do
		./pagecache-truncate.sh --scale documented >case.out 2>case.err &
		script=$! began=$SECONDS
		until grep -q ', pagecache-trunc' "$BEFORE_AFTER_RUN_DIR/lock" 2>/dev/null || ! kill -0 "$script" ||
			((SECONDS > began + 30)); do
			sleep 0.1
		done
		sleep 0.5
		kill -s "$signal" "$script"
		code=0
		wait "$script" || code=$?
		[[ $code == $((128 + $(kill -l "$signal"))) ]]
		[[ $signal == KILL || $(<case.out) == *'# ERROR interrupted: '* ]]
		./shmem-truncate --scale smoke
		[[ ! -s $BEFORE_AFTER_RUN_DIR/journal.jsonl ]]
		: >"$BEFORE_AFTER_RUN_DIR/lock"
	done
}

flattened() {
	make -C "$selftests" TARGETS=before-after KSFT_INSTALL_PATH="$work/installed" gen_tar
	mkdir "$work/unpacked"
	tar -xzf "$work/installed/kselftest-packages/kselftest.tar.gz" -C "$work/unpacked"
	make -C "$selftests" TARGETS=before-after clean
	[[ ! -e $selftests/before-after/obj && ! -e $selftests/before-after/shmem-truncate ]]
	cd "$work/unpacked"
	./run_kselftest.sh -l >"$work/list"
	grep -qx before-after:shmem-truncate.sh "$work/list"
	BEFORE_AFTER_RESULTS=$work/records ./run_kselftest.sh -c before-after |
		cat >"$work/run_kselftest"
	cat "$work/run_kselftest"
	fails grep '^not ok' "$work/run_kselftest"
	grep -q '^ok [0-9] selftests: before-after: shmem-truncate.sh$' "$work/run_kselftest"
	# The records are as those of run.sh: the comparator reads them, and the measuring code is the same.
	"$BEFORE_AFTER_BUILD/compare" --no-claims --single "$work/records/$(uname -r)" >"$work/single"
	grep -q '^## shmem-truncate' "$work/single"
	jq -e --arg hash "$(sed -n 's/.*"\(.*\)".*/\1/p' "$BEFORE_AFTER_BUILD/measure_hash.h")" \
		'all(.invocations[]; .match.measure_hash == $hash)' "$work/records"/*/*.env.json
}

# A guest's /tmp is its own, so the layout lies below the project.
in_a_guest() {
	local kernel layout=$BEFORE_AFTER_BUILD/kselftest said=$work/guest.said
	kernel=$(ci/build-kernel.sh)
	rm -rf "$layout"
	cp -a "$work/unpacked" "$layout"
	ci/boot.sh --kernel "$kernel" --engine icount --memory 1G --results "$work/guest" -- sh -c "
		export BEFORE_AFTER_RESULTS=/run/results BEFORE_AFTER_LABEL=guest
		export BEFORE_AFTER_ENGINE_INFO=/run/results/engine.json
		exec $layout/run_kselftest.sh -t before-after:shmem-truncate.sh -t before-after:shadow-entries.sh" \
		>"$said"
	cat "$said"
	fails grep '^not ok' "$said"
	[[ $(grep -c '^ok [12] selftests: before-after: [a-z-]*.sh' "$said") == 2 ]]
	jq -e 'all(.invocations[]; .match.engine == "icount")' "$work"/guest/guest/*.env.json
	jq -se 'map(select(.status == "ok")) | length >= 11' "$work"/guest/guest/*.jsonl
	rm -r "$layout"
}

check 'kselftest: config has what the cases declare, and our guests have it' configuration
check 'kselftest: exit codes and KTAP lines' exit_codes
if ((EUID == 0)); then
	check 'kselftest: a test that is stopped leaves the box free' stopped
else
	skip 'kselftest: a test that is stopped leaves the box free' 'wanted root'
fi
if tree=$(kernel_tree); then
	selftests=$work/linux/tools/testing/selftests
	check 'kselftest: laid out twice, shellcheck, nothing foreign replaced' layout
	check 'kselftest: run_tests with lib.mk' built
	! has 'kselftest: kunit.py' python3 || check 'kselftest: kunit.py parses the output' kunit_parses
	! has 'kselftest: gen_tar and run_kselftest.sh' rsync ||
		check 'kselftest: gen_tar, run_kselftest.sh -c before-after, records' flattened
	if [[ -z ${BEFORE_AFTER_LONG:-} ]]; then
		skip 'kselftest: in a guest' 'make check-long has it'
	elif [[ ! -x $work/unpacked/run_kselftest.sh ]] || ! command -v "qemu-system-$(uname -m)" >/dev/null; then
		skip 'kselftest: in a guest' 'no installed layout, or no QEMU'
	else
		check 'kselftest: in a guest of ours' in_a_guest
	fi
else
	skip 'kselftest in a kernel tree' 'no kernel source (Debian package linux-source)'
fi
finish
