#!/bin/sh
# media.sh BUILD TEST: one test of the argus program with videos and argus-tiny. Prints what
# fate-refs/media-TEST holds. Clips are made by the ffmpeg of tools/ffmpeg.sh; what it has no
# encoder for, by another ffmpeg on the PATH. Captions are compared with those of the filter.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
[ $# = 2 ] || { echo "usage: media.sh BUILD TEST" >&2; exit 2; }
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
build=$(cd "$1" && pwd) || exit 2
test=$2
skip() { echo "$*"; exit 77; }
grep -q '^#define CONFIG_MEDIA 1' "$build/config.h" || skip "the program was built without libavformat"
[ -x "$build/ffmpeg/ffmpeg" ] || skip "ffmpeg is not built; tools/ffmpeg.sh does it"
ARGUS_MODEL=argus-tiny
export ARGUS_MODEL
unset ARGUS_MODEL_PATH
dir=$build/tests/fate/media-$test
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir" || exit 2

argus() { "$build/argus" ${THREADS:+--threads "$THREADS"} ${CPUMASK:+--cpumask "$CPUMASK"} "$@"; }

# ff ARGS...: ffmpeg with its messages in ./log
ff() { "$build/ffmpeg/ffmpeg" -nostdin -hide_banner -nostats -y "$@" 2>log || tail -n 3 log; }
probe() { "$build/ffmpeg/ffprobe" -v error "$@"; }

# show ARGS...: the command, what it prints, its exit code
show() {
    echo "\$ argus $*"
    argus "$@" >out 2>err
    tell $?
}

# tell CODE: ./out, ./err and the exit code; what libav says is left out
tell() {
    cat out
    sed "s|$PWD|DIR|g; s/ ([^()]*)\$//; s|^|    stderr: |" err
    [ "$1" = 0 ] || echo "    exit code $1"
}

mask() { sed 's/"confidence": [01]\.[0-9]\{4\}/"confidence": N/'; }

# demo: the demo's clip, four scenes of 4 s, as demo.mp4
demo() {
    [ -f /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || skip "no DejaVuSans.ttf for the clip"
    "$src/tools/demo-clip.sh" "$build/ffmpeg/ffmpeg" demo.mp4 || exit 1
}

# like_filter CLIP OPTIONS ARGS...: captions of the program are those of the filter with these
# options; pictures too, since the files hold the model's confidence
like_filter() {
    clip=$1 options=$2
    shift 2
    # shellcheck disable=SC2086 # input options of ffmpeg
    ff ${input:-} -i "$clip" -vf "argus=$options:out=by-filter.json" -f null -
    argus "$clip" -o by-argus.json "$@" 2>err
    rc=$?
    cat err
    if [ $rc != 0 ]; then
        echo "$clip: exit code $rc"
    elif cmp -s by-filter.json by-argus.json; then
        echo "$clip $*: $(grep -c '"start"' by-argus.json) cues, equal"
    else
        echo "$clip $*: not equal"
        diff by-filter.json by-argus.json
    fi
}

test_formats() {
    demo
    ff -i demo.mp4 -c copy demo.mkv
    ff -i demo.mp4 -c copy demo.mov
    ff -i demo.mp4 -c:v mpeg2video -q:v 2 demo.ts
    ff -i demo.mp4 -c:v mpeg2video -q:v 2 -f rawvideo demo.m2v
    show demo.mp4 --fps 2 --window 8
    for f in demo.mp4 demo.mkv demo.mov demo.ts demo.m2v; do like_filter $f fps=2:window=8 --fps 2 --window 8; done
}

# codec NAME ENCODER FILE OPTIONS...: an encoder that only another ffmpeg may have
codec() {
    encoder=$1 file=$2
    shift 2
    command -v ffmpeg >/dev/null || skip "no ffmpeg with $encoder"
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " $encoder " || skip "no ffmpeg with $encoder"
    demo
    ffmpeg -nostdin -v error -y -i demo.mp4 -an -c:v "$encoder" "$@" "$file" >log 2>&1 || cat log
    ff -i demo.mp4 -vf argus=fps=2:window=8:out=by-filter.srt -f null -
    argus "$file" --fps 2 --window 8 -o by-argus.srt
    cmp by-filter.srt by-argus.srt &&
        echo "$file: $(grep -c -- '-->' by-argus.srt) cues, those of the filter"
}
test_h264() { codec libx264 h264.mp4 -crf 4 -preset ultrafast; }
test_hevc() { codec libx265 hevc.mkv -crf 4 -preset ultrafast -x265-params log-level=none; }
test_vp9() { codec libvpx-vp9 vp9.webm -crf 4 -b:v 0 -deadline realtime -cpu-used 8; }
test_mjpeg() { codec mjpeg mjpeg.avi -q:v 2; }

# start and end of every cue in milliseconds, from the formats as they are
times_of() {
    case $1 in
        *.srt|*.vtt) sed -n 's/^\([0-9:.,]*\) --> \([0-9:.,]*\)$/\1 \2/p' "$1" | tr ':.,' '   ' |
            awk '{ print (($1 * 60 + $2) * 60 + $3) * 1000 + $4, (($5 * 60 + $6) * 60 + $7) * 1000 + $8 }' ;;
        *.json|*.jsonl)
            sed -n 's/.*"start": \([0-9]*\)\.\([0-9]*\), "end": \([0-9]*\)\.\([0-9]*\),.*/\1 \2 \3 \4/p' "$1" |
            awk '{ print $1 * 1000 + $2, $3 * 1000 + $4 }' ;;
        *.ffmeta) sed -n 's/^\(START\|END\)=//p' "$1" | paste -d ' ' - - ;;
        *.txt) sed 's/^\[ *\([0-9.]*\) - *\([0-9.]*\)\].*/\1 \2/' "$1" | awk '{ print $1 * 1000, $2 * 1000 }' ;;
    esac
}

