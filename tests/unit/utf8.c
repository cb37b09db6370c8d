/*
 * Unit tests of libargus/base/utf8. Expected values: Python's
 * bytes.decode("utf-8", "replace"), which follows Unicode's table 3-8.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "libargus/base/utf8.h"

#define BAD "\xEF\xBF\xBD"

static void lossy(void)
{
    static const struct {
        const char *in;
        size_t n;
        const char *out;
    } t[] = {
        {"", 0, ""},
        {"plain", 5, "plain"},
        {"\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80", 9, "\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80"},
        {"a\xC0\x80z", 4, "a" BAD BAD "z"},             /* too long a form of 0 */
        {"\xE0\x80\x80", 3, BAD BAD BAD},               /* too long, three bytes */
        {"\xED\xA0\x80", 3, BAD BAD BAD},               /* surrogate */
        {"\xF4\x90\x80\x80", 4, BAD BAD BAD BAD},       /* above U+10FFFF */
        {"\xF5", 1, BAD},
        {"\xE2\x82", 2, BAD},                           /* cut: one for the whole prefix */
        {"\xF0\x9F\x98z", 4, BAD "z"},
        {"\xF0\x9F\xE2\x82\xAC", 5, BAD "\xE2\x82\xAC"},
        {"\x80\xBF", 2, BAD BAD},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 9, BAD BAD BAD BAD "A"},
    };
    AgBuf b = {0};

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        ag_buf_clear(&b);
        ag_utf8_lossy(&b, t[i].in, t[i].n);
        CU_ASSERT_EQUAL(b.size, strlen(t[i].out));
        CU_ASSERT(!b.size || !memcmp(b.data, t[i].out, b.size));
    }
    ag_buf_free(&b);
}

static void round_trip(void)
{
    for (uint32_t c = 0; c < 0x110000; c++) {
        char s[4];
        uint32_t d;
        int n = ag_utf8_write(c, s), m = ag_utf8_next(s, (size_t)n, &d);
        int surrogate = c >= 0xD800 && c < 0xE000;
        if (surrogate ? d != AG_UTF8_BAD : d != c || m != n) {
            CU_FAIL("a code point changed");
            break;
        }
        if (ag_utf8_valid(s, (size_t)n) != (surrogate ? 0 : (size_t)n)) {
            CU_FAIL("a code point is judged wrongly");
            break;
        }
    }
}

void ag_tests_utf8(void)
{
    static const AgTest tests[] = {
        {"broken sequences", lossy},
        {"every code point", round_trip},
        {NULL, NULL},
    };
    ag_suite("utf8", tests);
}
