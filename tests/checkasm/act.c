/*
 * checkasm of activations and softmax, against double arithmetic.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

static const int sizes[] = {1, 7, 8, 9, 15, 16, 17, 31, 33, 100, 1536};

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

/* Values from all magnitudes: 0, small, around 0, large, huge. */
static void inputs(float *x, int n, int round)
{
    static const float range[] = {1e-30f, 1e-3f, 1, 4, 10, 40, 1000, 1e10f};

    ck_floats(x, n, -range[round % 8], range[round % 8]);
    if (round % 3 == 0)
        x[ck_below(n)] = 0;
    if (round % 3 == 1)
        x[ck_below(n)] = -9;
}

static void activation(void (*new_fn)(float *, int), void (*ref_fn)(float *, int),
                       double (*exact)(double), const char *name)
{
    declare_func(void, float *, int);

    if (!check_func(new_fn, ref_fn, "%s", name))
        return;
    for (int round = 0; round < 200; round++) {
        int n = sizes[(size_t)round % AG_COUNT(sizes)];
        float *x = ck_aligned(0, (size_t)n * 4), *y = ck_output(1, (size_t)n * 4, 4 * (round % 2));
        inputs(x, n, round / 11);
        memcpy(y, x, (size_t)n * 4);
        call_new(y, n);
        for (int i = 0; i < n; i++) {
            double e = exact(x[i]), bound = 1e-6 * fmax(1, fabs((double)x[i]));
            if (!(fabs(y[i] - e) <= bound) || (x[i] > 0 && y[i] > x[i]))
                fail("n=%d: f(%.9g) = %.9g, expected %.9g", n, x[i], y[i], e);
        }
        if (!ck_guards(1))
            fail("n=%d: wrote outside", n);
    }
    float nan[1] = {NAN};
    call_new(nan, 1);
    if (!isnan(nan[0]))
        fail("NaN gives %g", nan[0]);
    float *y = ck_output(1, 1024 * 4, 0);
    ck_floats(y, 1024, -3, 3);
    bench_new(1024, y, 1024);
    report();
}

static void exp_sum(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(float, float *, int, float);

    if (!check_func(dsp->act.exp_sum, ref->act.exp_sum, "act.exp_sum"))
        return;
    for (int round = 0; round < 200; round++) {
        int n = sizes[(size_t)round % AG_COUNT(sizes)];
        float range = round % 2 ? 3.0f : 120.0f, max = -INFINITY, *x = ck_aligned(0, (size_t)n * 4);
        float *y = ck_output(1, (size_t)n * 4, 4 * (round % 2));
        double sum = 0;
        ck_floats(x, n, -range, range);
        if (n > 1 && round % 4 == 0)
            x[0] = -INFINITY;
        for (int i = 0; i < n; i++)
            max = AG_MAX(max, x[i]);
        memcpy(y, x, (size_t)n * 4);
        float got = call_new(y, n, max);
        for (int i = 0; i < n; i++) {
            float d = x[i] - max; /* rounded, as the contract has it */
            double e = exp(d);
            sum += e;
            if (!(fabs(y[i] - e) <= 3e-7 * e + 2e-38))
                fail("n=%d: exp(%.9g) = %.9g, expected %.9g", n, d, y[i], e);
            if (d == 0 && y[i] != 1)
                fail("exp(0) = %.9g", y[i]);
        }
        if (!(fabs(got - sum) <= sum * (3e-7 + n * 0x1p-24)) || !ck_guards(1))
            fail("n=%d: sum %.9g, expected %.9g", n, got, sum);
    }
    float *y = ck_output(1, 1024 * 4, 0);
    ck_floats(y, 1024, -3, 3);
    bench_new(1024, y, 1024, 1.0f);
    report();
}

void check_act(const AgDsp *ref, const AgDsp *dsp)
{
    activation(dsp->act.gelu, ref->act.gelu, gelu, "act.gelu");
    activation(dsp->act.silu, ref->act.silu, silu, "act.silu");
    exp_sum(ref, dsp);
}