test_outputs() {
    demo
    argus demo.mp4 --fps 2 -o 'a.srt|b.vtt' -o c.json -o d.jsonl -o 'e.txt|f.ffmeta' -o - >g.srt
    echo "exit code $?"
    for f in a.srt b.vtt c.json d.jsonl e.txt f.ffmeta; do
        echo "--- $f"
        mask <$f
    done
    echo "--- times"
    times_of a.srt
    for f in b.vtt c.json d.jsonl e.txt f.ffmeta; do
        times_of a.srt >want
        times_of $f | cmp - want && echo "$f: equal"
    done
    cmp a.srt g.srt && echo "stdout: srt"
    ff -i a.srt -f srt back.srt && cmp a.srt back.srt && echo "srt: read back"
    ff -i b.vtt -f srt back.srt && cmp a.srt back.srt && echo "vtt: read back"
    ff -i demo.mp4 -i f.ffmeta -map 0 -map_chapters 1 -c copy chapters.mkv
    probe -show_entries chapter=start_time,end_time:chapter_tags=title -of compact=p=0 chapters.mkv
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(open("c.json")); [json.loads(l) for l in open("d.jsonl")]'
    fi
    echo "--- the format by name, on standard output"
    show demo.mp4 --fps 2 --format vtt --max-frames 8
    show demo.mp4 --fps 2 --json --max-frames 8 | mask
    argus demo.mp4 --max-frames 8 --format jsonl -o a.srt && mask <a.srt
}

test_options() {
    demo
    like_filter demo.mp4 hop=3:fps=2 --hop 3 --fps 2
    like_filter demo.mp4 fps=30000/1001:window=50 --fps 30000/1001 --window 50
    like_filter demo.mp4 fps=0.7:window=1 --fps 0.7 --window 1
    like_filter demo.mp4 fps=0:window=20:max_frames=50 --fps 0 --window 20 --max-frames 50
    like_filter demo.mp4 offset=-1.5 --offset -1.5
    like_filter demo.mp4 max_tokens=3 --max-tokens 3
    question="What is written in this image?"
    like_filter demo.mp4 "prompt='$question':window=1" -p "$question" --window 1
    like_filter demo.mp4 "system='Be brief.'" --system "Be brief."
    like_filter demo.mp4 "choices='yes|no'" --choices 'yes|no'
    like_filter demo.mp4 "stop='bars|text'" --stop bars --stop text
    like_filter demo.mp4 seed=7:temperature=3:top_k=50:top_p=0.99 --seed 7 --temperature 3 --top-k 50 --top-p 0.99
    like_filter demo.mp4 repetition_penalty=1.5 --repetition-penalty 1.5
    like_filter demo.mp4 reuse=0:window=2 --reuse off --window 2
    like_filter demo.mp4 split=1:window=1:max_frames=2 --split on --window 1 --max-frames 2
    ff -i demo.mp4 -vf scale=256:512,setsar=3 -c:v mpeg4 -q:v 2 sar.mkv
    like_filter sar.mkv window=2:fps=1/2 --window 2 --fps 1/2
    like_filter sar.mkv window=2:fps=1/2:sar=ignore --window 2 --fps 1/2 --sar ignore
    ff -i demo.mp4 -vf argus=fps=2:window=2:merge=1:wrap=12:lines=2:out=by-filter.srt -f null -
    argus demo.mp4 --fps 2 --window 2 --merge --wrap 12 --lines 2 -o by-argus.srt
    cmp by-filter.srt by-argus.srt && cat by-argus.srt
}

