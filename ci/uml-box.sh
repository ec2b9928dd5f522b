#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The box a User-Mode Linux guest runs in. Its hostfs gives the guest's root whatever the process may
# do to the host's files, however the guest mounts it; so the process itself may do nothing: it sees
# the host's file systems read-only and without devices, can write one directory, has no capability
# left to change that, and no process or network but its own.
#
#   uml-box.sh ROOT SHARE BYTES FD|- LINUX ARGUMENT..
#
# Run as the first process of new pid, mount, network and IPC namespaces (ci/boot.sh does); everything
# ends with it. ROOT is an empty directory to build in, SHARE the writable one, which is /dev/results
# in the box; BYTES is the guest's memory, a tmpfs of the box's own; FD an open file that the guest
# gets besides 0 to 3. Exit: as LINUX; 126 when the box cannot be built.
set -euo pipefail
ROOT=$1 SHARE=$2 BYTES=$3 KEEP=$4
shift 4
export LC_ALL=C

die() {
	printf 'uml-box.sh: cannot %s\n' "$*" >&2
	exit 126
}

# Whoever can see these processes by number 1 is outside: nothing here may touch the host's mounts.
[ $$ -eq 1 ] || die 'build a box outside a pid namespace of its own'

read_only() {
	local path
	# The mounts below the box, deepest last; octal escapes are the kernel's (a space is \040).
	while read -r path; do
		path=$(printf '%b' "$path")
		mount -o remount,bind,ro,nodev,nosuid "$path" || die "make $path read-only"
	done < <(awk -v root="$ROOT" '$5 == root || index($5, root "/") == 1 {print $5}' /proc/self/mountinfo |
		sort -u)
}

mount --rbind / "$ROOT" || die 'bind the root'
# Of the kernel's own file systems it gets a proc of its own, read-only, and no other.
for dir in proc sys dev; do
	umount -R -l "$ROOT/$dir" 2>/dev/null || true
done
read_only
mount -t proc -o ro,nosuid,nodev,noexec proc "$ROOT/proc" || die 'mount /proc'
mount -t tmpfs -o size=64k,mode=0755,nodev,nosuid box "$ROOT/dev" || die 'mount /dev'
mkdir "$ROOT/dev/memory" "$ROOT/dev/results" "$ROOT/dev/shm" "$ROOT/dev/pts"
mknod -m 0600 "$ROOT/dev/console" c 5 1 # the guest's, which is opened through hostfs
touch "$ROOT/dev/null"
mount --bind /dev/null "$ROOT/dev/null" || die 'bind /dev/null'
mount -t tmpfs -o "size=$((BYTES + (16 << 20))),mode=0700,nodev,nosuid" memory "$ROOT/dev/memory" ||
	die 'mount the memory'
mount --bind "$SHARE" "$ROOT/dev/results" || die "bind $SHARE"
mount -o remount,bind,rw,nodev,nosuid,noexec "$ROOT/dev/results" || die "make $SHARE writable"
mount -o remount,ro,nodev,nosuid "$ROOT/dev" || die 'make /dev read-only'
cd "$ROOT"
pivot_root . . || die 'change the root'
umount -l . || die 'leave the old root'
cd /

for fd in /proc/self/fd/*; do
	fd=${fd##*/}
	if [ "$fd" -gt 3 ] && [ "$fd" != 255 ] && [ "$fd" != "$KEEP" ]; then exec {fd}>&-; fi
done
ulimit -c 0 # a panic ends in abort(), and the core would hold all of the memory
export TMPDIR=/dev/memory HOME=/dev/memory

# A session of its own: a panic sends SIGTERM to its whole process group. No random addresses: a gap
# among them is taken from the guest's memory, so that no two boots would have the same.
setsid setarch -R setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs \
	"$@" uml_dir=/dev/memory/uml/ <&0 &
linux=$!
# Its memory is a file that was unlinked at once. When that is open and the file with its pid is made,
# before it runs anything of the guest, nobody needs the directory.
until [ -n "$(compgen -G '/dev/memory/uml/*/pid')" ]; do
	grep -qs '^State:.[^ZX]' "/proc/$linux/status" || break
	sleep 0.02
done
umount -l /dev/memory || die 'take the memory out of sight'
status=0
wait "$linux" || status=$?
exit "$status"
