#!/bin/sh
# check-source.sh: the form of the sources, as doc/conventions.md lays it down.
#
#   copyright line · no tabs, trailing blanks, CR, missing last newline · lines to 100
#   columns · files and functions within their budget · nothing left open · no path of one
#   machine · no compiler flag that breaks reproducibility · no large file · every file listed
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 2

tmp=$(mktemp -d "${TMPDIR:-/tmp}/argus-source.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT

# Tracked files and new ones; in an unpacked archive whatever is not a build.
if git ls-files --error-unmatch configure >/dev/null 2>&1; then
    git ls-files -co --exclude-standard
else
    find . -type f ! -path './build*' ! -path './.git/*' | sed 's|^\./||'
fi | sort | while IFS= read -r f; do [ -f "$f" ] && echo "$f"; done >"$tmp/all"

# Ours to format: no data, no generated patch, no reference output.
grep -vE '^(models/|fate-refs/|tests/refs/|avfilter-patch/.*\.(patch|texi)$)|\.(png|jpg|json|f32|txt)$' \
    "$tmp/all" >"$tmp/text"
grep -E '\.(c|h|S|sh)$|^configure$' "$tmp/text" >"$tmp/code"

# [set] keeps a pattern from finding itself.
cat >"$tmp/rules.awk" <<'EOF'
function bad(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why
    wrong[FILENAME] = 1
}
FNR == 1 {
    c = FILENAME ~ /\.[ch]$/
    code = c || FILENAME ~ /\.(S|sh)$|^configure$/
    make = FILENAME ~ /(^|\/)Makefile$|\.mak$/
    start = 0
    # tables of tests and lines of shell may be wider
    width = c && FILENAME !~ /^tests\// ? 100 : code ? 120 : 0
}
/\t/ && !make { bad("tab") }
/[ \t]$/ { bad("blank at the end of the line") }
/\r/ { bad("CR") }
# columns, not bytes: continuation bytes of UTF-8 do not count
width && length($0) > width {
    s = $0
    gsub(/[\200-\277]/, "", s)
    if (length(s) > width) bad(length(s) " columns, " width " allowed")
}
/(^|[^A-Za-z0-9_])\/(work|home|farm|root)\// { bad("path of one machine") }
(code || make) && /(^|[^A-Za-z_])([T]ODO|[F]IXME|[X]XX|[n]ot implemented)([^A-Za-z_]|$)/ { bad("left open") }
/-[m]arch=native|-[f]fast-math|-[O]fast/ && (code || make) { bad("flag that breaks reproducibility") }
# a function: from { in column 0 to } in column 0
c && /^\{/ { start = FNR }
c && /^}/ && start { if (FNR - start - 1 > 80) bad("function of " (FNR - start - 1) " lines, 80 allowed"); start = 0 }
END { for (f in wrong) print f >wrongfile }
EOF
tr '\n' '\0' <"$tmp/text" | xargs -0 awk -v wrongfile="$tmp/w1" -f "$tmp/rules.awk"

# report FILE WHY
report() {
    echo "$1: $2"
    echo "$1" >>"$tmp/w2"
}

while IFS= read -r f; do
    head -n 40 "$f" | grep -q 'Copyright (c) 2026 the argus authors' || report "$f" "no copyright line"
    lines=$(wc -l <"$f")
    case $f in
        libargus/argus.h) most=600 ;; # the whole interface, read from top to bottom
        *.h) most=350 ;;
        avfilter-patch/vf_argus.c) most=1700 ;; # in FFmpeg a filter is one file
        *) most=600 ;;
    esac
    [ "$lines" -le "$most" ] || report "$f" "$lines lines, $most allowed"
done <"$tmp/code"

while IFS= read -r f; do
    [ -z "$(tail -c 1 "$f")" ] || report "$f" "no newline at the end"
done <"$tmp/text"

while IFS= read -r f; do
    case $f in models/argus-tiny/*) continue ;; esac
    [ "$(wc -c <"$f")" -le 1048576 ] || report "$f" "larger than 1 MiB"
done <"$tmp/all"

# Lists are explicit: a file that nobody builds or runs is a mistake.
# listed FILE LIST WORD
listed() {
    tr -s ' \\\t' '\n' <"$2" | grep -qx -- "$3" || report "$1" "not listed in $2"
}
while IFS= read -r f; do
    case $f in
        libargus/*.c) w=${f#libargus/}; listed "$f" libargus/Makefile "${w%.c}" ;;
        tests/unit/*.c) w=${f##*/}; listed "$f" tests/Makefile "${w%.c}" ;;
        tests/checkasm/*.c) w=${f##*/}; listed "$f" tests/Makefile "${w%.c}" ;;
        tools/*.c) w=${f##*/}; listed "$f" tools/Makefile "${w%.c}" ;;
    esac
done <"$tmp/code"

files=$(wc -l <"$tmp/all")
failed=$(cat "$tmp/w1" "$tmp/w2" 2>/dev/null | sort -u | wc -l)
echo "source: $((files - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
