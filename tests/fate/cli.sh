#!/bin/sh
# cli.sh BUILD TEST: one test of the argus program with argus-tiny. Prints what
# fate-refs/cli-TEST holds. Confidences are masked, since their last digit depends on the
# kernel tier.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
[ $# = 2 ] || { echo "usage: cli.sh BUILD TEST" >&2; exit 2; }
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
build=$(cd "$1" && pwd) || exit 2
test=$2
refs=$src/tests/refs/argus-tiny
ARGUS_MODEL=argus-tiny
export ARGUS_MODEL
unset ARGUS_MODEL_PATH
dir=$build/tests/fate/cli-$test
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir" || exit 2

argus() { ${TARGET_EXEC:-} "$build/argus" ${THREADS:+--threads "$THREADS"} ${CPUMASK:+--cpumask "$CPUMASK"} "$@"; }

case $(sed -n "s/^#define CONFIG_\(JPEG\|PNG\) //p" "$build/config.h" | tr -d "\n") in
    11) ;;
    *) echo "the program was built without JPEG or PNG"; exit 77 ;;
esac

# pictures NAME...: test pictures into the directory
pictures() { ${TARGET_EXEC:-} "$build/tests/gen/mkpictures" . "$@" || exit 1; }

# image CASE FILE: the picture of a reference case
image() {
    cp "$refs/$(sed -n "/\"name\": \"$1\"/s/.*\"images\": \[\"\([^\"]*\)\"\].*/\1/p" "$refs/refs.json")" "$2"
}

# two pictures that most tests use
two_images() {
    image shapes-07 a.png
    image shapes-11 b.png
}

# show ARGS...: the command, what it prints, its exit code
show() {
    echo "\$ argus $*"
    argus "$@" >out 2>err
    tell $?
}

# tell CODE: ./out, ./err and the exit code
tell() {
    cat out
    sed "s|$PWD|DIR|g; s|found in one of: .*|found in one of: ...|; s|^|    stderr: |" err
    [ "$1" = 0 ] || echo "    exit code $1"
}

mask() { sed 's/"confidence": [01]\.[0-9]\{4\}/"confidence": N/; s/"prob": [01]\.[0-9]\{4\}/"prob": N/'; }

test_help() {
    show --help
    show info -h
    show bench --help
}

test_version() {
    argus --version | sed 's/ [0-9]*\.[0-9]*\.[0-9]*$/ N.N.N/'
}

test_info() {
    show info | grep -E '^(model|path|sha256|parameters|vision|text|note)'
    media=$(sed -n 's/^#define CONFIG_MEDIA //p' "$build/config.h")
    argus info | grep '^reads' | sed 's/;.*//'
    [ "$(argus info | grep -c '^reads .*; videos and other pictures')" = "$media" ] &&
        echo "videos where it was built with libavformat"
    argus info --precision q8 | grep '^precision'
    argus info --cpumask c | grep -o 'c kernels'
}

# cases FAMILY SPLIT: cases of refs.json with one question: pictures, the text, which is
# Hugging Face's, and the question, between tabs.
tab=$(printf '\t')
cases() {
    grep "\"family\": \"$1\", .*\"split\": $2, " "$refs/refs.json" | sed -n "$one_turn" |
        sed "s/${tab}[^${tab}]*\"text\": \"\([^\"]*\)\"}\$/$tab\1/"
}
one_turn='"images": \[\([^]]*\)\].*"messages": \[{"role": "user", "content": \[\([^]]*\)\]}\]'
one_turn="s/.*$one_turn, \"prompt\".*, \"text\": \" *\([^\"]*\)\", \"truth\".*/\1$tab\3$tab\2/p"

# compare ARGS...: cases on stdin, one run of the program each
compare() {
    same=0
    while IFS=$tab read -r images text question; do
        # shellcheck disable=SC2046 # several names without blanks
        found=$(cd "$refs" && argus "$@" -p "$question" $(echo "$images" | tr -d '",') 2>&1)
        if [ "$found" = "$text" ]; then
            same=$((same + 1))
        else
            echo "$images: $question: expected '$text', found '$found'"
        fi
    done
    echo "$same answers are the reference's"
}

test_captions() {
    cases caption true | compare
    cases caption false | head -n 3 | compare --split off
    cases vqa true | compare --split=on
}

# several pictures and one question
test_windows() {
    cases window false | head -n 8 | compare --multi --split off
    two_images
    show --multi a.png nosuch.png
}

test_several() {
    two_images
    image shapes-10 c.png
    show a.png b.png c.png
    show a.png
}

test_prompts() {
    two_images
    show -p "" -p "Can you describe this image?" a.png b.png
    show -p "" -p "Can you describe this image?" a.png
    show --system "Be short." a.png
}

test_json() {
    two_images
    cp a.png 'q"u.png'
    show --json a.png b.png -p "Can you describe this image?" | mask
    show --json 'q"u.png' | mask
    show --json --multi --split off a.png b.png | mask
    show --json --max-tokens 3 a.png | mask
    show --json - <a.png | mask
}

