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

# of_lib FUNCTION ARGUMENT..: one of ci/lib.sh's.
of_lib() {
	# shellcheck disable=SC2016
	bash -c 'set -euo pipefail; . "$0"; "$@"' "$REPO/ci/lib.sh" "$@"
}

# mail SUBJECT FILE: a mail with FILE below its words; ENCODING of the body: base64 or base64-crlf.
mail() {
	printf 'From a Thu Jan  1 00:00:00 1970\nFrom: A <a@b>\nSubject: %s\nMessage-Id: <%s@b>\n' "$1" "$((++MAIL))"
	case ${ENCODING:-} in
	'') printf '\n' && body "$2" ;;
	*)
		printf 'MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n'
		if [ "$ENCODING" = base64 ]; then body "$2"; else body "$2" | sed 's/$/\r/'; fi | base64
		;;
	esac
	echo
}
MAIL=0

body() {
	printf 'Words.\n\n---\n'
	cat "$1"
	printf -- '-- \n2.40\n'
}

# is WANT: so the image of the mails on stdin is.
is() {
	cat >"$SCRATCH/a series.mbox"
	image_is "$1" "$FAKE" --patch "$SCRATCH/a series.mbox"
}

refused() { # TEXT: the mails on stdin
	cat >"$SCRATCH/a series.mbox"
	said 2 "$BUILD" --source "$FAKE" --patch "$SCRATCH/a series.mbox"
	one_line "$1"
}

# Three patches of which each needs the one before.
three() {
	fake_tree
	printf -- '--- a/mm/shmem.c\n+++ b/mm/shmem.c\n@@ -5,3 +5,3 @@\n d\n e\n-2\n+zwei\n' >"$SCRATCH/zwei.patch"
	printf -- '--- a/mm/shmem.c\n+++ b/mm/shmem.c\n@@ -5,3 +5,3 @@\n d\n e\n-zwei\n+deux\n' >"$SCRATCH/deux.patch"
	printf 'Results:\n\n--- before ---\n  1163 ms\n--- after ---\n  913 ms\n' >"$SCRATCH/cover"
	printf '> a patch\n\nWhat about this?\n\n' | cat - "$SCRATCH/one.patch" >"$SCRATCH/on-top"
}

# What a mail is: its header may be long, and begin without a "From " line; a patch's words are no header.
headers() {
	local n
	three
	for n in {1..60}; do
		printf 'Received: by host%d with SMTP\n        id %01000d; Thu, 1 Jan 1970\n' "$n" 0
	done >"$SCRATCH/received"
	ENCODING=base64 mail '[PATCH] mm: two' "$SCRATCH/two.patch" >"$SCRATCH/short.mbox"
	sed 1d "$SCRATCH/short.mbox" | cat "$SCRATCH/received" - | is 'one a b c d e 2'
	{ head -n 1 "$SCRATCH/short.mbox" && cat "$SCRATCH/received" && sed 1d "$SCRATCH/short.mbox"; } | is 'one a b c d e 2'
	sed 's/^Subject/subject/; s/^Message-Id/MESSAGE-ID/; s/$/\r/' "$SCRATCH/short.mbox" | is 'one a b c d e 2'
	for n in {1..100}; do of_lib is_mail "$SCRATCH/a series.mbox"; done
	expect 1 of_lib is_mail "$SCRATCH/two.patch"
	expect 1 of_lib is_mail /dev/null
	printf 'Subject to review.\nFrom here on it is a patch.\nSubject: none\n\n' | cat - "$SCRATCH/two.patch" >"$SCRATCH/words.patch"
	said 3 "$BUILD" --source "$FAKE" --patch "$SCRATCH/words.patch" --patch "$SCRATCH/other.patch"
	image_is 'one a b c d e 2' "$FAKE" --patch "$SCRATCH/words.patch"
	[ "$(jq -r '.patches[0].name' "$SCRATCH"/cache/before-after/images/*/image.json | grep -cx words.patch)" -eq 1 ]
}

encodings() {
	three
	for ENCODING in '' base64 base64-crlf; do
		{ mail '[PATCH 1/2] mm: two' "$SCRATCH/two.patch" && mail '[PATCH 2/2] mm: one' "$SCRATCH/one.patch"; } |
			is '1 a b c d e 2'
	done
	# An error of a hunk whose header is not found has no empty parentheses.
	sed 's,[ab]/mm,&/.,' "$SCRATCH/other.patch" >"$SCRATCH/dot.patch"
	expect 3 "$BUILD" --source "$FAKE" --patch "$SCRATCH/dot.patch" 2>"$SCRATCH/err"
	! grep '()' "$SCRATCH/err"
}

