/*
 * UTF-8 with damage: a broken sequence is one U+FFFD for each longest prefix
 * of a valid sequence (Unicode chapter 3, "maximal subpart"), as Rust and
 * Python do.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_UTF8_H
#define AG_BASE_UTF8_H

#include "libargus/base/buf.h"

#define AG_UTF8_BAD 0xFFFFFFFFu

/* First character of n >= 1 bytes. @return bytes taken, >= 1; *c = its code
 * point, or AG_UTF8_BAD for a broken sequence. */
int ag_utf8_next(const char *s, size_t n, uint32_t *c);
/* Bytes at the start of s that are valid UTF-8. */
size_t ag_utf8_valid(const char *s, size_t n);
/* Append n bytes, broken sequences as U+FFFD. */
void ag_utf8_lossy(AgBuf *out, const char *s, size_t n);
/* Write a code point below 0x110000. @return bytes written, 1..4. */
int ag_utf8_write(uint32_t c, char *out);

#endif /* AG_BASE_UTF8_H */
