# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Runs the variants of one case at smoke scale, as KTAP. Sourced by NAME.sh, which sets `variants`;
# "-" is that of a case without options.
#
# Arguments go to the case, after ours: KSELFTEST_SHMEM_TRUNCATE_SH_ARGS="--scale quick".
# BEFORE_AFTER_RESULTS=DIR also appends records, for build/compare, to DIR/RELEASE/BOOT_ID.jsonl.
#
# Every number is a line "# CASE VARIANT: METRIC VALUE UNIT" before the result it belongs to.
# Exit: 0 no variant failed and one passed, 1 one failed, 4 all were skipped, as kselftest has it;
# 129, 130, 143 stopped by HUP, INT or TERM, as the runner's timeout does: then the case has given back
# what it had of the box before we end, so that the next test finds the box free.

LC_ALL=C
export LC_ALL
here=$(dirname "$0")
name=$(basename "$0" .sh)

echo "KTAP version 1"
if [ ! -x "$here/$name" ]; then
	echo "1..0 # SKIP $name is not built, a library was missing"
	exit 4
fi
# shellcheck disable=SC2154 # set by NAME.sh
echo "1..$(echo "$variants" | wc -w)"

records=
if [ -n "${BEFORE_AFTER_RESULTS:-}" ]; then
	BEFORE_AFTER_LABEL=${BEFORE_AFTER_LABEL:-$(uname -r)}
	export BEFORE_AFTER_LABEL
	read -r boot </proc/sys/kernel/random/boot_id
	mkdir -p "$BEFORE_AFTER_RESULTS/$BEFORE_AFTER_LABEL"
	records=$BEFORE_AFTER_RESULTS/$BEFORE_AFTER_LABEL/$boot.jsonl
fi

# The case's own KTAP ("KTAP version 1", "1..1", diagnostics, one result) as lines of ours.
as_subtest() { # NUMBER VARIANT
	found=false
	while IFS= read -r line; do
		line=${line% }
		case $line in
		'ok 1 '*) echo "ok $1 ${line#ok 1 }" && found=true ;;
		'not ok 1 '*) echo "not ok $1 ${line#not ok 1 }" && found=true ;;
		'# '*) echo "# $name${2:+ $2}: ${line#\# }" ;;
		esac
	done
	$found || echo "not ok $1 $name${2:+ $2} # ERROR ended without a result"
}

# What the case prints: no pipe, in which nobody could wait for the case and be stopped. No name is left.
said=$(mktemp) || {
	echo "Bail out! $name: wanted a temporary file"
	exit 1
}
exec 5>>"$said"
exec 6<"$said"
rm -f "$said"

child=
stopped() { # CODE
	trap '' TERM INT HUP
	if [ -n "$child" ]; then
		kill -TERM "$child" 2>/dev/null
		wait "$child"
		as_subtest "$number" "$variant" <&6
	fi
	exit "$1"
}
trap 'stopped 129' HUP
trap 'stopped 130' INT
trap 'stopped 143' TERM
# Killed, we take the case with us.
BEFORE_AFTER_STARTER=$$
export BEFORE_AFTER_STARTER

number=0 passed=0 failed=0
for variant in $variants; do
	number=$((number + 1))
	[ "$variant" != - ] || variant=
	"$here/$name" --scale smoke --variant "$variant" ${records:+--output "$records"} "$@" \
		>&5 5>&- 6<&- &
	child=$!
	wait "$child"
	code=$?
	child=
	as_subtest "$number" "$variant" <&6
	case $code in
	0) passed=$((passed + 1)) ;;
	4) ;;
	*) failed=$((failed + 1)) ;;
	esac
done
[ "$failed" = 0 ] || exit 1
[ "$passed" != 0 ] || exit 4