# the same text, in pieces
test_stream() {
    two_images
    show --stream a.png b.png
    show --stream --stop " on" a.png
    show --stream --choices "A red square.|A cyan cross above a yellow square on a gray background." a.png
}

test_stdin() {
    two_images
    show - <a.png
    show - b.png <a.png
    show - </dev/null
    show - - <a.png
}

test_decoding() {
    two_images
    show --max-tokens 3 a.png
    show --stop " yellow" --stop " above" a.png
    show --choices "A red square.|A cyan cross above a yellow square on a gray background." a.png
    show --json --choices "yes|no" -p "Is there a cross?" a.png | mask
    show --precision q8 --choices "A red square.|A cyan cross above a yellow square on a gray background." a.png
    show --max-tokens 9000 a.png
    show --top-k 70000 --seed 1 a.png
    show -p "$(awk 'BEGIN { while (n++ < 9000) printf "a " }')" a.png | tail -n +2
}

# the same seed gives the same text; another thread count does not matter
test_sampling() {
    two_images
    for seed in 1 2; do
        "$build/argus" --temperature 3 --seed $seed --threads 1 a.png b.png >one
        "$build/argus" --temperature 3 --seed $seed --threads 2 a.png b.png >two
        cmp one two && wc -l <one
    done
    "$build/argus" --temperature 3 --seed 1 a.png b.png | cmp -s - one || echo "another seed, another text"
    show --temperature 0.5 a.png
    show --top-k 5 a.png
    show --top-p 0.5 a.png
}

# C1, X1: what can't be read: one line that says why, exit code 1
test_pictures() {
    pictures cut-60.jpg no-eoi.jpg cut-60.png 12-bit.jpg lossless.jpg huge.jpg huge.png height-0.jpg \
        501-scans.jpg empty.jpg bad-crc.png
    for f in *.jpg *.png nosuch.jpg .; do
        argus "$f" >out 2>err
        tell $?
    done
}

test_lenient() {
    pictures cut-60.jpg cut-60.png
    for f in cut-60.jpg cut-60.png; do
        argus --lenient "$f" >out 2>err
        rc=$?
        [ -s out ] && echo "answered" >out
        tell $rc
        argus --lenient --quiet "$f" >/dev/null
    done
}

# P10: laid over white, a picture with alpha is not the one that drops it
test_alpha() {
    pictures rgba8.png
    for how in drop white black; do
        argus --alpha $how --json --max-tokens 4 rgba8.png >"$how.json" || exit 1
    done
    argus --json --max-tokens 4 rgba8.png | cmp - drop.json && echo "drop is the default"
    cmp -s drop.json white.json || echo "white differs"
    cmp -s drop.json black.json || echo "black differs"
}

test_usage() {
    show
    show --nosuch a.png
    show -x a.png
    show --s a.png
    show a.png -p
    show a.png --model
    show --json=1 a.png
    show --json --stream a.png
    show info a.png
    show info --json
}

# values out of range are refused before a model or a picture is looked at
test_values() {
    for o in threads=-1 threads=65 threads=x threads= max-tokens=0 max-tokens=99999999999 \
        split=maybe alpha=grey cpumask=sse precision=int8 top-k=-1 top-p=0 top-p=1.1 temperature=nan temperature=-1 \
        temperature=1e3 repetition-penalty=0 repetition-penalty=inf seed=-1 seed=99999999999999999999 \
        stop= choices=a "choices=a||b" "choices=a|b|a" window=65537 window=99999999999 window=65536 hop=65537; do
        argus --model nosuch "--$o" nosuch.png >out 2>err
        rc=$?
        echo "--$o"
        tell $rc
    done
    show --choices "a|b" --stop x nosuch.png
}

# C1: one bad file among three: the others are done
test_one_bad() {
    two_images
    pictures cut-60.jpg
    show a.png cut-60.jpg b.png
    show --quiet --json a.png cut-60.jpg b.png | mask
}

# the lines; the numbers are the machine's
# C1: answers in files, each there as a whole or not at all.
test_files() {
    two_images
    head -c 200 a.png >cut.png
    for format in txt json jsonl; do
        show a.png -o "%n.$format"
        show a.png b.png -o "%n-two.$format" -p "Describe this image." -p "What is the background color?"
    done
    show --multi a.png b.png -o multi.txt
    for f in *.txt *.json*; do
        echo "$f:"
        mask <"$f"
    done
    rm -f ./*.txt ./*.json*
    show a.png -o - --format json | mask
    show a.png b.png -o both.txt
    show a.png -o a.png --format txt
    show a.png -o a.srt
    ln -s c.txt link.txt
    show a.png -o c.txt -o ./c.txt
    show a.png -o 'c.txt|link.txt'
    show a.png b.png -o c.txt -o "%d/../$(basename "$PWD")/c.txt"
    : >c.txt
    ln c.txt hard.txt
    show a.png -o hard.txt -o link.txt
    wc -c <c.txt
    rm c.txt hard.txt link.txt
    show a.png --stream -o a.txt
    show a.png -o nowhere/a.txt
    show a.png -o /dev/full --format txt
    show cut.png a.png -o "%n.txt"
    ls
}

test_stats() {
    two_images
    argus --stats --quiet --cpumask c a.png b.png >out 2>err
    rc=$?
    sed 's/[0-9.][0-9.]*/N/g; s/  */ /g' err >n && mv n err
    tell $rc
}

