/*
 * Growing byte buffer.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/base/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libargus/base/mem.h"

static int reserve(AgBuf *b, size_t more)
{
    size_t need = ag_add(ag_add(b->size, more), 1);

    if (b->failed)
        return 0;
    if (need <= b->cap)
        return 1;
    size_t cap = AG_MAX(need, AG_MAX(b->cap * 2, (size_t)64));
    char *p = need == SIZE_MAX ? NULL : ag_realloc(b->data, b->size, cap);
    if (!p) {
        b->failed = 1;
        return 0;
    }
    b->data = p;
    b->cap = cap;
    return 1;
}

void ag_buf_add(AgBuf *b, const void *data, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->size, data, n);
    b->size += n;
    b->data[b->size] = 0;
}

void ag_buf_str(AgBuf *b, const char *s)
{
    ag_buf_add(b, s, strlen(s));
}

void ag_buf_char(AgBuf *b, char c)
{
    ag_buf_add(b, &c, 1);
}

void ag_buf_printf(AgBuf *b, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->size, (size_t)n + 1, fmt, again);
        b->size += (size_t)n;
    }
    va_end(again);
    va_end(ap);
}

void ag_buf_fixed(AgBuf *b, double value, int decimals)
{
    static const int64_t pow10[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
                                    100000000, 1000000000};

    if (!isfinite(value) || fabs(value) >= 9e9) {
        ag_buf_str(b, "null");
        return;
    }
    int64_t scale = pow10[AG_CLIP(decimals, 0, 9)];
    int64_t v = llround(fabs(value) * (double)scale);
    if (value < 0 && v)
        ag_buf_char(b, '-');
    ag_buf_printf(b, "%" PRId64, v / scale);
    if (decimals > 0)
        ag_buf_printf(b, ".%0*" PRId64, decimals, v % scale);
}

void ag_buf_clear(AgBuf *b)
{
    b->size = 0;
    b->failed = 0;
    if (b->data)
        b->data[0] = 0;
}

void ag_buf_free(AgBuf *b)
{
    ag_free(b->data);
    *b = (AgBuf){0};
}

char *ag_buf_detach(AgBuf *b)
{
    char *p;

    ag_buf_add(b, "", 0);
    if (b->failed) {
        ag_buf_free(b);
        return NULL;
    }
    p = b->data;
    *b = (AgBuf){0};
    return p;
}
