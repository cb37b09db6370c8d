#!/bin/sh
# ci.sh BUILD: what make check does once the packages are there: build everything, run every
# test, go on after failures. Each step's output is kept in BUILD/check/STEP.log; the last
# line printed is the sum, "N passed, N failed, N skipped".
#
# A step's program ends with a line of the same form; one without counts as one test. Lines
# that begin with SKIP are repeated at the end: what was skipped, and why.
#
#   ARGUS_TEST_DATA  directory with models/ of the published tokenizers and configurations
#   FFMPEG_SRC, FFMPEG_DIST  see tools/ffmpeg.sh
#   STEPS="unit fate"        only these, to look at one failure
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
mkdir -p "${1:-build}" && build=$(cd "${1:-build}" && pwd) || exit 2
make=${MAKE:-make}
jobs=${JOBS:--j$(nproc 2>/dev/null || echo 1)}
logs=$build/check
rm -rf "$logs"
mkdir -p "$logs"

# Tests must not depend on what models this machine has.
ARGUS_MODEL=argus-tiny
export ARGUS_MODEL
unset ARGUS_MODEL_PATH

passed=0 failed=0 skipped=0

# in_build TARGET...: make in the build tree
in_build() {
    # shellcheck disable=SC2086 # make and jobs may carry options
    (cd "$src" && $make $jobs B="$build" "$@")
}

# number N LINE: the N-th number of a line
number() { echo "$2" | tr -c '0-9\n' ' ' | awk -v n="$1" '{ print $n + 0 }'; }

# wrong_lines STEP: what its log says about failures, for the end of the output
wrong_lines() {
    { echo "failed in $1:"; grep -E -A 4 'FAILED|^ *FAIL' "$logs/$1.log" | head -n 40; } >>"$logs/wrong"
}

# step NAME WHAT CMD...: run, log, count
step() {
    name=$1 what=$2
    shift 2
    case " ${STEPS:-$name} " in *" $name "*) ;; *) return ;; esac
    printf '%-10s %s ...\n' "$name" "$what"
    begin=$(date +%s)
    "$@" >"$logs/$name.log" 2>&1
    status=$?
    sum=$(grep -E '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$logs/$name.log" | tail -n 1 |
        sed 's/.*[^0-9]\([0-9]* passed, \)/\1/')
    p=0 f=0 s=0
    if [ -n "$sum" ]; then
        p=$(number 1 "$sum") f=$(number 2 "$sum") s=$(number 3 "$sum")
    elif [ $status = 0 ]; then
        p=1
    fi
    [ $status = 0 ] || [ "$f" != 0 ] || f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    [ "$f" = 0 ] || {
        tail -n 40 "$logs/$name.log" | sed 's/^/    /'
        wrong_lines "$name"
        echo "    (all of it: $logs/$name.log)"
    }
    printf '%-10s %d passed, %d failed, %d skipped   %d s\n' "$name" "$p" "$f" "$s" $(($(date +%s) - begin))
}

build_all() { in_build all benches; }
ffmpeg() { "$src/tools/ffmpeg.sh" "$build"; }
parity() {
    in_build parity SETS="argus-tiny synth-tiny prompts-argus-tiny choices-argus-tiny shifted-argus-tiny \
prompts-synth-tiny"
}
parity_q8() {
    in_build parity PRECISION=q8 SETS="argus-tiny synth-tiny prompts-argus-tiny choices-argus-tiny \
shifted-argus-tiny"
}
parity_full() {
    [ -n "${ARGUS_TEST_DATA:-}" ] || {
        echo "SKIP synth-256m unsplit_640x480: ARGUS_TEST_DATA is not set"
        echo "parity: 0 passed, 0 failed, 1 skipped"
        return
    }
    in_build parity SETS=synth-256m CASES=unsplit_640x480
}
install_test() { MAKE="$make" "$src/tests/install.sh" "$build"; }
valgrind_run() { "$src/tests/valgrind.sh" "$build"; }

step build "library and program" build_all
step ffmpeg "obtaining, patching, building; some minutes the first time" ffmpeg
step source "form of the sources" "$src/tools/check-source.sh"
step layers "who includes whom" "$src/tools/check-layers.sh"
step cases "each case has its test" "$src/tools/check-cases.sh"
step headers "each header alone, C99 and C++" "$src/tools/check-headers.sh" "$build"
step symbols "names in the built libraries" "$src/tools/check-symbols.sh" "$build"
step unit "modules" in_build unit
step checkasm "kernels against plain C" in_build checkasm
step fate "program and filter against fate-refs/" in_build fate
step avfate "the filter's tests in FFmpeg's own FATE" "$src/tools/check-ffmpeg.sh" --built "$build"
step parity "Hugging Face, tiny sets" parity
step parityq8 "int8 weights: how far texts and logits move" parity_q8
step parity256 "Hugging Face, one full-size case" parity_full
step threads "same bits with 1, 2, 3 threads; every kernel tier" in_build threads
step install "into an empty prefix; a program built with pkg-config" install_test
step api "the examples of doc/api.md" "$src/tests/api.sh" "$build"
step completion "what the shell offers" "$src/tests/completion.sh" "$build"
step aarch64 "cross build; NEON kernels and a part of the tests under qemu" in_build check-aarch64
step valgrind "one caption" valgrind_run

echo
grep -hE '^ *SKIP ' "$logs"/*.log 2>/dev/null | sed 's/^ *SKIP /skipped: /'
cat "$logs/wrong" 2>/dev/null
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