# V10: a container that begins at 11.4 s; V8, V9
test_times() {
    demo
    ff -i demo.mp4 -c:v mpeg2video -q:v 2 -output_ts_offset 10 late.ts
    like_filter late.ts fps=2 --fps 2
    input=-copyts like_filter late.ts fps=2 --fps 2 --copyts
    show late.ts --fps 2
    show late.ts --fps 2 --copyts
    show late.ts --fps 2 --copyts --offset -0:00:11.4
    argus late.ts --fps 2 --offset -1500ms -o a.srt -o a.json
    times_of a.srt | head -n 1
    sed -n 's/.*\("start": [^,]*\),.*/\1/p' a.json | head -n 1
}

# --ss and --to: the same as cutting the whole at these times, in containers with and without
# an index. T13: a part without frames gives a warning and no cue
test_part() {
    demo
    ff -i demo.mp4 -c:v mpeg2video -q:v 2 -g 50 demo.ts
    # in a transport stream ffmpeg's -ss misses frames, here it does not
    input="-ss 5 -to 11" like_filter demo.mp4 fps=2:window=4 --fps 2 --window 4 --ss 5 --to 11
    argus demo.ts --fps 2 --window 4 --ss 5 --to 11 -o part.json
    times_of by-argus.json >times.txt
    times_of part.json | cmp - times.txt && echo "demo.ts: the same times"
    for f in demo.mp4 demo.ts; do
        show $f --fps 2 --window 4 --ss 7.77 --to 0:11
        show $f --fps 2 --window 4 --ss 12 --copyts
        show $f --to 3.5
        show $f --ss 99
    done
    show demo.mp4 --ss 5 --to 5
    show demo.mp4 --ss -1
    show demo.mp4 --to 1:60
}

# V1, V3, V5: variable, low and no frame rates
test_rates() {
    vfr="select='lt(t,2)+gt(t,7)*not(mod(n,5))'"
    ff -f lavfi -i testsrc2=size=64x48:rate=25:duration=10 -vf "$vfr" -vsync vfr -c:v mpeg4 vfr.mkv
    like_filter vfr.mkv fps=1
    like_filter vfr.mkv fps=0 --fps 0
    argus vfr.mkv --window 1 -o vfr.srt && times_of vfr.srt
    ff -f lavfi -i testsrc2=size=64x48:rate=1:duration=3 -c:v mpeg4 slow.mkv
    argus slow.mkv --fps 5 --window 1 -o slow.srt && times_of slow.srt
    ff -f lavfi -i testsrc2=size=64x48:rate=1:duration=1 -c:v mpeg4 one.mkv
    like_filter one.mkv fps=1
    argus one.mkv -o one.srt && times_of one.srt
    ff -f lavfi -i testsrc2=size=64x48:rate=25:duration=7.3 -c:v mpeg4 rest.mp4
    argus rest.mp4 --window 5 -o rest.srt && times_of rest.srt
}

# turned ANGLE CLIP: a matrix that turns it counter-clockwise into turned.mp4, in the way of
# the ffmpeg at hand
turned() {
    if "$build/ffmpeg/ffmpeg" -hide_banner -h long 2>/dev/null | grep -q '^-display_rotation'; then
        ff -display_rotation:v:0 "$1" -i "$2" -c copy turned.mp4
    else
        ff -i "$2" -c copy -metadata:s:v rotate="$1" turned.mp4
    fi
}

