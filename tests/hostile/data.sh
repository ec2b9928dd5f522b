#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A record, an environment or a claim is data, whoever wrote it: no part of it reaches a shell, a format
# string or a terminal, forges a line of KTAP, a cell or markup of a table, or a second line of an error.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck source=tests/hostile/lib.sh
. tests/hostile/lib.sh
own_box "$@"
compare=$build/compare
cases=$PWD/cases
cd "$tmp"
# What a word may hold that somebody wrote: for a shell and printf, for a terminal and KTAP, for Markdown.
# shellcheck disable=SC2016
words=('$(touch PWNED)`touch PWNED`; touch PWNED; %n%s%n%s '"'; touch PWNED; '"' ../../PWNED'
	$'x\nok 99 - forged\nnot ok 98\e[2J\e]0;title\a\x7f\xc2\x9b31m\u202eback'
	'a|b|c <script>alert(1)</script> ![x](http://x/) x # SKIP forged "}],"x":[{"')

# Where it stands, as a filter of jq over a record: every string that a record has.
# shellcheck disable=SC2016 # the variable is jq's
record_places=(.kernel .invocation .case .variant '.options.op' '.options[$word]' .reason '.identity.backing' '.identity[$word]'
	'.metrics.time.unit' '.metrics[$word]' .sample_unit .scale '.checks[$word]' '.counters[$word]' '.probes.functions[$word]'
	'.params[$word]' .started .boot)
# shellcheck disable=SC2016
environment_places=('.invocations.i1.info.release' '.invocations.i1.info[$word]' '.invocations.i1.match.engine'
	'.invocations.i1.match[$word]' '.invocations.i1.info.thp[$word]' .boot)
claim_places=(.claim .case .source.title .source.author .method.machine '.rows[0].id' '.rows[0].unit' '.rows[0].metric'
	'.rows[0].where.op' '.mechanism[0].function[0]' '.mechanism[0].per')

make_side() { # KERNEL VALUE
	local boot run
	mkdir -p "$1"
	for boot in 1 2; do
		for run in 1 2; do
			jq -nc --arg kernel "$1" --argjson boot "$boot" --argjson run "$run" --argjson value "$2" '
				{schema: 1, kernel: $kernel, boot: "0000000\($boot)-0000-4000-8000-000000000000", invocation: "i1",
				 case: "shmem-truncate", variant: "op=ftruncate,folio=4k", options: {op: "ftruncate", folio: "4k"},
				 scale: "documented", params: {size: 8589934592, pages: 2097152}, identity: {backing: "tmpfs"},
				 run: $run, seq: $run, status: "ok", reason: null, started: "2026-11-30T12:00:00Z", cost_ns: {total: 5},
				 metrics: {time: {value: ($value + $run), unit: "ns", better: "lower"}}, samples: [$value], sample_unit: "ns",
				 counters: {}, probes: {}, checks: {}}'
		done >"$1/0000000$boot-0000-4000-8000-000000000000.jsonl"
		jq -n --argjson boot "$boot" '{schema: 1, boot: "0000000\($boot)-0000-4000-8000-000000000000",
			invocations: {i1: {match: {engine: "native", cpus: 2, memory: 4, machine: "m", measure_hash: "h"},
			info: {release: "6", thp: {enabled: "always"}}}}}' >"$1/0000000$boot-0000-4000-8000-000000000000.env.json"
	done
}

# Of what was printed: nothing that a terminal, a shell, a browser or a reader of KTAP takes for its own.
clean() { # FORMAT FILE
	if grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' "$2"; then
		echo "a control character in $1"
	fi
	case $1 in
	markdown) ! grep -qE '(^|[^\\])(<script|!\[)' "$2" || echo 'markup in markdown' ;;
	ktap) ! grep -qE '^(not )?ok (98|99)|forged.*# SKIP|# SKIP forged' "$2" || echo 'a forged line of KTAP' ;;
	json) [[ ! -s $2 ]] || jq -e . "$2" >/dev/null 2>&1 || echo 'no JSON' ;;
	esac
	[[ $1 != markdown ]] || awk -F'|' '
		/^\|/ { gsub(/\\\|/, ""); n = split($0, cells, "|"); if (columns && n != columns) bad = 1; columns = n; next }
		{ columns = 0 } END { if (bad) print "rows of different length in markdown" }' "$2"
	[[ ! -e PWNED && ! -e ../PWNED ]] || echo 'a command was run'
}

# All that the comparator does with the two sides; what is wrong with what it printed.
everything() {
	local format code
	for format in markdown text json ktap lkp; do
		code=0
		"$compare" --force --format "$format" --claims "$@" base patched >out 2>err || code=$?
		clean "$format" out
		clean error err
		((code == 0 || code == 1 || code == 2 || code == 3)) || echo "exit $code"
		((code != 2)) || [[ $(wc -l <err) == 1 ]] || echo "$(wc -l <err) lines of error"
	done
	for format in markdown text; do
		code=0
		"$compare" --format "$format" --single base --claims "$@" >out 2>err || code=$?
		clean "$format" out
		clean error err
		((code < 4)) || echo "exit $code with --single"
	done
}

put() { # FILE PLACE WORD
	jq -c --arg word "$3" "$2 = (if ($2 | type) == \"object\" then ($2 + {absent: \$word}) else \$word end)" "$1" >new 2>/dev/null
	mv new "$1"
}

tried=0
try() { # KIND FILE-PATTERN PLACE
	local word why file bad=''
	for word in "${words[@]}"; do
		rm -rf base patched claim.json
		cp -r clean/. .
		for file in $2; do put "$file" "$3" "$word"; done
		tried=$((tried + 1))
		why=$(everything claim.json | sort -u | paste -s -d ';')
		[[ -z $why ]] || bad+="$(printf %q "$word"): $why "
	done
	result "$1 $3" "$([[ -z $bad ]] && echo 0 || echo 1)" "$bad"
}

mkdir clean
cd clean
make_side base 1000000
make_side patched 800000
cp "$cases/shmem-truncate.shmem-batch-remove.json" claim.json
cd ..
cp -r clean/. .
why=$(everything claim.json)
result 'with nothing hostile in it' "$([[ -z $why ]] && echo 0 || echo 1)" "$why"
for place in "${record_places[@]}"; do try record 'base/*.jsonl' "$place"; done
for place in "${environment_places[@]}"; do try environment 'base/*.env.json' "$place"; done
for place in "${claim_places[@]}"; do try claim claim.json "$place"; done
printf '# %d places and words\n' "$tried"
summary data
