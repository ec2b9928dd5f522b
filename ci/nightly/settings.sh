# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# What a night is asked for, of the command line and of one configuration file. Sourced by ci/nightly.sh
# after ci/lib.sh with the arguments. Ends the script with 2 for what is not understood.

usage() {
	cat <<'END'
usage: ci/nightly.sh [--config FILE] [options]          (make nightly CONFIG=FILE)
Every option but --config and --fresh may stand in FILE too, as NAME=value (GIT=.., REF=..); what is given
here goes before it.
  --git URL|DIR      the kernel's repository; fetched into a mirror of our own
  --ref REF          tonight's kernel (default mm-unstable)
  --anchor REF       what stays the same from night to night (default: that of the last night; in the
                     first, the newest release before REF)
  --good REF         instead of the last good night's kernel: accepts what has changed since
  --series FILE      a proposed series or patch, held against tonight's kernel; any number
  --treatments DIR   patches that undo or give a documented gain (default ci/treatments); those for
                     tonight's version are used
  --run 'OPTIONS'    of run.sh: one start of it in every boot; any number (default: all that the engine can show)
  --date YYYY-MM-DD  names the night (default: one that was stopped, else today, UTC)
  --results DIR      default results/nightly
  --keep N           nights whose records and consoles stay (default 30)
  --keep-nights N    nights that stay at all (default: all; history is made of them)
  --engine NAME      default icount: a claim is then kept or lost whatever else the machine does
  --boots N --jobs N --cpus N --memory SIZE --swap SIZE --timeout SECONDS --boot-timeout SECONDS
                     as ci/boots.sh
  --runs N --scale SCALE    as run.sh (default 3; smoke under icount, else quick)
  --fresh            begin this night again
Stopped anywhere, kill -9 included, the same command goes on. Exit: 0 fine, 1 worse, 2 it could not run,
3 inconclusive.
END
}

declare -A WANT=() # by option name
SERIES=() RUN=() CONFIG='' FRESH=false ARGS=("$@")

# want WHERE NAME VALUE: one setting; the first that is given counts.
want() {
	local where=$1 name=$2 value=$3 expected=''
	case $name in
	git) [[ $value == [!-]* ]] || expected='a URL or a directory' ;;
	ref | anchor | good)
		if [[ $value != [!-]* ]] || ! git check-ref-format --allow-onelevel "$value"; then
			expected='a branch, a tag or a commit'
		fi
		;;
	date) [ "$(date -ud "$value" +%F 2>/dev/null)" = "$value" ] || expected='a date such as 2026-11-30' ;;
	boots | runs | jobs | cpus | timeout | boot-timeout | keep | keep-nights)
		[[ $value =~ ^[1-9][0-9]{0,5}$ ]] || expected='a number of at least 1'
		;;
	scale) [[ $value =~ ^(smoke|quick|documented)$ ]] || expected='smoke, quick or documented' ;;
	engine) [[ $value =~ ^(kvm|tcg|icount|uml)$ ]] || expected='kvm, tcg, icount or uml' ;;
	memory | swap) [[ $value =~ ^[1-9][0-9]*[KMGkmg]?$ ]] || expected='a size such as 2G' ;;
	series) if [ -f "$value" ] && [ -r "$value" ]; then SERIES+=("$value"); else expected='a file'; fi ;;
	treatments) [ -d "$value" ] || expected='a directory' ;;
	results) [[ $value == [!-]* ]] || expected='a directory' ;;
	run) if [[ $value == --* ]]; then RUN+=("$value"); else expected='options of run.sh'; fi ;;
	*) die "$where: expected a setting that --help lists, found '$name'" 2 ;;
	esac
	[ -z "$expected" ] || die "$where: expected $expected, found '$value'" 2
	WANT[$name]=${WANT[$name]:-$value}
}

# NAME=value lines, taken as they stand: nothing of them is ever a shell's.
read_config() {
	local line number=0 name
	if [ ! -f "$CONFIG" ] || [ ! -r "$CONFIG" ]; then die "--config: expected a file, found '$CONFIG'" 2; fi
	while IFS= read -r line || [ -n "$line" ]; do
		number=$((number + 1))
		[[ ! $line =~ ^[[:space:]]*(#.*)?$ ]] || continue
		[[ $line =~ ^([A-Z][A-Z_]*)=(.*[^[:space:]])[[:space:]]*$ ]] ||
			die "$CONFIG:$number: expected NAME=value, found '$line'" 2
		name=${BASH_REMATCH[1]//_/-}
		want "$CONFIG:$number" "${name,,}" "${BASH_REMATCH[2]}"
	done <"$CONFIG"
}

while [ $# -gt 0 ]; do
	case $1 in
	--fresh) FRESH=true && shift && continue ;;
	--help | -h) usage && exit 0 ;;
	--*) [ $# -ge 2 ] || die "$1 needs a value" 2 ;;
	*) die "unknown argument $1 (--help lists them)" 2 ;;
	esac
	if [ "$1" = --config ]; then CONFIG=$2; else want "$1" "${1#--}" "$2"; fi
	shift 2
done
need git jq flock
[ -z "$CONFIG" ] || read_config
[ -n "${WANT[git]:-}" ] || die "--git: expected a repository of the kernel, found none" 2
for f in build/compare build/history build/ci/init; do
	[ -x "$REPO/$f" ] || die "$f is not built: make" 2
done
URL=${WANT[git]} REF=${WANT[ref]:-mm-unstable} ENGINE=${WANT[engine]:-icount}
[ ! -d "$URL" ] || URL=$(realpath "$URL")
TREATMENTS=$(realpath "${WANT[treatments]:-$CI/treatments}")
SCALE=${WANT[scale]:-$([ "$ENGINE" = icount ] && echo smoke || echo quick)}
# Under icount what one CPU shows: large folios first, and more of them, since after small ones their few
# instructions depend on what the page allocator's lists hold. Elsewhere everything; a gigabyte of files
# needs three of memory.
if [ ${#RUN[@]} -eq 0 ] && [ "$ENGINE" = icount ]; then
	RUN=('--case shmem-truncate --variant folio=pmd --size 64M' '--case shmem-truncate --variant folio=4k'
		'--case shadow-entries,pagecache-truncate')
elif [ ${#RUN[@]} -eq 0 ]; then
	RUN=("--case $(cd "$REPO/build/cases" && printf '%s,' * | sed 's/,$//')")
fi
[ "$SCALE" = smoke ] || WANT[memory]=${WANT[memory]:-3G}
BOOT_ARGS=(--boots "${WANT[boots]:-2}" --engine "$ENGINE")
for name in jobs cpus memory swap timeout boot-timeout; do
	[ -z "${WANT[$name]:-}" ] || BOOT_ARGS+=("--$name" "${WANT[$name]}")
done
COMMON=(--runs "${WANT[runs]:-3}" --scale "$SCALE")
# No PMU under icount: perf would only cost its start in every run.
[ "$ENGINE" != icount ] || COMMON+=(--events '')
