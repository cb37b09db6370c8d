/*
 * checkasm of the LANCZOS passes: exact.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <string.h>

#include "tests/checkasm/checkasm.h"

/* Weights as the filter makes them (their sum is 2^22, lobes are negative), or
 * anything. */
static void weights(int32_t *k, int n, int wild)
{
    int32_t sum = 0;

    for (int i = 0; i < n; i++) {
        k[i] = wild ? (int32_t)ck_rand() : (int32_t)(ck_rand() % (1u << 21)) - (1 << 18);
        if (!wild)
            sum += k[i] /= n < 4 ? 1 : n / 4;
    }
    if (!wild)
        k[n / 2] += (1 << 22) - sum;
}

static void bytes(uint8_t *p, size_t n)
{
    int extreme = ck_below(2);

    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(extreme ? 255 * ck_below(2) : (int)(ck_rand() & 255));
}

static void horiz(const AgDsp *ref, const AgDsp *dsp)
{
    static const int widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 100};
    declare_func(void, uint8_t *, ptrdiff_t, const uint8_t *, ptrdiff_t, int, int, const int *,
                 const int *, const int32_t *, int);

    if (!check_same(dsp->resample.horiz, ref->resample.horiz, "resample.horiz"))
        return;
    for (int round = 0; round < 300; round++) {
        int w = widths[(size_t)round % AG_COUNT(widths)], n_in = 1 + ck_below(200);
        int n_coef = 1 + ck_below(AG_MIN(n_in, 40));
        int *lo = ck_input(1, (size_t)w * 4), *count = ck_input(2, (size_t)w * 4);
        int32_t *coef = ck_input(3, (size_t)(w * n_coef) * 4);
        int rows = 1 + round / 13 % 3, size = rows * w * 3;
        uint8_t *in = ck_input(0, (size_t)(rows * n_in) * 3);
        uint8_t *a = ck_output(4, (size_t)size, 0), *b = ck_output(5, (size_t)size, 1);
        bytes(in, (size_t)(rows * n_in) * 3);
        memset(coef, 0, (size_t)(w * n_coef) * 4);
        for (int x = 0; x < w; x++) {
            count[x] = 1 + ck_below(n_coef);
            lo[x] = ck_below(n_in - count[x] + 1);
            if (x == w - 1)
                lo[x] = n_in - count[x]; /* up to the row's last byte */
            weights(coef + x * n_coef, count[x], round % 4 == 3);
        }
        call_ref(a, w * 3, in, n_in * 3, rows, w, lo, count, coef, n_coef);
        call_new(b, w * 3, in, n_in * 3, rows, w, lo, count, coef, n_coef);
        if (memcmp(a, b, (size_t)size) || !ck_guards(5))
            fail("rows=%d w=%d in=%d coef=%d", rows, w, n_in, n_coef);
    }
    enum { W = 512, K = 13 };
    int *lo = ck_input(1, W * 4), *count = ck_input(2, W * 4);
    int32_t *coef = ck_input(3, W * K * 4);
    uint8_t *in = ck_input(0, 2 * 4 * W * 3), *b = ck_output(5, 2 * W * 3, 0);
    for (int x = 0; x < W; x++) {
        lo[x] = AG_MIN(2 * x, 4 * W - K);
        count[x] = K;
        weights(coef + x * K, K, 0);
    }
    bench_new(2 * W * 3, b, W * 3, in, 4 * W * 3, 2, W, lo, count, coef, K);
    report();
}

static void vert(const AgDsp *ref, const AgDsp *dsp)
{
    static const int sizes[] = {1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 1536};
    declare_func(void, uint8_t *, const uint8_t *, ptrdiff_t, int, const int32_t *, int);

    if (!check_same(dsp->resample.vert, ref->resample.vert, "resample.vert"))
        return;
    for (int round = 0; round < 300; round++) {
        int n = sizes[(size_t)round % AG_COUNT(sizes)], count = 1 + ck_below(30);
        ptrdiff_t stride = n + ck_below(40);
        size_t size = (size_t)(stride * (count - 1) + n);
        uint8_t *in = ck_input(0, size);
        int32_t *coef = ck_input(1, (size_t)count * 4);
        uint8_t *a = ck_output(2, (size_t)n, 0), *b = ck_output(3, (size_t)n, 1);
        bytes(in, size);
        weights(coef, count, round % 4 == 3);
        call_ref(a, in, stride, count, coef, n);
        call_new(b, in, stride, count, coef, n);
        if (memcmp(a, b, (size_t)n) || !ck_guards(3))
            fail("n=%d count=%d", n, count);
    }
    uint8_t *in = ck_input(0, 13 * 1536), *b = ck_output(3, 1536, 0);
    int32_t *coef = ck_input(1, 13 * 4);
    weights(coef, 13, 0);
    bench_new(1536, b, in, 1536, 13, coef, 1536);
    report();
}

void check_resample(const AgDsp *ref, const AgDsp *dsp)
{
    horiz(ref, dsp);
    vert(ref, dsp);
}
