#!/bin/sh
# ffmpeg.sh BUILD: obtain FFmpeg's source, put vf_argus into it, build a small ffmpeg and
# ffprobe that have what the demo and the tests need. The programs are BUILD/ffmpeg/ffmpeg
# and BUILD/ffmpeg/ffprobe; nothing outside of BUILD is written.
#
# The source is the first of these that works:
#   FFMPEG_SRC=PATH    an unpacked tree (it is copied) or a tarball
#   FFMPEG_DIST=DIR    a directory with tarballs, of which the oldest release is taken
#   the source package of the distribution (apt), if that version is supported
#   the release tarball from ffmpeg.org
# FFMPEG_VERSION=X.Y.Z restricts the choice to one version.
#
# The library is BUILD/libargus.a by way of BUILD/libargus-uninstalled.pc. A second run
# compiles what changed and nothing else. JOBS=N: compilers at a time, all cores by default.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
[ $# = 1 ] || { echo "usage: ffmpeg.sh BUILD" >&2; exit 2; }
build=$(cd "$1" 2>/dev/null && pwd) || { echo "ffmpeg: $1: no such directory" >&2; exit 2; }
. "$src/tools/ffmpeg-lib.sh"

get_source() {
    wish="${FFMPEG_SRC:-} ${FFMPEG_DIST:-} ${FFMPEG_VERSION:-}"
    [ -f "$dir/origin" ] && [ "$(sed -n 1p "$dir/origin")" = "$wish" ] && return
    rm -f "$dir/origin"
    origin=
    from_src || from_dist || from_distribution || from_site || {
        tail -n 5 "$log" >&2
        die "no source found; put a tarball of FFmpeg 5.1 to 9.x somewhere and set FFMPEG_SRC"
    }
    say "source: $origin"
    unpack
    printf '%s\n' "$wish" >"$dir/origin"
}

need_library
place "$build/ffmpeg"
: >"$log"
get_source
"$src/tools/mkpatch.sh" "$tree" || exit 1
configure
compile
