/*
 * UTF-8 with damage. The table of valid sequences is Unicode's table 3-7.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/base/utf8.h"

int ag_utf8_next(const char *s, size_t n, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)s;
    unsigned lo = 0x80, hi = 0xBF; /* of the second byte */
    int len;

    if (p[0] < 0x80) {
        *c = p[0];
        return 1;
    }
    *c = AG_UTF8_BAD;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 1;
    if (p[0] == 0xE0)
        lo = 0xA0; /* shorter form exists */
    else if (p[0] == 0xED)
        hi = 0x9F; /* surrogates */
    else if (p[0] == 0xF0)
        lo = 0x90;
    else if (p[0] == 0xF4)
        hi = 0x8F; /* beyond U+10FFFF */
    len = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t v = p[0] & (0x7Fu >> len);
    for (int i = 1; i < len; i++, lo = 0x80, hi = 0xBF) {
        if ((size_t)i >= n || p[i] < lo || p[i] > hi)
            return i;
        v = v << 6 | (p[i] & 0x3F);
    }
    *c = v;
    return len;
}

size_t ag_utf8_valid(const char *s, size_t n)
{
    size_t i = 0;
    uint32_t c;

    while (i < n) {
        int len = ag_utf8_next(s + i, n - i, &c);
        if (c == AG_UTF8_BAD)
            break;
        i += (size_t)len;
    }
    return i;
}

void ag_utf8_lossy(AgBuf *out, const char *s, size_t n)
{
    while (n) {
        uint32_t c;
        size_t good = ag_utf8_valid(s, n);

        ag_buf_add(out, s, good);
        s += good;
        n -= good;
        if (!n)
            break;
        int len = ag_utf8_next(s, n, &c);
        ag_buf_str(out, "\xEF\xBF\xBD");
        s += len;
        n -= (size_t)len;
    }
}

int ag_utf8_write(uint32_t c, char *out)
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    int len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    if (len == 1) {
        out[0] = (char)c;
        return 1;
    }
    for (int i = len - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(lead[len] | c);
    return len;
}
