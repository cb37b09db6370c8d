# shellcheck shell=sh disable=SC2154 # variables of filter.sh
# filter_video.sh: the tests of vf_argus about frames and streams: that they pass untouched, what
# the model sees of them, the captions that they carry. Read by filter.sh, which has the helpers.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

# the mission with its video kept: the same cues in the file and, as SEI messages, in the video
test_transcode() {
    need_x264
    "$src/tools/demo-clip.sh" ffmpeg clip.mp4
    ff -i clip.mp4 -vf "argus=fps=2:window=8:out=c.srt|c.jsonl:attach=window" -c:v libx264 -udu_sei 1 out.mp4
    echo "exit code $rc"
    cat c.srt
    for f in clip.mp4 out.mp4; do
        ffprobe -v error -count_frames -of csv=p=0 -show_entries stream=width,height,nb_read_frames $f
    done
    ff -i out.mp4 -vf showinfo -f null -
    messages
    sed 's/, "version".*/ }/' c.jsonl >said
    messages cat | sed 's/^[0-9]*: //' | cmp - said && echo "the same as in the file"
    # one more is x264's own
    echo "by ffprobe: $(ffprobe -v error -show_frames -of flat out.mp4 | grep -c 'User Data Unregistered') messages"
}

# ffprobe as JSON: the frames of each span, each with a time inside of it
test_json() {
    "$src/tools/demo-clip.sh" ffmpeg clip.mp4
    ffprobe -v error -f lavfi "movie=clip.mp4,argus=fps=2:window=8" -show_frames -of json >frames.json
    echo "exit code $?"
    awk -F '"' '
        function flush() { if (n) print n " frames: " value; n = 0 }
        $2 == "media_type" { frames++; time = start = end = caption = "" }
        $2 == "pts_time" { time = $4 }
        $2 == "lavfi.argus.start" { start = $4 }
        $2 == "lavfi.argus.end" { end = $4 }
        $2 == "lavfi.argus.caption" { caption = $4 }
        # the end of a frame
        /^        \}/ {
            if (start == "" || time + 0 < start + 0 || time + 0 >= end + 0) print time " is outside"
            if (value != start " to " end ": " caption) flush()
            value = start " to " end ": " caption
            n++
        }
        END { flush(); print frames " frames" }' frames.json
}

