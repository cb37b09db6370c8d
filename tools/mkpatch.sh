#!/bin/sh
# mkpatch.sh TREE:           put vf_argus into an FFmpeg source tree, 5.1 to 9.x
# mkpatch.sh --diff TREE:    print the same as a patch (patch -p1), TREE stays as it is
# mkpatch.sh --all DIR:      write avfilter-patch/ffmpeg-X.Y.patch for each tarball in DIR
#
# Hunks are inserted by anchor, a line that has stood in these files for years, so that
# trees between the four versions with a shipped patch work too. Files that would not
# change are left alone: a second run rebuilds nothing. Needs sh, awk, diff.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
files=$src/avfilter-patch

die() {
    echo "mkpatch: $*" >&2
    exit 1
}

[ $# -ge 1 ] || { echo "usage: mkpatch.sh [--diff] TREE | --all DIR" >&2; exit 2; }
if [ "$1" = --all ]; then
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/argus-mkpatch.XXXXXX") || exit 1
    trap 'rm -rf "$tmp"' EXIT
    for t in "${2:-.}"/ffmpeg[-_][5-9]*.tar.*; do
        version=$(basename "$t" | sed 's/^ffmpeg[-_]\([0-9]*\.[0-9]*\).*/\1/')
        mkdir -p "$tmp/$version"
        tar -xf "$t" -C "$tmp/$version" --strip-components 1 --wildcards 'ffmpeg*/configure' \
            'ffmpeg*/Changelog' 'ffmpeg*/libavfilter/Makefile' 'ffmpeg*/libavfilter/allfilters.c' \
            'ffmpeg*/doc/filters.texi' 'ffmpeg*/tests/fate/filter-video.mak' || die "$t: can't unpack it"
        "$0" --diff "$tmp/$version" >"$tmp/patch" || exit 1
        cmp -s "$tmp/patch" "$files/ffmpeg-$version.patch" && continue
        cat "$tmp/patch" >"$files/ffmpeg-$version.patch" && echo "$files/ffmpeg-$version.patch"
    done
    exit 0
fi
print=no
[ "$1" = --diff ] && { print=yes; shift; }
tree=$(cd "$1" 2>/dev/null && pwd) || die "$1: no such directory"
[ -f "$tree/libavfilter/allfilters.c" ] ||
    die "$tree: expected an FFmpeg source tree, found no libavfilter/allfilters.c"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/argus-mkpatch.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/new"

needed=0.1.0 # the first libargus that has all the filter calls

# edit FILE: text of FILE as it is now, in $tmp/new
edit() {
    mkdir -p "$tmp/new/$(dirname "$1")"
    cp "$tree/$1" "$tmp/new/$1" || die "$tree/$1: expected in every FFmpeg tree, not found"
    chmod u+w "$tmp/new/$1"
}

# insert FILE before|after REGEX: stdin goes there, at the first line that matches, unless
# its first line is in the file already
insert() {
    file=$tmp/new/$1 where=$2 anchor=$3
    cat >"$tmp/text"
    head -n 1 "$tmp/text" >"$tmp/first"
    grep -qxFf "$tmp/first" "$file" && return 0
    ANCHOR=$anchor awk -v where="$where" -v text="$tmp/text" '
        function put(  line) { while ((getline line < text) > 0) print line; done = 1 }
        !done && where == "before" && $0 ~ ENVIRON["ANCHOR"] { put() }
        { print }
        !done && where == "after" && $0 ~ ENVIRON["ANCHOR"] { put() }
        END { exit !done }
    ' "$file" >"$tmp/edited" || die "$tree/$1: expected a line like '$anchor', found none"
    cat "$tmp/edited" >"$file"
}

# add SOURCE FILE: a file that is new in the tree
add() {
    mkdir -p "$tmp/new/$(dirname "$2")"
    cp "$1" "$tmp/new/$2" || exit 1
}

edit configure
insert configure after '^  --enable-libaom ' <<'END'
  --enable-libargus        enable argus filter via libargus [no]
END
insert configure after '^    libaom$' <<'END'
    libargus
END
insert configure after '^aresample_filter_deps=' <<'END'
argus_filter_deps="libargus avformat swscale"
END
insert configure before '^enabled libaribb24 ' <<END
enabled libargus          && require_pkg_config libargus "libargus >= $needed" libargus/argus.h argus_version
END
insert configure before '^enabled aresample_filter ' <<'END'
enabled argus_filter        && prepend avfilter_deps "avformat swscale"
END

edit libavfilter/Makefile
insert libavfilter/Makefile before '^OBJS-[$][(]CONFIG_ASS_FILTER[)]' <<'END'
OBJS-$(CONFIG_ARGUS_FILTER)                  += vf_argus.o
END

edit libavfilter/allfilters.c
# AVFilter or FFFilter, whichever this tree has
sed -n 's/ff_vf_ass;/ff_vf_argus;/p' "$tree/libavfilter/allfilters.c" >"$tmp/extern"
[ -s "$tmp/extern" ] || die "$tree/libavfilter/allfilters.c: expected a line with ff_vf_ass, found none"
insert libavfilter/allfilters.c before ' ff_vf_ass;' <"$tmp/extern"

edit doc/filters.texi
# an older section, if there is one, makes place for the present one
awk '/^@section argus$/ { skip = 1; next } skip && /^@section / { skip = 0 } !skip' \
    "$tmp/new/doc/filters.texi" >"$tmp/edited" && cat "$tmp/edited" >"$tmp/new/doc/filters.texi"
insert doc/filters.texi before '^@section ass$' <"$files/argus.texi"

edit tests/fate/filter-video.mak
awk '/FATE_ARGUS|^fate-filter-argus/ { gone = 1; next } !gone || !/^$/; { gone = 0 }' \
    "$tmp/new/tests/fate/filter-video.mak" >"$tmp/edited" && cat "$tmp/edited" >"$tmp/new/tests/fate/filter-video.mak"
insert tests/fate/filter-video.mak before '^FATE_(YADIF|BWDIF)-' <"$files/fate/filter-argus.mak"

# Releases list commits there; only a tree under way lists features.
if grep -q '^version <next>:' "$tree/Changelog"; then
    edit Changelog
    insert Changelog after '^version <next>:' <<'END'
- argus filter
END
fi

add "$files/vf_argus.c" libavfilter/vf_argus.c
for ref in "$files"/fate/ref/*; do
    [ -f "$ref" ] || continue
    add "$ref" "tests/ref/fate/${ref##*/}"
done

cd "$tmp/new" || exit 1
find . -type f | sed 's|^\./||' | sort >"$tmp/list"
while read -r f; do
    if [ $print = no ]; then
        cmp -s "$f" "$tree/$f" && continue
        mkdir -p "$tree/$(dirname "$f")"
        # written over, not replaced: the mode stays
        cat "$f" >"$tree/$f" || die "can't write $tree/$f"
    elif [ -f "$tree/$f" ]; then
        diff -u --label "a/$f" --label "b/$f" "$tree/$f" "$f"
    else
        diff -u --label /dev/null --label "b/$f" /dev/null "$f"
    fi
done <"$tmp/list"
exit 0
