/*
 * checkasm of pixels to patches: exact.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <string.h>

#include "tests/checkasm/checkasm.h"

void check_convert(const AgDsp *ref, const AgDsp *dsp)
{
    static const int patches[] = {1, 2, 4, 7, 8, 14, 15, 16, 17, 32};
    static float lut[3][256];
    declare_func(void, float *, const uint8_t *, ptrdiff_t, int, const float[3][256]);

    if (!check_same(dsp->convert.patch, ref->convert.patch, "convert.patch"))
        return;
    for (int c = 0; c < 3; c++)
        ck_floats(lut[c], 256, -1, 1);
    for (size_t i = 0; i < AG_COUNT(patches); i++) {
        int p = patches[i];
        size_t size = (size_t)(3 * p * p) * 4;
        ptrdiff_t stride = 3 * p + ck_below(50);
        size_t n = (size_t)(stride * (p - 1) + 3 * p);
        uint8_t *in = ck_input(0, n);
        float *a = ck_output(1, size, 0), *b = ck_output(2, size, 0);
        for (size_t j = 0; j < n; j++)
            in[j] = (uint8_t)ck_rand();
        call_ref(a, in, stride, p, (const float(*)[256])lut);
        call_new(b, in, stride, p, (const float(*)[256])lut);
        if (memcmp(a, b, size) || !ck_guards(2))
            fail("patch=%d", p);
    }
    uint8_t *in = ck_input(0, 16 * 1536);
    float *b = ck_output(2, 768 * 4, 0);
    bench_new(768, b, in, 1536, 16, (const float(*)[256])lut);
    report();
}
