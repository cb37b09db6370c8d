/*
 * checkasm of the int8 products. Sums are integers and their float32 steps are
 * fixed, so everything but GELU and SiLU is compared bit by bit.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

enum { NR = AG_Q8_NR, BLOCK = AG_Q8_BLOCK, MAX_BLOCKS = 5, MAX_PANELS = 5 };

/* Numbers of one magnitude or of many, with odd ones among them. */
static void fill(float *x, int n, int kind)
{
    static const float odd[] = {0, -0.0f, 1e-38f, -3e-31f, 1e30f, -3e38f, 1e-45f};

    for (int i = 0; i < n; i++) {
        x[i] = ck_float(-1, 1) * (kind > 3 ? exp2f(ck_float(-40, 40)) : 1);
        if (kind == 1)
            x[i] = 0;
        else if (kind == 2 && ck_below(8) == 0)
            x[i] = odd[ck_below((int)AG_COUNT(odd))];
        else if (kind == 3 && ck_below(20) == 0)
            x[i] = ck_below(2) ? NAN : ck_below(2) ? INFINITY : -INFINITY;
    }
}

static void quantise(const AgQ8Dsp *d, const AgQ8Dsp *ref)
{
    declare_func(void, uint8_t *, float *, const float *, int);

    if (!check_func(d->quantise, ref->quantise, "q8.quantise"))
        return;
    for (int round = 0; round < 500; round++) {
        int n = 1 + ck_below(BLOCK * MAX_BLOCKS), blocks = (n + BLOCK - 1) / BLOCK;
        float *x = ck_input(0, (size_t)n * 4), s0[MAX_BLOCKS];
        uint8_t q0[MAX_BLOCKS * BLOCK], *q1 = ck_output(1, (size_t)(blocks * BLOCK), 0);
        float *s1 = ck_output(2, (size_t)blocks * 4, 4);
        fill(x, n, round % 6);
        call_ref(q0, s0, x, n);
        call_new(q1, s1, x, n);
        if (memcmp(q0, q1, (size_t)(blocks * BLOCK)) || memcmp(s0, s1, (size_t)blocks * 4))
            fail("n=%d kind=%d: other bytes than plain C", n, round % 6);
        for (int i = 0; i < blocks * BLOCK; i++) {
            float back = (float)(q1[i] - AG_Q8_ZERO) * s1[i / BLOCK];
            if (q1[i] < 1 || q1[i] > 127 || (i >= n && q1[i] != AG_Q8_ZERO))
                fail("n=%d: byte %d is %d", n, i, q1[i]);
            else if (round % 6 < 3 && i < n && fabsf(x[i]) < 1e37f &&
                     !(fabsf(back - x[i]) <= 0.50001f * s1[i / BLOCK] + 1e-30f))
                fail("n=%d: %g became %g", n, x[i], back);
        }
        if (!ck_guards(1) || !ck_guards(2))
            fail("n=%d: wrote outside", n);
    }
    float *x = ck_input(0, 768 * 4), *s = ck_output(2, 12 * 4, 0);
    uint8_t *q = ck_output(1, 768, 0);
    ck_floats(x, 768, -1, 1);
    bench_new(768, q, s, x, 768);
    report();
}

/* Inputs of a product: any numbers, or only the largest, all of one sign or not. */
static void fill_bytes(uint8_t *a, int n_a, int8_t *w, int n_w, int kind)
{
    for (int i = 0; i < n_a; i++)
        a[i] = (uint8_t)(kind == 0 ? 127 : kind == 1 ? 1 : kind == 2 ? 1 + 126 * ck_below(2)
                                                                     : 1 + ck_below(127));
    for (int i = 0; i < n_w; i++)
        w[i] = (int8_t)(kind == 0 ? 127 : kind == 1 ? -127 : kind == 2 ? 127 - 254 * ck_below(2)
                                                                       : ck_below(255) - 127);
}

/* sum[p][b][c] of weights [p][b][16][16][4] */
static void fill_sums(int16_t *sum, const int8_t *w, int n)
{
    for (int i = 0; i < n; i++) {
        const int8_t *block = w + i / NR * BLOCK * NR;
        int s = 0;
        for (int k = 0; k < BLOCK; k++)
            s -= block[(k / 4 * NR + i % NR) * 4 + k % 4];
        sum[i] = (int16_t)s;
    }
}

