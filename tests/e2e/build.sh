#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What ci/build-kernel.sh promises: a cached image at once, one clear line for what does not apply or
# does not survive, and a tree that a refused patch left as it was.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

BUILD=$REPO/ci/build-kernel.sh

said() {
	expect "$1" "${@:2}" 2>"$SCRATCH/err" >"$SCRATCH/out"
	sed -i '/: reading \|: building \|: built /d' "$SCRATCH/err" # what it does is no error
	cat "$SCRATCH/err"
	[ ! -s "$SCRATCH/out" ]
}

one_line() {
	[ "$(wc -l <"$SCRATCH/err")" -eq 1 ]
	grep -q "$1" "$SCRATCH/err"
}

cached() {
	local image start
	image=$("$BUILD") # minutes, the first time
	start=$SECONDS
	[ -s "$image" ]
	jq -e '.schema == 1 and .patches == [] and .key' "${image%/*}/image.json"
	[ "$("$BUILD")" = "$image" ]
	[ $((SECONDS - start)) -le 20 ]
}

# A tree that takes no minutes: its image is the text of mm/shmem.c. In a cache of its own.
fake_tree() {
	FAKE=$SCRATCH/fake
	export XDG_CACHE_HOME=$SCRATCH/cache
	[ ! -d "$FAKE" ] || return 0
	mkdir -p "$FAKE/mm"
	cat >"$FAKE/Makefile" <<-'END'
		VERSION = 9
		PATCHLEVEL = 1
		.RECIPEPREFIX = >
		tinyconfig:
		>@mkdir -p obj && : >obj/.config
		olddefconfig:
		>@sed -i /NO_SUCH/d obj/.config
		bzImage:
		>@mkdir -p obj/arch/x86/boot obj/include/config
		>@! grep error: mm/shmem.c
		>@cat mm/shmem.c >obj/arch/x86/boot/bzImage
		>@echo fake >obj/include/config/kernel.release
		>@touch obj/System.map
	END
	printf 'one\na\nb\nc\nd\ne\ntwo\n' >"$FAKE/mm/shmem.c"
	printf 'obj\n' >"$FAKE/.gitignore"
	touch "$FAKE/Kbuild"
	git -C "$FAKE" init -q
	git -C "$FAKE" -c user.name=a -c user.email=a@b add -A
	git -C "$FAKE" -c user.name=a -c user.email=a@b commit -qm first
	sed 's/two/2/' "$FAKE/mm/shmem.c" | diff -u --label a/mm/shmem.c --label b/mm/shmem.c \
		"$FAKE/mm/shmem.c" - >"$SCRATCH/two.patch" || true
	sed 's/one/1/' "$FAKE/mm/shmem.c" | diff -u --label a/mm/shmem.c --label b/mm/shmem.c \
		"$FAKE/mm/shmem.c" - >"$SCRATCH/one.patch" || true
	printf -- '--- a/mm/shmem.c\n+++ b/mm/shmem.c\n@@ -10,3 +10,3 @@\n this is\n-not\n+it\n at all\n' \
		>"$SCRATCH/other.patch"
}

image_is() {
	local want=$1 image
	shift
	image=$("$BUILD" --source "$@")
	[ "$(tr '\n' ' ' <"$image")" = "$want " ] || {
		echo "expected $want, found $(tr '\n' ' ' <"$image")"
		return 1
	}
}

trees() {
	find "$SCRATCH/cache/before-after/trees" -mindepth 1 -maxdepth 1 -type d | wc -l
}

