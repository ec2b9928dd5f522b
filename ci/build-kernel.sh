#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Build a kernel for ci/boot.sh and print the path of its image. See docs/kernels.md.
set -euo pipefail
# shellcheck source=ci/lib.sh
. "$(dirname "$0")/lib.sh"

usage() {
	cat <<'END'
usage: ci/build-kernel.sh [--source SPEC] [--patch FILE|MSGID].. [--engine NAME] [--config-extra FILE]
                          [--jobs N] [--touched]
  --source SPEC         a Debian source package (default linux-source-6.12), a tarball of a kernel,
                        a kernel source tree, or TREE@REF: a commit, tag or branch of a git tree, which
                        may be bare
  --patch FILE|MSGID    a patch, a mail or an mbox, in the order given; a message id is fetched by b4
  --engine NAME         what will boot it: uml needs an image of its own, all others share one
  --config-extra FILE   a configuration fragment on top of ci/kernel/ARCH.config
  --jobs N              make -j N (default: the processors)
  --touched             build nothing: print, as JSON, the files that the patches change, the functions
                        that the changed lines stand in, and all functions of these files
Prints the path of the image. Beside it: config, System.map, image.json.
Exit: 0 built or cached, 1 it does not build, 2 usage, 3 a patch does not apply.
END
}

SOURCE=linux-source-6.12 PATCHES=() EXTRA=() JOBS=$(nproc) ENGINE='' TOUCHED=false
while [ $# -gt 0 ]; do
	case $1 in
	--source | --patch | --config-extra | --engine | --jobs)
		[ $# -ge 2 ] || die "$1 needs a value" 2
		case $1 in
		--source) SOURCE=$2 ;;
		--patch) PATCHES+=("$2") ;;
		--config-extra) EXTRA+=("$2") ;;
		--engine) ENGINE=$2 ;;
		--jobs) JOBS=$2 ;;
		esac
		shift 2
		;;
	--touched) TOUCHED=true && shift ;;
	--help | -h) usage && exit 0 ;;
	*) die "unknown argument $1 (--help lists them)" 2 ;;
	esac
done
[[ $JOBS =~ ^[1-9][0-9]*$ ]] || die "--jobs: expected a number, found '$JOBS'" 2
need gcc make flex bison bc git jq flock setpriv
[[ $ENGINE =~ ^(|kvm|tcg|icount|uml)$ ]] ||
	die "--engine: expected kvm, tcg, icount or uml, found '$ENGINE'" 2
ARCH=$(uname -m)
[ "$ENGINE" != uml ] || ARCH=um
FRAGMENT=$CI/kernel/$ARCH.config
[ -r "$FRAGMENT" ] || die "no configuration fragment for $ARCH: $FRAGMENT" 2
for f in "${EXTRA[@]}"; do [ -r "$f" ] || die "cannot read $f" 2; done
mkdir -p "$CACHE"/{sources,trees,images,git,work}

# Fixed names, so that the same source gives the same image.
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
export KBUILD_BUILD_USER=before-after KBUILD_BUILD_HOST=ci
unset MAKEFLAGS MFLAGS MAKELEVEL KCONFIG_CONFIG
COMPILER=$(gcc --version | head -n 1)