static float expected(const AgQ8Tile *t, int p, int r, int c, float old)
{
    float v = old;

    for (int b = 0; b < t->n_block; b++) {
        const int8_t *w = t->w + p * t->w_step + b * BLOCK * NR;
        int64_t s = 0;
        for (int k = 0; k < BLOCK; k++)
            s += (int64_t)(t->a[r * t->lda + b * BLOCK + k] - AG_Q8_ZERO)
                 * w[(k / 4 * NR + c) * 4 + k % 4];
        float sa = t->sa[r * t->ld_sa + b];
        v = fmaf((float)s, sa, t->first && b == 0 ? 0 : v);
    }
    return v;
}

static void tile_compare(const AgQ8Tile *t, int mr, const float *old)
{
    for (int p = 0, at = 0; p < t->n_panel; p++)
        for (int r = 0; r < mr; r++)
            for (int c = 0; c < NR; c++, at++) {
                float e = r < t->m ? expected(t, p, r, c, old[at]) : t->first ? t->acc[at] : old[at];
                if (memcmp(&t->acc[at], &e, 4))
                    fail("m=%d blocks=%d panels=%d: [%d][%d][%d] = %.9g, expected %.9g", t->m,
                         t->n_block, t->n_panel, p, r, c, t->acc[at], e);
            }
}

/* mr = 1: gemv */
static void product(void (*fn)(const AgQ8Tile *), void (*ref)(const AgQ8Tile *), int mr,
                    const char *name)
{
    declare_func(void, const AgQ8Tile *);
    static float old[MAX_PANELS * AG_Q8_MR * NR];

    if (!check_func(fn, ref, "%s", name))
        return;
    for (int round = 0; round < 240; round++) {
        int m = 1 + round % mr, blocks = 1 + ck_below(MAX_BLOCKS), panels = 1 + ck_below(MAX_PANELS);
        int lda = blocks * BLOCK + 4 * ck_below(5), ld_sa = blocks + ck_below(3);
        int n_w = panels * blocks * BLOCK * NR, n_sum = panels * blocks * NR;
        size_t acc_n = (size_t)(panels * mr * NR);
        uint8_t *a = ck_input(0, (size_t)((m - 1) * lda + blocks * BLOCK));
        int8_t *w = ck_aligned(1, (size_t)n_w);
        int16_t *sum = ck_input(2, (size_t)n_sum * 2);
        float *sa = ck_input(3, (size_t)((m - 1) * ld_sa + blocks) * 4);
        float *acc = ck_output(4, acc_n * 4, 0);
        AgQ8Tile t = {acc, a, lda, sa, ld_sa, w, blocks * BLOCK * NR, sum, blocks * NR, m, blocks,
                      panels, mr == 1 || round % 3};
        fill_bytes(a, (m - 1) * lda + blocks * BLOCK, w, n_w, round % 8);
        fill_sums(sum, w, n_sum);
        ck_floats(sa, (m - 1) * ld_sa + blocks, 0, 0.1f);
        ck_floats(acc, (int)acc_n, -9, 9);
        memcpy(old, acc, acc_n * 4);
        call_new(&t);
        tile_compare(&t, mr, old);
        if (!ck_guards(4))
            fail("m=%d: wrote outside", m);
    }
    enum { BLOCKS = 12, PANELS = 12 };
    uint8_t *a = ck_aligned(0, AG_Q8_MR * (BLOCKS + 1) * BLOCK);
    int8_t *w = ck_aligned(1, PANELS * BLOCKS * BLOCK * NR);
    int16_t *sum = ck_aligned(2, PANELS * BLOCKS * NR * 2);
    float *sa = ck_aligned(3, AG_Q8_MR * BLOCKS * 4), *acc = ck_output(4, PANELS * AG_Q8_MR * NR * 4, 0);
    AgQ8Tile t = {acc, a, (BLOCKS + 1) * BLOCK, sa, BLOCKS, w, BLOCKS * BLOCK * NR, sum,
                  BLOCKS * NR, mr, BLOCKS, PANELS, 1};
    memset(a, 1, AG_Q8_MR * (BLOCKS + 1) * BLOCK);
    memset(w, 1, PANELS * BLOCKS * BLOCK * NR);
    memset(sum, 0, PANELS * BLOCKS * NR * 2);
    ck_floats(sa, AG_Q8_MR * BLOCKS, 0, 1);
    bench_new(2.0 * mr * NR * BLOCK * BLOCKS * PANELS, &t);
    report();
}