# burnt in by drawtext: the frames are those where drawtext was told the text and the times
test_burnt() {
    "$src/tools/demo-clip.sh" ffmpeg clip.mp4
    style=fontfile=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:x=8:y=h-th-8:fontcolor=white:box=1:boxcolor=black
    ff -i clip.mp4 -vf "argus=fps=2:window=8,drawtext=$style:text='%{metadata\\:lavfi.argus.caption}'" -f framemd5 burnt
    ff -i clip.mp4 -vf "drawtext=$style:text=A red square moves to the right.:enable=lt(t\,4)
        ,drawtext=$style:text=SMPTE colour bars.:enable=gte(t\,4)*lt(t\,8)
        ,drawtext=$style:text=The text reads HELLO.:enable=gte(t\,8)*lt(t\,12)
        ,drawtext=$style:text=A test pattern with a moving counter.:enable=gte(t\,12)" -f framemd5 told
    ff -i clip.mp4 -f framemd5 plain
    grep -vc '#' burnt
    cmp burnt told && echo equal
    cat burnt plain | grep -v '#' | sort | uniq -d | wc -l
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

# V13: the model is as sure about a picture that argus turned as about one that ffmpeg turned.
# 4:4:4, so that chroma has no siting; the matrix is on the first frame only; movie of
# FFmpeg 7.1 forgets the aspect ratio.
confidence() { sed -n '1s/.*\("confidence": [0-9.]*\).*/\1/p'; }

test_rotate() {
    need_x264
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

# messages [cat]: text of argus' SEI messages in the log of showinfo, with the frame's number;
# cat: with the confidence
messages() {
    sed 's/^\[Parsed_showinfo_[0-9]* @ [^]]*\] *//' log | awk '
        function hex(s,  i, c, out) {
            for (i = 1; i < length(s); i += 2) {
                c = (index(digits, substr(s, i, 1)) - 1) * 16 + index(digits, substr(s, i + 1, 1)) - 1
                out = out sprintf("%c", c)
            }
            return out
        }
        BEGIN {
            digits = "0123456789abcdef"
            dense = ours = "5a1c0f3e-8b7d-4e26-9f41-617267757300"
            gsub(/-/, "", dense)
        }
        /^n: *[0-9]/ { frame = $0; sub(/^n: */, "", frame); sub(/ .*/, "", frame) }
        # the name of the side data may stand before it on the line
        /UUID=/ { uuid = $0; sub(/.*UUID=/, "", uuid) }
        !/User Data=[0-9a-f]/ { next }
        { sub(/.*User Data=/, "") }
        uuid == ours { print frame ": " hex($0) }
        # libx265 puts a UUID of its own in front
        uuid != ours && index($0, dense) == 1 { print frame ": " hex(substr($0, 33)) }' | ${1:-mask}
}

# 8 samples of 4K at 2 a second are 1.2 GB; of each window the last frames that fit carry its caption
test_hold() {
    # AddressSanitizer keeps freed memory for a while
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=16
    export ASAN_OPTIONS
    for limit in 128 512; do
        play "testsrc2=s=3840x2160:r=25:d=6,format=yuv420p,argus=fps=2:window=8:hold_limit=$limit:threads=1,
            metadata=print:key=lavfi.argus.window:file=meta" -benchmark -f null -
        # how FFmpeg pads its buffers makes it a frame more or less
        tags meta | awk -v limit=$limit '{
            sub(/:/, "", $3)
            n = $3 - $1 + 1
            fit = int(limit * 1048576 / (3840 * 2160 * 1.5))
            what = n >= fit - 1 && n <= fit + 1 ? "as many frames as fit in " limit " MiB" : n " frames"
            print $4 ": " what ", to " $3 }'
        said
        sed -n 's/^bench: maxrss=\([0-9]*\).*/\1/p' log |
            awk -v limit=$limit '{ print ($1 / 1024 < limit + 400 ? "memory is bounded" : "memory: " $1 " KiB") }'
    done
}

test_sei() {
    for a in window late none window:sei=0; do
        echo "attach=$a"
        play "$pattern:d=5" -vf "argus=fps=2:window=4:attach=$a,showinfo" -f null -
        messages
    done
}

# the messages of the last run are those of sei.mp4, which it wrote, and of the same as TS
come_back() {
    messages cat >before
    ff -i sei.mp4 -c copy sei.ts
    for f in sei.mp4 sei.ts; do
        ff -i $f -vf showinfo -f null -
        messages cat >after
        echo "$f: $(grep -c . after) messages, $(cmp -s before after && echo equal || echo not equal)"
    done
}

# through an encoder with B-frames: the same text on the same frames
test_seicodec() {
    need_x264
    play "$pattern:d=5" -vf argus=fps=2:window=4,showinfo -c:v libx264 -bf 2 -udu_sei 1 sei.mp4
    come_back
    play "$pattern:d=5" -vf argus=fps=2:window=4 -c:v libx264 plain.mp4
    ff -i plain.mp4 -vf showinfo -f null -
    echo "without udu_sei: $(messages | grep -c .)"
}

test_seihevc() {
    ffmpeg -hide_banner -encoders 2>/dev/null | grep -q libx265 || {
        echo "this ffmpeg has no libx265"
        exit 77
    }
    play "$pattern:d=5" -vf argus=fps=2:window=4,showinfo -c:v libx265 -udu_sei 1 \
        -x265-params bframes=2:log-level=error sei.mp4
    come_back
}

# captions FILE: its closed captions as FFmpeg reads them
captions() {
    ff -f lavfi -i "movie=$1[out+subcc]" -map 0:s -c:s webvtt captions.vtt && sed -n '3,$p' captions.vtt
}

test_cc() {
    src6=testsrc=s=320x240:r=25:d=6
    play $src6 -vf argus=fps=2:window=4:cc=1 -c:v mpeg2video -bf 2 -q:v 2 cc.ts
    said
    captions cc.ts >ts.vtt
    cat ts.vtt
    ff -i cc.ts -vf argus=fps=2:window=4:cc=1 -c:v mpeg2video -bf 2 -q:v 2 cc.mp4
    captions cc.mp4 | cmp - ts.vtt && echo "the same in mp4"
    ff -i cc.ts -vf argus=cc=1:enable=0 -c:v mpeg2video -bf 2 -q:v 2 off.mp4
    captions off.mp4 | cmp - ts.vtt && echo "disabled: the input's own"
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
    need_x264
    for f in cc.ts cc.mp4; do
        play testsrc=s=320x240:r=25:d=6 -vf argus=fps=2:window=4:cc=1 -c:v libx264 -bf 2 $f
        echo $f
        captions $f
    done
}
