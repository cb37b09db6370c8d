/*
 * checkasm of whole drivers: products with every epilogue, type and thread
 * count, norms, rotary embedding.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

enum { MAX_M = 33, MAX_N = 500, MAX_K = 600, PAD = 3 };

typedef struct Case {
    int m, n, n2, k; /* two jobs, n and n2 outputs */
    AgDtype dtype;
    AgEpilogue epi;
    float scale;
    int bias;
} Case;

static double exact(const Case *c, const AgLinear *lin, const float *in, int ld, int r, int col,
                    float old, double *bound)
{
    double acc = 0, mag = 0, v;

    for (int i = 0; i < c->k; i++) {
        double ab = ck_widen(lin->w, c->dtype, (ptrdiff_t)col * c->k + i) * in[r * ld + i];
        acc += ab;
        mag += fabs(ab);
    }
    if (lin->bias) {
        acc += lin->bias[col];
        mag += fabs(lin->bias[col]);
    }
    v = acc * c->scale;
    /* slope of gelu and silu <= 1.13; subnormals have their own rounding */
    *bound = (c->k + 2) * (0x1p-24 * mag * c->scale * 1.2 + 0x1p-149);
    switch (c->epi) {
    case AG_EPI_ADD:
        *bound += 0x1p-23 * (fabs(v) + fabs(old));
        return v + old;
    case AG_EPI_GELU:
        *bound += 1e-6 * fmax(1, fabs(v));
        return 0.5 * v * (1 + tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)));
    case AG_EPI_SILU_MUL:
        *bound = (*bound + 1e-6 * fmax(1, fabs(v))) * fabs(old) + 1e-30;
        return v / (1 + exp(-v)) * old;
    case AG_EPI_STORE:
        break;
    }
    return v;
}

static void matmul(const AgDsp *dsp, const Case *c)
{
    int ld_in = c->k + PAD, ld_out = c->n + PAD;
    size_t out_n = (size_t)((c->m - 1) * ld_out + c->n), size = ag_dtype_size(c->dtype);
    size_t out2_n = (size_t)(c->m * c->n2);
    float *in = ck_input(0, (size_t)((c->m - 1) * ld_in + c->k) * 4);
    void *w = ck_input(1, (size_t)(c->n * c->k) * size);
    void *w2 = ck_input(2, (size_t)(c->n2 * c->k) * size);
    float *bias = ck_input(3, (size_t)c->n * 4), *old = ck_aligned(4, out_n * 4);
    AgLinear a = {w, c->dtype, c->n, c->k, c->bias ? bias : NULL};
    AgLinear b = {w2, c->dtype, c->n2, c->k, NULL};
    float *out[3], *out2 = NULL;

    ck_floats(in, (c->m - 1) * ld_in + c->k, -1, 1);
    ck_stored(w, c->dtype, c->n * c->k);
    ck_stored(w2, c->dtype, c->n2 * c->k);
    ck_floats(bias, c->n, -1, 1);
    ck_floats(old, (int)out_n, -3, 3);
    for (int t = 0; t < 3; t++) {
        CkExec e;
        ck_exec_open(&e, dsp, t + 1);
        out[t] = ck_output(5 + t, out_n * 4, 0);
        memcpy(out[t], old, out_n * 4);
        out2 = ck_output(8, out2_n * 4, 0);
        AgMatmulJob jobs[2] = {{&a, out[t], ld_out, c->epi, c->scale},
                               {&b, out2, c->n2, AG_EPI_STORE, 1}};
        ag_matmul(&e.x, jobs, 2, in, ld_in, c->m);
        if (e.x.flops != (int64_t)2 * c->m * c->k * (c->n + c->n2))
            fail("flops");
        if (!ck_guards(5 + t) || !ck_guards(8))
            fail("m=%d n=%d k=%d: wrote outside", c->m, c->n, c->k);
        /* the second job alone, and fewer rows: the same bits */
        float *alone = ck_output(9, out2_n * 4, 0);
        int m = c->m < 3 ? c->m : 2 + ck_below(c->m - 1);
        ag_linear(&e.x, &b, AG_EPI_STORE, in, ld_in, alone, c->n2, m);
        if (memcmp(alone, out2, (size_t)(m * c->n2) * 4))
            fail("m=%d n=%d k=%d: other bits with %d rows", c->m, c->n2, c->k, m);
        ck_exec_close(&e);
        if (memcmp(out[t], out[0], out_n * 4))
            fail("m=%d n=%d k=%d: other bits with %d threads", c->m, c->n, c->k, t + 1);
    }
    Case plain = *c;
    plain.epi = AG_EPI_STORE;
    plain.scale = 1;
    for (int i = 0; i < 300; i++) {
        int r = ck_below(c->m), col = ck_below(ld_out), at = r * ld_out + col;
        double bound, e;
        if ((size_t)at >= out_n)
            continue;
        if (col >= c->n) {
            if (out[0][at] != old[at])
                fail("m=%d n=%d k=%d: wrote column %d", c->m, c->n, c->k, col);
            continue;
        }
        e = exact(c, &a, in, ld_in, r, col, old[at], &bound);
        if (!(fabs(out[0][at] - e) <= bound))
            fail("type=%d epi=%d m=%d n=%d k=%d: [%d][%d] = %.9g, expected %.9g", (int)c->dtype,
                 (int)c->epi, c->m, c->n, c->k, r, col, out[0][at], e);
        col %= c->n2;
        e = exact(&plain, &b, in, ld_in, r, col, 0, &bound);
        if (!(fabs(out2[r * c->n2 + col] - e) <= bound))
            fail("second job, m=%d n=%d k=%d: [%d][%d]", c->m, c->n2, c->k, r, col);
    }
}

