#!/bin/sh
# run.sh BUILD MODEL: what make check-real does. MODEL is a directory with the published
# files of SmolVLM-256M-Instruct. Exit code 77 without one: nothing was checked.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
ARGUS_MANIFEST_PATH=$src/models
export ARGUS_MANIFEST_PATH
if [ -z "${2:-}" ]; then
    cat <<EOF
check-real: nothing was checked. It needs the published files of SmolVLM-256M-Instruct (494 MiB,
Apache-2.0), which are not part of this repository:

    argus models --fetch smolvlm-256m
    make check-real MODEL=\$HOME/.local/share/argus/models/smolvlm-256m

They are compared with models/smolvlm-256m.json (sha256 of model.safetensors:
$(sed -n 's/.*"model.safetensors".*"sha256": "\([0-9a-f]*\)".*/\1/p' "$src/models/smolvlm-256m.json")).
EOF
    exit 77
fi
exec "$1/tests/real/real" "$src/tests/real/smolvlm-256m.json" "$2"
