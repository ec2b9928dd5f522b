# SPDX-License-Identifier: GPL-2.0-only
# The report of ci/bisect.sh from its bisect.json.
def fixed(digits): if . == null then "-" else
	(pow(10; digits)) as $p | (. * $p | round / $p | tostring) end;
def percent: if . == null then "-" else (if . > 0 then "+" else "" end) + fixed(2) + " %" end;
def value($unit): if . == null then "-" else (if . < 100 then fixed(3) elif . < 10000 then fixed(1) else fixed(0) end) + " " + $unit end;
def number($what): "\(.) \($what)\(if . == 1 then "" else "s" end)";
def cell: tostring | gsub("\\|"; "\\|") | gsub("\n"; " ");
def name($commits): . as $c | "\($c[0:12]) (\"\($commits[$c].subject // "?")\")";
. as $b | .decision as $d | $b.names as $names
| def sides($s): "\($s.difference.from | value($d.unit)) → \($s.difference.to | value($d.unit)), \($s.difference.percent | percent), \($s.difference.times_noise | fixed(0)) times the noise";
  def of($c): $c | name($names);
  def verdict:
	if $d.verdict == "found" then "**\(of($d.searches[0].to)) changes it: \(sides($d.searches[0])).**"
	elif $d.verdict == "no difference" then
		"**The ends do not differ by enough: \(sides($d.searches[0])); wanted \($d.noise.threshold_percent | fixed(2)) % and \($d.noise.times_wanted) times the noise.**"
	elif $d.verdict == "end failed" then "**An end cannot be measured: \([$d.steps[] | select(.side == "skipped") | of(.commit) + ": " + .reason] | join("; ")).**"
	elif $d.verdict == "several" then "**More than one commit changes it; what is between two of them is near neither end.**"
	else "**Not decided.**" end;
  def search:
	if .state == "found" then "- \(of(.to)): \(sides(.))"
	elif .state == "skipped" then "- one of these, since the others cannot be measured: \([.left[] | of(.)] | join(", ")): \(sides(.))"
	else "- nothing between \(of(.from)) and \(of(.to)) was searched: they differ by too little: \(sides(.))" end;
"# \($b.case) \($b.variant), \($b.metric), by \($b.engine)",
"",
verdict,
"",
(if ($d.searches // []) != [] and $d.verdict != "found" and $d.verdict != "no difference" then ($d.searches[] | search), "" else empty end),
(if $d.verdict == "found" then
	($names[$d.searches[0].to] | "- Author: \(.author)", "- Date: \(.date)",
	(if (.parents | length) > 1 then "- It is a merge of \(.parents | length) parents. What it brings in was not searched: ci/bisect.sh \($b.forks[$d.searches[0].to][0:12]) \(.parents[1][0:12])" else empty end)),
	"- Why it was suspected: \($b.why[$d.searches[0].to] // "it was not")",
	"" else empty end),
"Good: \(of($b.good)). Bad: \(of($b.bad)). \($b.commits) commits\(if $b.branches > 0 then "; \($b.branches) more came in by merges of branches that do not contain the good one, each counted with its merge" else "" end).",
"",
"\($b.counts.boots | number("boot")), \($b.counts.builds | number("build"))\(if $b.counts.known > 0 then ", \($b.counts.known) kernels that were measured before" else "" end)\(if $b.counts.same > 0 then ", \($b.counts.same) of the same code as one that was measured" else "" end).\(if $d.plain_measurements then " Halving by number would have measured \($d.plain_measurements) kernels, the ends among them; this measured \([$d.steps[] | select(.side != "skipped")] | length)." else "" end)",
(if $d.noise then "", "Noise of one kernel's value: \($d.noise.percent | fixed(3)) %, from \($d.noise.of)." else empty end),
"",
"## Steps",
"",
"| step | commit | subject | value | position | reads as |",
"|---:|---|---|---:|---:|---|",
([$d.steps, [range(0; $d.steps | length)]] | transpose[] | .[1] as $i | .[0]
	| "| \($i + 1) | \(.commit[0:12]) | \($names[.commit].subject // "" | cell) | \(.value | value($d.unit // "")) | \(.position | fixed(2)) | \(.side // "-")\(if .reason then ": " + (.reason | cell) elif $b.same[.commit] then ", same code as \($b.same[.commit][0:12])" else "" end) |"),
(if ($b.calls // []) != [] then "", "## Calls of what it changes", "",
	"In one run of the operation that is counted and not timed:", "",
	"| function | before | after |", "|---|---:|---:|",
	($b.calls[] | "| \(.function) | \(.before) | \(.after) |") else empty end)
