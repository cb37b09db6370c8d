#!/bin/sh
# check-cases.sh: doc/cases.md against the tests. Every id that must be there has a line, every
# test of a line exists, and one of them carries the id: a unit test in its name, a FATE test
# in the comment before it.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 2
doc=doc/cases.md
passed=0 failed=0

# Whole sections; of the others those that have a test.
needed="I1 I2 I4 I5 I7 I8 I10 P1 P2 P4 P5 P7 P10 P11 P12 T1 T2 T6 T7 T8 T11 T12 T13 M1 M2 M3 M7 M8 M10
    M11 D1 D3 D4 D5 D8 D9 V1 V3 V4 V5 V7 V8 V9 V10 V13 V15 V16 V20 S2 S4 S5 S8 S9 S11 S12 S13 S14
    F1 F3 F4 F5 F6 F9 F10 F12 A2 A3 A4 C1 C4 C5 R1 R3 R5 R6 X1 X3 X6 X7"

bad() {
    failed=$((failed + 1))
    echo "$doc: $1"
}

# has_word ID TEXT...: ID is a word of it
has_word() {
    id=$1
    shift
    case " $(echo "$*" | tr -c 'A-Za-z0-9' ' ') " in *" $id "*) return 0 ;; esac
    return 1
}

# fate_test NAME: NAME's comment in its script FAMILY.sh or FAMILY_*.sh, when script, list and reference have it
fate_test() {
    family=${1%%-*} short=${1#*-}
    tr -s ' ' '\n' <"tests/fate/$family.mak" | grep -qx -e "$short" || return 1
    [ -f "fate-refs/$1" ] || return 1
    awk -v name="test_$(echo "$short" | tr - _)() {" '
        /^#/ { comment = comment " " $0; next }
        index($0, name) == 1 { print comment; found = 1 }
        { comment = "" }
        END { exit !found }' "tests/fate/$family"*.sh
}

# test_of ID TEST: it exists; 0 if it carries the id, 1 if not
test_of() {
    name=${2#*: }
    case $2 in
        unit/*)
            suite=${2#unit/}
            suite=${suite%%:*}
            grep -qF "{\"$name\"," "tests/unit/$suite.c" 2>/dev/null || bad "$1: there is no test $2"
            has_word "$1" "$name"
            ;;
        fate/*)
            comment=$(fate_test "${2#fate/}") || bad "$1: there is no test $2"
            has_word "$1" "$comment"
            ;;
        "checkasm: "*)
            grep -qF "\"$name\"" tests/checkasm/*.c || bad "$1: there is no test $2"
            return 1
            ;;
        "parity: "*)
            [ -e "tests/refs/$name" ] || [ -e "tests/refs/$name.json" ] || bad "$1: there is no test $2"
            return 1
            ;;
        "install: "*) # these have no ids in their names
            grep -qF "\"$name\"" tests/install.sh || bad "$1: there is no test $2"
            ;;
        *)
            bad "$1: unknown kind of test: $2"
            ;;
    esac
}

rows=$(grep -E '^\| [A-Z][0-9]+ \|' $doc)
for id in $needed; do
    echo "$rows" | grep -q "^| $id |" || bad "no line for $id"
done
[ -z "$(echo "$rows" | awk '{ print $2 }' | sort | uniq -d)" ] || bad "an id has two lines"

while IFS='|' read -r _ id right tests _; do
    id=$(echo "$id" | tr -d ' ')
    before=$failed carried=0
    case $right in *[a-z]*) ;; *) bad "$id: the right value is not said" ;; esac
    while read -r test; do
        test_of "$id" "$test" && carried=1
    done <<END
$(echo "$tests" | tr ';' '\n' | sed 's/^ *//; s/ *$//')
END
    [ $carried = 1 ] || bad "$id: no test carries the id"
    [ "$failed" != "$before" ] || passed=$((passed + 1))
done <<END
$rows
END

echo "cases: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
