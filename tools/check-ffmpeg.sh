#!/bin/sh
# check-ffmpeg.sh BUILD [VERSION...]: the shipped patches against the releases they were made
# for (all of them unless some are named). For each: the patch is what tools/mkpatch.sh makes of
# vf_argus.c and its neighbours, it applies without fuzz or offset, everything builds with no
# warning about a file that the patch touches, FFmpeg's own fate-filter-argus* pass there, and so
# do the filter-* tests of this project.
#
#   check-ffmpeg.sh --built BUILD   only fate-filter-argus*, in the ffmpeg of tools/ffmpeg.sh
#   FATE=all    also all other tests of FFmpeg that the configuration has, in the patched and in
#               the unpatched source: none may fail that passes without the patch, and no warning
#               may be there that was not there without it
#   FFMPEG_SRC, FFMPEG_DIST   where the tarballs are, see tools/ffmpeg.sh; a release that is
#               neither there nor to be had from ffmpeg.org is skipped
#
# Builds in BUILD/ffmpeg-VERSION; a second run compiles what changed and nothing else.
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
src=$(cd "$(dirname "$0")/.." && pwd) || exit 2
built=no
[ "${1:-}" = --built ] && { built=yes; shift; }
[ $# -ge 1 ] || { echo "usage: check-ffmpeg.sh [--built] BUILD [VERSION...]" >&2; exit 2; }
build=$(cd "$1" 2>/dev/null && pwd) || { echo "check-ffmpeg: $1: no such directory" >&2; exit 2; }
shift
fate=${FATE:-filter}
. "$src/tools/ffmpeg-lib.sh"
unset ARGUS_MODEL_PATH

# Results are lines, since a version that can't go on ends its subshell: PASS, FAIL or SKIP, WHAT
results=$(mktemp "${TMPDIR:-/tmp}/argus-check-ffmpeg.XXXXXX") || exit 2
trap 'rm -f "$results"' EXIT
verdict() {
    echo "$1 $2${3:+: $3}" >>"$results"
    [ "$1" = PASS ] || echo "$1 $2${3:+: $3}"
}

# --- the patch

# find_release VERSION: $origin
find_release() {
    FFMPEG_VERSION=$1
    origin=${FFMPEG_SRC:-}
    if [ -d "$origin" ]; then
        [ "$(cat "$origin/RELEASE" 2>/dev/null)" = "$1" ] && return
    elif [ -n "$origin" ] && [ "$(version_of "$origin")" = "$1" ]; then
        from_src
        return
    fi
    from_dist || from_site
}

# Files of the source as they were, to apply the patch to again and again.
keep_originals() {
    for f in Changelog $(sed -n 's|^+++ b/\([^ ]*\).*|\1|p' "$patch"); do
        [ -f "$dir/original/$f" ] || ! [ -f "$tree/$f" ] || grep -qx "$f" "$dir/applied" || {
            mkdir -p "$dir/original/$(dirname "$f")"
            cp "$tree/$f" "$dir/original/$f"
        }
    done
}

# apply_patch: what is in the tree is written over only where it changes
apply_patch() {
    [ -f "$dir/applied" ] || : >"$dir/applied"
    keep_originals
    "$src/tools/mkpatch.sh" --diff "$dir/original" >"$dir/patch" || return 1
    stale=
    cmp -s "$dir/patch" "$patch" || stale="${patch##*/} is not what tools/mkpatch.sh makes"
    rm -rf "$dir/patched"
    cp -R "$dir/original" "$dir/patched"
    (cd "$dir/patched" && patch -p1 -F0 -N --no-backup-if-mismatch <"$patch") >"$dir/patch.log" 2>&1
    status=$?
    cat "$dir/patch.log" >>"$log"
    if [ $status != 0 ] || grep -qiE 'fuzz|offset|reversed|ignored' "$dir/patch.log"; then
        tail -n 20 "$dir/patch.log"
        verdict FAIL "$version patch" "${patch##*/} does not apply as it is"
        return 1
    fi
    # what an older patch brought
    while read -r f; do
        [ -f "$dir/patched/$f" ] || rm -f "$tree/$f"
    done <"$dir/applied"
    (cd "$dir/patched" && find . -type f ! -name Changelog) | sed 's|^\./||' >"$dir/applied"
    while read -r f; do
        cmp -s "$dir/patched/$f" "$tree/$f" && continue
        mkdir -p "$tree/$(dirname "$f")"
        cat "$dir/patched/$f" >"$tree/$f" || return 1
    done <"$dir/applied"
    verdict "$([ -n "$stale" ] && echo FAIL || echo PASS)" "$version patch" "$stale"
}

# --- warnings: kept from run to run, since what is not compiled again does not warn again

# note_warnings: those of this run's log, without lines and columns
note_warnings() {
    grep -h 'warning: ' "$log" | sed 's/^[^ ]*src\///; s/:[0-9]*:[0-9]*:/:/' >>"$dir/warnings"
    sort -u "$dir/warnings" -o "$dir/warnings"
}

# forget_warnings: a file that gave one is compiled once more
forget_warnings() {
    [ -f "$dir/warnings" ] && grep -q argus "$dir/warnings" || return 0
    rm -f "$obj/libavfilter/vf_argus.o" "$obj/libavfilter/allfilters.o"
    grep -v argus "$dir/warnings" >"$dir/warnings.new"
    mv "$dir/warnings.new" "$dir/warnings"
}

# --- FFmpeg's tests

# in_obj ARGS...: make in the build of FFmpeg
in_obj() { make -C "$obj" --no-print-directory "$@"; }

# filter_tests NAME: fate-filter-argus* one by one
filter_tests() {
    tests=$(in_obj fate-list 2>>"$log" | grep '^fate-filter-argus-')
    [ -n "$tests" ] || verdict FAIL "$1" "make fate-list has no fate-filter-argus-*"
    for t in $tests; do
        if in_obj "$t" >"$dir/test.log" 2>&1; then
            verdict PASS "$1 $t"
        else
            tail -n 30 "$dir/test.log"
            verdict FAIL "$1 $t"
        fi
        cat "$dir/test.log" >>"$log"
    done
}

# project_tests: filter-* of tests/fate/, with this ffmpeg in the place of the usual one
project_tests() {
    host=$dir/host
    mkdir -p "$host"
    ln -sfn "$dir" "$host/ffmpeg"
    tests=$(make -s -C "$src" B="$build" fate-list 2>>"$log" | grep '^filter-')
    [ -n "$tests" ] || verdict FAIL "$version" "make fate-list has no filter-*"
    for t in $tests; do
        "$src/tests/fate-run.sh" "$host" "$t" "$src/tests/fate/filter.sh" "$host" "${t#filter-}" >"$dir/test.log" 2>&1
        why=$(sed -n "\$s/.* $t: //p" "$dir/test.log")
        case $(tail -n 1 "$dir/test.log") in
            "PASS "*) verdict PASS "$version $t" ;;
            "SKIP "*) verdict SKIP "$version $t" "$why" ;;
            *)
                tail -n 30 "$dir/test.log"
                verdict FAIL "$version $t"
                ;;
        esac
        cat "$dir/test.log" >>"$log"
    done
}