static void finish(const AgQ8Dsp *d, const AgQ8Dsp *ref)
{
    declare_func(void, float *, ptrdiff_t, const float *, int, int, const float *, const float *,
                 float, AgEpilogue);
    static float want[AG_Q8_MR * (NR + 7)];

    if (!check_func(d->finish, ref->finish, "q8.finish"))
        return;
    for (int round = 0; round < 400; round++) {
        AgEpilogue epi = (AgEpilogue)(round % 4);
        int m = 1 + ck_below(d->mr), n = round % 3 ? 1 + ck_below(NR) : NR, ld = NR + 7;
        float scale = round % 5 ? 1.0f : 0.125f, *w = ck_input(3, NR * 4);
        float *acc = ck_aligned(0, (size_t)(m * NR) * 4), *bias = ck_input(1, (size_t)n * 4);
        size_t out_n = (size_t)((m - 1) * ld + n);
        float *out = ck_output(2, out_n * 4, 4 * (round % 7 == 0));
        ck_floats(acc, m * NR, -8, 8);
        ck_floats(w, NR, 0, 1);
        ck_floats(bias, n, -2, 2);
        ck_floats(out, (int)out_n, -3, 3);
        memcpy(want, out, out_n * 4);
        if (round % 6 == 5)
            bias = NULL;
        call_ref(want, ld, acc, m, n, w, bias, scale, epi);
        call_new(out, ld, acc, m, n, w, bias, scale, epi);
        for (size_t i = 0; i < out_n; i++) {
            double bound = epi == AG_EPI_GELU || epi == AG_EPI_SILU_MUL
                           ? 2e-6 * fmax(1, fabs(want[i])) : 0;
            if (!(fabs((double)out[i] - want[i]) <= bound))
                fail("epi=%d m=%d n=%d: [%zu] = %.9g, expected %.9g", (int)epi, m, n, i, out[i],
                     want[i]);
        }
        if (!ck_guards(2))
            fail("m=%d n=%d: wrote outside", m, n);
    }
    float *acc = ck_aligned(0, AG_Q8_MR * NR * 4), *w = ck_input(1, NR * 4);
    float *out = ck_output(2, AG_Q8_MR * NR * 4, 0);
    ck_floats(acc, AG_Q8_MR * NR, -3, 3);
    ck_floats(w, NR, 0, 1);
    bench_new(d->mr * NR, out, NR, acc, d->mr, NR, w, w, 1, AG_EPI_GELU);
    report();
}

/* ------------------------------------------------------------------------ */
/* Attention                                                                 */

static void keys(const AgQ8Dsp *d, const AgQ8Dsp *ref)
{
    declare_func(void, int8_t *, int16_t *, float *, const float *, ptrdiff_t, int, int);

    if (!check_func(d->keys, ref->keys, "q8.keys"))
        return;
    for (int round = 0; round < 100; round++) {
        int n = 1 + ck_below(70), dim = 8 * (1 + ck_below(8)), ld = dim + ck_below(9);
        size_t all = AG_ALIGN_UP((size_t)n, NR);
        float *x = ck_input(0, (size_t)((n - 1) * ld + dim) * 4);
        int8_t *w0 = ck_output(1, all * BLOCK, 0), *w1 = ck_output(4, all * BLOCK, 0);
        int16_t *sum0 = ck_output(2, all * 2, 0), *sum1 = ck_output(5, all * 2, 2);
        float *s0 = ck_output(3, all * 4, 0), *s1 = ck_output(6, all * 4, 4);
        fill(x, (n - 1) * ld + dim, round % 6);
        call_ref(w0, sum0, s0, x, ld, n, dim);
        call_new(w1, sum1, s1, x, ld, n, dim);
        if (memcmp(w0, w1, all * BLOCK) || memcmp(sum0, sum1, all * 2) || memcmp(s0, s1, all * 4))
            fail("n=%d dim=%d: other than plain C", n, dim);
        if (!ck_guards(4) || !ck_guards(5) || !ck_guards(6))
            fail("n=%d dim=%d: wrote outside", n, dim);
    }
    float *x = ck_input(0, 128 * 64 * 4), *s = ck_output(3, 128 * 4, 0);
    int8_t *w = ck_output(1, 128 * 64, 0);
    int16_t *sum = ck_output(2, 128 * 2, 0);
    ck_floats(x, 128 * 64, -1, 1);
    bench_new(128 * 64, w, sum, s, x, 64, 128, 64);
    report();
}

