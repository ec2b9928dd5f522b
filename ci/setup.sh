#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs what before-after builds and runs with, where it is missing: Debian and Ubuntu. On Fedora
# and openSUSE it prints the packages. As root; nothing else of the box is touched.
# shellcheck disable=SC2086,SC1091 # the package lists are lists of words
set -eu

# Build and run; tests and lint; kernels and guests (make ab).
build='ca-certificates gcc git make pkg-config libjansson-dev zlib1g-dev libgsl-dev libfuse3-dev libyaml-dev'
run='jq stress-ng fio numactl util-linux fuse3 e2fsprogs xfsprogs'
tests='libcmocka-dev shellcheck cppcheck clang-format clang libclang-rt-dev strace procps python3
	yamllint mandoc rsync locales'
kernels='qemu-system-x86 linux-source flex bison bc libelf-dev libssl-dev xz-utils patch cpio gnuplot-nox'

fedora='gcc git make pkgconf jansson-devel zlib-devel gsl-devel fuse3-devel libyaml-devel jq stress-ng fio numactl
	util-linux fuse3 e2fsprogs xfsprogs perf libcmocka-devel ShellCheck cppcheck clang-tools-extra
	clang compiler-rt strace procps-ng python3 yamllint mandoc rsync qemu-system-x86 kernel-devel flex bison bc
	elfutils-libelf-devel openssl-devel xz patch cpio gnuplot'
suse='gcc git make pkgconf libjansson-devel zlib-devel gsl-devel fuse3-devel libyaml-devel jq stress-ng fio numactl
	util-linux fuse3 e2fsprogs xfsprogs perf libcmocka-devel ShellCheck cppcheck clang-tools
	clang strace procps python3 yamllint mandoc rsync qemu-x86 kernel-source flex bison bc libelf-devel
	libopenssl-devel xz patch cpio gnuplot'

if ! command -v apt-get >/dev/null 2>&1; then
	id=$(. /etc/os-release 2>/dev/null && echo "${ID_LIKE:-} ${ID:-}")
	case $id in
	*fedora* | *rhel*) echo "dnf install" $fedora ;;
	*suse*) echo "zypper install" $suse ;;
	*) echo "setup.sh: wanted Debian, Ubuntu, Fedora or openSUSE, found '$id'; needed (Debian names):" \
		$build $run perf $tests $kernels >&2 ;;
	esac
	exit 1
fi

# The names that differ between releases: the newest that this one has.
newest() { # PATTERN FALLBACK
	found=$(apt-cache pkgnames "$2" 2>/dev/null | grep -E "^$1\$" | sort -V | tail -n 1)
	echo "${found:-$2}"
}
# The kernel that treatments are for and ci/build-kernel.sh takes by default, else the newest.
source_package() {
	apt-cache pkgnames linux-source-6.12 2>/dev/null | grep -x linux-source-6.12 ||
		newest 'linux-source-[0-9.]*' linux-source
}
installed() {
	dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
}

missing() {
	perf=linux-perf
	grep -qi '^ID=ubuntu' /etc/os-release && perf=linux-tools-generic
	for package in $build $run $perf $tests $kernels; do
		case $package in
		libclang-rt-dev) package=$(newest "libclang-rt-$clang-dev" libclang-rt) ;;
		linux-source) package=$(source_package) ;;
		esac
		installed "$package" || echo "$package"
	done
}

# libFuzzer's runtime must be that of the compiler that the package clang stands for.
clang=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
wanted=$(missing)
if [ -z "$wanted" ]; then
	echo "setup.sh: nothing is missing"
	exit 0
fi
if [ "$(id -u)" != 0 ]; then
	echo "setup.sh: wanted root to install, found uid $(id -u); missing:" $wanted >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
clang=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
wanted=$(missing)
# One that this release does not have only costs what needs it: the rest is installed all the same.
apt-get install -q -y --no-install-recommends $wanted || {
	for package in $wanted; do
		apt-get install -q -y --no-install-recommends "$package" ||
			echo "setup.sh: $package cannot be installed here" >&2
	done
}
for package in $build; do
	installed "$package" || {
		echo "setup.sh: wanted $package, without which nothing is built" >&2
		exit 1
	}
done
