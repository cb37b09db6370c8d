#!/bin/sh
# check-headers.sh BUILD: every header of libargus compiles alone, as C99 and as C++.
# The public ones (argus.h, version.h) with -pedantic, without config.h in reach.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=$(cd "${1:-build}" && pwd) || exit 2
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
cc=${CC:-cc}
cxx=${CXX:-c++}
passed=0 failed=0 skipped=0

tmp=$(mktemp -d "${TMPDIR:-/tmp}/argus-headers.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT

# alone HEADER COMPILER FLAGS...
alone() {
    header=$1
    shift
    if printf '#include "%s"\nextern int alone;\n' "$header" | "$@" -fsyntax-only -Wall -Wextra -Werror \
        -I"$src" - >"$tmp/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$header does not compile alone: $*"
        cat "$tmp/out"
    fi
}

# works SOURCE-LINE COMPILER FLAGS...: true if the compiler takes it
works() {
    line=$1
    shift
    echo "$line" | "$@" -fsyntax-only - 2>/dev/null
}

# C11's atomic types came to C++ with C++23.
cxx_public=no cxx_internal=no
works 'int x;' "$cxx" -x c++ -std=c++11 && cxx_public=yes
works '#include <stdatomic.h>
atomic_int x;' "$cxx" -x c++ -std=c++2b && cxx_internal=yes

cd "$src" || exit 2
for header in $(find libargus -name '*.h' | sort); do
    case $header in
        libargus/argus.h|libargus/version.h)
            alone "$header" "$cc" -x c -std=c99 -pedantic
            if [ $cxx_public = yes ]; then alone "$header" "$cxx" -x c++ -std=c++11 -pedantic
            else skipped=$((skipped + 1)); fi ;;
        *)
            # headers of one instruction set are included by files that have its flags
            flags='' set=''
            case $header in
                *_avx2.h) flags=$(sed -n 's/^AVX2_FLAGS := //p' "$build/config.mak") ;;
                *_avx512.h) flags=$(sed -n 's/^AVX512_FLAGS := //p' "$build/config.mak") ;;
            esac
            case $header in
                */x86/*) set=AVX2 ;;
                */aarch64/*_*.h) set=NEON ;;
                # what all instruction sets share is written in the words of one of them, and
                # of functions that the including file has
                */dsp/*_rows.h)
                    set=AVX2 words=x86/%_avx2.h flags=$(sed -n 's/^AVX2_FLAGS := //p' "$build/config.mak")
                    grep -q '^HAVE_NEON := yes' "$build/config.mak" && set=NEON words=aarch64/%_neon.h flags=
                    for stem in math tile; do
                        flags="$flags -include libargus/dsp/$(echo "$words" | sed "s/%/$stem/")"
                    done
                    for call in 'STREAMS=4' \
                        'dots(a,b,c,d,e,f,g,h)=((void)(b),(void)(c),(void)(d),(void)(f),(void)(h),*(a)=*(e))' \
                        'key(a,b,c)=((void)(a),(void)(b),(void)(c),1)' \
                        'quantise_64(a,b,c)=((void)(a),(void)(b),(void)(c))' \
                        'score8(a,b,c,d,e,f)=((void)(a),(void)(b),(void)(c),(void)(d),(void)(e),(void)(f))'; do
                        flags="$flags -D$call"
                    done ;;
            esac
            [ -z "$set" ] || grep -q "^HAVE_$set := yes" "$build/config.mak" || {
                echo "SKIP $header: not built for this processor"
                skipped=$((skipped + 2))
                continue
            }
            # shellcheck disable=SC2086 # a list of flags
            alone "$header" "$cc" -x c -std=c99 -I"$build" $flags
            # shellcheck disable=SC2086
            if [ $cxx_internal = yes ]; then alone "$header" "$cxx" -x c++ -std=c++2b -I"$build" $flags
            else skipped=$((skipped + 1)); fi ;;
    esac
done
[ $cxx_public = yes ] || echo "SKIP public headers as C++: no C++ compiler ($cxx)"
[ $cxx_internal = yes ] || echo "SKIP internal headers as C++: $cxx knows no <stdatomic.h>"

echo "headers: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
