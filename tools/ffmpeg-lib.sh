# shellcheck shell=sh disable=SC2154 # $src and $build come from the reader
# ffmpeg-lib.sh: what tools/ffmpeg.sh and tools/check-ffmpeg.sh share: finding FFmpeg's source,
# configuring a small ffmpeg and ffprobe that have what the demo and the tests need, building
# them. Read by ".", which sets $src (this repository) and $build (of the library) before and
# calls place.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

# no options of the make that called: FFmpeg's variables are its own
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES V FATE GEN THREADS CPUFLAGS SAMPLES
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
jobs=${jobs#-j}
PKG_CONFIG_PATH=$build${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH

# place DIR: all that follows is about the source in DIR/src and the build in DIR/obj
place() {
    dir=$1
    tree=$dir/src
    obj=$dir/obj
    log=$dir/log
    ours=yes # the filter is in it
    mkdir -p "$dir"
}

# Release tarballs that are known, oldest first, with their sha256.
releases='5.1.9 d9b593bb2ba93d4b50f74177e0cdcd41747e708596367deed0c30348a71dd176
7.1.5 de668509caf9e35e3cd162473441fdb29538c6d96ed080292b3cf9e6fc5d558f
8.1.2 464beb5e7bf0c311e68b45ae2f04e9cc2af88851abb4082231742a74d97b524c
9.0.2 8c3850283eb25fa026482078a04051e0be17347b09ef81a0849bec15a96e002e'
pinned=5.1.9 # what is downloaded unless FFMPEG_VERSION says otherwise

say() { printf '%-7s %s\n' FFMPEG "$*"; }
die() {
    echo "ffmpeg: $*" >&2
    exit 1
}

# give_up WHAT: show the end of the log
give_up() {
    echo "ffmpeg: $1 failed; the end of $log:" >&2
    tail -n 30 "$log" >&2
    exit 1
}

# supported VERSION: 5.1 to 9.x
supported() {
    case $1 in
        5.[1-9]*|[6-9].[0-9]*) [ -z "${FFMPEG_VERSION:-}" ] || [ "$1" = "$FFMPEG_VERSION" ] ;;
        *) false ;;
    esac
}

# version_of TARBALL: by its name, ffmpeg-X.Y.Z.tar.xz or ffmpeg_X.Y.Z.orig.tar.xz
version_of() { basename "$1" | sed -n 's/^ffmpeg[-_]\([0-9][0-9.]*[0-9]\)\(\.orig\)*\.tar\.[a-z0-9]*$/\1/p'; }

# check_sum TARBALL: the sha256, if the release is a known one
check_sum() {
    expected=$(echo "$releases" | sed -n "s/^$(version_of "$1") //p")
    [ -n "$expected" ] || return 0
    found=$(sha256sum "$1" | cut -d ' ' -f 1)
    [ "$found" = "$expected" ] || {
        say "$1: expected sha256 $expected, found $found"
        return 1
    }
}

# --- where the source comes from: each sets $origin, or fails

from_src() {
    [ -n "${FFMPEG_SRC:-}" ] || return 1
    [ -e "$FFMPEG_SRC" ] || die "FFMPEG_SRC: $FFMPEG_SRC does not exist"
    origin=$FFMPEG_SRC
    [ -d "$origin" ] || check_sum "$origin" || exit 1
}

from_dist() {
    [ -n "${FFMPEG_DIST:-}" ] || return 1
    [ -d "$FFMPEG_DIST" ] || die "FFMPEG_DIST: $FFMPEG_DIST is not a directory"
    for t in "$FFMPEG_DIST"/ffmpeg[-_]*.tar.*; do
        v=$(version_of "$t")
        [ -n "$v" ] && supported "$v" && echo "$v $t"
    done | sort -t . -k 1,1n -k 2,2n -k 3,3n >"$dir/found"
    origin=$(sed -n '1s/^[^ ]* //p' "$dir/found")
    rm -f "$dir/found"
    [ -n "$origin" ] || {
        say "no tarball of ${FFMPEG_VERSION:-5.1 to 9.x} in $FFMPEG_DIST"
        return 1
    }
    check_sum "$origin"
}

