#!/bin/sh
# threads.sh BUILD: the same bits for 1, 2 and 3 threads (a hash over every number that the
# stages report and over the log-probabilities), and the ids of the reference with each
# kernel tier of this machine. Uses the argus-tiny set.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=$(cd "${1:-build}" && pwd) || exit 2
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
parity=$build/tests/parity/parity
passed=0 failed=0 skipped=0

# table OPTIONS...: "case digest" lines, or nothing if a case is off
table() {
    out=$build/tests/parity/table
    "$parity" --digest "$@" "$src/tests/refs/argus-tiny" "$src/models/argus-tiny" >"$out" || {
        cat "$out" >&2
        return 1
    }
    awk 'NF > 10 && $NF ~ /^[0-9a-f]+$/ && length($NF) == 16 { print $1, $NF }' "$out"
}

good() { passed=$((passed + 1)); echo "ok   $1"; }
bad() { failed=$((failed + 1)); echo "FAIL $1"; }

tiers=$("$parity" --tiers) || exit 2
for tier in $tiers; do
    one=$(table --cpumask "$tier" --threads 1)
    if [ "$(echo "$one" | wc -l)" -ge 10 ]; then
        good "$tier: the reference's ids"
    else
        bad "$tier: the reference's ids"
    fi
    for n in 2 3; do
        if [ -n "$one" ] && [ "$(table --cpumask "$tier" --threads $n)" = "$one" ]; then
            good "$tier: same bits with 1 and $n threads"
        else
            bad "$tier: same bits with 1 and $n threads"
        fi
    done
done
for tier in avx2 avx512 neon; do
    case " $(echo "$tiers" | tr '\n' ' ') " in
        *" $tier "*) ;;
        *) echo "SKIP threads, tier $tier: not on this machine or not built"; skipped=$((skipped + 3)) ;;
    esac
done

echo "threads: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
