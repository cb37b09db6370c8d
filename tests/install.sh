#!/bin/sh
# install.sh BUILD: make install into an empty prefix, then do what a user does: build a
# program with pkg-config, against the shared and against the static library, and run it.
# DESTDIR must give the same files, and uninstall must leave none.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=$(cd "${1:-build}" && pwd) || exit 2
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
make=${MAKE:-make}
cc=${CC:-cc}
dir=$build/tests/install
root=$dir/root stage=$dir/stage
passed=0 failed=0 skipped=0

# check NAME CMD...: the command's output is shown only when it fails
check() {
    name=$1
    shift
    if "$@" >"$dir/out" 2>&1; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        cat "$dir/out"
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1: $2"
}

# in_build TARGET...: make in the build tree, in-tree or out of it
in_build() {
    # shellcheck disable=SC2086 # make may carry options
    $make -C "$src" B="$build" "$@"
}

# files DIR: what lies below, without the directory itself
files() { (cd "$1" && find . ! -type d | sort); }

is_installed() {
    for f in include/libargus/argus.h include/libargus/version.h lib/pkgconfig/libargus.pc \
        bin/argus share/man/man1/argus.1 share/argus/models/smolvlm-256m.json \
        share/doc/argus/LICENSE share/doc/argus/README.md \
        share/bash-completion/completions/argus share/zsh/site-functions/_argus; do
        [ -s "$root/$f" ] || { echo "$f is not there"; return 1; }
    done
}

same_files() {
    in_build install prefix="$root" DESTDIR="$stage" || return 1
    files "$root" >"$dir/direct"
    files "$stage$root" >"$dir/staged"
    diff "$dir/direct" "$dir/staged"
}

pc() { PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config "$@"; }

# build_example KIND PKG-CONFIG-FLAGS...
build_example() {
    kind=$1
    shift
    # shellcheck disable=SC2046 # lists of flags
    "$cc" -std=c99 -Wall -Werror $(pc --cflags libargus) -o "$dir/example-$kind" \
        "$root/share/doc/argus/example.c" $(pc --libs "$@" libargus)
}

# The caption of the picture below by Hugging Face transformers 4.54.0 with argus-tiny.
expected="A large red square on a black background."
run_example() {
    ARGUS_MODEL=argus-tiny LD_LIBRARY_PATH=$2 "$dir/example-$1" "$dir/picture.ppm" >"$dir/text" || return 1
    echo "$expected" | diff - "$dir/text"
}

# The C of README.md, in a function that has what it leaves out.
readme_compiles() {
    {
        printf '#include <stdio.h>\n#include <libargus/argus.h>\n'
        printf 'int readme(const unsigned char *pixels, int width, int height);\n'
        printf 'int readme(const unsigned char *pixels, int width, int height)\n{\n'
        # shellcheck disable=SC2016 # the pattern of a code block
        sed -n '/^```c$/,/^```$/{ /^```/d; p; }' "$root/share/doc/argus/README.md"
        printf 'return 0;\n}\n'
    } >"$dir/readme.c"
    [ "$(wc -l <"$dir/readme.c")" -gt 20 ] || { echo "README.md has no C"; return 1; }
    # shellcheck disable=SC2046 # a list of flags
    "$cc" -std=c99 -Wall -Wextra -Werror -fsyntax-only $(pc --cflags libargus) "$dir/readme.c"
}

# The program knows the manifests beside it, whatever prefix configure was given.
own_manifests() {
    place=$root/share/argus/models
    sed 's/"name": "smolvlm-256m"/"name": "of-this-prefix"/' "$place/smolvlm-256m.json" \
        >"$place/of-this-prefix.json"
    (unset ARGUS_MANIFEST_PATH; "$root/bin/argus" models)
    (unset ARGUS_MANIFEST_PATH; "$root/bin/argus" models) | grep -q '^of-this-prefix '
    found=$?
    rm "$place/of-this-prefix.json"
    return $found
}

# Every option of every --help stands in the manual page.
manual_complete() {
    sed 's/\\-/-/g' "$root/share/man/man1/argus.1" >"$dir/manual"
    verbs=$("$root/bin/argus" --help | sed -n 's/^  *argus \([a-z]*\) .*/\1/p')
    [ -n "$verbs" ] || return 1
    for verb in "" $verbs; do
        # shellcheck disable=SC2086 # no word for captions
        "$root/bin/argus" $verb --help | grep -oE -- '--[a-z][a-z-]+' | while IFS= read -r option; do
            grep -q -- "$option" "$dir/manual" || echo "argus $verb: $option"
        done
    done >"$dir/missing"
    cat "$dir/missing"
    [ ! -s "$dir/missing" ]
}

nothing_left() {
    in_build uninstall prefix="$root" || return 1
    [ -z "$(files "$root")" ] || { files "$root"; return 1; }
}

rm -rf "$dir"
mkdir -p "$dir"

# repeat N TEXT
repeat() { awk -v n="$1" -v s="$2" 'BEGIN { while (n-- > 0) printf "%s", s }'; }
# 128x128, black, with a red square of 48 pixels in the middle
{
    printf 'P6\n128 128\n255\n'
    y=0
    while [ $y -lt 128 ]; do
        if [ $y -ge 40 ] && [ $y -lt 88 ]; then
            repeat 120 k; repeat 48 rkk; repeat 120 k
        else
            repeat 384 k
        fi
        y=$((y + 1))
    done | tr kr '\000\377'
} >"$dir/picture.ppm"

check "make install" in_build install prefix="$root"
check "files are in place" is_installed
check "DESTDIR gives the same files" same_files
check "pkg-config gives the version" test "$(pc --modversion libargus)" = \
    "$(sed -n 's/^.define ARGUS_VERSION_STRING "\(.*\)"/\1/p' "$src/libargus/version.h")"
check "README.md's program compiles" readme_compiles
if [ -x "$root/bin/argus" ]; then
    check "the manual page has every option" manual_complete
    check "manifests of the prefix" own_manifests
else
    skip "manual page" "built with --disable-cli"
fi
if [ -e "$root/lib/libargus.so" ]; then
    check "program with the shared library builds" build_example shared
    check "program with the shared library runs" run_example shared "$root/lib"
else
    skip "program with the shared library" "built with --disable-shared"
fi
if [ -e "$root/lib/libargus.a" ]; then
    mkdir -p "$dir/aside"
    [ -e "$root/lib/libargus.so" ] && mv "$root"/lib/libargus.so* "$dir/aside/"
    check "program with the static library builds" build_example static --static
    check "program with the static library runs" run_example static "$dir/nowhere"
    [ -e "$dir/aside/libargus.so" ] && mv "$dir"/aside/libargus.so* "$root/lib/"
else
    skip "program with the static library" "built with --disable-static"
fi
check "uninstall leaves nothing" nothing_left

echo "install: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