# apt with lists and caches of our own: the system's stay as they are
private_apt() {
    tool=$1
    shift
    "$tool" -qq -o Dir::Etc::sourcelist="$apt/src.list" -o Dir::Etc::sourceparts="$apt/parts" \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" "$@"
}

from_distribution() {
    command -v apt-get >/dev/null 2>&1 || return 1
    apt=$dir/apt
    rm -rf "$apt"
    ask_apt
    status=$?
    rm -rf "$apt"
    return $status
}

ask_apt() {
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts" || exit 1
    for f in /etc/apt/sources.list.d/*.sources; do
        [ -f "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" >"$apt/parts/${f##*/}"
    done
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n 's/^deb /deb-src /p' >"$apt/src.list"
    say "looking for the distribution's source package"
    private_apt apt-get update >>"$log" 2>&1 || return 1
    v=$(private_apt apt-cache showsrc ffmpeg 2>>"$log" | sed -n 's/^Version: \(.*:\)*\([0-9.]*[0-9]\).*/\2/p' |
        sort -t . -k 1,1n -k 2,2n -k 3,3n | tail -n 1)
    supported "$v" || {
        say "the distribution's source is version '$v', which does not do"
        return 1
    }
    (cd "$apt" && private_apt apt-get source --download-only ffmpeg) >>"$log" 2>&1 || return 1
    for t in "$apt"/ffmpeg_*.orig.tar.*; do
        case $t in *.asc) continue ;; esac
        origin=$dir/${t##*/}
        mv "$t" "$origin" || return 1
    done
    [ -f "$origin" ]
}

from_site() {
    v=${FFMPEG_VERSION:-$pinned}
    echo "$releases" | grep -q "^$v " || {
        say "the sha256 of release $v is not known here, so it is not downloaded"
        return 1
    }
    origin=$dir/ffmpeg-$v.tar.xz
    url=https://ffmpeg.org/releases/ffmpeg-$v.tar.xz
    say "downloading $url"
    if command -v curl >/dev/null 2>&1; then
        curl -fsSL --connect-timeout 10 --max-time 300 -o "$origin.part" "$url" >>"$log" 2>&1
    else
        wget -q -T 10 -t 1 -O "$origin.part" "$url" >>"$log" 2>&1
    fi || return 1
    mv "$origin.part" "$origin" && check_sum "$origin"
}

unpack() {
    rm -rf "$tree" "$tree.new" "$obj"
    if [ -d "$origin" ]; then
        cp -R "$origin" "$tree.new" || die "can't copy $origin"
        # what a build inside of that tree may have left
        rm -f "$tree.new/config.h" "$tree.new/config.asm" "$tree.new/ffbuild/config.mak"
    else
        mkdir -p "$tree.new"
        tar -xf "$origin" -C "$tree.new" --strip-components 1 || die "$origin: can't unpack it"
    fi
    mv "$tree.new" "$tree"
}

# --- configure

# newer A B: is A younger than B? No, if B does not exist.
newer() { [ -n "$(find "$1" -newer "$2" 2>/dev/null)" ]; }
has() { grep -q "$1" "$tree/configure"; }
have_pc() { pkg-config --exists "$1" 2>>"$log"; }

