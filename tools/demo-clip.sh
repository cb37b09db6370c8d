#!/bin/sh
# demo-clip.sh FFMPEG CLIP: make the demo's clip, 16 s of what argus-tiny knows, at 25 fps
# and 320x240, 4 s each: a red square that moves to the right, SMPTE bars, a word, a test
# pattern. FONT=FILE: a TrueType font for the word, DejaVu Sans by default.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -eu
[ $# = 2 ] || { echo "usage: demo-clip.sh FFMPEG CLIP" >&2; exit 2; }
ffmpeg=$1 clip=$2
font=${FONT:-/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf}
[ -f "$font" ] || {
    echo "demo-clip: $font: no such font; install fonts-dejavu-core or set FONT" >&2
    exit 1
}

size=s=320x240:r=25:d=4
# mpeg4 at a fine quantiser: an encoder that every FFmpeg has
"$ffmpeg" -nostdin -v error -y -filter_complex "
    color=black:$size [black]; color=red:s=60x60:r=25:d=4 [square];
    [black][square] overlay=x=20+60*t:y=90, setsar=1 [move];
    smptebars=$size, setsar=1 [bars];
    color=navy:$size, drawtext=fontfile=$font:text=HELLO:fontsize=80:fontcolor=white:x=(w-tw)/2:y=(h-th)/2,
        setsar=1 [word];
    testsrc=$size, setsar=1 [pattern];
    [move][bars][word][pattern] concat=n=4, format=yuv420p" \
    -c:v mpeg4 -q:v 2 -threads 1 -flags +bitexact -fflags +bitexact "$clip"
