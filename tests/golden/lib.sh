# shellcheck shell=bash disable=SC2016,SC2034
# SPDX-License-Identifier: GPL-2.0-only
# Writes small results directories for the golden tests. Sourced with the current directory being
# the test's own empty directory. Environment of the functions:
#   CASE ENGINE SCALE PARAMS METRIC UNIT BETTER IDENTITY START COST   (defaults below)

CASE=shmem-truncate
ENGINE=native
SCALE=documented
PARAMS='{"size":8589934592,"pages":2097152}'
IDENTITY='{"backing":"tmpfs"}'
METRIC='time'
UNIT=ns
BETTER=lower
MATCH='{}'
INFO='{}'
COST=60000000000
START=1790000000

# boot_id N: a readable UUID
boot_id() {
	printf '%08d-0000-4000-8000-000000000000' "$1"
}

# env KERNEL BOOT: the environment of a boot, MATCH and INFO merged in
env_file() {
	local kernel=$1 boot
	boot=$(boot_id "$2")
	mkdir -p "$kernel"
	jq -n --arg boot "$boot" --arg engine "$ENGINE" --argjson match "$MATCH" \
		--argjson info "$INFO" --arg kernel "$kernel" '
		{schema:1, boot:$boot, invocations:{"i1":{
			match:({engine:$engine, cpus:32, memory:68719476736, machine:"m1",
				measure_hash:"h1"} + $match),
			info:({release:"6.12.117", version:("#1 " + $kernel), config_hash:"c1"} + $info)}}}' \
		>"$kernel/$boot.env.json"
}

# runs KERNEL BOOT OPTIONS VALUE..: one ok record a value; OPTIONS as op=ftruncate,folio=4k
runs() {
	local kernel=$1 number=$2 options=$3 boot file seen
	shift 3
	boot=$(boot_id "$number")
	file=$kernel/$boot.jsonl
	mkdir -p "$kernel"
	[ -e "$kernel/$boot.env.json" ] || env_file "$kernel" "$number"
	touch "$file"
	seen=$(wc -l <"$file")
	printf '%s\n' "$@" | jq -c --arg kernel "$kernel" --arg boot "$boot" --arg case "$CASE" \
		--arg options "$options" --arg scale "$SCALE" --argjson params "$PARAMS" \
		--argjson identity "$IDENTITY" --arg metric "$METRIC" --arg unit "$UNIT" \
		--arg better "$BETTER" --argjson start "$START" --argjson number "$number" \
		--argjson cost "$COST" --argjson seen "$seen" '
		{schema:1, kernel:$kernel, boot:$boot, invocation:"i1", case:$case, variant:$options,
		 options:($options | split(",") | map(split("=") | {(.[0]):.[1]}) | add),
		 scale:$scale, params:$params, identity:$identity,
		 run:input_line_number, seq:(input_line_number + $seen), status:"ok", reason:null,
		 started:(($start + 3600 * $number + 60 * (input_line_number + $seen)) | todate),
		 cost_ns:{prepare:1, measure:., total:$cost},
		 metrics:{($metric):{value:., unit:$unit, better:$better}},
		 samples:[], sample_unit:$unit, counters:{}, counters_empty:{}, probes:{}, checks:{}}' \
		>>"$file"
}

# ended KERNEL BOOT OPTIONS STATUS REASON: one record that is not ok
ended() {
	runs "$1" "$2" "$3" 0
	edit "$1" "$2" --arg status "$4" --arg reason "$5" \
		'if [.metrics[].value] == [0] then .status = $status | .reason = $reason | .metrics = {} else . end'
}

