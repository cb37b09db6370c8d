#!/bin/sh
# check-symbols.sh BUILD: names in the built libraries.
#
#   libargus.a   every global starts with argus_ or ag_; nothing in it prints, exits or
#                aborts; memory is taken in base/mem only
#   libargus.so  exports argus_* and nothing else, and all that argus.h declares
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=${1:-build}
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
nm=${NM:-nm}
passed=0 failed=0 skipped=0

# verdict NAME OFFENDERS: passes when there are none
verdict() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s:\n%s\n' "$1" "$2"
    fi
}

lib=$build/libargus.a
[ -f "$lib" ] || { echo "symbols: no $lib; run make first"; exit 2; }

# "member: value type name"; the sanitizers' own names are theirs
defined=$($nm -A -g --defined-only "$lib" | awk '{ print $NF }' |
    grep -vE '^(__asan|__ubsan|__odr_asan|__sanitizer)')
[ -n "$defined" ] || { echo "symbols: $nm shows nothing in $lib"; exit 2; }
verdict "globals of libargus.a without argus_ or ag_" "$(echo "$defined" | grep -vE '^(argus_|ag_)')"

undefined=$($nm -A -u "$lib" | sed 's/^[^:]*:\([^:]*\):.* U /\1 /')
# calls WORD...: the lines of $undefined with one of these names (patterns)
calls() { echo "$undefined" | grep -E " ($(echo "$*" | tr ' ' '|'))\$"; }
verdict "libargus.a calls what a library must not" "$(
    calls '_*(f|v|vf)?printf(_chk)?' 'v?dprintf' 'f?puts' 'f?putc' putchar perror '_?exit' quick_exit abort \
        stdout stderr system popen setlocale signal srand rand)"
verdict "memory is taken outside base/mem" "$(
    calls malloc calloc realloc reallocarray aligned_alloc posix_memalign memalign strdup strndup asprintf \
        vasprintf getline | grep -v '^mem\.o ')"

so=$build/libargus.so
if [ -f "$so" ]; then
    exported=$($nm -D -g --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $NF); print $NF }' | sort)
    verdict "exports of libargus.so without argus_" "$(echo "$exported" | grep -v '^argus_')"
    declared=$(sed -n 's/^ARGUS_API .*[ *]\(argus_[a-z0-9_]*\)(.*/\1/p' "$src/libargus/argus.h" | sort)
    [ -n "$declared" ] || { echo "symbols: found no declaration in argus.h"; exit 2; }
    verdict "declared in argus.h, not exported" "$(
        for name in $declared; do echo "$exported" | grep -qx "$name" || echo "$name"; done)"
    verdict "exported, not declared in argus.h" "$(
        for name in $exported; do echo "$declared" | grep -qx "$name" || echo "$name"; done)"
else
    echo "SKIP symbols of libargus.so: built with --disable-shared"
    skipped=3
fi

echo "symbols: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
