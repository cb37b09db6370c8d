#!/bin/sh
# check-layers.sh: who may include whom. The stages' order is the order of LIB_SRC in
# libargus/Makefile.
#
#   base <- dsp, model <- stages, each may see the earlier ones <- lib
#   dsp and model do not see each other; tools and the filter see argus.h only
#   linear, tap: what several stages use; below all of them
#   context: the objects behind argus.h's handles; after sample, before encode
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 2

stages=$(sed -n '/^LIB_SRC/,/[^\\]$/p' libargus/Makefile | tr -s ' \134' '\n' |
    grep -E '^[a-z][a-z0-9_]*$' | grep -vx linear | tr '\n' ' ')
case $stages in
    *" lib ") ;;
    *) echo "layers: LIB_SRC of libargus/Makefile has no list of stages that ends with lib"; exit 2 ;;
esac

# shellcheck disable=SC2016 # the program is awk's
find libargus tools avfilter-patch tests -name '*.[chS]' -type f | sort |
xargs awk -v stages="$stages" '
function bad(why) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, inc, why
    wrong[FILENAME] = 1
}
# stage NAME: place of a file in the order, 0 if it is none. A stage may be split:
# text_layer belongs to text.
function stage(name) {
    sub(/^libargus\//, "", name); sub(/\.[chS]$/, "", name)
    if (name in rank) return rank[name]
    sub(/_.*/, "", name)
    return name in rank ? rank[name] : 0
}
function layer(path) {
    if (path ~ /^libargus\/(argus|version)\.h$/) return "public"
    if (path ~ /^libargus\/base\//) return "base"
    if (path ~ /^libargus\/dsp\//) return "dsp"
    if (path ~ /^libargus\/model\//) return "model"
    if (path ~ /^libargus\//) return "stage"
    if (path ~ /^tools\//) return "tools"
    if (path ~ /^tests\//) return "tests"
    return "other"
}
BEGIN {
    n = split(stages, list, " ")
    for (i = 1; i <= n; i++) rank[list[i]] = i + 1
    rank["linear"] = rank["tap"] = rank["quant"] = 1
    rank["context"] = rank["encode"] - 0.5
    split("base>base dsp>base dsp>dsp model>base model>model stage>base stage>dsp stage>model " \
          "stage>stage tools>tools tests>base tests>dsp tests>model tests>stage tests>tools tests>tests", pair, " ")
    for (i in pair) allowed[pair[i]] = 1
}
FNR == 1 {
    files++
    from = FILENAME ~ /^avfilter-patch\// ? "filter" : layer(FILENAME)
    inc = "this file"
    if (from == "stage" && !stage(FILENAME)) bad("is not in LIB_SRC of libargus/Makefile")
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    inc = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", inc)
    angle = inc ~ /^</
    sub(/^[<"]/, "", inc); sub(/[>"].*/, "", inc)
    if (angle && inc !~ /^libargus\//) next
    to = layer(inc)
    if (from == "filter") {
        if (inc ~ /^libargus\// && to != "public") bad("the filter sees libargus/argus.h only")
        next
    }
    if (inc == "config.h" && !angle) {
        if (FILENAME ~ /^libargus\/(argus|version)\.h$/) bad("a public header must not see it")
        next
    }
    if (from == "public") {
        if (inc != "version.h") bad("argus.h includes version.h only")
        next
    }
    if (to == "other") { bad("includes are rooted: \"libargus/...\""); next }
    if (to == "public") next
    if (!((from ">" to) in allowed)) { bad(from " must not see " to); next }
    if (from == "stage" && to == "stage" && stage(inc) > stage(FILENAME))
        bad("a stage sees earlier stages only")
    if (from == "stage" && to == "stage" && !stage(inc)) bad("is no stage")
}
END {
    for (f in wrong) failed++
    printf "layers: %d passed, %d failed, 0 skipped\n", files - failed, failed
    exit failed != 0
}'
