/*
 * Unit tests of libargus/base/sha256: published vectors, and any cut of the input.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "libargus/base/sha256.h"

static const char *hex(const void *data, size_t n, size_t step)
{
    static char out[65];
    AgSha256 s;

    ag_sha256_init(&s);
    for (size_t i = 0; i < n; i += step)
        ag_sha256_add(&s, (const char *)data + i, AG_MIN(step, n - i));
    ag_sha256_hex(&s, out);
    return out;
}

/* FIPS 180-2 appendix B and the empty text. */
static void vectors(void)
{
    static char million[1000000];
    static const struct {
        const char *text, *digest;
    } t[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };

    for (size_t i = 0; i < AG_COUNT(t); i++)
        CU_ASSERT_STRING_EQUAL(hex(t[i].text, strlen(t[i].text), 64), t[i].digest);
    memset(million, 'a', sizeof(million));
    CU_ASSERT_STRING_EQUAL(hex(million, sizeof(million), 1000),
                           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Lengths around a block's end, fed in pieces of every size. */
static void pieces(void)
{
    char text[200], whole[65];

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * 7);
    for (size_t n = 0; n <= sizeof(text); n++) {
        strcpy(whole, hex(text, n, sizeof(text)));
        for (size_t step = 1; step < 130; step += 3)
            CU_ASSERT_STRING_EQUAL(hex(text, n, step), whole);
    }
}

void ag_tests_sha256(void)
{
    static const AgTest tests[] = {
        {"published vectors", vectors},
        {"any cut gives the same", pieces},
        {NULL, NULL},
    };
    ag_suite("sha256", tests);
}
