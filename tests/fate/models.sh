#!/bin/sh
# models.sh BUILD TEST: one test of argus models. Prints what fate-refs/models-TEST holds:
# what the program says, its exit code, what is in the data directory, and what the server
# was asked for. No network but loopback, no model of this machine.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
[ $# = 2 ] || { echo "usage: models.sh BUILD TEST" >&2; exit 2; }
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
build=$(cd "$1" && pwd) || exit 2
test=$2
dir=$build/tests/fate/models-$test
rm -rf "$dir"
mkdir -p "$dir/home" "$dir/served" "$dir/manifests"
cd "$dir" || exit 2
HOME=$dir/home XDG_DATA_HOME=$dir/data ARGUS_MANIFEST_PATH=$dir/manifests no_proxy=127.0.0.1
export HOME XDG_DATA_HOME ARGUS_MANIFEST_PATH no_proxy
unset ARGUS_MODEL ARGUS_MODEL_PATH ARGUS_BASE_URL HF_HOME HF_HUB_CACHE XDG_CACHE_HOME http_proxy \
    https_proxy all_proxy HTTPS_PROXY ALL_PROXY
model=$dir/data/argus/models/test
server=
trap 'stop_server' EXIT

grep -q '^#define CONFIG_CURL 1' "$build/config.h" || case $test in list|place|verify) ;; *)
    echo "the program was built without libcurl"
    exit 77 ;;
esac

# What is served: 100000 bytes, and two small files that a model folder needs by name.
awk 'BEGIN { for (i = 0; i < 12500; i++) printf "%07d\n", i }' >served/data.bin
echo '{"model_type": "test"}' >served/config.json
echo 'weights' >served/model.safetensors

# entry FILE: its line of the manifest, by coreutils
entry() {
    printf '{"name": "%s", "size": %d, "sha256": "%s"%s}' "$1" "$(wc -c <"served/$1")" \
        "$(sha256sum "served/$1" | cut -c 1-64)" "${2:-}"
}
{
    echo '{"name": "test", "licence": "Test-Licence", "repo": "org/model",'
    echo ' "revision": "0123456789abcdef0123456789abcdef01234567", "files": ['
    echo "$(entry config.json), $(entry model.safetensors), $(entry data.bin)]}"
} >manifests/test.json

# serve MODE: start the server
serve() {
    stop_server
    : >log
    rm -f port
    "$build/tests/gen/httpd" served "$1" log >port &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 20 30 40 50; do
        [ -s port ] && break
        sleep 0.1
    done
    url=http://127.0.0.1:$(cat port)
}

stop_server() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
    [ -z "$server" ] || wait "$server" 2>/dev/null
    server=
}

# What depends on the machine, and libcurl's own words, which change with its version.
mask() {
    sed "s|$dir|DIR|g; s|127\.0\.0\.1:[0-9]*|127.0.0.1:PORT|g
        s|found in one of: .*|found in one of: ...|
        s/\(found the end after [0-9]*\): .*; trying/\1: REASON; trying/
        s/\(stderr:.*found the end after [0-9]*\): [^;]*\$/\1: REASON/"
}

# show ARGS...: the command, what it says, its exit code
show() {
    echo "\$ argus models $*" | mask
    "$build/argus" models "$@" >out 2>err
    tell $?
}

tell() {
    mask <out
    sed 's/^/    stderr: /' err | mask
    [ "$1" = 0 ] || echo "    exit code $1"
}

# what is there now, and what the server was asked for since it was started
there() {
    (cd "$model" 2>/dev/null && for f in *; do
        if [ ! -f "$f" ]; then :
        elif [ -f "$dir/served/$f" ] && cmp -s "$f" "$dir/served/$f"; then echo "    has $f"
        else echo "    has $f, $(wc -c <"$f") bytes"; fi
    done)
    sed 's/^/    asked for /' log
}

# fetch MODE: from nothing
fetch() {
    echo "--- $1"
    rm -rf data
    serve "$1"
    show --fetch test --base-url "$url"
    there
}

