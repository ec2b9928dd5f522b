# SPDX-License-Identifier: GPL-2.0-only
# How likely each commit is the one: from what it changes (ci/bisect/changed.sh, on stdin) and what ran.
#
#   jq -s -f weights.jq --slurpfile symbols FILE --slurpfile calls FILE
#
# $symbols: the functions in the image; $calls: function to the calls counted in the measured operation,
# no member where it was not counted. The weights are our judgement and decide only what is measured
# first; no verdict rests on them.
($symbols[0] | map({(.): true}) | add // {}) as $built
| ($calls[0]) as $calls
| def elsewhere: test("^(Documentation|LICENSES|samples|tools|usr|\\.|MAINTAINERS|CREDITS|README)")
	or (test("^arch/") and (test("^arch/(x86|um)/|^arch/Kconfig") | not)) or test("\\.(rst|txt)$");
  # What one file of a commit says: its weight, and why.
  def file:
	if .path | elsewhere then {weight: 0.1, why: "nothing that is built"}
	elif .functions == null then {weight: 4, why: "\(.path), which may change anything"}
	elif .all != [] and (any(.all[]; $built[.]) | not) then {weight: 0.1, why: "nothing that is built"}
	elif .functions == [] then {weight: 4, why: "\(.path) outside of functions"}
	else
		([.functions[] | select(($calls[.] // 0) > 0)]) as $called
		| [.functions[] | select($calls[.] == null)] as $unknown
		| if $called != [] then {weight: 8, why: "\($called | join(", ")), which the operation calls"}
		elif $unknown != [] then {weight: 4, why: "\($unknown | join(", ")), whose calls cannot be counted"}
		else {weight: 1, why: "\(.functions | join(", ")), which the operation does not call"} end
	end;
map({commit} + ((.brings) as $brings | [.files[] | file] + [{weight: 0.1, why: "nothing that is built"}]
	| max_by(.weight) | .weight *= $brings))
