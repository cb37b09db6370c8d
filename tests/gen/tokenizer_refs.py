#!/usr/bin/env python3
"""Write tests/refs/tokenizer-lines.txt: what the tokenizers package makes of the lines
and sweeps of tests/gen/lines.c.

    python3 tests/gen/tokenizer_refs.py DATA > tests/refs/tokenizer-lines.txt

from the top of the source tree. DATA is a directory with
models/SmolVLM-256M-Instruct/tokenizer.json. Needs tokenizers==0.21.4, a C compiler,
nothing else. A row is: model, 1 if special tokens are looked for, kind, number,
the first 16 digits of a sha256. A row of kind "lines" covers 100 lines. Hashed is, for
each line or sweep, the ids in decimal with blanks between, the text decoded from
them with special tokens kept, and the same without them, each with a newline after.
Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""
import hashlib
import os
import struct
import subprocess
import sys
import tempfile

import tokenizers
from tokenizers import Tokenizer

VERSION = "0.21.4"
N_LINE, N_BLOCK, N_SWEEP = 12000, 100, 92


def texts():
    with tempfile.TemporaryDirectory() as d:
        prog = os.path.join(d, "lines")
        base = [f"libargus/base/{f}.c" for f in ("buf", "mem", "utf8")]
        subprocess.run(["cc", "-std=c11", "-DAG_LINES_MAIN", "-I.", "-o", prog, "tests/gen/lines.c",
                        *base, "-lm"], check=True)
        data = subprocess.run([prog], check=True, stdout=subprocess.PIPE).stdout
    out, at = [], 0
    while at < len(data):
        (n,) = struct.unpack_from("<I", data, at)
        # Broken sequences as the library takes them: U+FFFD for each.
        out.append(data[at + 4:at + 4 + n].decode("utf-8", "replace"))
        at += 4 + n
    assert len(out) == N_LINE + N_SWEEP
    return out


def digest(tok, lines):
    h = hashlib.sha256()
    for s in lines:
        ids = tok.encode(s, add_special_tokens=False).ids
        for part in (" ".join(map(str, ids)), tok.decode(ids, skip_special_tokens=False),
                     tok.decode(ids, skip_special_tokens=True)):
            h.update(part.encode() + b"\n")
    return h.hexdigest()[:16]


def main():
    if tokenizers.__version__ != VERSION:
        sys.exit(f"expected tokenizers {VERSION}, found {tokenizers.__version__}")
    lines = texts()
    for name, d in (("argus-tiny", "models/argus-tiny"),
                    ("SmolVLM-256M-Instruct", sys.argv[1] + "/models/SmolVLM-256M-Instruct")):
        tok = Tokenizer.from_file(d + "/tokenizer.json")
        for special in (0, 1):
            tok.encode_special_tokens = not special
            for i in range(N_LINE // N_BLOCK):
                print(name, special, "lines", i, digest(tok, lines[i * N_BLOCK:(i + 1) * N_BLOCK]))
        tok.encode_special_tokens = True
        for i in range(N_SWEEP):
            print(name, 0, "sweep", i, digest(tok, [lines[N_LINE + i]]))


main()
