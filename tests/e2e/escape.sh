#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs as root inside a guest and tries to write the host's root; ends 0 when every way was closed.
# What it would leave is named NAME, so that the host can look for it.
set -u
name=$1
unset CDPATH
cd "$(dirname "$0")" || exit 1
open=0

try() {
	if "$@" 2>/dev/null; then
		echo "open: $*"
		open=1
	fi
}

writes() {
	try touch "/$name"
	try touch "$name"
	try touch "/usr/local/$name"
	try mkdir "/etc/$name"
	try bash -c "echo x >>../../Makefile"
	try chmod 0777 ../../Makefile
	try chown 1:1 ../../Makefile
	try ln ../../Makefile "$name"
	try mknod "/usr/local/$name" b 8 0
	try truncate -s 0 /etc/hostname
	try setfattr -n user.x -v y ../../Makefile
}

writes
mount -o remount,rw / 2>/dev/null # whatever it says, the writes tell
writes
mkdir -p /tmp/second
if mount -t 9p -o trans=virtio,version=9p2000.L,rw root /tmp/second; then
	try touch "/tmp/second/$name"
	try mkdir "/tmp/second/etc/$name"
fi
# User-Mode Linux: hostfs shows whatever its process may see, by any path.
for path in / /etc /tmp /dev /dev/shm /dev/memory /proc /dev/results/../..; do
	mkdir -p /tmp/hostfs
	mount -t hostfs -o "$path" none /tmp/hostfs || continue
	mount -o remount,rw /tmp/hostfs 2>/dev/null
	try touch "/tmp/hostfs/$name"
	try mkdir "/tmp/hostfs/$name"
	try mknod "/tmp/hostfs/$name" b 254 0
	try bash -c 'echo x >>/tmp/hostfs/hostname'
	try bash -c 'echo x >>/tmp/hostfs/etc/hostname'
	try bash -c 'echo 7 >/tmp/hostfs/sys/vm/stat_interval'
	try bash -c 'echo 7 >/tmp/hostfs/proc/sys/vm/stat_interval'
	try touch "/tmp/hostfs/usr/local/$name"
	try bash -c 'exec 3<>/tmp/hostfs/dev/shm'
	umount /tmp/hostfs
done
if grep -q ' /run/results hostfs ' /proc/mounts; then
	# No capability is left to the process, so it makes no device and gives nothing away.
	try mknod /run/results/disk b 254 0
	touch /run/results/file || open=1
	try chown 1:1 /run/results/file
fi
# Out of the results share: neither a link nor a climb leads anywhere but here.
ln -s / /run/results/link
try touch "/run/results/link/$name"
try touch "/run/results/../../../usr/local/$name"
touch /run/results/inside || open=1
exit "$open"
