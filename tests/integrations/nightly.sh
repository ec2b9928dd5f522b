#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ci/nightly.sh as far as no kernel is needed: its settings, its lock, nights that end with the fetch; and
# the examples in ci/nightly for systemd, GitHub and GitLab. tests/e2e/nightly.sh has the rest.
set -euo pipefail
# shellcheck source=tests/integrations/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export XDG_CACHE_HOME=$work/cache
nightly=$top/ci/nightly.sh

# refused TEXT ARGUMENT..: usage, said in one line that has TEXT; nothing is made.
refused() {
	local status=0
	"$nightly" --results "$work/refused" "${@:2}" >"$work/out" 2>"$work/err" || status=$?
	cat "$work/err"
	[[ $status == 2 && ! -s $work/out && $(wc -l <"$work/err") == 1 && ! -e $work/refused ]]
	grep -qF -- "$1" "$work/err"
}

options() {
	refused '--git: expected a repository of the kernel, found none'
	refused "--git: expected a URL or a directory, found '--upload-pack=x'" --git --upload-pack=x
	refused "--ref: expected a branch, a tag or a commit, found '-x'" --git . --ref -x
	refused "--ref: expected a branch, a tag or a commit, found 'a..b'" --git . --ref a..b
	refused "--date: expected a date such as 2026-11-30, found '2026-02-30'" --git . --date 2026-02-30
	refused "--boots: expected a number of at least 1, found '0'" --git . --boots 0
	refused "--engine: expected kvm, tcg, icount or uml, found 'qemu'" --git . --engine qemu
	refused "--memory: expected a size such as 2G, found 'much'" --git . --memory much
	refused "--series: expected a file, found '/nonexistent'" --git . --series /nonexistent
	refused "--treatments: expected a directory, found '/nonexistent'" --git . --treatments /nonexistent
	refused "--run: expected options of run.sh, found 'shmem-truncate'" --git . --run shmem-truncate
	refused "--such: expected a setting that --help lists, found 'such'" --such x
	refused "--config: expected a file, found '/nonexistent'" --config /nonexistent
	refused '--date needs a value' --git . --date
}

# A line that is not understood is named; one that is, is never a shell's.
config() {
	local file=$work/conf line
	while IFS='|' read -r line said; do
		printf '# a comment\n\nGIT=.\n%s\n' "$line" >"$file"
		refused "$file:4: expected $said" --config "$file"
	done <<-'END'
		BOOTS|NAME=value, found 'BOOTS'
		BOOTS=|NAME=value, found 'BOOTS='
		boots=2|NAME=value, found 'boots=2'
		 BOOTS=2|NAME=value, found ' BOOTS=2'
		BOOTS = 2|NAME=value, found 'BOOTS = 2'
		BOOTS="2"|a number of at least 1, found '"2"'
		BOOT=2|a setting that --help lists, found 'boot'
		FRESH=1|a setting that --help lists, found 'fresh'
		KEEP_NIGHTS=all|a number of at least 1, found 'all'
	END
	printf 'GIT=%s\nREF=main\n' "\$(touch $work/shell)\`touch $work/shell\`" >"$file"
	fails "$nightly" --config "$file" --results "$work/shell-nights" --date 2026-01-01
	jq -e '.state == "fetch-failed"' "$work/shell-nights/2026-01-01/night.json"
	[[ ! -e $work/shell ]]
}

# A repository that cannot be fetched is a night of its own, tried again by the same command.
unfetched() {
	local nights=$work/unfetched status=0
	"$nightly" --git "$work/nowhere" --results "$nights" --date 2026-01-01 >"$work/report" || status=$?
	[[ $status == 2 ]]
	jq -e '.state == "fetch-failed" and (.reason | test("nowhere"))' "$nights/2026-01-01/night.json"
	grep -q nowhere "$work/report"
	grep -q 2026-01-01 "$nights/index.md"
	[[ -z $(find "$nights" -name '*.new') ]]
	# Of a reason for the anchor too; and a directory that is not ours is let be.
	git init -q "$work/repo"
	git -C "$work/repo" -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
	status=0
	"$nightly" --git "$work/repo" --ref HEAD --anchor v1 --results "$nights" --date 2026-01-02 || status=$?
	[[ $status == 2 ]]
	jq -e '.state == "fetch-failed" and (.reason | test("v1"))' "$nights/2026-01-02/night.json"
	mkdir "$nights/2026-01-03"
	status=0
	"$nightly" --git "$work/repo" --ref HEAD --anchor v1 --results "$nights" --date 2026-01-03 2>"$work/err" || status=$?
	[[ $status == 2 && -z $(ls -A "$nights/2026-01-03") ]]
	grep -q 'expected a night of ours' "$work/err"
}

# Never two at once.
locked() {
	local nights=$work/locked status=0
	mkdir "$nights"
	flock "$nights/.lock" "$nightly" --git . --results "$nights" 2>"$work/err" || status=$?
	[[ $status == 2 ]]
	grep -qF "another night runs in $nights" "$work/err"
}

units() {
	local name=before-after-nightly
	mkdir "$work/units"
	sed "s#/opt/before-after#$top#" "ci/nightly/$name.service" >"$work/units/$name.service"
	cp "ci/nightly/$name.timer" "$work/units/"
	systemd-analyze verify "$work/units/$name.service" "$work/units/$name.timer" 2>&1 | tee "$work/verify"
	[[ ! -s $work/verify ]]
}

yaml() {
	yamllint -d '{extends: default, rules: {line-length: {max: 110}, truthy: {check-keys: false}}}' \
		ci/nightly/*.yml
}

# The sample is read, every line of it, those that are commented out too.
sample() {
	sed -E 's/^#([A-Z_]+=)/\1/; /^SERIES=/d' ci/nightly/nightly.conf >"$work/sample"
	fails "$nightly" --git "$work/nowhere" --config "$work/sample" --results "$work/sample-nights" --date 2026-01-01
	jq -e '.state == "fetch-failed"' "$work/sample-nights/2026-01-01/night.json"
}

check 'nightly: options' options
check 'nightly: a configuration file' config
check 'nightly: the sample configuration' sample
check 'nightly: a night without a kernel' unfetched
check 'nightly: never two at once' locked
! has 'nightly: systemd-analyze verify' systemd-analyze || check 'nightly: systemd-analyze verify' units
! has 'nightly: yamllint' yamllint || check 'nightly: yamllint' yaml
finish
