# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# One commit built, booted and measured, and how likely the commits are. Sourced by ci/bisect.sh, whose
# arguments and state these functions use.
# shellcheck disable=SC2016,SC2153,SC2154

# log_entry COMMIT KEY VALUE [IMAGE [SAME]]: with what it cost.
log_entry() {
	change '.log += [{commit: $commit, ($key): $value, image: $image, same: $same, built: $built, boots: $boots}
		| with_entries(select(.value != ""))]' --arg commit "$1" --arg key "$2" --arg value "$3" \
		--arg image "${4:-}" --arg same "${5:-}" --argjson built "$BUILT" --argjson boots "$BOOTED"
}

# await WHAT: how CHILD ended, in STATUS; what it is and what is left stands on a terminal meanwhile.
await() {
	local start=$SECONDS
	while [ -t 2 ] && kill -0 "$CHILD" 2>/dev/null; do
		progress "step $STEP: $1, $(clock $((SECONDS - start)))$LEFT"
		nap 0.2
	done
	STATUS=0
	wait "$CHILD" || STATUS=$?
	CHILD=''
}

# build COMMIT: sets IMAGE, or WHY it cannot be.
build() {
	local args=(--source "$DIR@$1")
	if [ -n "$BASE" ]; then
		args=(--source "$BASE")
		tree diff --binary --full-index --no-renames --no-ext-diff --no-textconv "$GOOD" "$1" >"$STAGE/${1:0:12}.patch"
		[ ! -s "$STAGE/${1:0:12}.patch" ] || args+=(--patch "$STAGE/${1:0:12}.patch")
	fi
	spawn TERM "$CI/build-kernel.sh" "${args[@]}" --engine "$ENGINE" --jobs "$JOBS" >"$STAGE/image" 2>"$STAGE/said"
	await 'building'
	IMAGE=$(<"$STAGE/image") WHY='' BUILT=false
	[[ $(<"$STAGE/said") != *': built '* ]] || BUILT=true
	case $STATUS in
	0) return ;;
	1) BUILT=true ;;
	2) die "$(tail -n 1 "$STAGE/said")" 2 ;;
	3) die "--base: expected the source of GOOD, found another: $(tail -n 1 "$STAGE/said")" 2 ;;
	*) die "the build of ${1:0:12} ended with $STATUS" 125 ;;
	esac
	WHY=$(tail -n 1 "$STAGE/said" | sed 's/^build-kernel.sh: //; s/ (log: .*//')
	cp "$STAGE/said" "$RANGE/${1:0:12}.build.log"
}

# What a guest runs: the timed runs, then the calls of the functions that the commits change.
GUEST='repo=$1 case=$2 variant=$3 scale=$4 size=$5 functions=$6; shift 6
"$repo/run.sh" --engine-info /run/results/engine.json --results /run/results "$@" || code=$?
for list in $functions; do
	"$repo/build/cases/$case" --variant "$variant" --scale "$scale" ${size:+--size "$size"} \
		--probe "$list" --output /run/results/calls >/dev/null || true
done
exit "${code:-0}"'

# The functions of an image.
symbols() {
	awk '$2 ~ /^[tT]$/ {sub(/\..*/, "", $3); print $3}' "${IMAGE%/*}/System.map" | sort -u
}

# Those that the commits change, of the kernel in DIR: lists of what one run can count.
functions() {
	jq -r '.files[].functions // [] | .[]' "$RANGE/changed.jsonl" | sort -u | comm -12 - "$1/symbols" |
		head -n 240 | paste -sd "$(printf ',%.0s' {1..59}) "
}

# boot KERNEL_DIR LABEL: one clean boot with its records, or WHY not. A second try for what may be luck.
boot() {
	local dir device=/dev/vda
	[ "$ENGINE" != uml ] || device=/dev/ubda
	dir=$(mktemp -d "$1/boot.XXXX")
	spawn TERM "$CI/boot.sh" --kernel "$IMAGE" "${BOOT_ARGS[@]}" --results "$1" --boot-dir "$dir" -- \
		/bin/bash -c "$GUEST" guest "$REPO" "$CASE" "$VARIANT" "$SCALE" "$SIZE" "$(functions "$1")" \
		--label "$2" "${RUN_ARGS[@]}" --code-path ${SWAP:+--swap-device "$device"} >"$dir/output" 2>"$dir/errors"
	await 'booted and measured'
	WHY='' BOOTED=$((BOOTED + 1))
	if [ "$STATUS" -eq 2 ]; then die "$(tail -n 1 "$dir/errors" "$dir/output" | tail -n 1)" 2; fi
	if [ "$STATUS" -ge 100 ]; then
		WHY=$(sed -n 's/^boot.sh: \(boot failed: .*\) (console: .*/\1/p' "$dir/errors" | head -n 1)
		WHY=${WHY:-the boot ended with $STATUS: $(tail -n 1 "$dir/errors")}
		return
	fi
	# Which runs went well is in the records; calls come last and may be missing.
	[ ! -e "$dir/share/calls" ] || cp "$dir/share/calls" "$1/calls"
	mv "$dir" "${dir/boot./done.}"
}