# V13: the picture on its side and a matrix that says so. What ffmpeg(1) does about it is what
# the filter sees.
test_rotate() {
    demo
    argus demo.mp4 --fps 2 -o upright.srt
    for line in "90 transpose=clock" "180 hflip,vflip" "270 transpose=cclock"; do
        angle=${line%% *}
        ff -i demo.mp4 -vf "${line#* }" -c:v mpeg4 -q:v 2 side.mp4
        argus side.mp4 --fps 2 -o side.srt
        turned "$angle" side.mp4
        argus turned.mp4 --fps 2 -o turned.srt
        ff -i turned.mp4 -vf argus=fps=2:out=by-filter.srt -f null -
        cmp upright.srt turned.srt && cmp by-filter.srt turned.srt && echo "$angle: upright, as the filter"
        cmp -s upright.srt side.srt && echo "$angle: the captions are the same without the matrix"
    done
    echo "oblong pixels, turned"
    ff -i demo.mp4 -vf "scale=256:512,setsar=8/3,transpose=clock" -c:v mpeg4 -q:v 2 side.mp4
    turned 90 side.mp4
    argus turned.mp4 --fps 2 -o turned.srt
    cmp upright.srt turned.srt && echo "upright"
}

test_streams() {
    ff -f lavfi -i testsrc=s=320x240:r=10:d=3 -f lavfi -i smptebars=s=640x480:r=10:d=3 \
        -frames:v:1 1 -map 0 -map 1 -c:v:0 mpeg4 -q:v 2 -c:v:1 png -disposition:v:1 attached_pic cover.mp4
    echo "an attached picture beside the video, larger"
    show cover.mp4
    echo "nothing but an attached picture"
    ff -i cover.mp4 -map 0:v:1 -c copy -disposition:v:0 attached_pic only.mp4
    show only.mp4
    echo "the larger one of two"
    ff -f lavfi -i testsrc=s=320x240:r=10:d=3 -f lavfi -i smptebars=s=640x480:r=10:d=3 \
        -map 0 -map 1 -c:v mpeg4 -q:v 2 -disposition:v:0 0 -disposition:v:1 0 two.mkv
    show two.mkv
    echo "the default one"
    ff -i two.mkv -map 0 -c copy -disposition:v:0 default -disposition:v:1 0 two-default.mkv
    show two-default.mkv
    echo "sound only"
    printf 'RIFF\044\0\0\0WAVEfmt \020\0\0\0\001\0\001\0\100\037\0\0\200\076\0\0\002\0\020\0data\0\0\0\0' >sound.wav
    show sound.wav
    echo "interlaced, HDR"
    ff -f lavfi -i testsrc=s=320x240:r=10:d=2 -vf setfield=tff -c:v mpeg2video -flags +ilme+ildct -q:v 2 lines.ts
    show lines.ts
    ff -f lavfi -i testsrc=s=320x240:r=10:d=2 -color_trc smpte2084 -c:v mpeg4 -q:v 2 hdr.mkv
    show hdr.mkv
}

# files that end early or have holes: what is there is captioned
test_damaged() {
    demo
    ff -i demo.mp4 -c copy -movflags +faststart front.mp4
    ff -i demo.mp4 -c copy demo.mkv
    ff -i demo.mp4 -c:v mpeg2video -q:v 2 demo.ts
    for f in front.mp4 demo.mkv demo.ts; do
        head -c $(($(wc -c <$f) * 6 / 10)) $f >cut-$f
        argus cut-$f --fps 2 -o cut.srt 2>err
        echo "$f cut: exit code $?"
        sed 's/found [0-9.]* s/found N s/; s/ after [0-9.]* s of video:.*/ after N s/; s/ ([^()]*)$//' err
        head -n 4 cut.srt
        [ -z "$(tail -n 1 cut.srt)" ] && echo "complete"
    done
    head -c 40000 demo.mp4 >no-index.mp4
    show no-index.mp4
    { head -c 60000 demo.ts; head -c 30000 /dev/zero | tr '\0' 'x'; tail -c +90001 demo.ts; } >hole.ts
    argus hole.ts --fps 2 -o hole.srt 2>err
    echo "a hole: exit code $?"
    grep -c -- '-->' hole.srt
    head -c 5000 /dev/zero | tr '\0' 'x' >noise.mp4
    show noise.mp4
    echo "Hello, this is text." >text.mkv
    show text.mkv
    : >empty.mp4
    show empty.mp4
    show nosuch.mp4 nosuch:file.mp4 "nosuch%d.png"
}

