/*
 * checkasm of rotary position embedding: exact.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

void check_rope(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, float *, const float *, const float *, int);
    float x[128];

    if (!check_func(dsp->rope.rotate, ref->rope.rotate, "rope.rotate"))
        return;
    for (int dim = 16; dim <= 128; dim += 2) {
        size_t size = (size_t)dim * 4;
        float *c = ck_input(0, size / 2), *s = ck_input(1, size / 2);
        float *a = ck_output(2, size, 0), *b = ck_output(3, size, 4);
        ck_floats(c, dim / 2, -1, 1);
        ck_floats(s, dim / 2, -1, 1);
        ck_floats(a, dim, -10, 10);
        memcpy(b, a, size);
        memcpy(x, a, size);
        call_ref(a, c, s, dim);
        call_new(b, c, s, dim);
        if (memcmp(a, b, size) || !ck_guards(3))
            fail("dim=%d", dim);
        for (int i = 0, h = dim / 2; i < h; i++) {
            double p = (double)x[i] * c[i], q = (double)x[i + h] * s[i];
            double r = (double)x[i + h] * c[i], t = (double)x[i] * s[i];
            if (!(fabs(b[i] - (p - q)) <= 0x1p-23 * (fabs(p) + fabs(q)))
                || !(fabs(b[i + h] - (r + t)) <= 0x1p-23 * (fabs(r) + fabs(t))))
                fail("dim=%d: pair %d", dim, i);
        }
    }
    float *b = ck_output(3, 64 * 4, 0), *c = ck_aligned(0, 32 * 4), *s = ck_aligned(1, 32 * 4);
    ck_floats(b, 64, -1, 1);
    bench_new(64, b, c, s, 64);
    report();
}