# Which mails of a mailbox are the series, and in which order.
threads() {
	local two=$SCRATCH/two.patch zwei=$SCRATCH/zwei.patch deux=$SCRATCH/deux.patch re
	three
	{
		mail '[PATCH v2 0/3] mm: cover' "$SCRATCH/cover"
		mail '[PATCH v2 3/3] mm: deux' "$deux"
		mail '[PATCH v2 1/3] mm: two' "$two"
		for re in Re RE Fwd AW 'Re[2]'; do mail "$re: [PATCH v2 1/3] mm: two" "$SCRATCH/on-top"; done
		mail '=?utf-8?q?=5BPATCH_v2_2/3=5D_mm=3A_zwei?=' "$zwei"
	} | is 'one a b c d e deux' 2>"$SCRATCH/told"
	grep -q 'left out 5 that answer others, first Re: \[PATCH v2 1/3\] mm: two' "$SCRATCH/told"
	{ mail 'two' "$two" && mail '[PATCH] zwei' "$zwei" && mail '[PATCH v3] deux' "$deux"; } | is 'one a b c d e deux'
	{ mail '[PATCH 0/1] cover' "$SCRATCH/cover" && mail '[PATCH] two' "$two"; } | is 'one a b c d e 2'
	{ mail 'cover' "$SCRATCH/cover" && mail '[RFC][PATCH 01/01] two' "$two"; } | is 'one a b c d e 2'
	mail '[PATCH 2/3] two' "$two" | is 'one a b c d e 2'
	mail '[PATCH 0/3] cover' "$SCRATCH/cover" | refused 'no patch in .*a series.mbox'
	mail 'Re: [PATCH] two' "$two" >"$SCRATCH/re.mbox"
	said 2 "$BUILD" --source "$FAKE" --patch "$SCRATCH/re.mbox"
	grep -q 'no patch in' "$SCRATCH/err"
	refused 'no patch in' </dev/null
	echo words | refused 'no patch in'
	{ mail '[PATCH 1/3] two' "$two" && mail '[PATCH 3/3] deux' "$deux"; } | refused 'wanted patches 1 to 3, found no 2/3'
	{ mail '[PATCH 1/2] two' "$two" && mail '[PATCH 1/2] zwei' "$zwei"; } | refused 'wanted one patch 1/2, found two'
	{ mail '[PATCH 1/1] two' "$two" && mail '[PATCH 2/1] zwei' "$zwei"; } | refused 'wanted patches 1 to 1, found more'
	{ mail '[PATCH 1/2] two' "$two" && mail '[PATCH 2/3] zwei' "$zwei"; } | refused 'found patches of 2 and of 3'
	{ mail '[PATCH 1/1] two' "$two" && mail '[PATCH] zwei' "$zwei"; } | refused 'found 1 without a number'
	{ mail '[PATCH 1/2] two' "$two" && mail '[PATCH v2 2/2] zwei' "$zwei"; } | refused 'found v1 and v2'
	{ mail '[PATCH] two' "$two" && mail '[PATCHv2] two' "$two"; } | refused 'found v1 and v2 of two'
}

# claims_are WANT: of the mails on stdin.
claims_are() {
	local found
	cat >"$SCRATCH/claims.mbox"
	rm -rf "$SCRATCH/claims"
	of_lib read_mails "$SCRATCH/claims.mbox" "$SCRATCH/claims"
	found=$(of_lib named_claims "$SCRATCH/claims")
	[ "$found" = "$1" ] || {
		echo "expected claim '$1', found '$found'"
		return 1
	}
}

