#!/bin/sh
# real.sh BUILD TEST: make check-real without the published weights: argus-tiny with facts
# of Hugging Face about it, a folder of another model, and no folder at all.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL
[ $# = 2 ] || { echo "usage: real.sh BUILD TEST" >&2; exit 2; }
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
ARGUS_MANIFEST_PATH=$src/models
export ARGUS_MANIFEST_PATH

tell() { echo "exit code $?"; }
mask() { sed "s|$src|SRC|g"; }

case $2 in
    tiny) # every check, with its own manifest: nothing is left out
        "$1/tests/real/real" "$src/tests/real/argus-tiny.json" "$src/models/argus-tiny"
        tell ;;
    other-model)
        out=$("$src/tests/real/run.sh" "$1" "$src/models/argus-tiny")
        code=$?
        echo "$out" | mask
        echo "exit code $code" ;;
    no-model)
        "$src/tests/real/run.sh" "$1" ""
        tell ;;
    *) exit 2 ;;
esac
