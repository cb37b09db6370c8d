#!/bin/sh
# aarch64.sh BUILD: the library and the program for AArch64 in BUILD/aarch64, by a cross
# compiler, and under qemu-aarch64: which instruction sets are found, every kernel against
# plain C, unit tests without the slow ones, reference cases with the bits of 1, 2 and 3
# threads, captions by the program. Skipped, with the names of the packages, where something
# is not installed; on an AArch64 machine make check itself does all of it.
#
#   CROSS=aarch64-linux-gnu-  prefix of the compiler
#   QEMU=qemu-aarch64         runs a program
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
cross=${CROSS:-aarch64-linux-gnu-} qemu=${QEMU:-qemu-aarch64}
make=${MAKE:-make}
jobs=${JOBS:--j$(nproc 2>/dev/null || echo 1)}
passed=0 failed=0 skipped=0

# skip WHY: nothing can be done here
skip() {
    echo "SKIP aarch64: $*"
    echo "aarch64: 0 passed, 0 failed, 1 skipped"
    exit 0
}
[ "$(uname -m)" != aarch64 ] || skip "this machine is one: make check tests it"

missing=
command -v "${cross}gcc" >/dev/null 2>&1 || missing="gcc-aarch64-linux-gnu"
command -v "$qemu" >/dev/null 2>&1 || missing="$missing qemu-user"
# Debian's libraries for a foreign architecture: pkg-config MODULE:PACKAGE
libs=${PKG_CONFIG_LIBDIR:-/usr/lib/$(basename "${cross%-}")/pkgconfig}
for lib in jansson:libjansson-dev libpcre2-8:libpcre2-dev spng:libspng-dev libjpeg:libjpeg-dev \
    cunit:libcunit1-dev; do
    [ -f "$libs/${lib%:*}.pc" ] || missing="$missing ${lib#*:}:arm64"
done
[ -z "$missing" ] || skip "not installed: ${missing# } (packages of an architecture that was added with" \
    "dpkg --add-architecture arm64)"

mkdir -p "${1:-build}/aarch64" && build=$(cd "${1:-build}/aarch64" && pwd) || exit 2
ARGUS_MODEL=argus-tiny
export ARGUS_MODEL
unset ARGUS_MODEL_PATH

# verdict WHAT STATUS: one test
verdict() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$build/out"
    fi
    echo "aarch64 $1: $([ "$2" = 0 ] && echo ok || echo FAILED)"
}

in_build() {
    # shellcheck disable=SC2086 # make and jobs may carry options
    (cd "$src" && $make $jobs B="$build" "$@")
}

# part NAME TARGET...: run a make target that ends with a sum
part() {
    name=$1
    shift
    in_build "$@" >"$build/$name.out" 2>&1
    echo $? >"$build/$name.status"
}

# tell NAME: how it went
tell() {
    out=$build/$1.out status=$(cat "$build/$1.status")
    sum=$(grep -E '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$out" | tail -n 1 |
        sed 's/.*[^0-9]\([0-9]* passed, \)/\1/' | tr -c '0-9\n' ' ')
    # shellcheck disable=SC2086 # three numbers
    set -- "$1" ${sum:-0 0 0}
    f=$3
    [ "$status" = 0 ] || [ "$f" != 0 ] || f=1
    passed=$((passed + $2)) failed=$((failed + f)) skipped=$((skipped + $4))
    echo "aarch64 $1: $2 passed, $f failed, $4 skipped"
    grep -E '^ *SKIP ' "$out"
    [ "$f" = 0 ] || tail -n 60 "$out"
}

# configure again where it, the compiler or the emulator is another one
stamp="$cross $qemu $(cksum <"$src/configure")"
[ "$stamp" = "$(cat "$build/stamp" 2>/dev/null)" ] || {
    (cd "$build" && "$src/configure" --cross-prefix="$cross" --arch=aarch64 --target-os=linux \
        --target-exec="$qemu" --disable-shared) >"$build/out" 2>&1
    verdict configure $?
    [ "$failed" = 0 ] && echo "$stamp" >"$build/stamp"
}
[ "$failed" = 0 ] && {
    in_build all "$build/tests/checkasm/checkasm" "$build/tests/unit/unit" "$build/tests/parity/parity" \
        "$build/tests/gen/synth_checkpoint" "$build/tests/gen/mkpictures" >"$build/out" 2>&1
    verdict build $?
}

# found CPU NAMES: what the program says of a processor that qemu can be
found() {
    "$qemu" -cpu "$1" "$build/argus" info >"$build/out" 2>&1
    grep -q "^cpu .*neon kernels.*; found: $2\$" "$build/out"
    verdict "instruction sets of $1" $?
}

[ "$failed" = 0 ] && {
    found cortex-a53 "neon"
    found neoverse-n1 "neon dotprod"
    found max "neon dotprod i8mm bf16"
    part checkasm checkasm & # about as long as the others together
    part unit unit SUITES="base sample sha256 utf8 config numerics source weights tokenizer_load image \
subtitle subtitle_text subtitle_stream cea608 picture"
    part threads threads TIERS=neon CASES="source-noise text-3 textonly-0"
    part parity parity SETS=argus-tiny CASES="text-3 textonly-0" PRECISION=q8
    wait
    for name in checkasm unit threads parity; do tell $name; done
    rm -f "$build"/tests/fate/*.result
    in_build fate-cli-captions >"$build/out" 2>&1 && grep -q '^PASS' "$build/out"
    verdict "captions by the program" $?
}

echo "aarch64: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
