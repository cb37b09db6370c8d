#!/bin/sh
# asan.sh BUILD: the test suite once more in BUILD/asan, built with AddressSanitizer and
# UndefinedBehaviorSanitizer, with an ffmpeg that has this library; a finding ends the program
# that has it and counts as a failure.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
mkdir -p "${1:-build}/asan" && build=$(cd "${1:-build}/asan" && pwd) || exit 2
make=${MAKE:-make}
jobs=${JOBS:--j$(nproc 2>/dev/null || echo 1)}
passed=0 failed=0 skipped=0

ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=print_stacktrace=1
ARGUS_MODEL=argus-tiny
export ASAN_OPTIONS UBSAN_OPTIONS ARGUS_MODEL

[ -f "$build/config.mak" ] || (cd "$build" && "$src/configure" --enable-asan --disable-shared) >"$build/out" 2>&1 || {
    cat "$build/out"
    echo "asan: 0 passed, 1 failed, 0 skipped"
    exit 1
}

# part TARGET...: a make target that ends with a sum
part() {
    # shellcheck disable=SC2086 # make and jobs may carry options
    (cd "$src" && $make $jobs B="$build" "$@") >"$build/out" 2>&1
    status=$?
    sum=$(grep -E '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$build/out" | tail -n 1 |
        sed 's/.*[^0-9]\([0-9]* passed, \)/\1/' | tr -c '0-9\n' ' ')
    # shellcheck disable=SC2086 # three numbers
    set -- "$1" ${sum:-0 0 0}
    f=$3
    [ $status = 0 ] || [ "$f" != 0 ] || f=1
    passed=$((passed + $2)) failed=$((failed + f)) skipped=$((skipped + $4))
    echo "asan $1: $2 passed, $f failed, $4 skipped"
    grep -E '^ *SKIP ' "$build/out"
    [ "$f" = 0 ] || {
        grep -n -A 20 -E 'ERROR: |runtime error:|^FAIL|OFF' "$build/out" | head -n 60
        cp "$build/out" "$build/$1.log"
        echo "(all of it: $build/$1.log)"
    }
}

# ffmpeg itself is not instrumented, the library in it is. Leaks of nasm and other tools that
# are run while it is built are not ours.
ffmpeg() {
    # shellcheck disable=SC2086 # make and jobs may carry options
    (cd "$src" && $make $jobs B="$build" all) && ASAN_OPTIONS=detect_leaks=0 "$src/tools/ffmpeg.sh" "$build"
}
if ffmpeg >"$build/out" 2>&1; then
    echo "asan ffmpeg: built"
else
    tail -n 20 "$build/out"
    failed=$((failed + 1))
fi
part unit
part checkasm
part fate
part parity SETS="argus-tiny synth-tiny prompts-argus-tiny choices-argus-tiny shifted-argus-tiny"

echo "asan: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