static void values(const AgQ8Dsp *d, const AgQ8Dsp *ref)
{
    declare_func(void, int8_t *, float *, const float *, ptrdiff_t, int, int);

    if (!check_func(d->values, ref->values, "q8.values"))
        return;
    for (int round = 0; round < 100; round++) {
        int n = 1 + ck_below(200), dim = 8 * (1 + ck_below(8)), ld = dim + ck_below(9);
        size_t dims = AG_ALIGN_UP((size_t)dim, NR), all = AG_ALIGN_UP((size_t)n, BLOCK) * dims;
        float *x = ck_input(0, (size_t)((n - 1) * ld + dim) * 4);
        int8_t *w0 = ck_output(1, all, 0), *w1 = ck_output(4, all, 0);
        float *s0 = ck_output(3, dims * 4, 0), *s1 = ck_output(6, dims * 4, 4);
        fill(x, (n - 1) * ld + dim, round % 6);
        call_ref(w0, s0, x, ld, n, dim);
        call_new(w1, s1, x, ld, n, dim);
        if (memcmp(w0, w1, all) || memcmp(s0, s1, dims * 4))
            fail("n=%d dim=%d: other than plain C", n, dim);
        if (!ck_guards(4) || !ck_guards(6))
            fail("n=%d dim=%d: wrote outside", n, dim);
    }
    float *x = ck_input(0, 128 * 64 * 4), *s = ck_output(3, 64 * 4, 0);
    int8_t *w = ck_output(1, 128 * 64, 0);
    ck_floats(x, 128 * 64, -1, 1);
    bench_new(128 * 64, w, s, x, 64, 128, 64);
    report();
}

/* One row against double arithmetic. */
static void softmax_row(const uint8_t *p, const float *scale, const float *s, int step,
                        const float *k_scale, int n)
{
    double v[1024], most = -INFINITY, total = 0, sum = 0;

    for (int j = 0; j < n; j++) {
        v[j] = s[j / NR * step + j % NR] * k_scale[j]; /* as float */
        most = fmax(most, v[j]);
    }
    for (int b = 0; b * BLOCK < n; b++) {
        double top = -INFINITY;
        int end = AG_MIN(n, (b + 1) * BLOCK);
        for (int j = b * BLOCK; j < end; j++)
            top = fmax(top, v[j]);
        for (int j = b * BLOCK; j < (b + 1) * BLOCK; j++) {
            double e = j < n ? 127 * exp2(v[j] - top) : 0;
            if (!(fabs(p[j] - e) <= 0.52))
                fail("n=%d: p[%d] = %d, expected %.4f", n, j, p[j], e);
            sum += (double)p[j] * scale[b];
            total += p[j] * exp2(top - most);
        }
    }
    if (!(fabs(sum - 1) <= 1e-5))
        fail("n=%d: sum %.7f", n, sum);
    for (int b = 0; b * BLOCK < n; b++) {
        double top = -INFINITY;
        for (int j = b * BLOCK; j < AG_MIN(n, (b + 1) * BLOCK); j++)
            top = fmax(top, v[j]);
        double e = exp2(top - most) / total;
        if (!(fabs(scale[b] - e) <= 1e-5 * e + 1e-37))
            fail("n=%d: scale[%d] = %g, expected %g", n, b, scale[b], e);
    }
}

