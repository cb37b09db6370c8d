/*
 * checkasm of widening, sums and argmax: exact, but for sums of exp().
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

static const int sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 576, 1000};

/* The value of a finite number of 1 + exp_bits + frac_bits bits. */
static double value(int h, int exp_bits, int frac_bits)
{
    int exp = h >> frac_bits & ((1 << exp_bits) - 1), frac = h & ((1 << frac_bits) - 1);
    int bias = (1 << (exp_bits - 1)) - 1;
    double v = exp ? ldexp(frac + (1 << frac_bits), exp - bias - frac_bits)
                   : ldexp(frac, 1 - bias - frac_bits);

    return h >> 15 ? -v : v;
}

/* All 65536 bit patterns, then odd sizes at odd addresses. */
static void widen(void (*new_fn)(float *, const uint16_t *, int),
                  void (*ref_fn)(float *, const uint16_t *, int), const char *name, int exp_bits)
{
    declare_func(void, float *, const uint16_t *, int);

    if (!check_func(new_fn, ref_fn, "%s", name))
        return;
    uint16_t *src = ck_input(0, 65536 * 2);
    float *a = ck_output(1, 65536 * 4, 0), *b = ck_output(2, 65536 * 4, 0);
    for (int i = 0; i < 65536; i++)
        src[i] = (uint16_t)i;
    call_ref(a, src, 65536);
    call_new(b, src, 65536);
    if (memcmp(a, b, 65536 * 4))
        fail("bits of the 65536 patterns differ");
    for (int i = 0; i < 65536; i++)
        if (isfinite(b[i]) && (double)b[i] != value(i, exp_bits, 15 - exp_bits))
            fail("%#x is %g", i, b[i]);
    for (size_t s = 0; s < AG_COUNT(sizes); s++) {
        int n = sizes[s];
        src = ck_input(0, (size_t)n * 2);
        for (int i = 0; i < n; i++)
            src[i] = (uint16_t)ck_rand();
        a = ck_output(1, (size_t)n * 4, 0);
        b = ck_output(2, (size_t)n * 4, 4);
        call_ref(a, src, n);
        call_new(b, src, n);
        if (memcmp(a, b, (size_t)n * 4) || !ck_guards(2))
            fail("n=%d", n);
    }
    src = ck_input(0, 4096 * 2);
    bench_new(4096, b, src, 4096);
    report();
}

static void add(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, float *, const float *, int);
    static float old[1000];

    if (!check_func(dsp->vec.add, ref->vec.add, "vec.add"))
        return;
    for (size_t s = 0; s < AG_COUNT(sizes); s++) {
        int n = sizes[s];
        size_t size = (size_t)n * 4;
        float *src = ck_input(0, size), *a = ck_output(1, size, 0), *b = ck_output(2, size, 4);
        ck_floats(src, n, -10, 10);
        ck_floats(a, n, -10, 10);
        memcpy(b, a, size);
        memcpy(old, a, size);
        call_ref(a, src, n);
        call_new(b, src, n);
        if (memcmp(a, b, size) || !ck_guards(2))
            fail("n=%d", n);
        for (int i = 0; i < n; i++)
            if (b[i] != (float)((double)old[i] + src[i]))
                fail("n=%d: [%d]", n, i);
    }
    float *x = ck_aligned(0, 4096 * 4), *y = ck_output(1, 4096 * 4, 0);
    bench_new(4096, y, x, 4096);
    report();
}

/* Ranges of logits that are flat, usual, and so wide that most terms are 0. */
static void sum_exp(const AgDsp *ref, const AgDsp *dsp)
{
    static const float ranges[] = {0, 1, 30, 400};
    declare_func(double, const float *, float, int);

    if (!check_func(dsp->vec.sum_exp, ref->vec.sum_exp, "vec.sum_exp"))
        return;
    for (size_t s = 0; s < AG_COUNT(sizes) * AG_COUNT(ranges); s++) {
        int n = s < AG_COUNT(ranges) ? 49280 : sizes[s / AG_COUNT(ranges)];
        float low = ranges[s % AG_COUNT(ranges)], max = -INFINITY;
        float *x = ck_input(0, (size_t)n * 4);
        double sum = 0;
        ck_floats(x, n, -low, 0.5f);
        for (int i = 0; i < n; i++)
            max = AG_MAX(max, x[i]);
        for (int i = 0; i < n; i++)
            sum += exp((double)x[i] - max);
        double a = call_ref(x, max, n), b = call_new(x, max, n);
        if (fabs(a - sum) > 1e-6 * sum || fabs(b - sum) > 1e-6 * sum)
            fail("n=%d, from %g: %.9g and %.9g, not %.9g", n, (double)-low, a, b, sum);
    }
    float *x = ck_input(0, 49280 * 4);
    ck_floats(x, 49280, -30, 0);
    bench_new(49280, x, 0, 49280);
    report();
}

static void argmax(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(int, const float *, int);

    if (!check_func(dsp->vec.argmax, ref->vec.argmax, "vec.argmax"))
        return;
    for (int round = 0; round < 400; round++) {
        int n = round < 100 ? 1 + round : sizes[(size_t)round % AG_COUNT(sizes)];
        float *x = ck_input(0, (size_t)n * 4);
        ck_floats(x, n, -10, 10);
        for (int i = 0; i < n; i++)
            if (round % 3 == 1) /* many equal ones, both zeros */
                x[i] = (float)(ck_below(3) - 2) * 0.0f + (float)(ck_below(2) * (round % 2));
            else if (round % 5 == 2 && ck_below(3) == 0)
                x[i] = ck_below(2) ? NAN : INFINITY * (float)(1 - 2 * ck_below(2));
        if (round % 7 == 3)
            for (int i = 0; i < n; i++)
                x[i] = ck_below(2) ? NAN : -INFINITY;
        int a = call_ref(x, n), b = call_new(x, n);
        if (a != b)
            fail("n=%d: %d, expected %d", n, b, a);
        for (int i = 0; i < n; i++)
            if (x[i] > x[b] || (i < b && x[i] == x[b]))
                fail("n=%d: %d is better than %d", n, i, b);
    }
    float *x = ck_input(0, 49280 * 4);
    ck_floats(x, 49280, -10, 10);
    bench_new(49280, x, 49280);
    report();
}

void check_vec(const AgDsp *ref, const AgDsp *dsp)
{
    widen(dsp->vec.widen_bf16, ref->vec.widen_bf16, "vec.widen_bf16", 8);
    widen(dsp->vec.widen_f16, ref->vec.widen_f16, "vec.widen_f16", 5);
    add(ref, dsp);
    sum_exp(ref, dsp);
    argmax(ref, dsp);
}