# a model's directory, to be damaged
model() {
    rm -rf m
    mkdir m
    cp "$src"/models/argus-tiny/*.json m/
    cp "$src"/models/argus-tiny/model.safetensors m/
    chmod -R u+w m
}

# M1, M7: models that are damaged or not there
test_models() {
    two_images
    weights=m/model.safetensors
    model
    show --model m a.png
    show --model nosuch a.png
    show --model ./nosuch a.png
    show --model a.png a.png
    model
    printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 513028808\n' 0 >$weights
    show --model m a.png
    size=$(wc -c <"$src/models/argus-tiny/model.safetensors")
    for n in $((size - 1)) $((size / 2)) 7 0; do
        head -c $n "$src/models/argus-tiny/model.safetensors" >$weights
        show --model m a.png
    done
    rm $weights
    show --model m a.png
    model
    rm m/config.json
    show --model m a.png
    model
    echo '<!DOCTYPE html>' >m/config.json
    show --model m a.png
    model
    rm m/tokenizer.json
    show --model m a.png
}

# C1: no room for the answer
test_full() {
    [ -c /dev/full ] || { echo "no /dev/full"; exit 77; }
    two_images
    : >out
    argus a.png b.png >/dev/full 2>err
    tell $?
    argus --stream a.png >/dev/full 2>err
    tell $?
    argus --help >/dev/full 2>err
    tell $?
    argus --version >/dev/full 2>err
    tell $?
    argus info >/dev/full 2>err
    tell $?
}

# closed descriptors: no result into a file that was opened in their place
test_closed() {
    two_images
    : >out
    argus a.png >&- 2>err
    tell $?
    argus a.png >out 2>&-
    tell $?
    argus - <&- >out 2>err
    tell $?
}

# the reader goes away: a quiet end
test_pipe() {
    two_images
    { argus a.png b.png a.png b.png 2>err; echo "exit code $?" >code; } | head -n 1
    cat err code
    : >out
    ( trap '' PIPE; argus a.png 2>err; echo "exit code $?" >code ) | :
    cat err code
}

# R1: one core, and 1, 2, 8 threads: the same answers
test_threads() {
    command -v taskset >/dev/null || { echo "no taskset program"; exit 77; }
    two_images
    "$build/argus" --threads 1 --json a.png b.png >one || exit 1
    for n in 2 8; do
        "$build/argus" --threads $n --json a.png b.png | cmp - one && echo "$n threads: equal"
    done
    core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    taskset -c "$core" "$build/argus" --json a.png b.png | cmp - one && echo "one core: equal"
}

# C5: asked for JSON, the model says what it says; the structure is the program's
test_structure() {
    two_images
    show --json -p "Answer in JSON with the keys shape and color." a.png | mask
}

# told to stop while it waits for a picture
test_interrupt() {
    command -v timeout >/dev/null || { echo "no timeout program"; exit 77; }
    mkfifo pipe
    sleep 3 >pipe &
    for signal in INT TERM; do
        timeout --preserve-status -s $signal 0.2 "$build/argus" - <pipe >out 2>err
        tell $?
    done
    kill $!
}

# what -o replaces: its mode stays, a link stays a link, and nothing is left beside it
test_replace() {
    two_images
    mkdir there
    (umask 022; argus a.png -o new.txt) && stat -c "%n %a %F" new.txt
    echo old >kept.txt
    for mode in 600 644 440; do
        chmod $mode kept.txt
        argus a.png -o kept.txt && stat -c "%n %a %F" kept.txt
    done
    echo old >there/target.txt
    chmod 640 there/target.txt
    ln -s there/target.txt link.txt
    ln -s "$PWD/link.txt" there/again.txt
    argus b.png -o there/again.txt
    stat -c "%n %a %F" link.txt there/again.txt there/target.txt
    cat there/target.txt
    ln -s there/coming.txt early.txt
    argus a.png -o early.txt
    stat -c "%n %F" early.txt there/coming.txt
    ln -s loop.txt loop.txt
    show a.png -o loop.txt
    ls . there
}

# no model named, none found
test_warning() {
    two_images
    unset ARGUS_MODEL
    HOME=$PWD XDG_DATA_HOME=$PWD XDG_CACHE_HOME=$PWD HF_HOME=$PWD HF_HUB_CACHE=$PWD
    export HOME XDG_DATA_HOME XDG_CACHE_HOME HF_HOME HF_HUB_CACHE
    show a.png
    show --quiet a.png
}

"test_$(echo "$test" | tr - _)"
