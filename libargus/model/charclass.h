/*
 * Letters and numerals as the reference tokenizer has them: Unicode 16, whatever
 * version the machine's libraries know.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_MODEL_CHARCLASS_H
#define AG_MODEL_CHARCLASS_H

#include <stdint.h>

/* 'L' letter, 'N' numeral, 'O' anything else, for c >= 0x80. */
int ag_char_class(uint32_t c);

#endif /* AG_MODEL_CHARCLASS_H */
