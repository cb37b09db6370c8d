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

# F3, F6: the frames that come out are those that went in
test_pixels() {
    for format in yuv420p yuv420p10le yuv422p10le yuva420p rgba rgb24 gray p010le; do
        for size in 320x240 161x121; do
            for f in null argus=fps=5:window=2; do
                play testsrc2=s=$size:r=10:d=1 -vf "format=$format,setfield=tff,$f" -f framemd5 "${f%%=*}.md5"
            done
            if [ "$(grep -vc '#' argus.md5)" = 10 ] && cmp -s null.md5 argus.md5; then
                echo "$format $size: 10 frames, equal"
            else
                echo "$format $size: not equal"
            fi
        done
    done
}

# logprobs FILTERS: how sure the model is about each of 10 frames; any other pixel shows
logprobs() {
    ffprobe -v error -f lavfi "testsrc2=s=64x64:r=5:d=2,scale=flags=bitexact,$1,argus=fps=0:window=1" \
        -of compact=p=0 -show_entries frame_tags=lavfi.argus.logprob | grep logprob
}

# what the model sees is what the scale filter makes with these flags and the frame's
# matrix, range and chroma siting
test_convert() {
    exact=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact,format=rgb24
    left=in_h_chr_pos=0:in_v_chr_pos=128:
    for line in "yuv420p $left" "nv12 $left" "yuv420p10le $left" "yuv422p in_h_chr_pos=0:" yuv444p gray rgba pal8 \
        "yuv420p,setparams=colorspace=bt709 ${left}in_color_matrix=bt709:" \
        "yuv420p,setparams=colorspace=bt2020nc ${left}in_color_matrix=bt2020:" \
        "yuv420p,setparams=range=pc ${left}in_range=pc:"; do
        format=${line%% *} siting=
        [ "$line" = "$format" ] || siting=${line#* }
        logprobs "format=$format" >by-argus
        logprobs "format=$format,scale=$siting$exact" >by-scale
        if [ "$(grep -c . by-argus)" = 10 ] && cmp -s by-argus by-scale; then
            echo "$format: equal"
        else
            echo "$format: not equal"
        fi
    done
    logprobs format=yuv420p >by-argus
    logprobs "format=yuv420p,scale=in_h_chr_pos=128:in_v_chr_pos=128:$exact" >by-scale
    cmp -s by-argus by-scale || echo "another chroma siting: not equal"
}

# The model is as sure about a picture that argus turned as about one that ffmpeg turned.
# 4:4:4, so that chroma has no siting; the matrix is on the first frame only; movie of
# FFmpeg 7.1 forgets the aspect ratio.
confidence() { sed -n '1s/.*\("confidence": [0-9.]*\).*/\1/p'; }
test_rotate() {
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q libx264 || {
        echo "this ffmpeg has no libx264"
        exit 77
    }
    options=fps=0:window=1:attach=none:out=-:format=jsonl
    play testsrc2=s=96x64:r=5:d=1,setsar=2 -pix_fmt yuv444p -c:v libx264 plain.mp4
    for way in rotate=90 rotate=180 rotate=270 flip=horizontal flip=vertical \
        rotate=90:flip=horizontal rotate=270:flip=horizontal; do
        ff -i plain.mp4 -c copy -bsf:v h264_metadata=display_orientation=insert:$way turned.mp4
        ff -i turned.mp4 -vf argus=$options -f null - | confidence >by-ffmpeg
        for rotate in 0 1; do
            play movie=turned.mp4,setsar=2,argus=rotate=$rotate:$options -f null - | confidence >by-argus$rotate
        done
        echo "$way: $(grep -c confidence by-ffmpeg) frame," \
            "$(cmp -s by-ffmpeg by-argus1 && echo equal || echo not equal)," \
            "without rotate $(cmp -s by-ffmpeg by-argus0 && echo equal || echo not equal)"
    done
    echo "45 degrees"
    ff -i plain.mp4 -c copy -bsf:v h264_metadata=display_orientation=insert:rotate=45 turned.mp4
    play movie=turned.mp4,argus=rotate=1 -f null -
    said
}

# A2: text, span and count on every frame of the window
test_window() {
    for key in caption start end window frames finish model; do
        probe "$pattern:d=5,argus=fps=2:window=4" $key
    done
    echo "by way of ffprobe"
    ffprobe -v error -f lavfi "$pattern:d=5,argus=fps=2:window=4" -of compact=p=0 \
        -show_entries frame_tags=lavfi.argus.caption | sed '/^$/d; s/|$//' | uniq -c | sed 's/^ *//'
}

# A2, A4: which frames carry a caption; the span is the window's
test_attach() {
    for a in auto window late none; do
        echo "attach=$a"
        probe "$pattern:d=5,argus=fps=2:window=4:attach=$a" window
    done
    echo "attach=auto with out"
    probe "$pattern:d=5,argus=fps=2:window=4:out=a.srt" window
    echo "attach=window with out"
    probe "$pattern:d=5,argus=fps=2:window=4:out=a.srt:attach=window" window
    echo "hold_limit"
    # which frame is the first that fits depends on how FFmpeg pads its buffers
    probe "testsrc=s=640x480:r=25:d=4,format=rgb24,argus=fps=2:window=8:hold_limit=20" window |
        sed 's/^[78][0-9] to/after more than 70 frames, to/'
    said
}

# messages: UUID and text of argus' SEI messages in the log of showinfo, with the frame's number
messages() {
    sed 's/^\[Parsed_showinfo_[0-9]* @ [^]]*\] *//' log | awk '
        function hex(s,  i, c, out) {
            for (i = 1; i < length(s); i += 2) {
                c = (index(digits, substr(s, i, 1)) - 1) * 16 + index(digits, substr(s, i + 1, 1)) - 1
                out = out sprintf("%c", c)
            }
            return out
        }
        BEGIN { digits = "0123456789abcdef" }
        /^n: *[0-9]/ { frame = $0; sub(/^n: */, "", frame); sub(/ .*/, "", frame) }
        # the name of the side data may stand before it on the line
        /UUID=/ { uuid = $0; sub(/.*UUID=/, "", uuid) }
        uuid == "5a1c0f3e-8b7d-4e26-9f41-617267757300" && /User Data=[0-9a-f]/ {
            sub(/.*User Data=/, ""); print frame ": " hex($0)
        }' | mask
}

test_sei() {
    for a in window late none window:sei=0; do
        echo "attach=$a"
        play "$pattern:d=5" -vf "argus=fps=2:window=4:attach=$a,showinfo" -f null -
        messages
    done
}

# through an encoder with B-frames: the same text on the same frames
test_seicodec() {
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q libx264 || {
        echo "this ffmpeg has no libx264"
        exit 77
    }
    play "$pattern:d=5" -vf argus=fps=2:window=4,showinfo -c:v libx264 -bf 2 -udu_sei 1 sei.mp4
    messages >before
    ff -i sei.mp4 -c copy sei.ts
    for f in sei.mp4 sei.ts; do
        ff -i $f -vf showinfo -f null -
        messages >after
        echo "$f: $(grep -c . after) messages, $(cmp -s before after && echo equal || echo not equal)"
    done
    play "$pattern:d=5" -vf argus=fps=2:window=4 -c:v libx264 plain.mp4
    ff -i plain.mp4 -vf showinfo -f null -
    echo "without udu_sei: $(messages | grep -c .)"
}

# captions FILE: its closed captions as FFmpeg reads them
captions() {
    ff -f lavfi -i "movie=$1[out+subcc]" -map 0:s -c:s webvtt captions.vtt && sed -n '3,$p' captions.vtt
}

test_cc() {
    src6=testsrc=s=320x240:r=25:d=6
    play $src6 -vf argus=fps=2:window=4:cc=1 -c:v mpeg2video -bf 2 -q:v 2 cc.ts
    said
    captions cc.ts
    echo "tags and files as without"
    probe "$pattern:d=5,argus=fps=2:window=4:cc=1:out=cc.srt" window
    grep -c -- '-->' cc.srt
    for rate in 10 24 25 30000/1001 30 50 60000/1001 60 120; do
        play testsrc=s=64x64:r=$rate:d=2 -vf argus=window=1:cc=1,showinfo -f null -
        echo "$rate fps: $(grep -c ' pts_time:' log) frames," \
            "$(grep -ci 'side data - .*closed captions.*(3 bytes)' log) with a pair"
    done
    echo "too fast"
    play testsrc=s=64x64:r=25:d=3 -vf argus=fps=2:window=1:cc=1 -f null -
    said
    echo "late"
    play $src6 -vf argus=fps=2:window=4:cc=1:attach=late -c:v mpeg2video late.ts
    said
    captions late.ts
    echo "cleared where nothing follows"
    play testsrc=s=320x240:r=25:d=8 -vf "argus=fps=2:window=4:cc=1:enable='lt(t,2)+gt(t,6)'" -c:v mpeg2video gap.ts
    captions gap.ts
    echo "captions of the input"
    ff -i cc.ts -vf argus=cc=1 -f null -
    said | head -n 1
    echo "a subtitle stream in one command"
    ff -f lavfi -i "$src6,argus=fps=2:window=4:cc=1[out+subcc]" -map 0:v -map 0:s -c:v mpeg4 -c:s mov_text sub.mp4
    ff -i sub.mp4 -map 0:s sub.vtt
    sed -n '3,$p' sub.vtt
}

test_cccodec() {
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q libx264 || {
        echo "this ffmpeg has no libx264"
        exit 77
    }
    for f in cc.ts cc.mp4; do
        play testsrc=s=320x240:r=25:d=6 -vf argus=fps=2:window=4:cc=1 -c:v libx264 -bf 2 $f
        echo $f
        captions $f
    done
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
    play "$pattern:d=6" -vf "sendcmd=f=cmd,argus=fps=2:window=4:out=a.txt" -f null -
    echo "exit code $rc"
    cat a.txt
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

case $test in
    *[!a-z]*) echo "filter.sh: no test '$test'" >&2; exit 2 ;;
esac
# what is wrong shows in the text; only a test that is not there fails by its code
"test_$test" || [ $? -lt 126 ]