# measure COMMIT: one entry in the log.
measure() {
	local commit=$1 key code image by records label=${1:0:12} dir done_=() failed=0
	say "step $STEP: $label $(tree log -1 --format=%s "$commit")$LEFT"
	BOOTED=0
	build "$commit"
	if [ -n "$WHY" ]; then
		say "skipped: $WHY"
		log_entry "$commit" skipped "$WHY"
		return
	fi
	# What was measured for another range, and what is the same but for its name, is not booted.
	IFS=$'\t' read -r key code < <(jq -r '[.key, .code // "none"] | @tsv' "${IMAGE%/*}/image.json")
	IFS=$'\t' read -r image by records < <({ cat "$OUT"/kernels/*/measured.json 2>/dev/null || true; } |
		jq -rn --arg code "$code" --arg key "$key" 'first(inputs | select(.image == $key or (.code == $code and $code != "none")))
			| [.image, .commit, .records] | @tsv') || true
	if [ -n "$image" ]; then
		[ "$by" != "$commit" ] || by=''
		log_entry "$commit" records "$records" "$image" "$by"
		return
	fi
	dir=$OUT/kernels/$key
	mkdir -p "$dir"
	# A boot that was killed does not count, nor do records that it may have left.
	rm -rf "$dir"/boot.*
	mapfile -t done_ < <(compgen -G "$dir/done.*" || true)
	[ ${#done_[@]} -gt 0 ] || rm -rf "${dir:?}/$label"
	symbols >"$dir/symbols"
	while [ ${#done_[@]} -lt "$BOOTS" ] && [ "$failed" -lt 2 ]; do
		boot "$dir" "$label"
		[ -z "$WHY" ] || failed=$((failed + 1))
		mapfile -t done_ < <(compgen -G "$dir/done.*" || true)
	done
	if [ "$failed" -eq 2 ]; then
		say "skipped: $WHY"
		log_entry "$commit" skipped "$WHY" "$key"
		return
	fi
	jq -n --arg image "$key" --arg code "$code" --arg commit "$commit" --arg records "$dir/$label" \
		'{image: $image, code: $code, commit: $commit, records: $records}' >"$dir/measured.json.new"
	mv "$dir/measured.json.new" "$dir/measured.json"
	log_entry "$commit" records "$dir/$label" "$key"
}

# The calls that were counted, by function, the most of any run: what was not counted is no member.
calls() {
	{ cat "$@" 2>/dev/null || true; } | jq -n 'reduce (inputs | .probes.functions // {} | to_entries[]
		| select(.value.value != null)) as $f ({}; .[$f.key] = ([.[$f.key] // 0, $f.value.value] | max))'
}

dir_of() {
	local image
	image=$(jq -r --arg commit "$1" 'last(.log[] | select(.commit == $commit)) | .image // empty' "$STATE")
	printf '%s\n' "$OUT/kernels/$image"
}

# The weights, once both ends are measured: by the functions that ran in either.
weigh() {
	local good bad
	good=$(dir_of "$GOOD") bad=$(dir_of "$BAD")
	jq -s -f "$CI/bisect/weights.jq" --slurpfile calls <(calls "$good/calls" "$bad/calls") \
		--slurpfile symbols <(sort -u "$good/symbols" "$bad/symbols" | jq -Rn '[inputs]') \
		"$RANGE/changed.jsonl" >"$STAGE/weights"
	change '($weights[0] | map({(.commit): .}) | add // {}) as $by
		| .commits |= map(. + ($by[.commit] // {})) | .weighed = true' --slurpfile weights "$STAGE/weights"
}
