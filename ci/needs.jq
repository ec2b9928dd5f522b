# SPDX-License-Identifier: GPL-2.0-only
# What a case needs, from its --describe, as a kernel configuration and as MiB of memory. An unknown
# device, controller or command is an error: it belongs into these tables first.

def known($table; $what): . as $key | $table[$key] // error("needs.jq: wanted a \($what) of its tables, found \($key)");

# What stands in no list of needs, because the case finds out at run time which of several it can use.
def chosen_at_run_time: {
	"dirty-reclaim": ["LRU_GEN"],
	"pagecache-truncate": ["BLK_DEV_LOOP", "BLK_DEV_RAM", "EXT4_FS"],
	"shmem-truncate": ["TRANSPARENT_HUGEPAGE"],
}[.case] // [];

def kconfig: [
	"PERF_EVENTS", "SHMEM", "TMPFS", chosen_at_run_time[],
	# ARCH_ symbols are an architecture's own: nobody can set them.
	(.needs.kconfig[] | ltrimstr("CONFIG_") | select(startswith("ARCH_") | not)),
	(.needs.devices[] | known({"/dev/fuse": ["FUSE_FS"]}; "device")[]),
	(.needs.controllers[] | known({"memory": ["CGROUPS", "MEMCG"]}; "controller")[]),
	(.needs.commands[] | known({"mkswap": ["SWAP", "ZRAM"], "blkid": [], "stress-ng": [], "fio": []};
		"command")[]),
	(if any(.options[].values[]; contains("swapped")) then "SWAP", "ZRAM" else empty end)
] | unique;

# As the case computes it: the parameter's value * permille / 1000 + plus, in MiB rounded up.
def memory_mib($scale): .needs.memory as $m
	| if $m == null then null else
		(($m.plus + (if $m.param then .params[$m.param][$scale] / 1000 * $m.permille else 0 end))
			/ 1048576 | ceil)
	end;
