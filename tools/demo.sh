#!/bin/sh
# demo.sh BUILD: make a clip, run the mission command on it with the ffmpeg of
# tools/ffmpeg.sh and the embedded model, print the subtitles and the tags of one frame, and
# compare text and times with what Hugging Face gives for this clip (tests/refs/demo.json).
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
[ $# = 1 ] || { echo "usage: demo.sh BUILD" >&2; exit 2; }
build=$(cd "$1" 2>/dev/null && pwd) || { echo "demo: $1: no such directory" >&2; exit 2; }
refs=$src/tests/refs/demo.json
PATH=$build/ffmpeg:$PATH
export PATH

say() { printf '%-7s %s\n' DEMO "$*"; }

# run COMMAND LINE: print it and do it; messages go to a log that is shown on failure
run() {
    printf '\n    $ %s\n\n' "$1"
    sh -c "$1" 2>log || {
        cat log >&2
        echo "demo: the command failed, see above" >&2
        exit 1
    }
}

[ -x "$build/ffmpeg/ffmpeg" ] || { echo "demo: no $build/ffmpeg/ffmpeg; run tools/ffmpeg.sh $1" >&2; exit 2; }
mkdir -p "$build/demo" && cd "$build/demo" || exit 1
# The embedded model, whatever models this machine has.
ARGUS_MODEL=argus-tiny
export ARGUS_MODEL
unset ARGUS_MODEL_PATH

say "clip: 16 s, drawn by ffmpeg: a moving square, SMPTE bars, a word, a test pattern"
"$src/tools/demo-clip.sh" ffmpeg clip.mp4 || exit 1
rm -f c.srt

say "captions with argus-tiny, which knows drawn scenes and test patterns only"
run 'ffmpeg -i clip.mp4 -vf argus=fps=2:window=8:out=c.srt -f null -'
cat c.srt
say "the same as metadata of the frames; here the first one"
run 'ffprobe -v error -f lavfi "movie=clip.mp4,argus=fps=2:window=8" -read_intervals "%+#1" \
          -show_entries frame=pts_time:frame_tags'

# "start", "end" and "text" of each window, in this order, make the subtitles.
awk -F '": ' -v OFS='": ' '
    function time(s, ms) {
        ms = int(s * 1000 + 0.5)
        return sprintf("%02d:%02d:%02d,%03d", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000)
    }
    { gsub(/,$/, "", $2) }
    /"start": / { start = $2 }
    /"end": / { end = $2 }
    /"text": / {
        gsub(/^" *|"$/, "", $2)
        printf "%d\n%s --> %s\n%s\n\n", ++n, time(start), time(end), $2
    }' "$refs" >expected.srt
echo
if ! diff -u expected.srt c.srt; then
    echo "demo: the captions differ from Hugging Face's ($refs)" >&2
    exit 1
fi
say "all captions equal those of Hugging Face transformers for this clip"