test_list() {
    show
    ARGUS_MANIFEST_PATH=$src/models
    show
    show --json
    mkdir -p "$model" "$dir/data/argus/models/smolvlm-256m"
    cp served/config.json "$dir/data/argus/models/smolvlm-256m/"
    show
    cp served/* "$model"
    ARGUS_MANIFEST_PATH=$dir/manifests
    show
    show --json
    rm "$model/data.bin"
    show
    echo '{"name": "other"}' >manifests/bad.json
    show
    ARGUS_MANIFEST_PATH=$dir/nowhere
    show
}

# Without ARGUS_MANIFEST_PATH: a program in its build tree knows the manifests of its sources,
# an installed one those beside it.
test_place() {
    unset ARGUS_MANIFEST_PATH
    "$build/argus" models | grep -o '^[a-z]*-[^ ]*'
    show --verify argus-tiny "$src/models/argus-tiny" | sed "s|$src|SRC|" | tail -n 1
    prefix=$(mktemp -d) || exit 1
    mkdir -p "$prefix/bin" "$prefix/share/argus/models" "$prefix/other"
    cp "$build/argus" "$prefix/bin/"
    cp "$build/argus" "$prefix/other/"
    cp manifests/test.json "$prefix/share/argus/models/"
    for place in bin other; do
        echo "$place: $("$prefix/$place/argus" models 2>/dev/null | grep -c '^test ')"
    done
    rm -r "$prefix"
}

test_verify() {
    show --verify test
    mkdir -p "$model" copy
    cp served/* "$model"
    show --verify test
    echo 'Weights' >"$model/model.safetensors"
    echo >>"$model/config.json"
    rm "$model/data.bin"
    show --verify test
    cp served/* copy
    show --verify test copy
    ARGUS_MANIFEST_PATH=$src/models
    show --verify argus-tiny "$src/models/argus-tiny" | sed "s|$src|SRC|"
}

# Nothing is asked for without --fetch, and wrong calls are told from failures.
test_usage() {
    serve good
    ARGUS_BASE_URL=$url
    export ARGUS_BASE_URL
    show
    show --json
    show --verify test
    show --fetch nosuch
    show --fetch test --verify test
    show --fetch test --json
    show --base-url "$url"
    show --fetch test --base-url ftp://127.0.0.1/
    show --fetch test dir
    show dir
    show --model x
    there
    ARGUS_MANIFEST_PATH=$src/models
    show --fetch argus-tiny
}

test_good() {
    fetch good
    show --fetch test --base-url "$url/"
    there
    show --verify test
    stop_server
    serve good
    rm -rf data
    ARGUS_BASE_URL=$url "$build/argus" models --quiet --fetch test
    there
}

test_resume() { fetch cut; }
test_norange() { fetch cut-norange; }
test_no_length() { fetch no-length; }
test_other_place() { fetch cut-other; }
test_wrong_bytes() { fetch bytes; }
test_wrong_size() { for m in shorter longer endless; do fetch $m; done; }
test_status() { for m in 404 403; do fetch $m; done; }
test_retry() { for m in 500-once 500 empty close; do fetch $m; done; }
test_redirect() { for m in redirect loop to-file; do fetch $m; done; }

# an air-gapped copy; its files need no server
test_mirror() {
    : >log
    copy=mirror/org/model/resolve/0123456789abcdef0123456789abcdef01234567
    mkdir -p "$copy"
    cp served/* "$copy"
    show --fetch test --base-url "file://$dir/mirror"
    there
    rm -rf data
    echo x >>"$copy/data.bin"
    show --fetch test --base-url "file://$dir/mirror"
    there
    rm "$copy/data.bin"
    show --fetch test --base-url "file://$dir/mirror"
    there
}

# A signal leaves the part, and the next run goes on with it.
test_interrupt() {
    command -v timeout >/dev/null || { echo "no timeout program"; exit 77; }
    for signal in INT TERM; do
        rm -rf data
        serve slow
        timeout --preserve-status -s $signal 2 "$build/argus" models --fetch test \
            --base-url "$url" >out 2>err
        echo "$signal: exit code $?"
        sed 's/after [0-9]* of/after N of/' err | mask
        part=$(wc -c <"$model/data.bin.part")
        [ "$part" -gt 0 ] && [ "$part" -lt 100000 ] && echo "some of it is there"
        serve good
        show --fetch test --base-url "$url" | sed "s/after $part bytes/after N bytes/"
        there | sed "s/from $part\$/from N/"
    done
}

# Parts that earlier runs left: whole, too long, foreign, not a file, in use.
test_part() {
    mkdir -p "$model"
    echo "--- whole"
    cp served/data.bin "$model/data.bin.part"
    serve good
    show --fetch test --base-url "$url"
    there
    for kind in long foreign folder link; do
        echo "--- $kind"
        rm -rf "$model"
        mkdir -p "$model"
        case $kind in
            long) cat served/data.bin served/data.bin >"$model/data.bin.part" ;;
            foreign) echo 'not the beginning' >"$model/data.bin.part" ;;
            folder) mkdir "$model/data.bin.part" ;;
            link) echo victim >victim; ln -s "$dir/victim" "$model/data.bin.part" ;;
        esac
        serve good
        show --fetch test --base-url "$url"
        there
    done
    cat victim
    echo "--- range refused"
    rm -rf "$model"
    mkdir -p "$model"
    head -c 500 served/data.bin >"$model/data.bin.part"
    serve 416
    show --fetch test --base-url "$url"
    there
}

# A damaged file is fetched again; the others are not.
test_repair() {
    fetch good
    echo "damage" >>"$model/data.bin"
    serve good
    show --fetch test --base-url "$url"
    there
}

# On a terminal there is a bar, elsewhere there is none.
test_bar() {
    script -qec true probe >/dev/null 2>&1 </dev/null || {
        echo "no pseudo-terminal can be made here (script of bsdutils)"
        exit 77
    }
    serve slow
    script -qec "'$build/argus' models --fetch test --base-url '$url'" terminal >/dev/null </dev/null
    tr '\r' '\n' <terminal | grep -c 'data.bin  *\[#*-*\]  *[0-9]*%.* MiB/s' |
        awk '{ print ($1 > 5 ? "a bar on a terminal" : "no bar on a terminal") }'
    rm -rf data
    "$build/argus" models --fetch test --base-url "$url" >out 2>err
    tr -d -c '\r' <err | wc -c
}

"test_$(echo "$test" | tr - _)"