# probed KERNEL BOOT OPTIONS FUNCTIONS: one probe run; FUNCTIONS as f=4096,g=0, or f=- for one that
# could not be counted
probed() {
	runs "$1" "$2" "$3" 0
	edit "$1" "$2" --arg functions "$4" '
		if [.metrics[].value] == [0] then
			.metrics[] |= (del(.value) | .absent = "a probe run is not timed")
			| .probes.functions = ($functions | split(",") | map(split("=")
				| {(.[0]): (if .[1] == "-" then {absent: "not a function of this kernel"}
				   else {value: (.[1] | tonumber), by: "kprobe", scope: "task"} end)}) | add)
		else . end'
}

# locked KERNEL BOOT OPTIONS LOCK=ACQUISITIONS/CONTENTIONS/HELD_NS/WAITED_NS|-..: one lock run
locked() {
	runs "$1" "$2" "$3" 0
	edit "$1" "$2" --arg locks "${*:4}" '
		if [.metrics[].value] == [0] then
			.metrics[] |= (del(.value) | .absent = "a probe run is not timed")
			| .params.pages = 4096 | .probes.functions = {}
			| .probes.locks = ($locks | split(" ") | map(split("=")
				| {(.[0]): (if .[1] == "-" then {absent: "this kernel shows no such lock"}
				   else (.[1] | split("/") | map(tonumber) as [$a, $c, $h, $w]
					| {acquisitions: $a, contentions: $c, held_ns: $h, waited_ns: $w, shown_as: "x"}) end)}) | add)
		else . end'
}

# edit KERNEL BOOT JQ..: rewrites every record of a boot
edit() {
	local file
	file=$1/$(boot_id "$2").jsonl
	shift 2
	jq -c "$@" "$file" >"$file.new"
	mv "$file.new" "$file"
}

# ms VALUE..: milliseconds as nanoseconds
ms() {
	printf '%s\n' "$@" | awk '{ printf "%.0f\n", $1 * 1000000 }'
}

# metric KERNEL BOOT NAME UNIT BETTER JQ: adds a metric computed from each record to a boot
metric() {
	edit "$1" "$2" --arg name "$3" --arg unit "$4" --arg better "$5" \
		"if .status == \"ok\" then .metrics += {(\$name): (({unit:\$unit, better:\$better}) + ($6))} else . end"
}

OPS=fill=fallocate,state=resident
S4K=folio=4k,$OPS
SPMD=folio=pmd,$OPS

# claim FILE JQ: a small claim about shmem-truncate, edited
claim() {
	jq -n '{schema:1, claim:"batch", case:"shmem-truncate", origin:"documented",
		source:{title:"mm/shmem: remove folios in batches", author:"A. Author", date:null,
			id:null, base:null, merged:null},
		method:{runs:5, boots:2, within:"median", across:"mean", machine:"32 vCPU VM",
			params:{size:8589934592}},
		rows:[
			{id:"ftruncate", kind:"change", where:{op:"ftruncate", folio:"4k"},
			 metric:"time", unit:"ms", before:{value:1163}, after:{value:913}},
			{id:"pmd", kind:"unchanged", margin:0.05, where:{op:"ftruncate", folio:"pmd"},
			 metric:"time", unit:"ms", before:{range:[20,25]}, after:{range:[20,25]}}]} |
		'"${2:-.}" >"$1"
}

# MECHANISM: what the small claim says of the code, for claim FILE "$MECHANISM"
MECHANISM='.mechanism = [
	{function:["old_name", "filemap_remove_folio"], per:"page", before:1, after:0, tolerance:0.01},
	{function:["delete_from_page_cache_batch"], per:"page", before:0, after:0.0323, tolerance:0.003}]'
SINGLY=old_name=-,filemap_remove_folio=2097152,delete_from_page_cache_batch=0
BATCHED=old_name=-,filemap_remove_folio=0,delete_from_page_cache_batch=67651

# boots KERNEL FIRST OPTIONS VALUE..: one boot a value (in ms), one run each
boots() {
	local kernel=$1 number=$2 options=$3 value
	shift 3
	for value; do
		runs "$kernel" "$number" "$options" "$(ms "$value")"
		number=$((number + 1))
	done
}
