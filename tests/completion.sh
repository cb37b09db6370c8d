#!/bin/sh
# completion.sh BUILD: what bash offers after a few beginnings of argus commands.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
build=$(cd "${1:-build}" && pwd) || exit 2
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
passed=0 failed=0

if ! command -v bash >/dev/null; then
    echo "SKIP completion: no bash here"
    echo "completion: 0 passed, 0 failed, 1 skipped"
    exit 0
fi

# shellcheck disable=SC2086 # lists of words
# offers EXPECTED WORD...: all of EXPECTED are among what is offered for the last word
offers() {
    expected=$1
    shift
    # shellcheck disable=SC2016 # for the other shell
    found=$(cd "$src" && bash -c '
        . tools/completion/argus.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _argus
        echo "${COMPREPLY[*]}"' bash "$build/argus" "$@")
    for word in $expected; do
        case " $found " in
            *" $word "*) ;;
            *)
                failed=$((failed + 1))
                echo "FAIL after '$*': expected $word, found: $found"
                return
                ;;
        esac
    done
    passed=$((passed + 1))
    echo "ok   after '$*':" $expected
}

offers "--max-tokens --model --multi" --m
offers "--runs" bench --ru
offers "--threads" info --th
offers "on off" --split ""
offers "on off" --split = ""
offers "drop white black" --alpha =
offers "argus-tiny" --model argus
offers "info" in
offers "README.md" READ

# every option of the help text is offered
offers "$("$build/argus" --help | sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p')" --

echo "completion: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
