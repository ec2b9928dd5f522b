#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes the hand-made part of the corpus. What fuzzing adds is merged by `make fuzz` and kept. Those of
# night are cut from the nights of tests/golden/history-index.test.

set -euo pipefail
here=$(dirname "$(realpath "$0")")
record() {
	jq -nc --arg boot "b$1" --argjson seq "$2" "$3"' as $m |
		{schema:1, kernel:("k" + $boot), boot:$boot, invocation:"i", case:"a",
		 options:{op:"x"}, scale:"quick", params:{size:4, pages:2}, identity:{}, run:$seq,
		 seq:$seq, status:"ok", reason:null, started:"2026-11-30T12:00:00Z",
		 cost_ns:{total:5}, metrics:$m}'
}
pair() {
	record 0 1 "$1"
	record 0 2 "$1"
	printf '\0'
	record 1 1 "$2"
	record 1 2 "$2"
}
time='{time:{value:4e6, unit:"ns", better:"lower"}}'
corpus=$here/corpus
pair "$time" '{time:{value:2e6, unit:"ns", better:"lower"}}' >"$corpus/records/time"
pair "$time" '{time:{absent:"none", unit:"ns", better:"lower"}}' >"$corpus/records/absent"
pair '{ops:{value:0, unit:"ops/s", better:"higher"}}' '{ops:{value:1, unit:"ops/s", better:"higher"}}' \
	>"$corpus/records/zero"
record 0 1 "$time" | jq -c '.samples = [3, 1, 2] | .sample_unit = "ns"' >"$corpus/records/samples"
record 0 1 "$time" | jq -c '.status = "skip" | .reason = "no | THP\n" | .metrics = {}' \
	>"$corpus/records/skip"
record 0 1 "$time" | jq -c '.probes = {functions: {f: {value: 2, by: "kprobe", scope: "task"}, h: {absent: "none"}},
	backends: {kprobe: "used"}, per: {truncate: 3}}' >"$corpus/records/probe"
record 0 1 "$time" | head -c 50 >"$corpus/records/torn"
for file in "$here"/../../cases/*.*.json; do
	cp "$file" "$corpus/claim/$(basename "$file")"
done
jq -n '{schema:1, claim:"c", case:"shmem-truncate", origin:"documented", source:{title:"t", merged:null},
	method:{runs:5, boots:2, within:"mean", across:"median", params:{size:8589934592}},
	rows:[
	 {id:"a", kind:"describe", where:{}, metric:"time", unit:null, before:{value:1, spread:.1}, after:{value:2}},
	 {id:"b", kind:"describe", where:{}, metric:"p1", before:{runs:[[1,2]]}, after:{runs:[[3,4]]}},
	 {id:"c", kind:"unchanged", margin:.05, where:{op:"punch"}, metric:"time", unit:"ms", before:{range:[1,2]}, after:{range:[1,2]}},
	 {id:"d", kind:"change", where:{}, before:{ratio_of:["time","p1"]}, after:{ratio_of:["time","p1"]}}],
	expected:{icount:{d:.5}},
	mechanism:[{function:["filemap_remove_folio"], per:"page", before:1, after:0, tolerance:.01}]}' \
	>"$corpus/claim/forms"
jq -n '{schema:1, boot:"b", invocations:{i1:{match:{engine:"native", cpus:2},
	info:{release:"6", thp:{enabled:"always"}, mglru:{absent:"none"}, numa:[1]}}}}' \
	>"$corpus/environment/one"

# What the tools and the kernel print, as it was printed here, and cut short.
fixtures=$here/../unit/fixtures
mkdir -p "$corpus"/{perf,stressng,fio,interrupts,vmstat}
for file in "$fixtures"/*; do
	case ${file##*/} in
	*stress*) cp "$file" "$corpus/stressng/${file##*/}" ;;
	*fio*) cp "$file" "$corpus/fio/${file##*/}" ;;
	*interrupts*) cp "$file" "$corpus/interrupts/${file##*/}" ;;
	*perf*) cp "$file" "$corpus/perf/${file##*/}" ;;
	*) cp "$file" "$corpus/vmstat/${file##*/}" ;;
	esac
done
printf '%s\n' '{"counter-value" : "1.500000", "unit" : "msec", "event" : "task-clock", "event-runtime" : 1, "pcnt-running" : 100.00}' \
	'{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles"}' \
	'{"counter-value" : 0, "event" : "instructions:u"}' >"$corpus/perf/rows"
printf '           CPU0       CPU1\n  0:  1  2  IO-APIC timer\nTLB:  4294967295  7   TLB shootdowns\n\0           CPU0       CPU1\nTLB:  3  9   TLB shootdowns\n' \
	>"$corpus/interrupts/wrapped"
printf 'pgfree 123\noom_kill 0\n' >"$corpus/vmstat/rows"
printf 'always [madvise] never\n' >"$corpus/vmstat/knob"
printf 'some avg10=0.00 avg60=0.00 avg300=0.00 total=7657\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n' >"$corpus/vmstat/pressure"
printf '%s\n' '{"jobs":[{"error":0,"write":{"total_ios":4,"iops":2.5,"clat_ns":{"percentile":{"50.000000":1,"99.000000":2,"99.900000":3}}}}]}' \
	>"$corpus/fio/least"
printf '%s\n' --- 'metrics:' '    - stressor: vm' '      bogo-ops: 5' '      bogo-ops-per-second-real-time: 2.5' \
	'      wall-clock-time: 2.0' ... >"$corpus/stressng/least"
