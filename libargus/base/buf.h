/*
 * Growing byte buffer. Failure is sticky: check ag_buf_ok() once at the end.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_BUF_H
#define AG_BASE_BUF_H

#include "libargus/base/common.h"

typedef struct AgBuf {
    char *data;  /* size bytes and a terminating 0; NULL while empty */
    size_t size, cap;
    int failed;  /* memory ran out; contents are what fitted */
} AgBuf;

void ag_buf_add(AgBuf *b, const void *data, size_t n);
void ag_buf_str(AgBuf *b, const char *s);
void ag_buf_char(AgBuf *b, char c);
/* Formats without the locale's help: use for integers and strings only. */
void ag_buf_printf(AgBuf *b, const char *fmt, ...) AG_PRINTF(2, 3);
/* value with `decimals` digits after a point, whatever the locale; decimals
 * 0..9, |value| < 9e9; "null" when it is not finite. */
void ag_buf_fixed(AgBuf *b, double value, int decimals);
void ag_buf_clear(AgBuf *b); /* keeps the memory */
void ag_buf_free(AgBuf *b);
/* The string, owned by the caller from now on; NULL if memory ran out. */
char *ag_buf_detach(AgBuf *b);
static inline int ag_buf_ok(const AgBuf *b) { return !b->failed; }

#endif /* AG_BASE_BUF_H */
