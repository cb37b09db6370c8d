#!/bin/sh
# fate-run.sh BUILD NAME CMD...: run one test and compare what it prints, stdout and stderr,
# with fate-refs/NAME. Prints PASS, FAIL or SKIP and the name; after FAIL the difference.
#
#   exit code 77 of CMD: skipped; its last line says why. Any other but 0: failed.
#   GEN=1       write fate-refs/NAME instead of comparing
#   FATE_ALL=1  exit with 0 whatever came out: the sum is made at the end, by
#
# fate-run.sh BUILD --sum: add up all results below BUILD; exit code 1 if a test failed.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
[ $# -ge 2 ] || { echo "usage: fate-run.sh BUILD NAME CMD..." >&2; exit 2; }
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
build=$1 name=$2
shift 2
results=$build/tests/fate

# count WORD: results that begin with it
count() { cat "$results"/*.result 2>/dev/null | grep -c "^$1"; }

if [ "$name" = --sum ]; then
    failed=$(count FAIL)
    echo "fate: $(count PASS) passed, $failed failed, $(count SKIP) skipped"
    [ "$failed" = 0 ] && [ "$(count .)" != 0 ]
    exit
fi

mkdir -p "$results" || exit 2
out=$results/$name.out result=$results/$name.result ref=$src/fate-refs/$name

# verdict WORD [WHY]
verdict() {
    echo "$1 $name${2:+: $2}" >"$result"
    cat "$result"
}

"$@" >"$out" 2>&1
status=$?
if [ $status = 77 ]; then
    verdict SKIP "$(tail -n 1 "$out")"
elif [ $status != 0 ]; then
    cat "$out"
    verdict FAIL "exit code $status"
elif [ "${GEN:-}" ]; then
    cp "$out" "$ref" && verdict PASS "reference written"
elif [ ! -f "$ref" ]; then
    cat "$out"
    verdict FAIL "no fate-refs/$name; GEN=1 writes it"
elif diff -u "$ref" "$out" >"$results/$name.diff"; then
    verdict PASS
else
    cat "$results/$name.diff"
    verdict FAIL
fi
[ "${FATE_ALL:-}" ] || ! grep -q '^FAIL' "$result"
