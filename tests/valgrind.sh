#!/bin/sh
# valgrind.sh BUILD: one caption with argus-tiny under valgrind: no error, nothing lost.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=$(cd "${1:-build}" && pwd) || exit 2
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2

if ! command -v valgrind >/dev/null 2>&1; then
    echo "SKIP valgrind: not installed"
    echo "valgrind: 0 passed, 0 failed, 1 skipped"
    exit 0
fi
picture=$src/tests/refs/argus-tiny/images/ee363b2f01cc.png # case shapes-00
expected=$(sed -n '/"name": "shapes-00"/s/.*"text": " *\([^"]*\)", "truth".*/\1/p' \
    "$src/tests/refs/argus-tiny/refs.json")
# AVX-512 is not valgrind's; 2 threads, so that the pool is at work
found=$(valgrind --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
    --errors-for-leak-kinds=definite,indirect,possible --log-file="$build/valgrind.log" \
    "$build/argus" --model "$src/models/argus-tiny" --cpumask avx2 --threads 2 --split off \
    -p "Describe this image in one sentence." "$picture")
status=$?
if [ $status = 0 ] && [ "$found" = "$expected" ] && [ -n "$expected" ]; then
    echo "valgrind: 1 passed, 0 failed, 0 skipped"
else
    cat "$build/valgrind.log"
    echo "status $status, expected \"$expected\", found \"$found\""
    echo "valgrind: 0 passed, 1 failed, 0 skipped"
    exit 1
fi
