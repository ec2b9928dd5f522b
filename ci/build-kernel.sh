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
# happened to the last build, they are put back, with a new date.
take_patches_back() {
	local path
	[ -e "$TREE_DIR.patched" ] || return 0
	while IFS= read -r path; do
		rm -f "$TREE_DIR/$path"
		if [ -n "${TREE:-}" ]; then
			in_tree git cat-file -e ":$path" 2>/dev/null || continue
			(cd "$TREE_DIR" && in_tree git checkout-index -f -- "$path")
		elif [ -e "$(pristine)/$path" ]; then
			cp "$(pristine)/$path" "$TREE_DIR/$path"
		fi
	done <"$TREE_DIR.patched"
	rm "$TREE_DIR.patched"
}

# --- the patches ------------------------------------------------------------------------------

# Every patch, mail and mbox becomes a list of plain patches in MAILS, names for people in NAMES.
split_patches() {
	local n=0 spec file mail out
	MAILS=() NAMES=()
	[ ${#PATCHES[@]} -gt 0 ] || return 0
	SPLIT=$(mktemp -d "$CACHE/work/mails.XXXXXX")
	CLEAN+=("$SPLIT")
	for spec in "${PATCHES[@]}"; do
		file=$spec
		[ -e "$file" ] || file=$(fetch_series "$spec" "$SPLIT")
		if [ ! -f "$file" ] || [ ! -r "$file" ]; then die "cannot read the patch $spec" 2; fi
		if ! head -n 40 "$file" | grep -qE '^(From |Message-I[dD]: |Subject: )'; then
			MAILS+=("$(realpath "$file")")
			NAMES+=("${spec##*/}")
			continue
		fi
		n=$((n + 1))
		mkdir "$SPLIT/$n"
		git mailsplit -b --mboxrd -o"$SPLIT/$n" "$file" >/dev/null || die "$spec is not an mbox"
		for mail in "$SPLIT/$n"/*; do
			out=$mail.patch
			git mailinfo "$mail.msg" "$out" <"$mail" >"$mail.info" 2>/dev/null ||
				die "$spec: mail ${mail##*/} cannot be read"
			grep -q '^diff --git \|^--- ' "$out" || continue # a cover letter
			MAILS+=("$out")
			NAMES+=("$(sed -n 's/^Subject: //p' "$mail.info") (${spec##*/})")
		done
	done
	[ ${#MAILS[@]} -gt 0 ] || die "no patch in ${PATCHES[*]}"
}

# Patch TREE_DIR, or leave it as it was. The copy of a package and git write a changed file anew,
# never into one that is hard-linked. Our cache may stand inside somebody's repository: git must not
# look for one.
apply_patches() {
	local i log=$SPLIT/apply.log
	sed -nE 's#^(---|\+\+\+) [ab]/([^\t]*).*#\2#p; s/^(rename|copy) (from|to) (.*)/\3/p' "${MAILS[@]}" |
		sort -u >"$TREE_DIR.patched"
	for i in "${!MAILS[@]}"; do
		(cd "$TREE_DIR" && GIT_CEILING_DIRECTORIES=${TREE_DIR%/*} \
			git -c core.autocrlf=false apply --whitespace=nowarn "${MAILS[i]}") >"$log" 2>&1 && continue
		take_patches_back
		die "patch $((i + 1)) of ${#MAILS[@]}, ${NAMES[i]}, does not apply to $SOURCE_NAME: $(
			refusals "${MAILS[i]}" <"$log" | paste -sd ';' | sed 's/;/; /g')" 3
	done
}

# What git apply refused, each hunk with its header, since the line alone may be of another version.
refusals() {
	local line path start
	sed -n 's/^error: //p' | while IFS= read -r line; do
		if [[ $line =~ ^patch\ failed:\ (.*):([0-9]+)$ ]]; then
			path=${BASH_REMATCH[1]} start=${BASH_REMATCH[2]}
			line+=" ($(awk -v path="$path" -v start="$start" '
				/^\+\+\+ / {here = substr($2, 3) == path}
				here && /^@@ / && $2 ~ "^-" start "(,|$)" {print; exit}' "$1"))"
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
		[ -e "$new" ] || new=/dev/null
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