static void softmax(const AgQ8Dsp *d, const AgQ8Dsp *ref)
{
    declare_func(void, uint8_t *, float *, const float *, ptrdiff_t, const float *, int);
    enum { ROWS = 3 };

    if (!check_func(d->softmax, ref->softmax, "q8.softmax"))
        return;
    for (int round = 0; round < 200; round++) {
        int n = round < 2 ? 1024 : 1 + ck_below(1024), row = ck_below(ROWS), step = ROWS * NR;
        int panels = (n + NR - 1) / NR, blocks = (n + BLOCK - 1) / BLOCK;
        float range = exp2f(ck_float(-3, 7));
        float *s = ck_input(0, (size_t)(panels * step) * 4), *k = ck_input(1, (size_t)n * 4);
        uint8_t *p = ck_output(2, (size_t)(blocks * BLOCK), 0);
        float *scale = ck_output(3, (size_t)blocks * 4, 4);
        ck_floats(s, panels * step, -range, range);
        ck_floats(k, n, 0, 1);
        call_new(p, scale, s + row * NR, step, k, n);
        softmax_row(p, scale, s + row * NR, step, k, n);
        if (!ck_guards(2) || !ck_guards(3))
            fail("n=%d: wrote outside", n);
    }
    float *s = ck_aligned(0, 1024 * 4), *k = ck_aligned(1, 1024 * 4);
    float *scale = ck_output(3, 16 * 4, 0);
    uint8_t *p = ck_output(2, 1024, 0);
    ck_floats(s, 1024, -5, 5);
    ck_floats(k, 1024, 0, 1);
    bench_new(1024, p, scale, s, NR, k, 1024);
    report();
}

/* Whole: near ag_attn() of the same tier, the same bits for any thread count. */
static void attention(const AgDsp *dsp, int n, int heads, int dim)
{
    int ld = 3 * heads * dim, width = heads * dim;
    float *in = ck_input(0, (size_t)(n * ld) * 4);
    float *want = ck_output(1, (size_t)(n * width) * 4, 0), *out[2];
    AgAttnArgs a = {in, in + width, in + 2 * width, want, ld, ld, width, n, n, heads, heads, dim,
                    0, 0};
    double err = 0, ref = 0;

    ck_floats(in, n * ld, -1, 1);
    for (int i = 0; i < n; i++) /* scores of some width */
        for (int j = 0; j < width; j++)
            in[i * ld + j] *= 0.7f;
    for (int t = 0; t < 2; t++) {
        CkExec e;
        ck_exec_open(&e, dsp, t ? 3 : 1);
        out[t] = ck_output(2 + t, (size_t)(n * width) * 4, 0);
        a.out = out[t];
        ag_q8_attn(&e.x, &a);
        if (e.x.flops != (int64_t)4 * n * n * width)
            fail("flops");
        if (t == 0) {
            a.out = want;
            ag_attn(&e.x, &a);
        }
        ck_exec_close(&e);
    }
    if (memcmp(out[0], out[1], (size_t)(n * width) * 4) || !ck_guards(2) || !ck_guards(3))
        fail("n=%d heads=%d dim=%d: other bits with 3 threads", n, heads, dim);
    for (int i = 0; i < n * width; i++) {
        err += (out[0][i] - want[i]) * (double)(out[0][i] - want[i]);
        ref += want[i] * (double)want[i];
    }
    if (!(sqrt(err / ref) <= 0.03))
        fail("n=%d heads=%d dim=%d: relative RMS error %g", n, heads, dim, sqrt(err / ref));
}

/* ------------------------------------------------------------------------ */
/* Driver                                                                    */

typedef struct Exec {
    CkExec e;
    void *rows;
} Exec;

/* Room for `rows` rows only: products with more run in parts. */
static void open_exec(Exec *x, const AgDsp *dsp, int threads, int rows, int n_in)
{
    AgArena a = {0};

    ck_exec_open(&x->e, dsp, threads);
    ag_q8_carve(&x->e.x.q8, &a, rows, n_in);
    if (!(x->rows = ag_malloc(a.used)))
        fail("no memory");
    a = (AgArena){x->rows, 0, a.used};
    memset(x->rows, 0xFF, a.size);
    ag_q8_carve(&x->e.x.q8, &a, rows, n_in);
}

static void close_exec(Exec *x)
{
    ck_exec_close(&x->e);
    ag_free(x->rows);
}