# Patches come and go in one object tree; the source and the user's repository stay as they are.
tree() {
	local before
	fake_tree
	before=$(git -C "$FAKE" rev-parse HEAD; git -C "$FAKE" count-objects; git -C "$FAKE" status --porcelain)
	image_is 'one a b c d e two' "$FAKE"
	image_is 'one a b c d e 2' "$FAKE" --patch "$SCRATCH/two.patch"
	image_is '1 a b c d e two' "$FAKE" --patch "$SCRATCH/one.patch"
	image_is '1 a b c d e 2' "$FAKE" --patch "$SCRATCH/two.patch" --patch "$SCRATCH/one.patch"
	rm -rf "$SCRATCH"/cache/before-after/images/*
	image_is 'one a b c d e two' "$FAKE"
	[ "$before" = "$(git -C "$FAKE" rev-parse HEAD; git -C "$FAKE" count-objects; git -C "$FAKE" status --porcelain)" ]
	echo dirty >>"$FAKE/mm/shmem.c"
	image_is 'one a b c d e two dirty' "$FAKE"
	image_is 'one a b c d e two' "$FAKE@HEAD"
	git -C "$FAKE" checkout -q -- mm/shmem.c
	[ "$(trees)" -eq 1 ]
}

# commit_in BARE BRANCH FILE CONTENT: a commit on HEAD of a bare repository.
commit_in() {
	local -x GIT_INDEX_FILE=$SCRATCH/bare-index
	git -C "$1" read-tree HEAD
	git -C "$1" update-index --add --cacheinfo "100644,$(git -C "$1" hash-object -w --stdin <<<"$4"),$3"
	git -C "$1" update-ref "refs/heads/$2" "$(git -C "$1" -c user.name=a -c user.email=a@b \
		commit-tree -p HEAD -m "$2" "$(git -C "$1" write-tree)")"
}

# A bare repository has no tree of its own. What it shares with others is one tree for each version.
bare() {
	local before
	fake_tree
	git clone -q --bare "$FAKE" "$SCRATCH/bare"
	commit_in "$SCRATCH/bare" three mm/shmem.c three
	commit_in "$SCRATCH/bare" newer Makefile "$(sed 's/PATCHLEVEL = 1/PATCHLEVEL = 2/' "$FAKE/Makefile")"
	rm -rf "$SCRATCH"/cache/before-after/images/*
	before=$(trees)
	image_is 'one a b c d e two' "$SCRATCH/bare@HEAD"
	image_is 'three' "$SCRATCH/bare@three"
	image_is 'one a b c d e 2' "$FAKE@HEAD" --patch "$SCRATCH/two.patch"
	image_is 'one a b c d e two' "$SCRATCH/bare@newer"
	[ "$(trees)" -eq $((before + 1)) ]
	rm -rf "$SCRATCH"/cache/before-after/images/*
	image_is 'three' "$SCRATCH/bare@three"
	said 2 "$BUILD" --source "$SCRATCH/bare"
	one_line 'is not a kernel source tree'
	git init -q --bare "$SCRATCH/other"
	said 2 "$BUILD" --source "$SCRATCH/other@HEAD"
	one_line 'no commit, tag or branch HEAD'
	git -C "$SCRATCH/bare" update-ref refs/heads/empty \
		"$(git -C "$SCRATCH/bare" -c user.name=a -c user.email=a@b commit-tree -m none \
			"$(git -C "$SCRATCH/bare" mktree </dev/null)")"
	said 2 "$BUILD" --source "$SCRATCH/bare@empty"
	one_line 'it is not a kernel source tree'
}

# A patch of a kernel that this one is not: which, and where, is the error; nothing stays patched.
does_not_apply() {
	fake_tree
	said 3 "$BUILD" --source "$FAKE" --patch "$SCRATCH/two.patch" --patch "$SCRATCH/other.patch"
	one_line 'patch 2 of 2, other.patch, does not apply to .*mm/shmem.c:10 (@@ -10,3 +10,3 @@)'
	[ -z "$(find "$SCRATCH/cache" -name '*.patched')" ]
	image_is 'one a b c d e two' "$FAKE"
}

# A mail inside an mbox is named by its subject; a cover letter is no patch.
mbox() {
	local n file
	fake_tree
	printf 'From a Thu Jan  1 00:00:00 1970\nFrom: A <a@b>\nSubject: [PATCH 0/2] cover\n\nwords\n\n' >"$SCRATCH/series.mbox"
	n=0
	for file in two other; do
		n=$((n + 1))
		printf 'From a Thu Jan  1 00:00:00 1970\nFrom: A <a@b>\nSubject: [PATCH %d/2] mm: %s\n\n---\n' $n $file
		cat "$SCRATCH/$file.patch"
		echo
	done >>"$SCRATCH/series.mbox"
	said 3 "$BUILD" --source "$FAKE" --patch "$SCRATCH/series.mbox"
	one_line 'patch 2 of 2, mm: other (series.mbox), does not apply'
}

does_not_build() {
	fake_tree
	printf -- '--- a/mm/shmem.c\n+++ b/mm/shmem.c\n@@ -1,4 +1,4 @@\n-one\n+error: one\n a\n b\n c\n' >"$SCRATCH/bad.patch"
	said 1 "$BUILD" --source "$FAKE" --patch "$SCRATCH/bad.patch"
	grep -q 'bad.patch does not build: error: one' "$SCRATCH/err"
	image_is 'one a b c d e 2' "$FAKE" --patch "$SCRATCH/two.patch"
}

lost_symbol() {
	fake_tree
	echo 'CONFIG_NO_SUCH_SYMBOL=y' >"$SCRATCH/extra"
	said 1 "$BUILD" --source "$FAKE" --config-extra "$SCRATCH/extra"
	one_line 'CONFIG_NO_SUCH_SYMBOL=y (found: absent)'
}

usage() {
	said 2 "$BUILD" --source nowhere
	one_line 'expected linux-source-VERSION, a tarball, a source tree or TREE@REF'
	said 2 "$BUILD" --source linux-source-0.1
	one_line 'apt-get install linux-source-0.1'
	fake_tree
	said 2 "$BUILD" --source "$FAKE@no-such-ref"
	one_line 'no commit, tag or branch no-such-ref'
	said 2 "$BUILD" --patch /nonexistent.patch
	one_line 'no such patch'
	said 2 "$BUILD" --jobs many
	one_line 'expected a number'
}

check 'a cached image is printed at once' cached
check 'a tree, a ref, and patches that come and go' tree
check 'a patch that does not apply' does_not_apply
check 'a mail that does not apply' mbox
check 'a patch that does not build' does_not_build
check 'a symbol that does not survive' lost_symbol
check 'a bare repository' bare
check 'usage errors' usage
finish
