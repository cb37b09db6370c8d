#!/bin/sh
# run.sh BUILD [PARITY-OPTIONS]: the parity tables of $SETS (all of them) or of $CASES in them.
# Models are put together in BUILD/tests/models: the checkpoint from our own generator, its
# sha256 compared with the one the reference was made with; the published tokenizer and
# configuration from $ARGUS_TEST_DATA/models.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=$(cd "$1" && pwd) || exit 2
shift
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
published=SmolVLM-256M-Instruct
passed=0 failed=0 skipped=0
ARGUS_CACHE_DIR=$build/tests/cache # of int8 weights: not the user's
export ARGUS_CACHE_DIR

# checkpoint SET SHAPE SEED: BUILD/tests/models/SET, complete and checked
checkpoint() {
    dir=$build/tests/models/$1
    weights=$dir/model.safetensors
    mkdir -p "$dir"
    for f in "$ARGUS_TEST_DATA/models/$published"/*.json "$ARGUS_TEST_DATA/models/$published/merges.txt" \
        "$src/tests/refs/$1"/*config.json; do
        [ ! -f "$f" ] || cp "$f" "$dir/" || return 1
    done
    # the tokenizer and the processor are the same, the shape is not
    [ "$2" != 500m ] || cp "$ARGUS_TEST_DATA/models/SmolVLM-500M-Instruct/config.json" "$dir/" || return 1
    [ -f "$dir/tokenizer.json" ] || { echo "no $ARGUS_TEST_DATA/models/$published/tokenizer.json"; return 1; }
    expected=$(sed -n 's/.*"checkpoint_sha256": *"\([0-9a-f]*\)".*/\1/p' "$src/tests/refs/$1/refs.json")
    [ -f "$weights.$expected" ] && [ -f "$weights" ] && return 0
    echo "writing $weights"
    rm -f "$weights" "$weights".*
    ${TARGET_EXEC:-} "$build/tests/gen/synth_checkpoint" "$2" "$weights" --seed "$3" || return 1
    found=$(sha256sum "$weights" | cut -d ' ' -f 1)
    [ "$found" = "$expected" ] || { echo "$weights: expected sha256 $expected, found $found"; return 1; }
    : >"$weights.$expected" # checked
}

# cases SET: how many of it were asked for
cases() {
    if [ -n "${CASES:-}" ]; then
        echo "$CASES" | wc -w
    else
        f=$(refs_of "$1")
        [ -f "$f" ] || f=$f/refs.json
        grep -c '"name"' "$f"
    fi
}

# refs_of SET: its references
refs_of() {
    case $1 in
        prompts-* | choices-* | shifted-*) echo "$src/tests/refs/$1.json" ;;
        *) echo "$src/tests/refs/$1" ;;
    esac
}

# run SET MODEL OPTIONS...: one table
run() {
    set_name=$1 model=$2
    shift 2
    echo "$set_name: $model"
    out=$build/tests/parity/out
    rm -f "$out.status"
    {
        # shellcheck disable=SC2086 # a list of names
        ${TARGET_EXEC:-} "$build/tests/parity/parity" "$@" "$(refs_of "$set_name")" "$model" ${CASES:-}
        echo $? >"$out.status"
    } | tee "$out"
    sum=$(grep '^parity: ' "$out" | tr -c '0-9\n' ' ')
    [ -n "$sum" ] || { echo "$set_name: the program ended with status $(cat "$out.status")"; sum="0 1 0"; }
    # shellcheck disable=SC2086 # three numbers
    add $sum
}

add() { passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3)); }

for name in ${SETS:-argus-tiny synth-tiny synth-256m}; do
    case $name in
        argus-tiny | prompts-argus-tiny | choices-argus-tiny) run "$name" "$src/models/argus-tiny" "$@"; continue ;;
        shifted-argus-tiny) run "$name" "$src/models/argus-tiny" --shifted "$@"; continue ;;
        synth-tiny | prompts-synth-tiny) shape=tiny seed=2 ;;
        synth-256m) shape=256m seed=1 ;; # 30 layers of random numbers: doc/kernels.md, "int8"
        synth-500m) shape=500m seed=1 ;;
        *) echo "no set is called $name"; add 0 1 0; continue ;;
    esac
    if [ -z "${ARGUS_TEST_DATA:-}" ]; then
        n=$(cases "$name")
        echo "SKIP parity $name, $n cases: ARGUS_TEST_DATA is not set"
        add 0 0 "$n"
    elif checkpoint "${name#prompts-}" "$shape" "$seed"; then
        [ "$shape" = tiny ] || deep="--q8-rms 0.4"
        # shellcheck disable=SC2086 # an option and its value, or nothing
        run "$name" "$build/tests/models/${name#prompts-}" "$@" ${deep:-}
        deep=
    else
        add 0 1 0
    fi
done

echo "parity: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
