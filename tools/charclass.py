#!/usr/bin/env python3
"""Write libargus/model/charclass.c: what the reference tokenizer takes for a
letter or a numeral, for every code point.

    python3 tools/charclass.py libargus/model/charclass.c

Needs tokenizers==0.21.4: the answers are asked of its pre-tokenizers, one
code point at a time, so they are the reference's whatever Unicode version
its parts were built with. Copyright (c) 2026 the argus authors.
BSD-2-Clause, see LICENSE.
"""
import sys

import tokenizers
from tokenizers import pre_tokenizers

VERSION = "0.21.4"

HEAD = """/*
 * Letters and numerals beyond ASCII, as the reference tokenizer has them.
 * Written by tools/charclass.py from tokenizers %s; not to be edited.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/model/charclass.h"

#include <stddef.h>

/* First and last code point, rising. */
static const struct {
    uint32_t first, last;
    char kind; /* L letter, N numeral */
} ranges[] = {
"""

TAIL = """};

int ag_char_class(uint32_t c)
{
    size_t lo = 0, hi = sizeof(ranges) / sizeof(ranges[0]);

    while (lo < hi) { /* first range that does not end before c */
        size_t mid = (lo + hi) / 2;
        if (ranges[mid].last < c)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < sizeof(ranges) / sizeof(ranges[0]) && ranges[lo].first <= c ? ranges[lo].kind : 'O';
}
"""


def classes():
    """Class of each code point: L, N, or O for all others."""
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    digits = pre_tokenizers.Digits(individual_digits=True)
    kind = ["O"] * 0x110000
    for c in range(0x80, 0x110000):
        if 0xD800 <= c < 0xE000:
            continue
        if len(gpt2.pre_tokenize_str("x" + chr(c))) == 1:
            kind[c] = "L"
        elif len(gpt2.pre_tokenize_str("\u00b2" + chr(c))) == 1:
            kind[c] = "N"
        # The two stages must mean the same by a numeral: one table serves both.
        assert (len(digits.pre_tokenize_str("x" + chr(c))) == 2) == (kind[c] == "N"), hex(c)
    return kind


def main():
    if tokenizers.__version__ != VERSION:
        sys.exit(f"expected tokenizers {VERSION}, found {tokenizers.__version__}")
    kind = classes()
    spans = []
    for c, k in enumerate(kind):
        if k == "O":
            continue
        if spans and spans[-1][1] == c - 1 and spans[-1][2] == k:
            spans[-1][1] = c
        else:
            spans.append([c, c, k])
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write(HEAD % VERSION)
        line = "   "
        for first, last, k in spans:
            item = f" {{0x{first:X}, 0x{last:X}, '{k}'}},"
            if len(line) + len(item) > 100:
                f.write(line + "\n")
                line = "   "
            line += item
        f.write(line + "\n" + TAIL)


main()
