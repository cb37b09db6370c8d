#!/bin/sh
# setup.sh VENV MODEL: install the peers of the speed comparison into the virtual environment
# VENV, pinned, and make their files from the model directory MODEL. Needs Python 3.11 or
# later, a C++ compiler, CMake, 12 GB of disk and the network; about 15 minutes on two cores.
#
#   VENV/bin/python        PyTorch, transformers, OpenVINO, llama-cpp-python (peers.txt)
#   VENV/src               llama.cpp: the source distribution of llama-cpp-python, built from
#                          source for this processor; its converter makes the GGUF files
#   VENV/export            the one step that needs other versions: optimum-intel exports this
#                          architecture with transformers 4.57 and later only
#   VENV/peers/*.gguf      text and mmproj in F32, BF16 and Q8_0
#   VENV/peers/openvino-*  what optimum-intel exports: f32; int8 weights; int8-full: the vision
#                          tower quantised by nncf, weights and activations
#   VENV/ffai              the crate ffai-argus with a program around it (only with PEERS=...ffai;
#                          needs cargo, Rust 1.95)
#
# PEERS="torch llama openvino" is the default. JOBS=N: compilers at a time. What is
# there already is not made again.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL

[ $# = 2 ] || { echo "usage: setup.sh VENV MODEL" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) || exit 2
model=$(cd "$2" 2>/dev/null && pwd) || { echo "setup: $2: no such directory" >&2; exit 2; }
peers=${PEERS:-torch llama openvino}
llama=0.3.36

say() { printf '%-7s %s\n' BENCH "$*"; }
die() { echo "setup: $*" >&2; exit 1; }
wants() { case " $peers " in *" $1 "*) ;; *) false ;; esac; }

if [ ! -x "$1/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$1" || die "can't make the virtual environment $1"
fi
venv=$(cd "$1" && pwd) || exit 1
out=$venv/peers
mkdir -p "$out" "$venv/src" || exit 1
python=$venv/bin/python
pip() { "$python" -m pip --disable-pip-version-check -q "$@"; }

# made FILE COMMAND...: run COMMAND, which makes FILE under the name FILE.part, if FILE is not there
made() {
    target=$1
    shift
    [ -e "$target" ] && return
    say "$(basename "$target")"
    rm -rf "$target.part"
    "$@" >"$venv/log" 2>&1 || { tail -n 30 "$venv/log" >&2; die "$target failed"; }
    mv "$target.part" "$target"
}

say "packages"
pip install -r "$here/peers.txt" || die "the packages can't be installed"

if wants llama; then
    src=$venv/src/llama_cpp_python-$llama
    if [ ! -d "$src" ]; then
        say "llama-cpp-python $llama, its source"
        pip download --no-deps --no-build-isolation --no-binary llama-cpp-python \
            -d "$venv/src" "llama-cpp-python==$llama" || die "no source of llama-cpp-python"
        tar -xzf "$src.tar.gz" -C "$venv/src" || die "can't unpack $src.tar.gz"
    fi
    if ! "$python" -c "import llama_cpp" 2>/dev/null; then
        say "llama.cpp, built for this processor"
        CMAKE_ARGS="-DGGML_NATIVE=ON" CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2} \
            pip install --no-deps --no-build-isolation "$src.tar.gz" || die "llama.cpp does not build"
    fi
    gguf() { # gguf TYPE FILE OPTION...
        type=$1 file=$2
        shift 2
        made "$file" env PYTHONPATH="$src/vendor/llama.cpp/gguf-py" "$python" \
            "$src/vendor/llama.cpp/convert_hf_to_gguf.py" "$model" --outtype "$type" \
            --outfile "$file.part" "$@"
    }
    for type in f32 bf16 q8_0; do
        gguf "$type" "$out/text-$type.gguf"
        gguf "$type" "$out/mmproj-$type.gguf" --mmproj
    done
fi

if wants openvino; then
    if [ ! -d "$venv/export/transformers" ]; then
        pip install --no-deps --target "$venv/export" transformers==4.57.6 \
            tokenizers==0.22.2 || die "no transformers 4.57.6"
    fi
    openvino() { # openvino NAME FORMAT
        made "$out/openvino-$1" env HF_HUB_OFFLINE=1 PYTHONPATH="$venv/export" "$python" \
            -m optimum.commands.optimum_cli export openvino --model "$model" \
            --task image-text-to-text --weight-format "$2" "$out/openvino-$1.part"
    }
    openvino f32 fp32
    openvino int8 int8
    made "$out/openvino-int8-full" "$python" "$here/quantize_openvino.py" "$model" \
        "$out/openvino-f32" "$out/openvino-int8" "$out/openvino-int8-full.part"
fi

if wants ffai; then
    say "ffai-argus, built for this processor"
    rm -rf "$venv/src/ffai"
    cp -r "$here/ffai" "$venv/src/ffai" || exit 1
    (cd "$venv/src/ffai" && RUSTFLAGS="-C target-cpu=native" cargo build -q --release \
        -j "${JOBS:-2}" --target-dir "$venv/ffai") || die "ffai-argus does not build"
fi
say "ready: compare.py --venv $venv"