/* Rounding of both sides: half a step of each times the other's magnitude. */
static void near_float(const AgLinear *lin, const float *in, int ld, int m, const float *out)
{
    for (int i = 0; i < 200; i++) {
        int r = ck_below(m), c = ck_below(lin->n_out), k = lin->n_in;
        double e = 0, bound = 1e-6, w_top = 0, sum_in = 0, sum_w = 0, in_top = 0;
        for (int j = 0; j < k; j++) {
            double w = ck_widen(lin->w, lin->dtype, (ptrdiff_t)c * k + j), x = in[r * ld + j];
            e += w * x;
            w_top = fmax(w_top, fabs(w));
            in_top = fmax(in_top, fabs(x));
            sum_in += fabs(x);
            sum_w += fabs(w);
        }
        bound += 0.51 * (sum_in * w_top / 127 + sum_w * in_top / 63) + k * w_top * in_top / 8000;
        if (!(fabs(out[r * lin->n_out + c] - e) <= bound))
            fail("m=%d n=%d k=%d: [%d][%d] = %g, expected %g", m, lin->n_out, k, r, c,
                 out[r * lin->n_out + c], e);
    }
}

static void driver(const AgDsp *ref, const AgDsp *dsp, int m, int n, int k)
{
    AgLinear lin = {ck_input(0, (size_t)(n * k) * 2), AG_BF16, n, k, NULL}, q8 = lin;
    AgQ8 view;
    size_t out_n = (size_t)(m * n), size = ag_q8_size(n, k);
    void *packed = ck_aligned(1, size), *tmp = ck_input(2, ag_q8_tmp(k));
    int ld = k + 3;
    float *in = ck_input(3, (size_t)((m - 1) * ld + k) * 4), *want = ck_output(4, out_n * 4, 0);
    Exec x;

    ck_stored((void *)(uintptr_t)lin.w, AG_BF16, n * k);
    ck_floats(in, (m - 1) * ld + k, -1, 1);
    ag_q8_pack(packed, &lin, &dsp->vec, tmp);
    ag_q8_view(&view, packed, n, k);
    q8.w = &view;
    q8.dtype = AG_Q8;
    open_exec(&x, ref, 1, m, k);
    ag_linear(&x.e.x, &q8, AG_EPI_STORE, in, ld, want, n, m);
    close_exec(&x);
    near_float(&lin, in, ld, m, want);
    for (int t = 1; t <= 3; t++) {
        float *out = ck_output(5, out_n * 4, 0);
        open_exec(&x, dsp, t, t == 2 ? 1 + m / 3 : m, k);
        ag_linear(&x.e.x, &q8, AG_EPI_STORE, in, ld, out, n, m);
        if (memcmp(out, want, out_n * 4) || !ck_guards(5))
            fail("m=%d n=%d k=%d: other bits with %d threads", m, n, k, t);
        int r = ck_below(m); /* a row alone */
        ag_linear(&x.e.x, &q8, AG_EPI_STORE, in + r * ld, ld, out, n, 1);
        if (memcmp(out, want + r * n, (size_t)n * 4))
            fail("m=%d n=%d k=%d: row %d has other bits alone", m, n, k, r);
        if (x.e.x.flops != (int64_t)2 * (m + 1) * n * k)
            fail("flops");
        close_exec(&x);
    }
}

void check_q8(const AgDsp *ref, const AgDsp *dsp)
{
    quantise(&dsp->q8, &ref->q8);
    product(dsp->q8.tile, ref->q8.tile, dsp->q8.mr, "q8.tile");
    product(dsp->q8.gemv, ref->q8.gemv, 1, "q8.gemv");
    finish(&dsp->q8, &ref->q8);
    keys(&dsp->q8, &ref->q8);
    values(&dsp->q8, &ref->q8);
    softmax(&dsp->q8, &ref->q8);
    if (ck_test("q8.attn")) {
        attention(dsp, 64, 4, 32);
        attention(dsp, 201, 2, 64);
        attention(dsp, 33, 3, 56);
        attention(dsp, 1024, 1, 64);
        attention(dsp, 1025, 1, 64); /* float32 */
        report();
    }
    if (!ck_test("q8.driver"))
        return;
    for (int i = 0; i < 12; i++)
        driver(ref, dsp, 1 + ck_below(60), 1 + ck_below(400), 1 + ck_below(500));
    driver(ref, dsp, 7, 40, 2600);
    driver(ref, dsp, 30, 33, 64);
    report();
}
