#!/bin/sh
# filter.sh BUILD TEST: one test of vf_argus in the ffmpeg of tools/ffmpeg.sh. Prints what
# fate-refs/filter-TEST holds. Everything that depends on the machine or on FFmpeg's version
# (addresses, paths, FFmpeg's own messages) is left out; confidences are masked, since their
# last digit depends on the CPU tier.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
[ $# = 2 ] || { echo "usage: filter.sh BUILD TEST" >&2; exit 2; }
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
build=$(cd "$1" && pwd) || exit 2
test=$2
[ -x "$build/ffmpeg/ffmpeg" ] || {
    echo "ffmpeg is not built; tools/ffmpeg.sh does it"
    exit 77
}
PATH=$build/ffmpeg:$PATH
ARGUS_MODEL=argus-tiny
export PATH ARGUS_MODEL
unset ARGUS_MODEL_PATH
dir=$build/tests/fate/filter-$test
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir" || exit 2

# ff ARGS...: ffmpeg with its messages in ./log
ff() {
    ffmpeg -nostdin -hide_banner -nostats -loglevel info -y "$@" 2>log
    rc=$?
    return $rc
}

# play GRAPH ARGS...: ff with a graph as its input
play() {
    graph=$1
    shift
    ff -f lavfi -i "$graph" "$@"
}
pattern=testsrc=s=320x240:r=10

# said: what the filter logged in the last run, without addresses
said() {
    sed -n 's/^\[Parsed_argus_[0-9]* @ [^]]*\] //p' log | grep -v '^Failed to configure' |
        sed "s|$PWD|DIR|g"
}

mask() { sed 's/"confidence": [01]\.[0-9]\{4\}/"confidence": N/'; }

# tags FILE: runs of frames with the same tag in a file of metadata=print
tags() {
    awk '
        function flush() { if (n) printf "%d to %d: %s\n", first, last, value; n = 0 }
        /^frame:/ { split($1, a, ":"); frame = a[2] + 0; next }
        { if (n && ($0 != value || frame != last + 1)) flush()
          if (!n) { first = frame; value = $0 }
          n = 1; last = frame }
        END { flush() }' "$1"
}

# probe FILTERS KEY: the tag of every frame, in runs
probe() {
    play "$1,metadata=print:key=lavfi.argus.$2:file=meta" -f null - || { cat log; return; }
    tags meta
}

# two sizes in one stream, which makes ffmpeg build its filter graph again
two_sizes() {
    play testsrc=s=320x240:r=25:d=3 -c:v mpeg2video -q:v 2 a.ts
    play smptebars=s=176x144:r=25:d=3 -c:v mpeg2video -q:v 2 -output_ts_offset 3 b.ts
    cat a.ts b.ts >ab.ts
}

# refuse WHAT ARGS...: the run fails, says why, ends by itself and soon
refuse() {
    what=$1 time=1000 try=0
    shift
    # once more if the machine was busy
    while [ $time -ge 1000 ] && [ $try -lt 3 ]; do
        begin=$(date +%s%N)
        ff "$@"
        time=$((($(date +%s%N) - begin) / 1000000)) try=$((try + 1))
    done
    # 128 and more: killed by a signal
    if [ "$rc" = 0 ] || [ "$rc" -ge 128 ] && [ "$rc" -lt 160 ]; then how="exit code $rc"; else how=refused; fi
    [ $time -lt 1000 ] || how="$how after $time ms"
    echo "$what: $how"
    said | sed 's/^/    /'
}

# a copy of the model's directory, to be damaged
model_copy() {
    mkdir -p "$1"
    cp "$src"/models/argus-tiny/* "$1"/
}

test_mission() {
    "$src/tools/demo-clip.sh" ffmpeg clip.mp4
    sh -c 'ffmpeg -i clip.mp4 -vf argus=fps=2:window=8:out=c.srt -f null -' 2>log
    echo "exit code $?"
    cat c.srt
}

need_x264() {
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q libx264 && return
    echo "this ffmpeg has no libx264"
    exit 77
}

# starts FILE RATE FPS SECONDS: times of the samples, one to a cue, in a file of json lines, against
# the frames of the rate (N or N/D) at or after each tick; and that the cues tile the time
starts() {
    tr -d '{},' <"$1" | awk -v rate="$2" -v fps="$3" -v end="$4" '
        function ceil(x) { return int(x) + (x > int(x)) }
        # k / fps, up to the next frame, in ms; whole numbers all the way
        function time(frame) { return int((frame * 1000 * d * 2 + n) / (2 * n)) }
        BEGIN {
            split(rate "/1", r, "/"); n = r[1]; d = r[2]
            frames = ceil(end * n / d - 1e-9)
            step = fps == 0 || fps >= n / d ? 0 : fps
            count = step ? 0 : frames
            # tick k / fps is frame k * n / (fps * d)
            while (step && (f = ceil(count * n / (step * d))) < frames) want[count++] = time(f)
            for (k = 0; !step && k < count; k++) want[k] = time(k)
        }
        { start = int($2 * 1000 + 0.5); stop = int($4 * 1000 + 0.5)
          if (NR > count || start != want[NR - 1]) wrong = wrong " " $2
          if (NR > 1 && start != last) gaps++
          if (stop <= start) gaps++
          last = stop
          if (NR <= 17) list = list " " $2 }
        END { printf "%d samples:%s%s\n", NR, list, (NR > 17 ? " ..." : "")
              if (NR != count || wrong != "") printf "expected %d, wrong:%s\n", count, wrong
              if (gaps || last > time(frames)) printf "%d gaps, the end at %d ms\n", gaps, last }'
}

# V4: every rate, every number of samples a second
test_times() {
    for rate in 30 25 30000/1001; do
        for fps in 1 2 5 10 30 0; do
            play testsrc=s=64x64:r=$rate:d=1.6 -vf "argus=fps=$fps:window=1:out=t.jsonl" -f null -
            printf '%s fps=%s: ' $rate $fps
            starts t.jsonl $rate $fps 1.6
        done
    done
    echo "an hour"
    play color=red:s=16x16:r=30000/1001:d=3600 -vf "argus=window=1:out=t.jsonl" -f null -
    starts t.jsonl 30000/1001 1 3600
    tail -n 1 t.jsonl | sed 's/, "text.*//'
}

# V7, V9, V10: the rest at the end; below zero; as the frames have them
test_clock() {
    echo "7.3 s, windows of 5 s"
    play testsrc=s=64x64:r=10:d=7.3 -vf argus=fps=1:window=5:out=-:format=txt -f null -
    echo "from -0.5 s"
    play testsrc=s=64x64:r=10:d=3 -vf "setpts=PTS-0.5/TB,argus=fps=2:window=2:out='a.srt|a.jsonl'" -f null -
    sed -n '/-->/p' a.srt
    sed 's/, "text.*//' a.jsonl
    echo "a cue wholly below zero"
    play testsrc=s=64x64:r=10:d=3 -vf "setpts=PTS-1.5/TB,argus=fps=2:window=2:out='a.srt|a.jsonl'" -f null -
    sed -n '/-->/p' a.srt
    sed 's/, "text.*//' a.jsonl
    echo "a file that begins at 10 s or later"
    play testsrc=s=64x64:r=25:d=3 -c:v mpeg2video -muxdelay 0 -muxpreload 0 -output_ts_offset 10 off.ts
    for how in "" -copyts "-ss 1" "-ss 1 -copyts" "-t 2"; do
        # shellcheck disable=SC2086 # a list of options
        ff $how -i off.ts -vf argus=fps=2:window=3:out=a.jsonl -f null -
        echo "${how:-plain}: $(sed 's/, "text.*//; s/.*"start": //; s/, "end":/ to/' a.jsonl | tr '\n' ' ')"
    done
    ff -i off.ts -ss 1 -vf argus=fps=2:window=3:out=a.jsonl -f null -
    echo "-ss after -i: $(sed 's/, "text.*//; s/.*"start": //; s/, "end":/ to/' a.jsonl | tr '\n' ' ')"
}

# V1, V3, V4, V5
test_sampling() {
    echo "48 frames at 30 fps"
    for fps in 1 2 5 10 30 0; do
        play testsrc=s=64x64:r=30:d=1.6 -vf "argus=fps=$fps:attach=none:stats=1" -f null -
        echo "fps=$fps: $(said | sed -n 's/^\(samples [0-9]*, captions [0-9]*\) .*/\1/p')"
    done
    echo "30000/1001 fps, samples at or after 0, 1, 2 s"
    play testsrc=s=64x64:r=30000/1001:d=3 -vf "argus=window=1:out=-:format=txt" -f null -
    echo "25 fps, 2 to 7 s missing, then every 5th frame"
    play testsrc=s=64x64:r=25:d=9 -f null \
        -vf "select='lt(t,2)+gt(t,7)*not(mod(n,5))',argus=window=1:out=-:format=txt" -
    echo "1 fps asked for 5"
    play testsrc=s=64x64:r=1:d=3 -vf "argus=fps=5:window=1:out=-:format=txt" -f null -
    echo "one frame"
    play testsrc=s=64x64:r=1:d=1 -vf "argus=out=-" -f null -
}

test_out() {
    play "$pattern:d=5" -vf "argus=fps=2:window=4:out='a.srt|b.json|c.vtt|d.jsonl|e.txt|f.ffmeta'" -f null -
    echo "exit code $rc"
    for f in a.srt b.json c.vtt d.jsonl e.txt f.ffmeta; do
        echo "--- $f"
        mask <$f
    done
    echo "--- read back by ffmpeg"
    ff -i a.srt -f srt back.srt && cmp a.srt back.srt && echo equal
}

# F9: standard output has the captions and nothing else, standard error the log and no caption; two
# formats can't share it; what is written elsewhere is whole
test_stdout() {
    ffmpeg -nostdin -nostats -y -f lavfi -i "$pattern:d=4" -vf argus=fps=2:window=4:out=-:stats=1 \
        -c:v mpeg4 out.mkv >text 2>log
    echo "exit code $?"
    cat text
    grep -c 'samples 8, captions 2' log
    grep -c -- '-->' log
    echo "frames: $(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 out.mkv)"
    echo "media on standard output, captions elsewhere"
    ffmpeg -nostdin -nostats -f lavfi -i "$pattern:d=4" -vf argus=fps=2:window=4:out=c.srt -c:v mpeg4 \
        -f matroska - 2>log >out.mkv
    cmp text c.srt && echo "the same captions"
    echo "frames: $(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 out.mkv)"
    grep -q 'no media' "$src/doc/ffmpeg.md" && echo documented
}

# F12: help needs no model, and has the options that the documents have; options are checked first
test_help() {
    ARGUS_MODEL=none ffmpeg -hide_banner -h filter=argus >help 2>log
    echo "exit code $?"
    sed -n 's/^   *\([a-z_]*\)  *<[a-z0-9]*> .*/\1/p' help | grep -vx enable | sort >named
    # shellcheck disable=SC2016 # backquotes of the document
    sed -n '/^## Options/,/^## /s/^| \(`.*`\) | .*/\1/p' "$src/doc/ffmpeg.md" | sed 's/ |.*//' |
        tr -d '`' | tr ' ' '\n' | grep -vx threads | sort >told
    diff named told && echo "all in doc/ffmpeg.md, and no other"
    sed -n 's/^@item \([a-z_]*\).*/\1/p' "$src/avfilter-patch/argus.texi" | grep -vE '^lavfi' >texi
    sort -u texi | comm -23 named - | sed 's/$/ is not in argus.texi/'
    for o in format=doc out=a.doc top_p=0 hop=9; do
        play "$pattern:d=1" -vf argus=model=./none:$o -f null -
        said
    done
}

# F4: such a link can be configured without a device, only not run
test_hardware() {
    for format in vaapi cuda; do
        ff -filter_complex nullsrc=s=320x240:d=1,format=$format,argus -f null -
        [ "$rc" != 0 ] && echo "$format: refused"
        said | sort -u
    done
    grep -o 'hwdownload,format=nv12' "$src/doc/ffmpeg.md"
}

# two in one graph know nothing of each other: model and prompt, windows, files
test_instances() {
    play "testsrc=s=320x240:r=10:d=4" -lavfi "split[a][b];
        [a]argus=fps=2:window=4:out=a.txt:attach=window,metadata=print:key=lavfi.argus.window:file=a.meta[x];
        [b]argus=fps=1:window=1:prompt='What is written in this image?':out=b.txt[y]" \
        -map '[x]' -f framemd5 x -map '[y]' -f framemd5 y
    echo "exit code $rc"
    cat a.txt b.txt
    tags a.meta
    cmp x y && echo "the same frames"
    echo "one after the other"
    probe "smptebars=s=320x240:r=10:d=4,argus=fps=2:window=4:out=c.txt,argus=fps=2:window=2:sei=0" window
    cat c.txt
    echo "one file by two names"
    refuse "in one filter" -f lavfi -i "$pattern:d=1" -vf "argus=out='d.txt|./d.txt'" -f null -
    refuse "in two" -f lavfi -i "$pattern:d=1" -vf "argus=out=e.txt,argus=out=./e.txt" -f null -
}

# one output that can't be written: said once, the others are completed
test_full() {
    play "$pattern:d=8" -vf "argus=fps=2:window=4:format=srt:out='a.srt|/dev/full|b.srt'" -f null -
    [ "$rc" != 0 ] && echo refused
    said
    cat a.srt
    cmp a.srt b.srt && echo "the same in both"
}

# the examples of doc/ffmpeg.md that are not tested elsewhere
test_recipes() {
    play "$pattern:d=4" -c:v mpeg4 -q:v 2 in.mp4
    echo "transcode"
    ff -i in.mp4 -vf "argus=fps=2:window=4:out=c.srt|c.json" -c:v mpeg4 out.mp4
    cat c.srt
    echo "frames: $(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 out.mp4)"
    echo "chapters"
    ff -i in.mp4 -vf argus=fps=2:window=4:out=ch.ffmeta -f null -
    ff -i in.mp4 -i ch.ffmeta -map 0 -map_chapters 1 -c copy chapters.mp4
    ffprobe -v error -show_entries chapter=start_time,end_time:chapter_tags=title -of compact=p=0 chapters.mp4
    echo "subtitles in the file"
    "$src/tools/demo-clip.sh" ffmpeg clip.mp4
    play "movie=clip.mp4,argus=fps=2:window=8:cc=1[out+subcc]" -map 0:v -map 0:s -c:v mpeg4 -c:s mov_text out.mp4
    ffprobe -v error -show_entries stream=codec_name,codec_type -of csv=p=0 out.mp4
    ff -i out.mp4 -map 0:s sub.vtt
    sed -n '3,$p' sub.vtt
    echo "container tags"
    text=$(ffmpeg -v error -i in.mp4 -vf argus=fps=2:window=4:out=-:format=txt -f null -)
    ff -i in.mp4 -c copy -metadata comment="$text" tags.mp4
    ffprobe -v error -show_entries format_tags=comment -of default=nk=1:nw=1 tags.mp4
    echo "burnt in"
    font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
    text="drawtext=fontfile=$font:text='%{metadata\\:lavfi.argus.caption}':x=8:y=h-th-8:fontcolor=white"
    ff -i in.mp4 -vf "argus=fps=2:window=4,$text:box=1:boxcolor=black" -f framemd5 burnt
    ff -i in.mp4 -f framemd5 plain
    echo "frames: $(grep -vc '#' burnt), like the input: $(cat burnt plain | grep -v '#' | sort | uniq -d | wc -l)"
    echo "question, json lines"
    ff -i in.mp4 -vf "argus=prompt='What is written in this image?':fps=1:window=1:out=-:format=jsonl" -f null - |
        grep -c '"prompt": "What is written in this image?"'
}

# T13: no frame, no call of the model, no cue, one warning
test_empty() {
    play "$pattern:d=1" -vf "argus=enable=0:stats=1" -f null -
    said | grep -v '^ms:'
    play "$pattern:d=5,trim=end_frame=0" -vf "argus=out='a.srt|b.json|c.vtt|d.jsonl|e.txt|f.ffmeta'" -f null -
    echo "exit code $rc"
    said
    for f in a.srt b.json c.vtt d.jsonl e.txt f.ffmeta; do
        echo "--- $f"
        cat $f
    done
}

test_options() {
    src8="$pattern:d=4"
    echo "hop" && play "$src8" -vf argus=fps=2:window=4:hop=2:out=-:format=txt -f null -
    echo "max_frames" && play "$src8" -vf argus=fps=2:window=4:max_frames=6:out=-:format=txt -f null -
    echo "offset" && play "$src8" -vf argus=fps=2:window=4:offset=-1.5:out=-:format=txt -f null -
    echo "max_tokens" && play "$src8" -vf argus=fps=2:max_tokens=3:out=-:format=txt -f null -
    echo "stop" && play "$src8" -vf "argus=fps=2:stop='pattern|counter':out=-:format=txt" -f null -
    echo "prompt" && play "color=red:s=320x240:r=10:d=2" \
        -vf "argus=prompt='Describe this image in one sentence.':fps=2:window=1:merge=1:out=-:format=txt" -f null -
    echo "prompt_file, choices"
    echo "What colour is the background?" >question
    probe "color=red:s=320x240:r=10:d=2,argus=prompt_file=question:choices='Blue.|Red.|Green.':fps=2" answer
    echo "merge, wrap" && play "$src8" -vf argus=fps=2:window=2:merge=1:wrap=20:lines=2:out=- -f null -
    echo "split" && play "testsrc=s=128x128:r=10:d=1" -vf argus=split=1:window=1:stats=1:out=-:format=txt -f null -
    said | sed -n 's/.*\(tiles [0-9]*\).*/\1/p'
    echo "precision" && play "color=red:s=320x240:r=10:d=2" -vf "argus=precision=q8:choices='\
A solid red frame.|A solid green frame.':fps=2:window=1:merge=1:out=-:format=txt" -f null -
    echo "reuse" && for reuse in 1 0; do
        play "smptebars=s=320x240:r=10:d=4" -vf argus=fps=2:window=4:stats=1:reuse=$reuse:out=-:format=txt -f null -
        said | sed -n 's/^samples/reuse='$reuse': samples/p'
    done
    echo "sar, split: tiles of 64x128 pixels twice as wide as high" && for sar in square ignore; do
        play "testsrc=s=64x128:r=10:d=1,setsar=2" -vf argus=split=1:window=1:stats=1:sar=$sar:attach=none -f null -
        echo "sar=$sar: $(said | sed -n 's/.*\(tiles [0-9]*\).*/\1/p')"
    done
    play "$src8" -vf argus=fps=2:out=-:format=jsonl -f null - | sed 's/, "confidence.*//' >greedy
    echo "sampling" && for threads in 1 3; do
        play "$src8" -vf "argus=fps=2:temperature=9:top_k=500:top_p=0.99:seed=7:threads=$threads:out=t$threads.jsonl" \
            -f null -
    done
    cmp t1.jsonl t3.jsonl && echo "1 and 3 threads: equal"
    sed -n 's/.*"decode": "\([^"]*\)".*/\1/p' t1.jsonl
    sed 's/, "confidence.*//' t1.jsonl | cmp -s - greedy || echo "differs from greedy"
    echo "repetition_penalty"
    play "$src8" -vf argus=repetition_penalty=9:fps=2:out=-:format=jsonl -f null - | sed 's/, "confidence.*//' |
        cmp -s - greedy || echo "differs from greedy"
    echo "system" && for system in '' 'Be brief.'; do
        play "$src8" -vf "argus=system='$system':fps=2:stats=1:attach=none" -f null -
        said | sed -n 's/.*\(prompt tokens [0-9]*\).*/\1/p'
    done
}

# ten minutes, every second sample equal to the one before: it costs no tile
test_repeats() {
    for reuse in 1 0; do
        play "testsrc=s=160x120:r=1:d=600,fps=2" \
            -vf "argus=fps=2:window=8:max_tokens=16:stats=1:reuse=$reuse:out=$reuse.srt" -f null -
        said | sed -n 's/^samples/reuse='$reuse': samples/p'
    done
    cmp 1.srt 0.srt && echo "$(grep -c -e '-->' 1.srt) cues: equal"
    tail -n 4 1.srt
}

# frames come faster than the model takes them
test_live() {
    live="argus=fps=0:window=4:split=1:live=1:threads=1"
    play "$pattern:d=20" -vf "$live:out=a.jsonl,metadata=print:file=meta" -f framemd5 live
    echo "exit code $rc"
    said | grep -v 'after the last frame' >said
    play "$pattern:d=20" -f framemd5 plain
    cmp live plain && echo "frames: equal"
    sed 's/[0-9][0-9]* of 200/N of 200/' said
    left=$(sed -n 's/^live: \([0-9]*\) of.*/\1/p' said)
    seen=$(sed -n 's/.*"frames": \([0-9]*\).*/\1/p' a.jsonl | awk '{ n += $1 } END { print n + 0 }')
    [ "${left:-0}" -gt 0 ] && echo "samples were left out"
    [ $((${left:-0} + seen)) = 200 ] && echo "the others are in the captions"
    # each caption but the last on one frame, none of them held
    echo "tags: $(($(grep -c 'argus.caption=' meta) <= $(grep -c . a.jsonl)))"
    # captions reach frames: one each, the first that leaves when they are known
    play "$pattern:d=4,realtime" \
        -vf "argus=fps=2:window=2:live=1,metadata=print:key=lavfi.argus.start:file=meta" -f null -
    tags meta >runs
    awk '$1 ":" != $3 { bad = 1 } END { exit !(NR && !bad) }' runs && echo "in real time: tags on single frames"
    echo "live, window"
    play "$pattern:d=20" -vf "$live:attach=window" -f framemd5 live
    cmp live plain && echo "frames: equal"
    # a caption that comes after the filter was disabled still finds its frames
    echo "disabled meanwhile"
    probe "$pattern:d=2,argus=fps=2:window=2:live=1:attach=window:enable='lt(t,0.95)'" start
}

test_timeline() {
    probe "$pattern:d=10,argus=fps=2:window=4:enable='between(t,2,4.5)+gte(t,8)'" start
    echo "backwards"
    play "$pattern:d=6,setpts='if(lt(N,30),PTS,PTS-2/TB)'" -vf argus=fps=2:window=4:out=-:format=txt -f null -
    said
}

# V8
test_nopts() {
    probe "$pattern:d=4,setpts=NAN,argus=fps=2:window=4" window
    ! said | grep -q 'no frame rate' || {
        echo "setpts of this FFmpeg forgets the frame rate"
        exit 77
    }
    said
}

test_command() {
    echo "2.5 argus prompt 'What is written in this image?';" >cmd
    play "$pattern:d=6" -vf "sendcmd=f=cmd,argus=fps=2:window=4:out='a.txt|a.json|a.jsonl'" -f null -
    echo "exit code $rc"
    cat a.txt
    sed -n 's/.*\("prompt": [^,}]*\).*/\1/p' a.json a.jsonl
}

# V15, V16
test_warnings() {
    for f in setfield=tff setparams=color_trc=smpte2084 setparams=color_trc=arib-std-b67; do
        play "$pattern:d=2" -vf $f,argus=attach=none -f null -
        echo "$f: exit code $rc"
        said
    done
}

# F1: another size in mid-stream
test_reinit() {
    two_sizes
    echo "graph built again"
    ff -i ab.ts -vf "argus=fps=2:window=4:out='s.srt|s.json'" -f null -
    echo "exit code $rc"
    cat s.srt
    grep -c '"text"' s.json
    echo "windows $(sed -n '/"text"/s/.*"window": \([0-9]*\).*/\1/p' s.json | tr '\n' ' ')"
    tail -n 1 s.json
    echo "size change inside the graph"
    ff -reinit_filter 0 -i ab.ts -vf "argus=fps=2:window=4:out=s.srt" -f null -
    echo "exit code $rc"
    cat s.srt
    echo "frames held back"
    ff -i ab.ts -vf argus=fps=2:window=4 -f framemd5 frames
    grep -vc '#' frames
    said
}

# V20: told to stop
test_stop() {
    for signal in INT TERM; do
        # longer than it ever takes, if nobody interrupts
        ffmpeg -nostdin -nostats -y -re -f lavfi -i "$pattern:d=60" \
            -vf "argus=fps=5:window=2:out='s.srt|s.json'" -f null - 2>log &
        pid=$!
        n=0
        while [ $n -lt 200 ] && ! grep -q '^3$' s.srt 2>/dev/null; do sleep 0.1; n=$((n + 1)); done
        kill -$signal $pid
        wait $pid
        echo "SIG$signal: $([ $n -lt 200 ] && echo "cues while it runs" || echo "no cues")"
        [ "$(grep -c -- '-->' s.srt)" = "$(grep -c '"text"' s.json)" ] && echo "as many cues as segments"
        [ "$(tail -n 1 s.json)" = "}" ] && [ -z "$(tail -n 1 s.srt)" ] && echo "files are complete"
        rm -f s.srt s.json
    done
}

# F10, D8, M1, M7: a cause and a place
test_errors() {
    in="-f lavfi -i $pattern:d=2"
    # shellcheck disable=SC2086 # a list of options
    {
        refuse "no such directory" $in -vf argus=model=./none -f null -
        refuse "no such name" $in -vf argus=model=no-such-model -f null - |
            sed 's/one of: .*/one of: .../'
        model_copy lfs
        printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 5109744\n' 0 >lfs/model.safetensors
        refuse "LFS pointer" $in -vf argus=model=lfs -f null -
        model_copy short
        size=$(wc -c <short/model.safetensors)
        head -c $((size - 1)) "$src/models/argus-tiny/model.safetensors" >short/model.safetensors
        refuse "weights cut by a byte" $in -vf argus=model=short -f null -
        head -c $((size / 2)) "$src/models/argus-tiny/model.safetensors" >short/model.safetensors
        refuse "weights cut by half" $in -vf argus=model=short -f null -
        refuse "window beyond the context" $in -vf argus=window=1000 -f null -
        refuse "out in no directory" $in -vf argus=out=none/a.srt -f null -
        refuse "disk full at the first cue" $in -vf argus=out=/dev/full:format=srt -f null -
        refuse "disk full at once" $in -vf argus=out=/dev/full:format=vtt -f null -
        refuse "prompt twice" $in -vf argus=prompt=a:prompt_file=b -f null -
        refuse "no prompt file" $in -vf argus=prompt_file=none -f null -
        refuse "out twice in one filter" $in -vf "argus=out='a.srt|a.srt'" -f null -
        refuse "out twice in one graph" $in -vf "argus=out=a.srt,argus=out=a.srt" -f null -
        refuse "unknown extension" $in -vf argus=out=a.doc -f null -
        refuse "unknown format" $in -vf argus=format=doc -f null -
        refuse "sampling without a seed" $in -vf argus=temperature=0.5 -f null -
        refuse "top_p=0" $in -vf argus=top_p=0:seed=1 -f null -
        refuse "hop beyond window" $in -vf argus=hop=9 -f null -
        refuse "threads=65" $in -vf argus=threads=65 -f null -
    }
    echo "the model comes before the outputs:"
    echo kept >a.srt
    # shellcheck disable=SC2086 # a list of options
    refuse "no such directory" $in -vf argus=model=./none:out=a.srt -f null -
    cat a.srt
}

# the patch that is shipped is what went into the tree
test_patch() {
    tree=$build/ffmpeg/src
    version=$(sed 's/^\([0-9]*\.[0-9]*\).*/\1/' "$tree/RELEASE")
    patch=$src/avfilter-patch/ffmpeg-$version.patch
    [ -f "$patch" ] || {
        echo "no patch is shipped for FFmpeg $version"
        exit 77
    }
    # not as a part of the repository that the build directory may lie in
    (cd "$tree" && GIT_CEILING_DIRECTORIES=$build/ffmpeg git apply -R --check "$patch") && echo "up to date"
}

. "$src/tests/fate/filter_video.sh"
case $test in
    *[!a-z]*) echo "filter.sh: no test '$test'" >&2; exit 2 ;;
esac
# what is wrong shows in the text; only a test that is not there fails by its code
"test_$test" || [ $? -lt 126 ]