# Whose series it is: what its mails say of themselves, decoded, and not what they say of others.
sources() {
	local id claim words=$SCRATCH/words
	id=$(jq -r .source.id "$REPO"/cases/*.batch-dirty-tlb-flush.json) claim=batch-dirty-tlb-flush
	for ENCODING in '' base64; do
		printf 'change-id: %s\n' "$id" >"$words"
		mail '[PATCH 0/1] mm: x' "$words" | claims_are $claim
		mail 'Re: [PATCH 0/1] mm: x' "$words" | claims_are ''
		printf 'It needs no change-id: %s\n> change-id: %s\nchange-id: %s-not\n%s\n' "$id" "$id" "$id" "$id" >"$words"
		mail '[PATCH 0/1] mm: x' "$words" | claims_are ''
		id=$(jq -r .source.id "$REPO"/cases/*.pagecache-batch-truncate.json) claim=pagecache-batch-truncate
		printf 'Message-Id: <%s>\nLink: https://lore.kernel.org/r/%s\n' "$id" "$id" >"$words"
		mail '[PATCH 0/1] mm: x' "$words" | claims_are ''
		mail '[PATCH 0/1] mm: x' "$words" | sed "s/^Message-Id: <[0-9].*/Message-ID: <$id>/;t;s/^Message-Id: .*@b>/Message-ID:\n <$id>/" |
			claims_are $claim
		id=$(jq -r .source.id "$REPO"/cases/*.batch-dirty-tlb-flush.json) claim=batch-dirty-tlb-flush
	done
	mail "[PATCH] $(jq -r .source.title "$REPO"/cases/*.batch-dirty-tlb-flush.json)" "$words" | claims_are $claim
	ENCODING=base64 mail '[PATCH] x' "$SCRATCH/words" | claims_are ''
	printf 'base-commit: 0123456789ab\n' >"$words"
	ENCODING=base64-crlf mail '[PATCH] x' "$words" | claims_are ''
	grep -qx 'base-commit: 0123456789ab' "$SCRATCH/claims/text"
}

# With CDPATH cd goes elsewhere, and says so.
cdpath() {
	local script
	cd "$REPO"
	for script in ci/*.sh; do
		grep -q '^\. .*/lib\.sh"$' "$script" || continue
		CDPATH=. bash "$script" --help | grep -q '^usage: '
	done
	said 2 env CDPATH=. ci/build-kernel.sh --source nowhere
	one_line 'expected linux-source-VERSION'
}

# escapes PATH FORMAT [ARGUMENT..]: a patch, by printf, that would reach out of the tree: refused, naming PATH,
# and nothing was touched.
escapes() {
	local path=$1
	shift
	# shellcheck disable=SC2059
	printf "$@" >"$SCRATCH/out.patch"
	said 3 "$BUILD" --source "$FAKE" --patch "$SCRATCH/out.patch" --touched
	one_line "out.patch would change .*$path: wanted a path inside the source"
	untouched
}

untouched() {
	[ "$(cat "$SCRATCH/victim" "$SCRATCH/far/victim")" = $'precious\nprecious' ]
	[ -z "$(find "$SCRATCH/cache" -name '*.patched')" ]
}

# Whatever a patch calls a file by, what is outside of the tree stays.
paths() {
	local out=../../../../victim quoted='\056./\056\056/../../victim' hunk='@@ -1 +1 @@\n-precious\n+owned\n'
	local git='diff --git a/%s b/%s\n'
	fake_tree
	mkdir -p "$SCRATCH/far"
	echo precious | tee "$SCRATCH/far/victim" >"$SCRATCH/victim"
	rm -rf "$SCRATCH"/cache/before-after/images/* # what was applied last is taken back by this build
	image_is 'one a b c d e two' "$FAKE"
	escapes "$out" "\n--- a/%s\n+++ b/%s\n$hunk" "$out" "$out"
	escapes "mm/../$out" "\n--- a/mm/../%s\n+++ b/mm/../%s\n$hunk" "$out" "$out"
	escapes "$out" "$git--- a/%s\n+++ b/%s\n$hunk" "$out" "$out" "$out" "$out"
	escapes "$out" 'diff --git "a/%s" "b/%s"\n--- "a/%s"\n+++ "b/%s"\n'"$hunk" "$quoted" "$quoted" "$quoted" "$quoted"
	escapes "$out" "${git}old mode 100644\nnew mode 100755\n" "$out" "$out"
	escapes "$out" "${git}deleted file mode 100644\n--- a/%s\n+++ /dev/null\n@@ -1 +0,0 @@\n-precious\n" \
		"$out" "$out" "$out"
	escapes "$out" "${git}similarity index 100%%\nrename from %s\nrename to mm/new\n" "$out" mm/new "$out"
	escapes "$out" "${git}similarity index 100%%\nrename from mm/shmem.c\nrename to %s\n" mm/shmem.c "$out" "$out"
	escapes "$out" "${git}similarity index 100%%\ncopy from %s\ncopy to mm/new\n" "$out" mm/new "$out"
	escapes "$SCRATCH/victim" "\n--- a/%s\n+++ b/%s\n$hunk" "$SCRATCH/victim" "$SCRATCH/victim"
	escapes "$out'" 'diff --git "a/mm/x\\n%s" "b/mm/x\\n%s"\nnew file mode 100644\n' "$out" "$out"
	{
		printf 'From a Thu Jan  1 00:00:00 1970\nFrom: A <a@b>\nSubject: [PATCH] mm: evil\n\n---\n'
		cat "$SCRATCH/two.patch" "$SCRATCH/out.patch"
	} >"$SCRATCH/evil.mbox"
	said 3 "$BUILD" --source "$FAKE" --patch "$SCRATCH/evil.mbox"
	one_line "the patch mm: evil (evil.mbox) would change .*$out"
	untouched
}

# leaves_alone SOURCE: a list that another version left, and a link that a patch made, lead nowhere; what
# stood in the place of either is there again.
leaves_alone() {
	local dir
	dir=$(find "$SCRATCH/cache/before-after/trees" -mindepth 1 -maxdepth 1 -type d)
	rm -rf "$SCRATCH"/cache/before-after/images/* "${dir:?}/mm"
	ln -s "$SCRATCH/far" "$dir/out"
	mkdir "$dir/directory"
	printf '%s\n' ../../../../victim "$SCRATCH/victim" mm/../../../../../victim out/victim directory '' \
		mm/shmem.c >"$dir.patched"
	image_is 'one a b c d e two' "$1"
	untouched
	rm "$dir/out"
	rmdir "$dir/directory"

	ln -s "$SCRATCH/far" "$dir/out"
	printf '%s\n' out out/victim mm mm/shmem.c >"$dir.patched"
	rm -r "$dir/mm"
	ln -s "$SCRATCH/far" "$dir/mm"
	rm -rf "$SCRATCH"/cache/before-after/images/*
	image_is 'one a b c d e two' "$1"
	untouched
	[ ! -L "$dir/mm" ] && [ ! -L "$dir/out" ]

	# The same by patches: a link, and a file behind it.
	printf 'diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n@@ -0,0 +1 @@\n+%s\n\\ No newline at end of file\n' \
		"$SCRATCH/far" >"$SCRATCH/link.patch"
	printf -- '--- a/out/victim\n+++ b/out/victim\n@@ -1 +1 @@\n-precious\n+owned\n' >"$SCRATCH/behind.patch"
	said 3 "$BUILD" --source "$1" --patch "$SCRATCH/link.patch" --patch "$SCRATCH/behind.patch"
	one_line 'patch 2 of 2, behind.patch, does not apply'
	untouched
	[ ! -L "$dir/out" ]
	# The only file of a directory goes, and a link comes in its place.
	{
		printf 'diff --git a/mm/shmem.c b/mm/shmem.c\ndeleted file mode 100644\n--- a/mm/shmem.c\n+++ /dev/null\n@@ -1,7 +0,0 @@\n'
		sed 's/^/-/' "$FAKE/mm/shmem.c"
		sed 's,\([ab]\)/out,\1/mm,g' "$SCRATCH/link.patch"
	} >"$SCRATCH/place.patch"
	"$BUILD" --source "$1" --patch "$SCRATCH/place.patch" --touched | jq -e '.files == ["mm", "mm/shmem.c"]'
	untouched
	rm -rf "$SCRATCH"/cache/before-after/images/*
	image_is 'one a b c d e two' "$1"
}

old_lists() {
	fake_tree
	mkdir -p "$SCRATCH/far"
	echo precious | tee "$SCRATCH/far/victim" >"$SCRATCH/victim"
	rm -rf "$SCRATCH/cache"
	image_is 'one a b c d e two' "$FAKE"
	leaves_alone "$FAKE"
	tar -C "$SCRATCH" -cf "$SCRATCH/fake.tar" --exclude .git fake
	rm -rf "$SCRATCH/cache"
	said 0 "$BUILD" --source "$SCRATCH/fake.tar" || true
	leaves_alone "$SCRATCH/fake.tar"
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
check 'what a mail is' headers
check 'how a mail is encoded' encodings
check 'which mails are a series' threads
check 'whose series it is' sources
check 'a patch of what is outside' paths
check 'what a list or a link leads to outside' old_lists
check 'a patch that does not build' does_not_build
check 'a symbol that does not survive' lost_symbol
check 'a bare repository' bare
check 'usage errors' usage
check 'CDPATH' cdpath
finish
