# SPDX-License-Identifier: GPL-2.0-only
# The functions of a C file that given lines stand in, one name a line, each once.
#
#   awk -v lines='7 20,3' -f enclosing.awk FILE       START[,COUNT] as in a diff; all: every function
#
# Kernel style is taken for granted: a definition's head begins at column 0, its body is between a {
# at column 0 and a } at column 0. A line of the head counts as inside; a comment before it does not.
# (The name in a diff's own hunk header is that of the function before the hunk, often another one.)

function wanted(from, to,	i) {
	if (lines == "all")
		return 1
	for (i = 1; i <= ranges; i++)
		if (first[i] <= to && last[i] >= from)
			return 1
	return 0
}

# The name that a head defines: what stands before its first parenthesis that is no attribute.
function name_of(text,	name) {
	sub(/__attribute__ *\(\([^)]*\)\)/, "", text)
	while (match(text, /[A-Za-z_][A-Za-z_0-9]* *\(/)) {
		name = substr(text, RSTART, RLENGTH)
		sub(/ *\($/, "", name)
		text = substr(text, RSTART + RLENGTH)
		if (name ~ /^(COMPAT_)?SYSCALL_DEFINE[0-9]$/) {
			match(text, /[A-Za-z_][A-Za-z_0-9]*/)
			return substr(text, RSTART, RLENGTH)
		}
		if (name !~ /^(__printf|__scanf|__acquires|__releases|__must_hold|__section|__aligned)$/)
			return name
		sub(/^[^)]*\)/, "", text)
	}
	return ""
}

BEGIN {
	ranges = split(lines, range, " ")
	for (i = 1; i <= ranges; i++) {
		n = split(range[i], part, ",")
		first[i] = part[1]
		last[i] = part[1] + (n > 1 ? part[2] : 1) - 1
	}
}

body {
	if (/^}/) {
		if (name != "" && wanted(start, FNR) && !seen[name]++)
			print name
		body = 0
		head = ""
	}
	next
}

macro { macro = /\\$/; next }
/^#/ { macro = /\\$/; head = ""; next }

/^\{/ && head != "" {
	body = 1
	name = name_of(head)
	next
}

/^[A-Za-z_]/ && head == "" { start = FNR }

/^[A-Za-z_]/ || (head != "" && /^[ \t]+[^ \t]/) {
	head = head " " $0
	if (/[;=]$/ || /\{.*\}/)
		head = ""
	else if (/\{$/) {
		# A type or an initialiser, not a function.
		body = 1
		name = ""
	}
	next
}

{ head = "" }
