/*
 * checkasm of LayerNorm and RMSNorm, against double arithmetic.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

static const int sizes[] = {1, 2, 7, 8, 9, 31, 32, 33, 63, 100, 576, 768, 960};

typedef struct Row {
    float *x, *w, *b, *y;
    double exact[1024];
    double in; /* largest input as it would be without the mean taken off */
    int n;
} Row;

static void row_make(Row *r, int round)
{
    size_t size;

    r->n = sizes[(size_t)round % AG_COUNT(sizes)];
    size = (size_t)r->n * 4;
    r->x = ck_input(0, size);
    r->w = ck_input(1, size);
    r->b = ck_input(2, size);
    r->y = ck_output(3, size, 4 * (round % 2));
    float shift = ck_float(-4, 4), range = round % 3 ? 1.0f : 30.0f;
    ck_floats(r->x, r->n, shift - range, shift + range);
    if (round % 5 == 4)
        r->x[ck_below(r->n)] = 500; /* the outliers of real activations */
    ck_floats(r->w, r->n, -2, 2);
    ck_floats(r->b, r->n, -2, 2);
    if (round % 4 == 3)
        memcpy(r->y, r->x, size); /* in place */
}

/* Relative to the largest value of the row, before or after the mean is taken
 * off: its rounding is multiplied like everything else. */
static void row_check(const Row *r)
{
    double top = 0, worst = 0;

    for (int i = 0; i < r->n; i++) {
        top = fmax(top, fabs(r->exact[i]));
        worst = fmax(worst, isnan(r->y[i]) ? INFINITY : fabs(r->y[i] - r->exact[i]));
    }
    if (!(worst <= (r->n + 8) * 0x1p-24 * (top + r->in)) || !ck_guards(3))
        fail("n=%d: error %.3g of %.3g", r->n, worst, top + r->in);
}

static void layernorm(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, float *, const float *, const float *, const float *, int, float);
    static Row r;

    if (!check_func(dsp->norm.layernorm, ref->norm.layernorm, "norm.layernorm"))
        return;
    for (int round = 0; round < 200; round++) {
        row_make(&r, round);
        double mean = 0, var = 0, scale;
        for (int i = 0; i < r.n; i++)
            mean += (double)r.x[i] / r.n;
        for (int i = 0; i < r.n; i++)
            var += (r.x[i] - mean) * (r.x[i] - mean) / r.n;
        scale = 1 / sqrt(var + (double)1e-6f);
        r.in = 0;
        for (int i = 0; i < r.n; i++) {
            r.exact[i] = (r.x[i] - mean) * scale * r.w[i] + r.b[i];
            r.in = fmax(r.in, fabs(r.x[i] * scale * r.w[i]));
        }
        call_new(r.y, round % 4 == 3 ? r.y : r.x, r.w, r.b, r.n, 1e-6f);
        row_check(&r);
    }
    r.n = 768;
    r.y = ck_output(3, 768 * 4, 0);
    r.x = ck_aligned(0, 768 * 4);
    bench_new(768, r.y, r.x, r.x, r.x, 768, 1e-6f);
    report();
}

static void rmsnorm(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, float *, const float *, const float *, int, float);
    static Row r;

    if (!check_func(dsp->norm.rmsnorm, ref->norm.rmsnorm, "norm.rmsnorm"))
        return;
    for (int round = 0; round < 200; round++) {
        row_make(&r, round);
        double sq = 0;
        r.in = 0;
        for (int i = 0; i < r.n; i++)
            sq += (double)r.x[i] * r.x[i] / r.n;
        for (int i = 0; i < r.n; i++)
            r.exact[i] = r.x[i] / sqrt(sq + (double)1e-5f) * r.w[i];
        call_new(r.y, round % 4 == 3 ? r.y : r.x, r.w, r.n, 1e-5f);
        row_check(&r);
    }
    r.y = ck_output(3, 576 * 4, 0);
    r.x = ck_aligned(0, 576 * 4);
    bench_new(576, r.y, r.x, r.x, 576, 1e-5f);
    report();
}

void check_norm(const AgDsp *ref, const AgDsp *dsp)
{
    layernorm(ref, dsp);
    rmsnorm(ref, dsp);
}