options() {
    echo --disable-everything --disable-autodetect --disable-doc --disable-debug --disable-ffplay \
        --disable-network --enable-zlib --enable-libfreetype ${ours:+--enable-libargus} \
        --enable-protocol=file,pipe \
        --enable-demuxer=mov,matroska,avi,mpegts,h264,m4v,mpegvideo,image2,rawvideo,srt,webvtt,ffmetadata \
        --enable-muxer=mov,mp4,matroska,mpegts,null,framemd5,framecrc,image2,rawvideo,srt,webvtt,ffmetadata \
        --enable-parser=h264,mpeg4video,mpegvideo,png,aac \
        --enable-decoder=h264,mpeg4,mpeg2video,mjpeg,png,rawvideo,wrapped_avframe,aac,pcm_s16le \
        --enable-decoder=subrip,webvtt,movtext,ccaption \
        --enable-encoder=mpeg4,mpeg2video,png,rawvideo,wrapped_avframe,pcm_s16le,subrip,webvtt,movtext \
        --enable-bsf=h264_mp4toannexb,h264_metadata,extract_extradata \
        --enable-indev=lavfi \
        --enable-filter=${ours:+argus,}null,copy,scale,format,fps,trim,setpts,settb,select,split,concat,overlay,realtime
    echo \
        --enable-filter=color,nullsrc,testsrc,testsrc2,smptebars,movie,nullsink,drawtext,drawbox \
        --enable-filter=metadata,sidedata,showinfo,sendcmd,setsar,setfield,setparams,bwdif,transpose,hflip,vflip
    # drawtext asks for HarfBuzz from 6.1 on
    if has '^drawtext_filter_deps=.*harfbuzz'; then echo --enable-libharfbuzz; fi
    if have_pc x264; then echo --enable-gpl --enable-libx264 --enable-encoder=libx264; fi
    if have_pc x265; then
        echo --enable-gpl --enable-libx265 --enable-encoder=libx265 --enable-decoder=hevc --enable-parser=hevc \
            --enable-demuxer=hevc --enable-bsf=hevc_mp4toannexb
    fi
    command -v nasm >/dev/null 2>&1 || echo --disable-x86asm
}

configure() {
    want="$(options | tr '\n' ' ') $(cat "$build/libargus-uninstalled.pc")"
    if [ -f "$obj/ffbuild/config.mak" ] && [ "$(cat "$obj/options" 2>/dev/null)" = "$want" ] &&
        ! newer "$tree/configure" "$obj/ffbuild/config.mak"; then
        return
    fi
    say "configure"
    mkdir -p "$obj"
    rm -f "$obj/options"
    # shellcheck disable=SC2046 # a list of options
    (cd "$obj" && "$tree/configure" $(options)) >>"$log" 2>&1 || {
        tail -n 15 "$obj/ffbuild/config.log" >>"$log" 2>/dev/null
        give_up configure
    }
    # FFmpeg drops what lacks a library with no more than a warning
    for c in ${ours:+ARGUS_FILTER} DRAWTEXT_FILTER MOVIE_FILTER MPEG4_ENCODER LAVFI_INDEV; do
        grep -q "^CONFIG_$c=yes" "$obj/ffbuild/config.mak" || die "configure left out $c, see $log"
    done
    touch "$obj/ffbuild/config.mak"
    printf '%s\n' "$want" >"$obj/options"
}

# --- build

# Lines of make become a count of files every now and then.
count() {
    awk -v total="$1" '
        /^(CC|X86ASM)\t/ {
            if (++n % 100 == 0) { printf "FFMPEG  %d of about %d files\n", n, total; fflush() }
        }'
}

compile() {
    # FFmpeg's rules do not know the library
    for p in ffmpeg ffprobe; do
        newer "$build/libargus.a" "$obj/$p" && rm -f "$obj/${p}_g" "$obj/$p"
    done
    if make -C "$obj" -q ffmpeg ffprobe >/dev/null 2>&1; then
        say "nothing to do: $dir/ffmpeg"
        return
    fi
    say "building with $jobs jobs (all of it: $log)"
    rm -f "$dir/status"
    {
        make -C "$obj" -j"$jobs" ffmpeg ffprobe 2>&1
        echo $? >"$dir/status"
    } | tee -a "$log" | count 520
    [ "$(cat "$dir/status")" = 0 ] || give_up make
    rm -f "$dir/status"
    ln -sf obj/ffmpeg "$dir/ffmpeg"
    ln -sf obj/ffprobe "$dir/ffprobe"
    say "$("$dir/ffmpeg" -version | sed -n '1s/ Copyright.*//p'): $dir/ffmpeg"
}

# need_library: the filter's library is built
need_library() {
    for f in libargus.a libargus-uninstalled.pc; do
        [ -f "$build/$f" ] || die "$build/$f: expected it, found none; run make first"
    done
}