static void matmul_all(const AgDsp *dsp)
{
    static const int ms[] = {1, 2, 5, 6, 7, 13, 14, 15, 33}, ns[] = {1, 17, 64, 200, 449},
                     ks[] = {1, 24, 64, 257, 576};
    int round = 0;

    if (!ck_test("matmul (driver)"))
        return;
    for (size_t i = 0; i < AG_COUNT(ms); i++) {
        for (int type = 0; type < 3; type++) {
            for (int epi = 0; epi < 4; epi++, round++) {
                Case c = {ms[i], ns[round % 5], 1 + ck_below(150), ks[round / 5 % 5], (AgDtype)type,
                          (AgEpilogue)epi, round % 3 ? 1.0f : 0.125f, round % 4 != 0};
                matmul(dsp, &c);
            }
        }
    }
    report();
}

/* More rows than an item holds: split in rows and columns. */
static void matmul_large(const AgDsp *dsp)
{
    if (!ck_test("matmul (many rows)"))
        return;
    Case tall = {2100, 100, 33, 300, AG_BF16, AG_EPI_GELU, 1, 1};
    Case deep = {20, 900, 65, 1100, AG_F16, AG_EPI_ADD, 0.5f, 1};
    Case wide = {1, 3000, 2100, 130, AG_BF16, AG_EPI_STORE, 1, 0};
    matmul(dsp, &tall);
    matmul(dsp, &deep);
    matmul(dsp, &wide);
    report();
}

/* The drivers' rows are the kernels' rows, with any number of threads. */
static void rows(const AgDsp *dsp)
{
    enum { M = 37, N = 100, LD = 120, HEADS = 3, DIM = 32 };

    if (!ck_test("norm, rope (drivers)"))
        return;
    float *in = ck_aligned(0, M * LD * 4), *w = ck_aligned(1, N * 4), *b = ck_aligned(2, N * 4);
    float *out = ck_output(3, M * N * 4, 0), *one = ck_output(4, LD * 4, 0);
    float *x = ck_output(5, M * LD * 4, 0), *table = ck_aligned(6, (M + 5) * DIM * 4);
    ck_floats(in, M * LD, -2, 2);
    ck_floats(w, N, -2, 2);
    ck_floats(b, N, -2, 2);
    ag_rope_table(table, 0, M + 5, DIM, 1e5);
    for (int t = 1; t <= 3; t++) {
        CkExec e;
        ck_exec_open(&e, dsp, t);
        ag_layernorm(&e.x, out, in, LD, w, b, M, N, 1e-6f);
        for (int i = 0; i < M; i++) {
            dsp->norm.layernorm(one, in + i * LD, w, b, N, 1e-6f);
            if (memcmp(one, out + i * N, N * 4))
                fail("layernorm, row %d, %d threads", i, t);
        }
        ag_rmsnorm(&e.x, out, in, LD, w, M, N, 1e-5f);
        for (int i = 0; i < M; i++) {
            dsp->norm.rmsnorm(one, in + i * LD, w, N, 1e-5f);
            if (memcmp(one, out + i * N, N * 4))
                fail("rmsnorm, row %d, %d threads", i, t);
        }
        memcpy(x, in, M * LD * 4);
        ag_rope(&e.x, x, LD, HEADS, DIM, M, table, 5);
        for (int i = 0; i < M; i++) {
            memcpy(one, in + i * LD, LD * 4);
            const float *t5 = table + (i + 5) * DIM;
            for (int h = 0; h < HEADS; h++)
                dsp->rope.rotate(one + h * DIM, t5, t5 + DIM / 2, DIM);
            if (memcmp(one, x + i * LD, LD * 4))
                fail("rope, row %d, %d threads", i, t);
        }
        ck_exec_close(&e);
    }
    if (!ck_guards(3) || !ck_guards(5))
        fail("wrote outside");
    report();
}

/* Angles are float32 products; cosines of them to half a unit. A part of the
 * table is the table of the part. */
static void rope_table(void)
{
    enum { N = 300, DIM = 64 };
    float *table = ck_output(0, N * DIM * 4, 0), *part = ck_output(1, 10 * DIM * 4, 0);

    if (!ck_test("rope table"))
        return;
    ag_rope_table(table, 0, N, DIM, 100000);
    ag_rope_table(part, 290, 10, DIM, 100000);
    if (memcmp(part, table + 290 * DIM, 10 * DIM * 4))
        fail("the part from 290 differs");
    for (int p = 0; p < N; p++) {
        for (int i = 0; i < DIM / 2; i++) {
            double angle = p * pow(100000, -2.0 * i / DIM);
            double bound = angle * 0x1p-22 + 0x1p-24;
            if (!(fabs(table[p * DIM + i] - cos(angle)) <= bound)
                || !(fabs(table[p * DIM + DIM / 2 + i] - sin(angle)) <= bound))
                fail("position %d, pair %d", p, i);
        }
    }
    report();
}

static void widen(const AgDsp *dsp)
{
    static const AgDtype types[] = {AG_BF16, AG_F32, AG_F16};
    float out[100];

    if (!ck_test("widen"))
        return;
    for (int i = 0; i < 3; i++) {
        char *src = ck_input(0, 100 * ag_dtype_size(types[i]));
        ck_stored(src, types[i], 100);
        ag_widen(&dsp->vec, out, src, types[i], 100);
        for (int j = 0; j < 100; j++)
            if (out[j] != (float)ck_widen(src, types[i], j))
                fail("type %d, number %d", (int)types[i], j);
    }
    report();
}

void check_drivers(const AgDsp *dsp)
{
    matmul_all(dsp);
    matmul_large(dsp);
    rows(dsp);
    rope_table();
    widen(dsp);
}