# told to stop, or killed: every file holds all cues so far
test_stop() {
    ff -f lavfi -i testsrc=s=320x240:r=25:d=120 -c:v mpeg4 long.mp4
    for signal in INT TERM KILL; do
        # a shell's background jobs begin with SIGINT ignored
        env --default-signal=INT "$build/argus" --threads 1 long.mp4 --fps 0 --window 2 --reuse off \
            -o s.srt -o 's.json|s.vtt|s.jsonl' 2>err &
        pid=$!
        n=0
        while [ $n -lt 300 ] && ! grep -q '^5$' s.srt 2>/dev/null; do sleep 0.1; n=$((n + 1)); done
        kill -$signal $pid
        wait $pid 2>/dev/null
        echo "SIG$signal: exit code $?, $([ $n -lt 300 ] && echo "cues while it runs" || echo "no cues")"
        cat err
        [ "$(tail -n 1 s.json)" = "}" ] && [ -z "$(tail -n 1 s.srt)" ] && [ -z "$(tail -n 1 s.vtt)" ] &&
            echo "files are complete"
        if command -v python3 >/dev/null; then
            python3 -c 'import json; json.load(open("s.json")); [json.loads(l) for l in open("s.jsonl")]'
        fi
        # all have the same cues, but for the one that was being written when it was killed
        times_of s.srt | head -n 4 >want
        for f in s.json s.vtt s.jsonl; do times_of $f | head -n 4 | cmp - want; done
        rm -f s.*
    done
}

test_several() {
    ff -f lavfi -i testsrc=s=320x240:r=10:d=2 -c:v mpeg4 -q:v 2 a.mp4
    mkdir -p sub
    ff -f lavfi -i smptebars=s=320x240:r=10:d=2 -c:v mpeg4 -q:v 2 sub/a.b.mkv
    cp a.mp4 b.mp4
    "$build/tests/gen/mkpictures" . rgb8.png
    show a.mp4 sub/a.b.mkv
    show a.mp4 sub/a.b.mkv --json | mask
    show a.mp4 nosuch.mp4 sub/a.b.mkv -o '%d/%n.srt|%n-100%%.txt'
    for f in a.srt sub/a.b.srt a-100%.txt a.b-100%.txt; do echo "--- $f"; cat "$f"; done
    argus a.mp4 sub/a.b.mkv -o '%n.json|%n.jsonl' && grep -o '"video": "[^"]*"' a.json a.jsonl a.b.json a.b.jsonl
    argus a.mp4 -o a.json -o a.jsonl && grep '"video"' a.json a.jsonl
    show a.mp4 rgb8.png -o x.txt
    echo "--- refused"
    show a.mp4 sub/a.b.mkv -o c.srt
    cp a.mp4 sub/a.mp4
    show a.mp4 sub/a.mp4 -o %n.srt
    show a.mp4 -o 'c.srt|c.srt'
    show a.mp4 -o c.srt -o ./c.srt
    ln -s c.srt link.srt
    show a.mp4 -o link.srt -o c.srt
    show a.mp4 sub/a.b.mkv -o -
    show a.mp4 b.mp4 -o %n.mp4 --format srt
    show a.mp4 b.mp4 -o %x.srt
    show rgb8.png -o c.srt
    show rgb8.png --fps 2 -q
    show --multi a.mp4 rgb8.png
    show --stream a.mp4
    show -p a -p b a.mp4
    ls c.srt %x.srt 2>/dev/null
    cmp a.mp4 b.mp4 && echo "inputs are as they were"
}

# C1: before a model is looked for: values; after it: what can't be opened or written
test_refused() {
    ff -f lavfi -i testsrc=s=320x240:r=10:d=2 -c:v mpeg4 -q:v 2 a.mp4
    for o in fps=x fps=-1 fps=1/0 fps= window=0 window=x hop=9 hop=-1 max-frames=-1 ss=x ss=1:2:3:4 ss=1e3 to=0 \
        offset=1:00ms sar=wide wrap=-1 lines=x reuse=maybe format=doc temperature=1; do
        argus --model nosuch "--$o" a.mp4 >out 2>err
        rc=$?
        echo "--$o"
        tell $rc
    done
    show --model nosuch a.mp4 -o a.doc
    show --model nosuch a.mp4 -o ''
    show --model nosuch a.mp4 -o a.srt --json
    show --alpha white --max-frames 1 a.mp4
    show --lenient --max-frames 1 a.mp4
    echo kept >a.srt
    argus --model nosuch a.mp4 -o a.srt >out 2>&1
    echo "no model: exit code $?, $(cat a.srt)"
    show a.mp4 --window 1000 -o a.srt
    cat a.srt
    show a.mp4 -o none/a.srt -o b.srt
    [ -c /dev/full ] || skip "no /dev/full"
    show a.mp4 -o /dev/full --format srt
    show a.mp4 -o /dev/full --format vtt
    argus a.mp4 -o b.json >out 2>err && argus a.mp4 >/dev/full 2>err
    tell $?
}

