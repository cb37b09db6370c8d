/*
 * Lines of text that are hard on a tokenizer, the same on every machine.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_LINES_H
#define AG_TESTS_LINES_H

#include "libargus/base/buf.h"

enum { AG_GEN_N_LINE = 12000, AG_GEN_LINES_A_BLOCK = 100, AG_GEN_N_SWEEP = 92 };

/* Append line number i: words of many scripts, contractions, blanks of all kinds, numerals,
 * emoji, special tokens, any code points, now and then broken UTF-8. */
void ag_gen_line(AgBuf *out, int i);
/* Append sweep number i: 4096 code points in a row, each after a letter, a full stop and a
 * blank and before a digit. Planes 0 to 3 and 14 whole, the others' beginning. */
void ag_gen_sweep(AgBuf *out, int i);

#endif /* AG_TESTS_LINES_H */