# failures LOG: names of tests and files that make could not do
failures() { sed -n 's/^make: \*\*\* \[.*: \([^]]*\)\] Error.*/\1/p' "$1" | sort -u; }

# all_tests: the whole of FATE, here and without the patch
all_tests() {
    note_warnings
    with=$dir
    say "FATE, patched: $with/with.fate"
    in_obj -k -j"$jobs" fate >"$with/with.fate" 2>&1
    place "$dir/plain"
    ours=
    : >"$log"
    [ -d "$tree" ] || unpack
    configure
    compile
    note_warnings
    say "FATE, unpatched: $with/plain.fate"
    in_obj -k -j"$jobs" fate >"$with/plain.fate" 2>&1
    n=$(grep -c '^TEST ' "$with/with.fate")
    m=$(grep -c '^TEST ' "$with/plain.fate")
    failures "$with/with.fate" >"$with/with.failed"
    failures "$with/plain.fate" >"$with/plain.failed"
    comm -23 "$with/with.failed" "$with/plain.failed" >"$with/new.failed"
    both=$(comm -12 "$with/with.failed" "$with/plain.failed" | wc -l)
    comm -23 "$with/warnings" "$dir/warnings" >"$with/new.warnings"
    place "$with"
    while read -r t; do
        verdict FAIL "$version $t" "passes without the patch"
    done <"$dir/new.failed"
    while read -r w; do
        verdict FAIL "$version warning" "$w"
    done <"$dir/new.warnings"
    say "FATE: $n tests patched, $m unpatched; $both fail in both, $(wc -l <"$dir/new.failed") only when patched"
    if [ "$n" -le "$m" ]; then
        verdict FAIL "$version make fate" "$n tests with the filter's, $m without"
    elif ! [ -s "$dir/new.failed" ]; then
        verdict PASS "$version make fate"
    fi
}

check_version() {
    version=$1
    patch=$src/avfilter-patch/ffmpeg-${version%.*}.patch
    [ -f "$patch" ] || { verdict FAIL "$version" "no ${patch##*/}"; return; }
    place "$build/ffmpeg-$version"
    : >"$log"
    find_release "$version" || { verdict SKIP "$version" "no tarball of FFmpeg $version"; return; }
    [ -f "$dir/origin" ] || {
        rm -rf "$dir/original" "$dir/applied" "$dir/plain" "$dir/warnings"
        unpack
        echo "$origin" >"$dir/origin"
    }
    apply_patch || return 1
    forget_warnings
    configure
    compile
    note_warnings
    if grep argus "$dir/warnings"; then
        verdict FAIL "$version build" "warnings, see above"
    else
        verdict PASS "$version build"
    fi
    filter_tests "$version"
    project_tests
    [ "$fate" != all ] || all_tests
}

# sum_of PATTERN: passed, failed, skipped among the results that begin with it
sum_of() {
    awk -v what="$1" 'what == "" || $2 ~ "^" what ":*$" { n[$1]++ }
        END { printf "%d passed, %d failed, %d skipped\n", n["PASS"], n["FAIL"], n["SKIP"] }' "$results"
}

need_library
if [ $built = yes ]; then
    place "$build/ffmpeg"
    log=$build/check-ffmpeg.log
    [ -x "$obj/ffmpeg" ] || { echo "check-ffmpeg: no $obj/ffmpeg; run tools/ffmpeg.sh" >&2; exit 2; }
    : >"$log"
    filter_tests "$(cat "$tree/RELEASE")"
else
    versions=$*
    for v in ${versions:-$(echo "$releases" | cut -d ' ' -f 1)}; do
        (check_version "$v") || grep -q "^FAIL $v" "$results" || verdict FAIL "$v" "could not be built"
        echo "FFmpeg $v: $(sum_of "$v")"
    done
fi
echo "check-ffmpeg: $(sum_of "")"
! grep -q '^FAIL' "$results" && grep -q . "$results"
