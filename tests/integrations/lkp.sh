#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# LKP: what is generated from the cases, parse and its fixtures, a job at smoke scale.
set -euo pipefail
# shellcheck source=tests/integrations/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

generated() {
	mkdir "$work/lkp"
	ci/lkp/generate.sh "$work/lkp"
	local file
	for file in programs/before-after/include jobs/before-after.yaml index.yaml; do
		diff -u "ci/lkp/$file" "$work/lkp/$file" || {
			echo "it is written anew by: ci/lkp/generate.sh ci/lkp"
			return 1
		}
	done
}

# Each variant of the job is one that the box which the include asks for can run without a parameter more:
# what is not met here is of the kernel or of the box.
complete() {
	local test='' line variant what
	unset BEFORE_AFTER_SWAP_DEVICE
	while IFS= read -r line; do
		case $line in
		'  test: '*) test=${line#*: } ;;
		'    - '*=*)
			variant=${line#*- }
			# The LRU is the kernel's, and is asked for first.
			[[ $test != dirty-reclaim ]] || variant+=,lru=classic
			what=$("$BEFORE_AFTER_BUILD/cases/$test" --check --scale smoke --variant "$variant") || true
			printf '%s %s\n%s\n' "$test" "$variant" "$what"
			fails grep -E 'no workload|swap-device|another swap=' <<<"$what"
			;;
		esac
	done <ci/lkp/jobs/before-after.yaml
}

fixtures() {
	local fixture
	for fixture in ci/lkp/spec/fixtures/stats/before-after/*.yaml; do
		ci/lkp/programs/before-after/parse <"${fixture%.yaml}" | diff -u "$fixture" -
		fails grep -vE '^[^[:space:]]+: -?[0-9.]+([eE][-+]?[0-9]+)?$' "$fixture"
	done
}

lkp_yaml() {
	yaml_lint ci/lkp/jobs/before-after.yaml ci/lkp/index.yaml ci/lkp/programs/before-after/meta.yaml
	# An include is YAML once its lines of Ruby are gone.
	grep -v '^%' ci/lkp/programs/before-after/include | yamllint -d '{rules: {key-ordering: disable}}' -
}

lkp_shell() {
	# Variables and functions come from the job and from LKP's own libraries.
	shellcheck -e SC1091,SC2154 ci/lkp/programs/before-after/run ci/lkp/programs/before-after/pkg/PKGBUILD
	# LKP reads a program's parameters from the comments at its head.
	local parameter
	while read -r parameter; do
		grep -q "[\${]$parameter\b" ci/lkp/programs/before-after/run
		grep -q "^  $parameter:" ci/lkp/programs/before-after/meta.yaml
	done < <(sed -n 's/^# - //p' ci/lkp/programs/before-after/run)
	for parameter in depends depends-dev; do
		LC_ALL=C sort -fuc "ci/lkp/programs/before-after/pkg/$parameter"
	done
}

# The program itself, with as much of LKP as it uses.
lkp_runs() {
	mkdir -p "$work/src/lib" "$work/benchmarks" "$work/result"
	printf '%s\n' 'die() { echo "$@" >&2; exit 99; }' >"$work/src/lib/debug.sh"
	printf '%s\n' 'log_cmd() { echo "$@"; "$@"; }' >"$work/src/lib/reproduce-log.sh"
	# shellcheck disable=SC2016
	printf '%s\n' 'cd_benchmark() { cd "$BENCHMARK_ROOT/$1"; }' >"$work/src/lib/run.sh"
	make -s install PREFIX="$work/benchmarks/before-after"
	lkp_job shmem-truncate op=punch
	grep -qE '^shmem-truncate\.op=punch_folio=4k_fill=fallocate_state=resident\.time: [0-9.]+$' "$work/lkp.stats"
	[[ $(wc -l <"$work/lkp.stats") == $(cut -d: -f1 "$work/lkp.stats" | sort -u | wc -l) ]]
	worked 'params.pages == 4096'
	# What is not named is the default, also where a variant of another order of folios is usual.
	jq -e '.options == {op: "punch", folio: "4k", fill: "fallocate", state: "resident"}' "$work"/result/*/lkp/*.jsonl
}

# A job at smoke scale: what it printed in lkp.out, the stats in lkp.stats, its records in result.
lkp_job() { # TEST VARIANT
	rm -rf "$work/result"
	LKP_SRC=$work/src BENCHMARK_ROOT=$work/benchmarks TMP_RESULT_ROOT=$work/result \
		test=$1 variant=$2 scale=smoke runs=2 ci/lkp/programs/before-after/run >"$work/lkp.out"
	ci/lkp/programs/before-after/parse <"$work/lkp.out" >"$work/lkp.stats"
	cat "$work/lkp.stats"
}

# The workload is the sum of EXPRESSION, which holds of each record that is ok, or there is neither.
worked() { # EXPRESSION == PAGES
	local pages
	jq -se "map(select(.status == \"ok\")) | all(.[]; .$1)" "$work"/result/*/lkp/*.jsonl
	pages=$(jq -s "map(select(.status == \"ok\") | .${1%% *}) | add // empty" "$work"/result/*/lkp/*.jsonl)
	[[ $(sed -n 's/^workload: //p' "$work/lkp.stats") == "$pages" ]]
}

# Of many samples, of many at once, and of what a run counts itself.
lkp_workload() {
	lkp_job pagecache-truncate state=dirty
	worked 'probes.per.page == 50 * 1024'
	lkp_job pagecache-truncate counted=yes
	worked 'probes.per.page == 32 * 1024'
	lkp_job truncate-neighbour inserters=0
	worked 'probes.per.page == .params.rounds * .params.size / 4 / 4096 +
		(.checks.punches.got * .params.piece / 4096)'
}

# A variant is one: a blank would be "or", of which the second half is not what it says.
lkp_refuses() {
	local variant code
	for variant in 'op=punch op=close' $'op=punch\top=close' ' op=punch' 'op=punch,folio=4k '; do
		code=0
		LKP_SRC=$work/src BENCHMARK_ROOT=$work/benchmarks TMP_RESULT_ROOT=$work/result test=shmem-truncate \
			variant=$variant scale=smoke runs=1 ci/lkp/programs/before-after/run >"$work/lkp.out" 2>&1 || code=$?
		[[ $code == 99 && $(<"$work/lkp.out") == "variant: wanted options of one variant such as op=punch,folio=4k, found a blank in '$variant'" ]]
	done
}

check 'lkp: include, job and index are those of the cases' generated
check 'lkp: every variant of the job wants no parameter more' complete
check 'lkp: parse gives the fixtures' fixtures
! has 'lkp: yamllint' yamllint || check 'lkp: yamllint' lkp_yaml
! has 'lkp: shellcheck' shellcheck || check 'lkp: shellcheck, parameters, depends' lkp_shell
check 'lkp: run and parse, a job at smoke scale' lkp_runs
check 'lkp: workload is the pages of all runs' lkp_workload
check 'lkp: a variant is one' lkp_refuses

finish
