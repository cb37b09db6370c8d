#!/bin/sh
# api.sh BUILD: the examples of doc/api.md. Each block of C begins with its file's name; a
# .c file must compile as C99 without a warning against the library in BUILD, and print what
# its comment "prints:" says, with argus-tiny as the model.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
ARGUS_MODEL=argus-tiny
export LC_ALL ARGUS_MODEL
unset ARGUS_MODEL_PATH
build=$(cd "${1:-build}" && pwd) || exit 2
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
dir=$build/tests/api
passed=0 failed=0

rm -rf "$dir"
mkdir -p "$dir"
cd "$dir" || exit 2

# setting NAME: its value in config.mak
setting() { sed -n "s/^$1 *:= *//p" "$build/config.mak"; }
cc=${CC:-$(setting CC)}
libs="$(setting LDFLAGS) $(setting LIBS)"

# blocks into files; a block without a name ends the run
awk '
    /^```c$/ {
        inside = 1
        file = ""
        next
    }
    /^```/ { inside = 0 }
    inside && file == "" {
        if (!match($0, /^\/\* [a-z]+\.[ch]: /)) {
            printf "doc/api.md:%d: expected /* NAME.c: what it shows */, found %s\n", FNR, $0
            exit 1
        }
        file = $2
        sub(/:$/, "", file)
    }
    inside { print > file }
' "$src/doc/api.md" || exit 1

# wrong NAME WHY: the end of the output says more
wrong() {
    failed=$((failed + 1))
    echo "FAIL $1: $2"
    cat out
}

# examples are not rewritten for a release
mask() { sed 's/"version": "[0-9.]*"/"version": "N"/'; }

for file in *.c; do
    name=${file%.c}
    sed -n '/^\/\* prints:$/,/^\*\/$/p' "$file" | sed '1d;$d' | mask >"$name.expected"
    # shellcheck disable=SC2086 # a compiler and a list of libraries
    if ! ${cc:-cc} -std=c99 -Wall -Wextra -Werror -O1 -I. -I"$src" -o "$name" "$file" "$build/libargus.a" \
        $libs >out 2>&1; then
        wrong "$name" "does not compile"
    elif ! grep -q '^/\* prints:$' "$file"; then
        passed=$((passed + 1))
        echo "ok   $name compiles"
    elif ! "./$name" >out 2>&1; then
        wrong "$name" "ends with an error"
    elif ! mask <out | diff -u "$name.expected" - >"$name.diff"; then
        mv "$name.diff" out
        wrong "$name" "prints something else"
    else
        passed=$((passed + 1))
        echo "ok   $name"
    fi
done
echo "api: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
