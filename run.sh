#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs cases on this box: variants interleaved, one record a run, the table at the end.
set -euo pipefail
export LC_ALL=C
unset CDPATH

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$(realpath -m "${BEFORE_AFTER_BUILD:-$here/build}")
readonly here build
readonly run_dir=${BEFORE_AFTER_RUN_DIR:-/run/before-after}
cases='' variant='' scale=quick size='' runs='' label='' results=results node='' events=unset
engine_info='' swap_device='' mode=run code_path=false

usage() {
	cat <<-'END'
	usage: run.sh [options]
	  --case NAME[,..]     default: all
	  --variant FILTER     op=punch,folio=4k: a comma is and, a space is or; all: every combination
	                       default: the variants that claims name and those a case declares
	  --scale S            smoke, quick (default) or documented
	  --size BYTES         instead of the scale's
	  --runs N             runs of each variant (default: 5; smoke 2)
	  --label KERNEL       names the records (default: the running kernel's release)
	  --results DIR        default: results
	  --node N             NUMA node to run on, where there are several
	  --events LIST        perf events; "" for none
	  --engine-info FILE   what a guest cannot know of its machine
	  --swap-device DEV    a block device that may be overwritten, for swap
	  --probe              only count calls of the claims' kernel functions: which code ran
	  --locks              only count how often locks are taken and waited for (CONFIG_LOCK_STAT)
	  --code-path          count them for the claims' rows after the timed runs also with --events ""
	  --list               cases, variants, and what is seen to be missing for them without a run
	  --dry-run            what would be run and what it would change on this box
	  --cleanup            undo what a killed run left
	Exit: 0 no run failed or broke and one is ok, 1 a run failed, 2 usage, 4 all skipped,
	99 broken environment.
	END
}

die() {
	local code=$1
	shift
	printf 'run.sh: %s\n' "$*" >&2
	exit "$code"
}

while (($#)); do
	case $1 in
	--help)
		usage
		exit 0
		;;
	--list | --dry-run | --cleanup | --probe | --locks) mode=${1#--} ;;
	--code-path) code_path=true ;;
	--case | --variant | --scale | --size | --runs | --label | --results | --node | --events | \
		--engine-info | --swap-device)
		(($# > 1)) || die 2 "$1: wanted a value, found nothing"
		name=${1#--}
		name=${name//-/_}
		[[ $name != case ]] || name=cases
		printf -v "$name" %s "$2"
		shift
		;;
	*) die 2 "wanted an option (--help lists them), found '$1'" ;;
	esac
	shift
done

[[ $scale =~ ^(smoke|quick|documented)$ ]] ||
	die 2 "--scale: wanted smoke, quick or documented, found '$scale'"
[[ -n $runs ]] || { [[ $scale == smoke ]] && runs=2 || runs=5; }
[[ $runs =~ ^[1-9][0-9]{0,4}$ ]] || die 2 "--runs: wanted a number from 1 to 99999, found '$runs'"
[[ -z $node || -d /sys/devices/system/node/node$node ]] ||
	die 2 "--node: wanted a NUMA node of this box, found '$node'"
label=${label:-$(uname -r)}
[[ $label =~ ^[A-Za-z0-9_+][A-Za-z0-9._+-]*$ ]] ||
	die 2 "--label: wanted letters, digits and ._+-, found '$label'"
[[ -z $engine_info || -r $engine_info ]] ||
	die 2 "--engine-info: wanted a readable file, found '$engine_info'"
command -v jq >/dev/null || die 99 'wanted jq in PATH, found none: sh ci/setup.sh'

# --- what to run --------------------------------------------------------------------------------

names=()
for binary in "$build"/cases/*; do
	[[ -x $binary ]] && names+=("${binary##*/}")
done
((${#names[@]})) || die 99 "wanted cases in $build/cases, found none: make"
wanted=("${names[@]}")
[[ -z $cases ]] || IFS=, read -ra wanted <<<"$cases"
for name in "${wanted[@]}"; do
	[[ " ${names[*]} " == *" $name "* ]] || die 2 "--case: wanted one of ${names[*]}, found '$name'"
done

if [[ $mode == cleanup ]]; then
	exec "$build/cases/${names[0]}" --cleanup
fi

# The functions whose calls tell before from after, by the claims of one case.
functions_of() {
	local claims=("$here/cases/$1".*.json)
	[[ ! -e ${claims[0]} ]] ||
		jq -rs '[.[].mechanism // [] | .[] | .function[], (.per | select(endswith("()")) | rtrimstr("()"))] | unique | join(",")' "${claims[@]}"
}

# Of each claim row that a mechanism is about, a line: its variant, and the one to probe for it.
probed_for() {
	local claims=("$here/cases/$1".*.json)
	[[ ! -e ${claims[0]} ]] ||
		"$build/cases/$1" --describe | jq -r --slurpfile claims <(cat "${claims[@]}") '
			(.options | map_values(.default)) as $default
			| (.options | to_entries | map(.key)) as $keys
			| def text: . as $v | [$keys[] | "\(.)=\($v[.])"] | join(",");
			  [$claims[] | (.mechanism // []) as $mechanism | any(.rows[]; .kind == "change") as $changes
				| .rows[] | select(.kind == "change" or ($changes | not)) | ($default + .where) as $row
				| $mechanism[] | "\($row | text) \($row + (.where // {}) | text)"]
			| unique[]'
}

# The variants of one case, a line each: every filter term's matches among the default ones, or, of
# a term that matches none of them, the one variant that it names.
variants_of() {
	local claims=("$here/cases/$1".*.json)
	[[ -e ${claims[0]} ]] || claims=(/dev/null)
	"$build/cases/$1" --describe | jq -r --arg filter "$variant" --slurpfile claims <(cat "${claims[@]}") '
		. as $case
		| ($case.options | map_values(.default)) as $default
		| ($case.options | to_entries | map(.key)) as $keys
		| def product: reduce ($case.options | to_entries[]) as $o ([{}];
			[.[] as $v | $o.value.values[] as $x | $v + {($o.key): $x}]);
		  def parse: split(",") | map(split("=") | {(.[0]): (.[1:] | join("="))}) | add // {};
		  def matches($term): . as $v | all($term | to_entries[]; $v[.key] == .value);
		  def sensible: . as $v | all($case.senseless[]; parse as $s | $v | matches($s) | not);
		  ([$claims[] | .rows[] | $default + .where] + $case.variants
			| reduce .[] as $v ([]; if index([$v]) then . else . + [$v] end)) as $usual
		| [ if $filter == "" then $usual[] else
			($filter | split(" ")[] | select(. != "")) as $text
			| if $text == "all" then product[] | select(sensible) else
				($text | parse) as $term
				| if any($term | keys[]; IN($keys[]) | not) then empty
				  else [$usual[] | select(matches($term))]
					| if length > 0 then .[] else $default + $term end
				  end
			  end
		  end ]
		| reduce .[] as $v ([]; if index([$v]) then . else . + [$v] end)
		| .[] as $v | [$keys[] | "\(.)=\($v[.])"] | join(",")'
}

jobs=()
for name in "${wanted[@]}"; do
	mapfile -t found < <(variants_of "$name")
	for v in "${found[@]}"; do
		# The case itself says what is wrong with a value or a size.
		"$build/cases/$name" --describe --scale "$scale" ${size:+--size "$size"} --variant "$v" \
			>/dev/null || exit 2
		jobs+=("$name $v")
	done
done
((${#jobs[@]})) || die 2 "--variant: wanted options of ${wanted[*]}, found '$variant'"

# --- where to run -------------------------------------------------------------------------------

shopt -s nullglob
nodes=(/sys/devices/system/node/node[0-9]*)
shopt -u nullglob
pin=()
if ((${#nodes[@]} > 1)) || [[ -n $node ]]; then
	node=${node:-0}
	command -v numactl >/dev/null || die 99 'wanted numactl on a box of several nodes, found none'
	pin=(numactl "--cpunodebind=$node" "--membind=$node")
	export BEFORE_AFTER_NODE=$node
fi
export BEFORE_AFTER_SWAP_DEVICE=$swap_device BEFORE_AFTER_LABEL=$label
export BEFORE_AFTER_ENGINE_INFO=${engine_info:+$(realpath "$engine_info")}

# In a subshell, which becomes the case: so that its parent is this process, whose death ends it.
run_case() {
	local name=$1
	shift
	exec "${pin[@]}" "$build/cases/$name" --scale "$scale" ${size:+--size "$size"} "$@"
}

if [[ $mode == list || $mode == dry-run ]]; then
	last=
	for job in "${jobs[@]}"; do
		read -r name v <<<"$job"
		if [[ $name != "$last" ]]; then
			"$build/cases/$name" --describe | jq -r '"\(.case): \(.summary)"'
			[[ $mode == list ]] || "$build/cases/$name" --describe | jq -r '.touches[] | "  " + .'
			last=$name
		fi
		said=$(run_case "$name" --check --variant "$v") ||
			v+="  (skipped: $(sed -n 's/^# [a-z]*: not met: //p' <<<"$said" | head -1))"
		printf '  %s\n' "$v"
	done
	if [[ $mode == dry-run ]]; then
		printf '%d variants, %d runs each, scale %s; records in %s/%s/; state in %s/\n' \
			"${#jobs[@]}" "$runs" "$scale" "$results" "$label" "$run_dir"
		printf 'Every case mounts in a mount namespace of its own. '
		printf 'Nothing was run and nothing changed.\n'
	fi
	exit 0
fi

read -r boot </proc/sys/kernel/random/boot_id
records=$results/$label/$boot.jsonl
# Not by mkdir: it would follow a link that another user put there.
"$build/cases/${names[0]}" --prepare --output "$records" || exit 99

# One run of the suite on a box at a time; the cases inherit the lock.
if ((EUID == 0)); then
	[[ -d $run_dir ]] || mkdir -m 0700 "$run_dir" || exit 99
	# As the cases do, before anything in it is opened: a link named lock would be written through.
	[[ ! -L $run_dir && -O $run_dir && -z $(find "$run_dir" -prune -perm /022) ]] ||
		die 99 "$run_dir: wanted a directory of ours that nobody else can write"
	exec 19<>"$run_dir/lock"
	# As a case does: who says that he is ending, or is dead, is waited for up to 10 s.
	for ((look = 0; ; look++)); do
		! flock -n 19 || break
		holder=
		read -r holder <"$run_dir/lock" || true
		if ((look == 100)) || ! [[ $holder == *', ending' ||
			($holder =~ ^pid\ ([0-9]+), && ! -e /proc/${BASH_REMATCH[1]}/exe) ]]; then
			die 99 "$run_dir/lock: another before-after holds this box: ${holder:-unknown}"
		fi
		sleep 0.1
	done
	printf 'pid %d, run.sh\n' $$ >"$run_dir/lock"
	export BEFORE_AFTER_LOCK_FD=19
fi

# --- running ------------------------------------------------------------------------------------

# Whole seconds; the clock of the day may jump.
uptime() {
	local now
	read -r now _ </proc/uptime
	echo "${now%.*}"
}

BEFORE_AFTER_INVOCATION=$(date -u +%Y%m%dT%H%M%SZ)-$$
export BEFORE_AFTER_INVOCATION BEFORE_AFTER_SEQ=0 BEFORE_AFTER_STARTER=$$
[[ $mode != probe && $mode != locks ]] || runs=0
total=$((${#jobs[@]} * runs)) done_=0 seq=0 began=$(uptime)
# A guest's console is a terminal that nobody looks at.
[[ -t 2 && ${TERM:-dumb} != dumb ]] && terminal=true || terminal=false
declare -A count=([ok]=0 [fail]=0 [skip]=0 [broken]=0)

progress() {
	local left='' line
	((done_ == 0)) || left=", about $((($(uptime) - began) * (total - done_) / done_)) s left"
	line=$(printf '[%d/%d] %s%s' "$((done_ + 1))" "$total" "$1" "$left")
	if $terminal; then
		printf '\r\e[K%.*s' "$((${COLUMNS:-100} - 1))" "$line" >&2
	else
		printf '%s\n' "$line" >&2
	fi
}

interrupted() {
	! $terminal || printf '\r\e[K' >&2
	die 99 "interrupted after $done_ of $total runs; their records are in $records"
}
trap interrupted INT TERM HUP

# One run of a variant: counts its end in `count`. Standard output goes to $said.
said=
one_run() { # NAME VARIANT RUN ARGUMENT..
	local name=$1 v=$2 run=$3 code=0 status
	shift 3
	seq=$((seq + 1))
	BEFORE_AFTER_SEQ=$seq
	said=$(run_case "$name" --variant "$v" --run "$run" --output "$records" "$@") || code=$?
	case $code in
	0) status=ok ;;
	1) status=fail ;;
	4) status=skip ;;
	*) status=broken ;;
	esac
	count[$status]=$((count[$status] + 1))
	done_=$((done_ + 1))
	return "$code"
}

extra=()
[[ $events == unset ]] || extra=(--events "$events")
for ((run = 1; run <= runs; run++)); do
	for job in "${jobs[@]}"; do
		read -r name v <<<"$job"
		progress "$name $v run $run of $runs"
		one_run "$name" "$v" "$run" "${extra[@]}" || true
	done
done

# Which code ran: untimed runs, of every variant unless no perf is wanted, and of what the claims' rows
# among the variants are told by.
probes=()
declare -A chosen=() probing=()
for job in "${jobs[@]}"; do chosen[$job]=1; done
to_probe() { # JOB, once
	[[ -n ${probing[$1]:-} ]] || probes+=("$1")
	probing[$1]=1
}
if [[ -n $events || $mode == probe || $mode == locks ]]; then
	for job in "${jobs[@]}"; do to_probe "$job"; done
fi
if ((${#probes[@]})) || $code_path; then
	for name in "${wanted[@]}"; do
		while read -r v probed; do
			[[ -z ${chosen[$name $v]:-} ]] || to_probe "$name $probed"
		done < <(probed_for "$name")
	done
fi
# A kernel that cannot be probed says so once; that is no run of the total.
cannot=$'\n' total=$((done_ + ${#probes[@]}))
for job in "${probes[@]}"; do
	read -r name v <<<"$job"
	if [[ $mode == locks ]]; then
		counting=(--locks) what=locks
	else
		what='code path' counting=(--probe "$(functions_of "$name")")
		[[ -n ${counting[1]} ]] || continue
	fi
	progress "$name $v counts"
	code=0
	one_run "$name" "$v" 1 "${counting[@]}" || code=$?
	((code == 4)) || continue
	count[skip]=$((count[skip] - 1)) done_=$((done_ - 1)) total=$((total - 1))
	why=${said##*# SKIP "${counting[0]#--}": }
	if [[ $why != "$said" && $cannot != *$'\n'"$why"$'\n'* ]]; then
		cannot+=$why$'\n'
		! $terminal || printf '\r\e[K' >&2
		printf '%s: not told here: %s\n' "$what" "$why" >&2
	fi
done
! $terminal || printf '\r\e[K' >&2
printf '%d runs in %d s: %d ok, %d failed, %d skipped, %d broken; %s\n' "$done_" \
	"$(($(uptime) - began))" "${count[ok]}" "${count[fail]}" "${count[skip]}" "${count[broken]}" \
	"$records" >&2

# --- the table ----------------------------------------------------------------------------------

# What runs left that were killed while they wrote it, known by the number of a process that is no more.
remove_half_tables() {
	local file pid
	for file in report.md.before-after-*.??????; do
		pid=${file#report.md.before-after-}
		pid=${pid%.??????}
		if [[ -f $file && ! -L $file && -O $file && $pid =~ ^[0-9]+$ && ! -e /proc/$pid ]]; then
			rm -f -- "$file" || return
		fi
	done
}

if ((count[ok] > 0)) && [[ -x $build/compare ]]; then
	# Where our records are, whatever the path leads to by now, and under a name that nobody knew.
	if cd "$results/$label" && [[ -f $boot.jsonl && ! -L $boot.jsonl ]] &&
		table=$("$build/compare" --single . --claims "$here"/cases/*.json) && remove_half_tables &&
		new=$(mktemp "report.md.before-after-$$.XXXXXX") && printf '%s\n' "$table" >"$new" &&
		chmod 644 "$new" && printf '%s\n' "$table" && mv -T "$new" report.md; then
		:
	else
		[[ -z ${new:-} ]] || rm -f "$new"
		die 99 "$results/$label/report.md: wanted the table, found that it cannot be written"
	fi
fi
((count[broken] == 0)) || exit 99
((count[fail] == 0)) || exit 1
((count[ok] > 0)) || exit 4
