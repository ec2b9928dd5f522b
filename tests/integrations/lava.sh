#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# LAVA: definition and job by LAVA's own schemas, the figures as lava-test-case gets them.
set -euo pipefail
# shellcheck source=tests/integrations/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lava_yaml() {
	yaml_lint ci/lava/*.yaml
}

lava_schema() {
	/usr/bin/python3 - <<-'END'
		import yaml
		from lava_common.schemas import validate
		from lava_common.schemas.test.testdef import validate as definition
		definition(yaml.safe_load(open("ci/lava/before-after.yaml")))
		validate(yaml.safe_load(open("ci/lava/job-qemu.yaml")), strict=True)
	END
}

# lava-test-case as LAVA has it: a signal whose words "=" and blanks separate.
lava_runs() {
	mkdir "$work/lava"
	cat >"$work/lava/lava-test-case" <<-'END'
		#!/bin/bash
		printf '%s' "$1" && shift
		printf ' %s' "$@"
		echo
	END
	chmod +x "$work/lava/lava-test-case"
	PATH=$work/lava:$PATH RESULTS=$work/lava CASES=shadow-entries,truncate-neighbour SCALE=smoke RUNS=1 \
		ci/lava/run.sh >"$work/lava/out"
	grep -- ' --result ' "$work/lava/out" >"$work/lava/cases"
	cat "$work/lava/cases"
	fails grep -vE '^[A-Za-z0-9._-]+ --result (pass|fail|skip)( --measurement [0-9.e+-]+ --units [A-Za-z0-9/%._-]+)?$' \
		"$work/lava/cases"
	grep -qE '^(shadow-entries\.op-truncate\.evict-memcg\.time --result pass --measurement [0-9.]+ --units ns|shadow-entries\..* --result skip)$' "$work/lava/cases"
	[[ $(tail -n 1 "$work/lava/cases") == 'run --result pass' ]]
}

! has 'lava: yamllint' yamllint || check 'lava: yamllint' lava_yaml
if /usr/bin/python3 -c 'import lava_common.schemas' 2>/dev/null; then
	check "lava: LAVA's own schemas" lava_schema
else
	skip "lava: LAVA's own schemas" 'no lava-common'
fi
check 'lava: every figure a measurement' lava_runs

finish