CLEAN=()
# shellcheck disable=SC2317
finish() {
	[ -z "${CHILD:-}" ] || kill "$CHILD" 2>/dev/null || true
	clear_progress
	[ ${#CLEAN[@]} -eq 0 ] || rm -rf "${CLEAN[@]}"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- the source -------------------------------------------------------------------------------

# Sets SOURCE_ID (content), SOURCE_NAME (for people), TREE_ID (which object tree it shares).
find_source() {
	local dir ref=""
	dir=$SOURCE
	if [ ! -d "$SOURCE" ] && [[ $SOURCE == *@* ]]; then
		dir=${SOURCE%@*} ref=${SOURCE##*@}
	fi
	if [ -d "$dir" ]; then
		[ -n "$ref" ] || [ -f "$dir/Kbuild" ] || die "$dir is not a kernel source tree (no Kbuild)" 2
		find_tree "$(cd "$dir" && pwd)" "$ref"
		return
	fi
	if [[ $SOURCE =~ \.tar(\.[a-z0-9]+)?$ && -f $SOURCE ]]; then
		TARBALL=$SOURCE SOURCE_NAME=${SOURCE##*/}
	elif [[ $SOURCE =~ ^linux-source-[0-9.]+$ ]]; then
		TARBALL=/usr/src/$SOURCE.tar.xz
		[ -r "$TARBALL" ] || die "$TARBALL is missing: apt-get install $SOURCE" 2
		SOURCE_NAME="$SOURCE $(dpkg-query -W -f '${Version}' "$SOURCE" 2>/dev/null || true)"
	else
		die "--source $SOURCE: expected linux-source-VERSION, a tarball, a source tree or TREE@REF, found none" 2
	fi
	SOURCE_ID=$(sha256sum <"$TARBALL" | cut -c1-64)
	TREE_ID=$SOURCE_ID
}

# A tree or a ref becomes a git tree object. The user's repository is only read: the index and the
# new objects live in a repository of our own that borrows its objects.
find_tree() {
	local dir=$1 ref=$2 common version index
	GITDIR=$CACHE/git/$(key <<<"$dir")
	[ -d "$GITDIR" ] || git init -q --bare "$GITDIR"
	if common=$(git -C "$dir" rev-parse --git-common-dir 2>/dev/null) &&
		{ [ -e "$dir/.git" ] || [ "$common" = . ]; }; then
		(cd "$dir" && realpath "$common/objects") >"$GITDIR/objects/info/alternates"
	elif [ -n "$ref" ]; then
		die "--source $SOURCE: $dir is not a git tree, so it has no refs" 2
	fi
	if [ -n "$ref" ]; then
		TREE=$(git -C "$dir" rev-parse -q --verify "$ref^{tree}") ||
			die "--source $SOURCE: no commit, tag or branch $ref in $dir" 2
		git -C "$dir" cat-file -e "$TREE:Kbuild" 2>/dev/null ||
			die "--source $SOURCE: it is not a kernel source tree (no Kbuild)" 2
	else
		say "reading $dir"
		# In an index of this build: one that is killed leaves no lock to the next.
		index=$GITDIR/index.$$
		CLEAN+=("$index" "$index.lock")
		cp "$GITDIR/index" "$index" 2>/dev/null || true
		TREE=$(cd "$dir" && export GIT_DIR=$GITDIR GIT_WORK_TREE=$dir GIT_INDEX_FILE=$index &&
			git add -A . && git write-tree) || die "cannot read the source tree $dir"
		mv "$index" "$GITDIR/index"
	fi
	SOURCE_ID=$TREE
	SOURCE_NAME="$dir${ref:+@$ref}"
	# All commits of a version share a tree, of whatever repository: little differs between them, and
	# building another version in between (a release to compare with) leaves their objects alone.
	version=$({ GIT_DIR=$GITDIR git show "$TREE:Makefile" 2>/dev/null || true; } |
		sed -nE 's/^(VERSION|PATCHLEVEL) = ([0-9]+)$/\2/p' | paste -sd .)
	TREE_ID=${version:+git $version}
	TREE_ID=${TREE_ID:-$dir}
}

# Bring TREE_DIR to the unpatched source: the package unpacked once and hard-linked, or a git tree
# checked out. Only what differs is written, so that the objects of the last build stay good.
put_source() {
	local unpacked
	if [ -n "${TREE:-}" ]; then
		mkdir -p "$TREE_DIR"
		# TREE_DIR is ours alone by now: whoever locked its index is gone.
		rm -f "$TREE_DIR.index.lock"
		in_tree git read-tree --reset -u "$TREE" || die "cannot check out $SOURCE_NAME"
	elif [ ! -d "$TREE_DIR" ]; then
		unpacked=$(pristine)
		if [ ! -d "$unpacked" ]; then
			say "unpacking $TARBALL"
			CLEAN+=("$unpacked.$$")
			mkdir "$unpacked.$$"
			tar -C "$unpacked.$$" --strip-components=1 -xf "$TARBALL" || die "cannot unpack $TARBALL"
			mv "$unpacked.$$" "$unpacked"
		fi
		CLEAN+=("$TREE_DIR.$$")
		cp -al "$unpacked" "$TREE_DIR.$$"
		mv "$TREE_DIR.$$" "$TREE_DIR"
	fi
	take_patches_back
}

pristine() {
	local name=${TARBALL##*/}
	printf '%s\n' "$CACHE/sources/${name%.tar*}-${SOURCE_ID:0:16}"
}

in_tree() {
	GIT_DIR=$GITDIR GIT_WORK_TREE=$TREE_DIR GIT_INDEX_FILE=$TREE_DIR.index "$@"
}

# The files that patches have changed are listed in TREE_DIR.patched before they are: whatever
# happened to the last build, they are put back, with a new date. All are removed first, since one may
# stand where another's directory was. A list may be old, or of a patch that was refused: nothing in it
# leads out of the tree.
take_patches_back() {
	local path paths=()
	[ -e "$TREE_DIR.patched" ] || return 0
	mapfile -t paths <"$TREE_DIR.patched"
	for path in "${paths[@]}"; do
		in_the_tree "$path" || continue
		if [ -L "$TREE_DIR/$path" ] || [ ! -d "$TREE_DIR/$path" ]; then rm -f "$TREE_DIR/$path"; fi
	done
	for path in "${paths[@]}"; do
		if ! in_the_tree "$path" || ! in_the_source "$path"; then continue; fi
		[ ! -d "$TREE_DIR/$path" ] || find "$TREE_DIR/$path" -type d -empty -delete
		mkdir -p "$(dirname "$TREE_DIR/$path")"
		if [ -n "${TREE:-}" ]; then
			(cd "$TREE_DIR" && in_tree git checkout-index -f -- "$path")
		else
			cp -P "$(pristine)/$path" "$TREE_DIR/$path"
		fi
	done
	rm "$TREE_DIR.patched"
}

# Whether PATH names something in a tree, by its words alone.
relative() {
	[[ -n $1 && /$1/ != *//* && /$1/ != */../* && /$1/ != */./* && $1 != *$'\n'* ]]
}

# Whether PATH is in TREE_DIR, and no symbolic link on the way to it.
in_the_tree() {
	local dir=$1
	relative "$1" || return 1
	while [[ $dir == */* ]]; do
		dir=${dir%/*}
		[ ! -L "$TREE_DIR/$dir" ] || return 1
	done
}

in_the_source() {
	if [ -n "${TREE:-}" ]; then
		in_tree git cat-file -e ":0:$1" 2>/dev/null
	else
		[ -f "$(pristine)/$1" ] || [ -L "$(pristine)/$1" ]
	fi
}

# --- the patches ------------------------------------------------------------------------------

# Every patch, mail and mbox becomes a list of plain patches in MAILS, names for people in NAMES; PATHS
# are the files that they change.
split_patches() {
	local n=0 spec file
	MAILS=() NAMES=() PATHS=()
	[ ${#PATCHES[@]} -gt 0 ] || return 0
	SPLIT=$(mktemp -d "$CACHE/work/mails.XXXXXX")
	CLEAN+=("$SPLIT")
	for spec in "${PATCHES[@]}"; do
		file=$spec
		[ -e "$file" ] || file=$(fetch_series "$spec" "$SPLIT")
		if [ ! -f "$file" ] || [ ! -r "$file" ]; then die "cannot read the patch $spec" 2; fi
		n=$((n + 1))
		if is_mail "$file"; then
			series "$spec" "$file" "$SPLIT/$n"
		else
			file=$(realpath "$file")
			is_patch "$file" || die "no patch in $spec" 2
			add_patch "$file" "${spec##*/}"
		fi
	done
}

# git apply, and no repository: our cache may stand inside somebody's, and git must not look for one.
apply() { # DIR OPTION.. FILE
	(cd "$1" && GIT_CEILING_DIRECTORIES=${1%/*} git -c core.autocrlf=false apply "${@:2}")
}

# Words that only look like a patch (a line of dashes) are none; one that git cannot read it will refuse.
is_patch() {
	apply "$SPLIT" --numstat "$1" >/dev/null 2>"$SPLIT/read.log" ||
		! grep -qE 'No valid patches|unrecognized input' "$SPLIT/read.log"
}

# add_patch FILE NAME: git says what it changes, forwards and backwards for the names after and before.
add_patch() {
	local path way
	MAILS+=("$1")
	NAMES+=("$2")
	for way in '' -R; do
		while IFS= read -rd '' path; do
			path=${path#*$'\t'*$'\t'}
			relative "$path" ||
				die "the patch $2 would change $(printf %q "$path"): wanted a path inside the source" 3
			PATHS+=("$path")
		done < <(apply "$SPLIT" --numstat -z ${way:+"$way"} "$1" 2>/dev/null)
	done
}

# read_tag SUBJECT: sets NUMBER and TOTAL of a subject's "[PATCH v2 1/3]", both empty where it has none,
# and VERSION.
read_tag() {
	local tag=''
	NUMBER='' TOTAL='' VERSION=1
	[[ ! $1 =~ ^\ *((\[[^]]*\]\ *)+) ]] || tag=${BASH_REMATCH[1]}
	if [[ $tag =~ (^|[^0-9/])([0-9]{1,4})/([0-9]{1,4})([^0-9/]|$) ]]; then
		NUMBER=$((10#${BASH_REMATCH[2]})) TOTAL=$((10#${BASH_REMATCH[3]}))
	fi
	[[ ! $tag =~ (^|[^A-Za-z0-9]|PATCH)[vV]([0-9]{1,4})([^A-Za-z0-9]|$) ]] || VERSION=$((10#${BASH_REMATCH[2]}))
}

# series SPEC FILE DIR: the patches of an mbox, split in DIR: where their subjects have numbers, 1/m to m/m
# in this order, else as they come. One mail alone may be any of a series.
series() {
	local spec=$1 mail name total='' version='' plain=0 i
	local -A version_of=() numbered=()
	local found=()
	split_mails "$2" "$3" || die "$spec is not an mbox" 2
	[ ${#REPLIES[@]} -eq 0 ] ||
		say "$spec: left out ${#REPLIES[@]} that answer others, first $(head -n 1 "${REPLIES[0]}.subject")"
	for mail in "${SPLIT_MAILS[@]}"; do
		[ -e "$mail.info" ] || die "$spec: mail ${mail##*/} cannot be read" 2
		read_tag "$(cat "$mail.subject")"
		if [ "$NUMBER" = 0 ] || ! is_patch "$mail.patch"; then continue; fi # a cover letter
		found+=("$mail")
		name=$(title "$mail")
		[ "${version_of[_$name]:-$VERSION}" -eq "$VERSION" ] ||
			die "$spec: wanted one version of a patch, found v${version_of[_$name]} and v$VERSION of $name" 2
		version_of[_$name]=$VERSION
		if [ -z "$NUMBER" ]; then
			plain=$((plain + 1))
			continue
		fi
		[ "${version:=$VERSION}" -eq "$VERSION" ] ||
			die "$spec: wanted one version of a series, found v$version and v$VERSION" 2
		[ "${total:=$TOTAL}" -eq "$TOTAL" ] ||
			die "$spec: wanted one series, found patches of $total and of $TOTAL" 2
		[ -z "${numbered[$NUMBER]:-}" ] || die "$spec: wanted one patch $NUMBER/$total, found two" 2
		numbered[$NUMBER]=$mail
	done
	if [ -n "$total" ] && [ ${#SPLIT_MAILS[@]} -gt 1 ]; then
		[ "$plain" -eq 0 ] || die "$spec: wanted patches of one series, found $plain without a number" 2
		found=()
		for ((i = 1; i <= total; i++)); do
			[ -n "${numbered[$i]:-}" ] || die "$spec: wanted patches 1 to $total, found no $i/$total" 2
			found+=("${numbered[$i]}")
		done
		[ ${#numbered[@]} -eq "$total" ] || die "$spec: wanted patches 1 to $total, found more" 2
	fi
	[ ${#found[@]} -gt 0 ] || die "no patch in $spec" 2
	for mail in "${found[@]}"; do add_patch "$mail.patch" "$(title "$mail") (${spec##*/})"; done
}

# Patch TREE_DIR, or leave it as it was. The copy of a package and git write a changed file anew,
# never into one that is hard-linked.
apply_patches() {
	local i log=$SPLIT/apply.log
	printf '%s\n' "${PATHS[@]}" | sort -u >"$TREE_DIR.patched"
	for i in "${!MAILS[@]}"; do
		apply "$TREE_DIR" --whitespace=nowarn "${MAILS[i]}" >"$log" 2>&1 && continue
		take_patches_back
		die "patch $((i + 1)) of ${#MAILS[@]}, ${NAMES[i]}, does not apply to $SOURCE_NAME: $(
			refusals "${MAILS[i]}" <"$log" | paste -sd ';' | sed 's/;/; /g')" 3
	done
}

# What git apply refused, each hunk with its header, since the line alone may be of another version.
refusals() {
	local line path start hunk
	printable | sed -n 's/^error: //p' | while IFS= read -r line; do
		if [[ $line =~ ^patch\ failed:\ (.*):([0-9]+)$ ]]; then
			path=${BASH_REMATCH[1]} start=${BASH_REMATCH[2]}
			hunk=$(awk -v path="$path" -v start="$start" '
				/^\+\+\+ / {here = substr($2, 3) == path}
				here && /^@@ / && $2 ~ "^-" start "(,|$)" {print; exit}' "$1")
			line+=${hunk:+ ($hunk)}
		fi
		printf '%s\n' "$line"
	done
}

# Which code the patches, applied in TREE_DIR, change: on both sides, since a function can come or go.
touched() {
	local path paths old new
	mapfile -t paths <"$TREE_DIR.patched"
	old=$(mktemp "$CACHE/work/old.XXXXXX")
	CLEAN+=("$old")
	for path in "${paths[@]}"; do
		[[ $path == *.[ch] ]] || continue
		new=$TREE_DIR/$path
		if [ ! -f "$new" ] || [ -L "$new" ]; then new=/dev/null; fi
		if [ -n "${TREE:-}" ]; then
			in_tree git cat-file blob ":$path" >"$old" 2>/dev/null || : >"$old"
		else
			cat "$(pristine)/$path" >"$old" 2>/dev/null || : >"$old"
		fi
		changed_functions "$old" "$new" | sed 's/^/function /'
		awk -v lines=all -f "$CI/enclosing.awk" "$old" "$new" | sed 's/^/beside /'
	done | sort -u | jq -Rn '[inputs | split(" ")] as $found
		| {files: $ARGS.positional,
		   functions: [$found[] | select(.[0] == "function") | .[1]],
		   beside: [$found[] | select(.[0] == "beside") | .[1]]}' --args "${paths[@]}"
}

# --- configuration and make -------------------------------------------------------------------

kmake() {
	make -C "$TREE_DIR" O=obj ARCH="$ARCH" "$@"
}

# Each symbol of our fragments must be what the fragment says after olddefconfig.
configure() {
	local dir=$TREE_DIR lost
	mkdir -p "$dir/obj"
	if [ "$(cat "$dir/obj/fragment.key" 2>/dev/null)" != "$CONFIG_KEY" ]; then
		kmake -s tinyconfig >"$dir.log" 2>&1 || die "make tinyconfig failed: $(tail -n 1 "$dir.log") (log: $dir.log)"
		cat "$FRAGMENT" "${EXTRA[@]}" >>"$dir/obj/.config"
		awk 'NR == FNR { if (!/^#/) new[$1] = $2; next }
			{ split($0, part, "=") }
			part[1] in new { sub(part[1], new[part[1]]); print }' \
			"$CI/kernel/renamed" "$FRAGMENT" "${EXTRA[@]}" >>"$dir/obj/.config"
	fi
	kmake -s olddefconfig >"$dir.log" 2>&1 || die "make olddefconfig failed: $(tail -n 1 "$dir.log") (log: $dir.log)"
	lost=$(awk '
		function symbol(line) { sub(/^# /, "", line); sub(/[ =].*/, "", line); return line }
		FILENAME == ARGV[1] { if (!/^#/) new[$1] = $2; next }
		!/^(# )?CONFIG_[A-Z0-9_a-z]+( is not set|=)/ { next }
		FILENAME == ARGV[ARGC - 1] { have[symbol($0)] = $0; next }
		{ want[symbol($0)] = $0 }
		END {
			for (s in want) {
				found = have[s]
				if (found == "" && s in new) {
					found = have[new[s]]
					sub(new[s], s, found)
				}
				if (want[s] ~ /is not set$/ ? found !~ /^(# .*)?$/ : found != want[s])
					printf "%s (found: %s)\n", want[s], found == "" ? "absent" : found
			}
		}' "$CI/kernel/renamed" "$FRAGMENT" "${EXTRA[@]}" "$dir/obj/.config" | sort | paste -sd ';' | sed 's/;/; /g')
	[ -z "$lost" ] || die "did not survive olddefconfig of $SOURCE_NAME: $lost"
	printf '%s\n' "$CONFIG_KEY" >"$dir/obj/fragment.key"
}

# build NAME: make with progress; the log is TREE_DIR.log. uname -v tells the image's key, so that two
# kernels never look alike. How many lines a whole build prints is remembered.
build() {
	local dir=$TREE_DIR what=$1 start=$SECONDS lines total
	export KBUILD_BUILD_VERSION=$IMAGE_KEY
	total=$(cat "$dir.lines" 2>/dev/null || echo 0)
	spawn TERM nice -n 10 make -C "$dir" O=obj ARCH="$ARCH" -j"$JOBS" "$TARGET" >"$dir.log" 2>&1
	while kill -0 "$CHILD" 2>/dev/null; do
		lines=$(wc -l <"$dir.log")
		progress "building $what: $lines$([ "$total" -le "$lines" ] || echo " of $total") steps," \
			"$(clock $((SECONDS - start)))"
		nap 1
	done
	wait "$CHILD" || {
		CHILD=
		die "$what does not build: $(grep -m 1 -E 'error:|Error [0-9]|\*\*\*' "$dir.log" || tail -n 1 "$dir.log") (log: $dir.log)"
	}
	CHILD=
	clear_progress
	BUILD_SECONDS=$((SECONDS - start))
	[ "$(wc -l <"$dir.log")" -le "$total" ] || wc -l <"$dir.log" >"$dir.lines"
}

# The image with what belongs to it, put in place by one rename. `code` is the hash of all that is
# linked but the banner, which names the image: null where the kernel makes no vmlinux.o.
keep_image() {
	local new=$CACHE/images/$IMAGE_KEY.$$
	CLEAN+=("$new")
	mkdir "$new"
	cp "$TREE_DIR/obj/$IMAGE" "$TREE_DIR/obj/System.map" "$new/"
	cp "$TREE_DIR/obj/.config" "$new/config"
	jq -n --arg key "$IMAGE_KEY" --arg arch "$ARCH" --arg source "$SOURCE_NAME" --arg source_id "$SOURCE_ID" \
		--arg config "$(key <"$new/config")" --arg compiler "$COMPILER" \
		--arg release "$(cat "$TREE_DIR/obj/include/config/kernel.release")" \
		--argjson seconds "$BUILD_SECONDS" --arg patch_ids "$PATCH_IDS" \
		--arg code "$(sha256sum 2>/dev/null <"$TREE_DIR/obj/vmlinux.o" | cut -c1-64)" \
		'{schema: 1, key: $key, arch: $arch, release: $release, source: $source, source_id: $source_id,
		  patches: [$ARGS.positional, ($patch_ids | split("\n") | map(select(. != "")))]
			| transpose | map({name: .[0], sha256: .[1]}),
		  config: $config, compiler: $compiler, build_seconds: $seconds,
		  code: (if $code == "" then null else $code end)}' \
		--args "${NAMES[@]}" >"$new/image.json"
	rm -rf "${CACHE:?}/images/$IMAGE_KEY"
	mv "$new" "$CACHE/images/$IMAGE_KEY"
}

# --- together ---------------------------------------------------------------------------------

case $ARCH in
x86_64) TARGET=bzImage IMAGE=arch/x86/boot/bzImage ;;
um) TARGET=linux IMAGE=linux ;;
esac

find_source
split_patches
PATCH_IDS=
for f in "${MAILS[@]}"; do PATCH_IDS+=$(sha256sum <"$f" | cut -c1-64)$'\n'; done
CONFIG_KEY=$(cat "$FRAGMENT" "${EXTRA[@]}" | key)
TREE_KEY=$(printf '%s\n' "$TREE_ID" "$CONFIG_KEY" "$COMPILER" "$ARCH" | key)
BASE_KEY=$(printf '%s\n' "$SOURCE_ID" "$CONFIG_KEY" "$COMPILER" "$ARCH" | key)
IMAGE_KEY=$BASE_KEY
[ -z "$PATCH_IDS" ] || IMAGE_KEY=$(printf '%s\n%s' "$BASE_KEY" "$PATCH_IDS" | key)
OUT=$CACHE/images/$IMAGE_KEY/${IMAGE##*/}
if ! $TOUCHED && [ -e "$OUT" ]; then
	printf '%s\n' "$OUT"
	exit 0
fi

# One builder a tree; whoever waited finds the image made. Patches are applied in the tree itself: a
# copy elsewhere would be compiled whole, because the kernel's own tools hold their absolute path.
TREE_DIR=$CACHE/trees/$TREE_KEY
exec {LOCK}>"$TREE_DIR.lock"
flock -n "$LOCK" || {
	say "waiting for another build in $TREE_DIR"
	flock "$LOCK"
}
if $TOUCHED; then
	put_source
	[ ${#MAILS[@]} -gt 0 ] || die "--touched: no patch was given" 2
	apply_patches
	touched
	take_patches_back
	exit 0
fi
if [ ! -e "$OUT" ]; then
	put_source
	NAME=$SOURCE_NAME
	if [ ${#MAILS[@]} -gt 0 ]; then
		apply_patches
		NAME=${NAMES[*]}
	fi
	say "building $NAME in $TREE_DIR"
	configure
	build "$NAME"
	keep_image
	say "built $NAME in $(clock "$BUILD_SECONDS")"
fi
printf '%s\n' "$OUT"
