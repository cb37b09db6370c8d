#!/bin/sh
# threads.sh BUILD: the same bits for 1, 2 and 3 threads (a hash over every number that the
# stages report and over the log-probabilities), and the ids of the reference with each
# kernel tier of this machine. Uses the argus-tiny set.
#
#   TIERS="avx2"       only these tiers
#   CASES="text-3"     only these cases
#   TARGET_EXEC=qemu   runs the program
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=$(cd "${1:-build}" && pwd) || exit 2
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
passed=0 failed=0 skipped=0

parity() { ${TARGET_EXEC:-} "$build/tests/parity/parity" "$@"; }

# run OPTIONS AND CASES...: the table, with digests
run() {
    options=$1
    shift
    # shellcheck disable=SC2086 # a list of options
    parity $options --digest "$src/tests/refs/argus-tiny" "$src/models/argus-tiny" "$@"
}

# Split and whole, one picture and eight, text alone, two turns.
cases=${CASES:-shapes-06 source-noise text-3 vqa-3 window-07-cut window-13-cut textonly-0 turns-1}
# bits OPTIONS: "case digest" lines of these, nothing if one is off
bits() {
    # shellcheck disable=SC2086 # a list of names
    table=$(run "$1" $cases) || { echo "$table" >&2; return 1; }
    echo "$table" | awk 'length($NF) == 16 && $NF ~ /^[0-9a-f]+$/ { print $1, $NF }'
}

good() { passed=$((passed + 1)); echo "ok   $1"; }
bad() { failed=$((failed + 1)); echo "FAIL $1"; }

tiers=${TIERS:-$(parity --tiers)}
[ -n "$tiers" ] || exit 2
for tier in $tiers; do
    what="$tier: the reference's ids"
    # shellcheck disable=SC2086 # a list of names
    if table=$(run "--cpumask $tier" ${CASES:-}); then good "$what"; else echo "$table"; bad "$what"; fi
    one=$(bits "--cpumask $tier --threads 1")
    for n in 2 3; do
        what="$tier: same bits with 1 and $n threads"
        if [ "$(echo "$one" | wc -l)" = "$(echo "$cases" | wc -w)" ] &&
            [ "$(bits "--cpumask $tier --threads $n")" = "$one" ]; then
            good "$what"
        else
            bad "$what"
        fi
    done
done
here=
grep -q '^#define ARCH_X86_64 1' "$build/config.h" && here="avx2 avx512"
grep -q '^#define ARCH_AARCH64 1' "$build/config.h" && here=neon
[ -z "${TIERS:-}" ] || here=
for tier in $here; do
    case " $(echo "$tiers" | tr '\n' ' ') " in
        *" $tier "*) ;;
        *) echo "SKIP threads, tier $tier: not on this machine or not built"; skipped=$((skipped + 3)) ;;
    esac
done

echo "threads: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