# the reader goes away: a quiet end
test_closed() {
    ff -f lavfi -i testsrc=s=320x240:r=10:d=10 -c:v mpeg4 -q:v 2 a.mp4
    { argus a.mp4 --fps 0 --window 1 2>err; echo "exit code $?" >code; } | head -n 1
    cat err code
    { (trap '' PIPE; argus a.mp4 --fps 0 --window 1 -o - -o b.json 2>err; echo "exit code $?" >code); } | head -n 3
    cat err code
    [ "$(tail -n 1 b.json)" = "}" ] && echo "the file is complete"
}

# pictures that are neither JPEG nor PNG
test_stills() {
    ff -f lavfi -i testsrc=s=320x240:r=10:d=0.1 -frames:v 1 -pix_fmt rgb24 a.png
    ff -i a.png -pix_fmt rgb24 -f rawvideo a.rgb
    { printf 'P6\n320 240\n255\n'; cat a.rgb; } >a.ppm
    argus --json a.png | sed 's/a\.png//' >png.json
    argus --json a.ppm | sed 's/a\.ppm//' | cmp - png.json && echo "PPM: as PNG"
    argus --json - <a.ppm | sed 's/(stdin)//' | cmp - png.json && echo "PPM on stdin: as PNG"
    show a.png a.ppm
    head -c 100000 a.ppm >cut.ppm
    show cut.ppm
    # alpha: a BMP with a mask for it, 16x16, the lower half transparent red, the upper half blue
    z4='\0\0\0\0' z16='\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
    # shellcheck disable=SC2059 # the formats are made of pieces
    { printf "BM\172\004\0\0$z4\172\0\0\0\154\0\0\0\020\0\0\0\020\0\0\0\001\0\040\0\003\0\0\0\0\004\0\0$z16"
      printf "\0\0\377\0\0\377\0\0\377\0\0\0\0\0\0\377$z4$z16$z16$z16"
      n=0
      while [ $n -lt 256 ]; do
          if [ $n -lt 128 ]; then printf '\0\0\377\0'; else printf '\377\0\0\377'; fi
          n=$((n + 1))
      done
    } >alpha.bmp
    for how in drop white black; do argus --alpha $how --json --max-tokens 4 alpha.bmp >$how.json; done
    argus --json --max-tokens 4 alpha.bmp | cmp - drop.json && grep -c '"text"' drop.json && echo "drop is the default"
    cmp -s drop.json white.json || echo "white differs"
    cmp -s drop.json black.json || echo "black differs"
    "$build/tests/gen/mkpictures" . bmp.jpg webp.jpg text.jpg html.png
    show bmp.jpg webp.jpg text.jpg html.png
    ff -f lavfi -i testsrc=s=320x240:r=10:d=2 -c:v mpeg4 -q:v 2 a.mp4
    echo "a video on standard input"
    argus - <a.mp4 >out 2>err
    tell $?
    ff -i a.mp4 -c copy a.mkv
    argus pipe:0 --fps 2 <a.mkv >out 2>err
    tell $?
}

# C4: a bar when stderr is a terminal, and only then
test_progress() {
    command -v script >/dev/null || skip "no script program to make a terminal"
    ff -f lavfi -i testsrc=s=320x240:r=25:d=30 -c:v mpeg4 a.mp4
    cmd="'$build/argus' --threads 1 a.mp4 --fps 0 --window 2 --reuse off"
    script -qec "stty cols 100; $cmd -o a.srt" /dev/null </dev/null >seen 2>&1
    line='a\.mp4 \[=*> *\]  *[0-9]*% 0:[0-9]*/0:30, [0-9]* cues*, [0-9.]*x, ETA 0:[0-9]*'
    tr '\r' '\n' <seen | grep -q "^.\[K$line\$" &&
        echo "name, bar, position, cues, speed, time to go"
    tr '\r' '\n' <seen | grep -E ' (1 cues|([02-9]|[0-9]{2,}) cue),'
    tail -c 4 seen | od -An -c | tr -s ' '
    script -qec "$cmd --quiet -o a.srt" /dev/null </dev/null >seen 2>&1
    wc -c <seen
    argus a.mp4 --max-frames 8 -o a.srt 2>&1 | wc -c
}

case $test in
    *[!a-z0-9]*) echo "media.sh: no test '$test'" >&2; exit 2 ;;
esac
"test_$test" || [ $? -lt 126 ]
