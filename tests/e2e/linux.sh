# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A git tree made from linux-source-6.12, for the end-to-end tests that need commits of a real kernel. It
# stays in the cache, bare, since packing it takes a minute and kernels built from it share one object
# tree. Commits are named by what they are, so that images of an earlier run are found again.
# Sourced after tests/e2e/lib.sh.

LINUX=${XDG_CACHE_HOME:-$HOME/.cache}/before-after/e2e/linux

# linux_commit PARENT MESSAGE [PATCH [OPTION OF GIT APPLY..]]: prints the commit. No ref and no index but
# ours is touched.
linux_commit() {
	local -x GIT_INDEX_FILE=$SCRATCH/index
	[ -z "$1" ] || git -C "$LINUX" read-tree "$1"
	[ $# -le 2 ] || git -C "$LINUX" apply --cached "${@:4}" "$3"
	linux_commit_index "$1" "$2"
}

# linux_commit_index PARENT MESSAGE: the same of what is in our index.
linux_commit_index() {
	local -x GIT_INDEX_FILE=$SCRATCH/index GIT_AUTHOR_DATE='2026-01-01T00:00:00Z'
	local -x GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE GIT_AUTHOR_NAME=Nobody GIT_AUTHOR_EMAIL=nobody@example.org
	local -x GIT_COMMITTER_NAME=Nobody GIT_COMMITTER_EMAIL=nobody@example.org
	git -C "$LINUX" commit-tree ${1:+-p "$1"} -m "$2" "$(git -C "$LINUX" write-tree)"
}

# linux_repository: makes it, once; v6.12, its tag, comes last and is left in BASE.
linux_repository() {
	local tree
	BASE=$(git -C "$LINUX" rev-parse -q --verify v6.12 2>/dev/null) && return
	mkdir -p "${LINUX%/*}"
	exec {LINUX_LOCK}>"$LINUX.lock"
	flock "$LINUX_LOCK"
	git init -q --bare "$LINUX"
	git -C "$LINUX" config pack.window 0
	git -C "$LINUX" config core.compression 1
	if ! BASE=$(git -C "$LINUX" rev-parse -q --verify v6.12); then
		# Unpacks the source.
		"$REPO/ci/build-kernel.sh" --patch "$REPO/ci/treatments/6.12-shmem-batch-remove.patch" --touched >/dev/null
		for tree in "${LINUX%/e2e/linux}"/sources/linux-source-6.12-*; do break; done
		GIT_INDEX_FILE=$SCRATCH/index git -C "$LINUX" --work-tree="$tree" add -Af .
		BASE=$(linux_commit '' 'Linux 6.12')
		git -C "$LINUX" update-ref refs/heads/base "$BASE"
		git -C "$LINUX" repack -qad
		git -C "$LINUX" tag v6.12 "$BASE"
	fi
	exec {LINUX_LOCK}>&-
}
