/*
 * checkasm of the kernels of matrix products. Tile shapes differ from tier to
 * tier, so each is compared with plain loops here.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

static const char *const dtypes[] = {"bf16", "f32", "f16"};
static const int depths[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 192, 255, 256};

static void pack(const AgMatmulDsp *d, const AgMatmulDsp *ref, AgDtype type)
{
    declare_func(void, float *, const void *, ptrdiff_t, int, int);
    int nr = d->nr;
    size_t size = ag_dtype_size(type);

    if (!check_func(d->pack[type], ref->pack[type], "matmul.pack_%s", dtypes[type]))
        return;
    for (int round = 0; round < 400; round++) {
        int k = depths[(size_t)round % AG_COUNT(depths)], ld = k + ck_below(20);
        int n = round < 100 ? AG_MAX(1, nr - round / 16) : 1 + ck_below(nr);
        int count = (n - 1) * ld + k; /* the last row ends at k */
        char *w = ck_input(0, (size_t)count * size);
        float *dst = ck_output(1, (size_t)(k * nr) * 4, 0);
        ck_stored(w, type, count);
        call_new(dst, w, ld, n, k);
        for (int i = 0; i < k; i++) {
            for (int c = 0; c < nr; c++) {
                float e = c < n ? (float)ck_widen(w, type, (ptrdiff_t)c * ld + i) : 0;
                if (memcmp(&dst[i * nr + c], &e, 4))
                    fail("n=%d k=%d [%d][%d] = %g, expected %g", n, k, i, c, dst[i * nr + c], e);
            }
        }
        if (!ck_guards(1))
            fail("n=%d k=%d: wrote outside", n, k);
    }
    char *w = ck_input(0, (size_t)(nr * 768) * size);
    float *dst = ck_output(1, (size_t)(256 * nr) * 4, 0);
    ck_stored(w, type, nr * 768);
    bench_new(256.0 * nr, dst, w, 768, nr, 256);
    report();
}

/* Rows of ld numbers to lines, with something else in between. */
static void to_lines(const AgMatmulDsp *d, float *dst, const float *a, int ld, int m, int k)
{
    for (int i = 0; i < (k + 15) / 16 * 16; i++)
        for (int r = 0; r < d->mr; r++)
            dst[(i / 16 * d->mr + r) * 16 + i % 16] = r < m && i < k ? a[r * ld + i] : NAN;
}

/* A tile, and what its input was as rows. */
typedef struct TileCase {
    AgGemmTile t;
    const float *a; /* [m, lda] */
    int lda;
} TileCase;

/* The same product as one row, one panel and one k at a time. */
static void single_steps(const AgMatmulDsp *d, const TileCase *c)
{
    const AgGemmTile *t = &c->t;
    float one[AG_GEMM_TILE] AG_ALIGNED(64), x[AG_GEMM_MR * 16] AG_ALIGNED(64) = {0};
    float b[AG_GEMM_NR] AG_ALIGNED(64);
    size_t size = (size_t)d->nr * sizeof(float);

    for (int p = 0; p < t->n_panel; p++) {
        for (int r = 0; r < t->m; r++) {
            float *row = t->acc + (p * d->mr + r) * d->nr;
            for (int i = 0; i < t->k; i++) {
                AgGemmTile u = {.acc = one, .a = x, .b = b, .m = 1, .k = 1, .n_panel = 1,
                                .first = t->first && i == 0};
                memcpy(one, row, size);
                memcpy(b, t->b + p * t->step + i * d->nr, size);
                x[0] = c->a[r * c->lda + i];
                d->tile(&u);
                memcpy(row, one, size);
            }
        }
    }
}

/* Rows below m against double, the others against what they were. */
static void tile_compare(const AgMatmulDsp *d, const TileCase *c, const float *old)
{
    const AgGemmTile *t = &c->t;
    int nr = d->nr, at = 0;

    for (int p = 0; p < t->n_panel; p++) {
        for (int r = 0; r < d->mr; r++) {
            for (int j = 0; j < nr; j++, at++) {
                double e = t->first ? 0 : old[at], mag = fabs(e);
                if (r >= t->m) {
                    if (memcmp(&t->acc[at], &old[at], 4))
                        fail("m=%d: wrote row %d", t->m, r);
                    continue;
                }
                for (int i = 0; i < t->k; i++) {
                    double ab = (double)c->a[r * c->lda + i] * t->b[p * t->step + i * nr + j];
                    e += ab;
                    mag += fabs(ab);
                }
                if (!(fabs(t->acc[at] - e) <= (t->k + 1) * 0x1p-24 * mag))
                    fail("m=%d k=%d: [%d][%d][%d] = %g, expected %g", t->m, t->k, p, r, j,
                         t->acc[at], e);
            }
        }
    }
}

/* next was copied, and what is behind its rows and values stayed 0 */
static void lines_compare(const AgMatmulDsp *d, const AgLines *l)
{
    for (int i = 0; i < (l->k + 15) / 16 * 16; i++) {
        for (int r = 0; r < d->mr; r++) {
            float v = l->dst[(i / 16 * d->mr + r) * 16 + i % 16];
            float e = r < l->m && i < l->k ? l->src[r * l->ld + i] : 0;
            if (v != e)
                fail("m=%d k=%d: [%d][%d] of the next input = %g, expected %g", l->m, l->k, r, i, v,
                     e);
        }
    }
}

/* out is what finish() makes of the sums */
static void out_compare(const AgMatmulDsp *d, const AgGemmTile *t, float *out)
{
    const AgGemmOut *o = &t->out;
    int nr = d->nr;

    for (int p = 0; p * nr < o->n; p++)
        d->finish(out + p * nr, o->ld, t->acc + p * d->mr * nr, t->m, AG_MIN(nr, o->n - p * nr),
                  o->bias + p * nr, o->scale, o->epi);
    for (int r = 0; r < t->m; r++)
        for (int c = 0; c < o->n; c++)
            if (memcmp(&out[r * o->ld + c], &o->data[r * o->ld + c], 4))
                fail("m=%d n=%d: out[%d][%d] = %g, finish() made %g", t->m, o->n, r, c,
                     o->data[r * o->ld + c], out[r * o->ld + c]);
}

enum { PANELS = 3, LONGEST = 256 };

/* a [m, lda] in lines, b [n_panel][k, nr] with gaps between the panels, acc, next, out */
static void tile_round(const AgMatmulDsp *d, int round)
{
    static float lines[2][AG_GEMM_MR * LONGEST] AG_ALIGNED(64), rows[AG_GEMM_MR * (LONGEST + 20)];
    static float old[PANELS * AG_GEMM_TILE], whole[PANELS * AG_GEMM_TILE];
    static float bias[PANELS * AG_GEMM_NR], expected[AG_GEMM_MR * (PANELS * AG_GEMM_NR + 5)];
    int mr = d->mr, nr = d->nr, k = depths[(size_t)round % AG_COUNT(depths)], m = 1 + round % mr;
    int panels = 1 + ck_below(PANELS), step = k * nr + 16 * ck_below(3), lda = k + ck_below(20);
    int next_k = depths[ck_below((int)AG_COUNT(depths))], next_m = ck_below(mr + 1);
    int n = panels * nr - ck_below(nr), ld_out = n + ck_below(6);
    int acc_n = panels * mr * nr, b_n = (panels - 1) * step + k * nr, out_n = (m - 1) * ld_out + n;
    float *next = ck_input(0, (size_t)AG_MAX(1, (next_m - 1) * (next_k + 3) + next_k) * 4);
    float *b = ck_aligned(1, (size_t)b_n * 4), *acc = ck_output(2, (size_t)acc_n * 4, 0);
    float *out = ck_output(3, (size_t)out_n * 4, 4);
    TileCase c = {{acc, lines[0], b, step, {next, next_k + 3, lines[1], next_m, next_k, next_k}, m,
                   k, panels, round % 2, {0}}, rows, lda};

    ck_floats(rows, m * lda, -1, 1);
    to_lines(d, lines[0], rows, lda, m, k);
    memset(lines[1], 0, sizeof(lines[1]));
    ck_floats(next, AG_MAX(1, (next_m - 1) * (next_k + 3) + next_k), 1, 2);
    ck_floats(b, b_n, -1, 1);
    ck_floats(out, out_n, -1, 1);
    ck_floats(bias, n, -1, 1);
    memcpy(expected, out, (size_t)out_n * 4);
    if (!c.t.first)
        ck_floats(acc, acc_n, -1, 1);
    if (round % 3)
        c.t.out = (AgGemmOut){out, ld_out, bias, 0.5f, (AgEpilogue)(round % 4), n};
    memcpy(old, acc, (size_t)acc_n * 4);
    d->tile(&c.t);
    tile_compare(d, &c, old);
    lines_compare(d, &c.t.next);
    if (c.t.out.data)
        out_compare(d, &c.t, expected);
    else if (memcmp(out, expected, (size_t)out_n * 4))
        fail("m=%d k=%d: wrote out without being asked", m, k);
    if (!ck_guards(2) || !ck_guards(3))
        fail("m=%d k=%d: wrote outside", m, k);
    memcpy(whole, acc, (size_t)acc_n * 4);
    memcpy(acc, old, (size_t)acc_n * 4);
    single_steps(d, &c);
    if (memcmp(whole, acc, (size_t)acc_n * 4))
        fail("m=%d k=%d: other bits than in single steps", m, k);
}

static void tile(const AgMatmulDsp *d, const AgMatmulDsp *ref)
{
    declare_func(void, const AgGemmTile *);
    int mr = d->mr, nr = d->nr;

    if (!check_func(d->tile, ref->tile, "matmul.tile"))
        return;
    for (int round = 0; round < 600; round++)
        tile_round(d, round);
    float *a = ck_aligned(0, AG_GEMM_MR * AG_GEMM_KC * 4);
    float *b = ck_aligned(1, (size_t)(12 * AG_GEMM_KC * nr) * 4);
    float *acc = ck_output(2, 12 * AG_GEMM_TILE * 4, 0);
    AgGemmTile t = {.acc = acc, .a = a, .b = b, .step = AG_GEMM_KC * nr, .m = mr, .k = AG_GEMM_KC,
                    .n_panel = 12, .first = 1};
    memset(b, 0, (size_t)(12 * AG_GEMM_KC * nr) * 4);
    memset(a, 0, AG_GEMM_MR * AG_GEMM_KC * 4);
    bench_new(2.0 * mr * nr * AG_GEMM_KC * 12, &t);
    report();
}

static double epilogue(double v, double old, AgEpilogue epi)
{
    if (epi == AG_EPI_ADD)
        return v + old;
    if (epi == AG_EPI_GELU)
        return 0.5 * v * (1 + tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)));
    if (epi == AG_EPI_SILU_MUL)
        return v / (1 + exp(-v)) * old;
    return v;
}

static void finish(const AgMatmulDsp *d, const AgMatmulDsp *ref)
{
    declare_func(void, float *, ptrdiff_t, const float *, int, int, const float *, float,
                 AgEpilogue);
    int nr = d->nr;
    static float old[AG_GEMM_MR * (AG_GEMM_NR + 7)];

    if (!check_func(d->finish, ref->finish, "matmul.finish"))
        return;
    for (int round = 0; round < 400; round++) {
        AgEpilogue epi = (AgEpilogue)(round % 4);
        int m = 1 + ck_below(d->mr), n = round % 3 ? 1 + ck_below(nr) : nr, ld = nr + 7;
        float scale = round % 5 ? 1.0f : 0.125f;
        float *acc = ck_aligned(0, (size_t)(m * nr) * 4), *bias = ck_input(1, (size_t)n * 4);
        size_t out_n = (size_t)((m - 1) * ld + n);
        float *out = ck_output(2, out_n * 4, 4 * (round % 7 == 0));
        ck_floats(acc, m * nr, -8, 8);
        ck_floats(bias, n, -2, 2);
        ck_floats(out, (int)out_n, -3, 3);
        memcpy(old, out, out_n * 4);
        if (round % 6 == 5)
            bias = NULL;
        call_new(out, ld, acc, m, n, bias, scale, epi);
        for (int r = 0; r < m; r++) {
            for (int c = 0; c < (r == m - 1 ? n : ld); c++) {
                int at = r * ld + c;
                float v = (acc[r * nr + c % nr] + (bias && c < n ? bias[c] : 0)) * scale, exact = v;
                double e = c < n ? epilogue(v, old[at], epi) : old[at];
                double bound = 0; /* stores and sums: exact; columns from n on stay */
                if (epi == AG_EPI_ADD)
                    exact = v + old[at];
                if (c >= n)
                    exact = old[at];
                else if (epi == AG_EPI_GELU || epi == AG_EPI_SILU_MUL)
                    bound = 1e-6 * fmax(1, fabs(v)) * fmax(1, fabs(old[at]));
                if (bound > 0 ? !(fabs(out[at] - e) <= bound) : out[at] != exact)
                    fail("epi=%d m=%d n=%d: [%d][%d] = %.9g, expected %.9g", (int)epi, m, n, r, c,
                         out[at], e);
            }
        }
        if (!ck_guards(2))
            fail("m=%d n=%d: wrote outside", m, n);
    }
    float *acc = ck_aligned(0, AG_GEMM_TILE * 4), *out = ck_output(2, AG_GEMM_TILE * 4, 0);
    ck_floats(acc, AG_GEMM_TILE, -3, 3);
    bench_new(d->mr * nr, out, nr, acc, d->mr, nr, acc, 1, AG_EPI_GELU);
    report();
}

static void gemv(const AgMatmulDsp *d, const AgMatmulDsp *ref, AgDtype type)
{
    declare_func(void, float *, const void *, const float *, int, int);
    size_t size = ag_dtype_size(type);

    if (!check_func(d->gemv[type], ref->gemv[type], "matmul.gemv_%s", dtypes[type]))
        return;
    for (int round = 0; round < 300; round++) {
        int k = depths[(size_t)round % AG_COUNT(depths)] * (1 + round % 3), n = 1 + ck_below(20);
        char *w = ck_input(0, (size_t)(n * k) * size);
        float *x = ck_input(1, (size_t)k * 4), *out = ck_output(2, (size_t)n * 4, 4);
        ck_stored(w, type, n * k);
        ck_floats(x, k, -1, 1);
        call_new(out, w, x, n, k);
        for (int r = 0; r < n; r++) {
            double e = 0, mag = 0;
            float alone;
            for (int i = 0; i < k; i++) {
                double wx = ck_widen(w, type, (ptrdiff_t)r * k + i) * x[i];
                e += wx;
                mag += fabs(wx);
            }
            if (!(fabs(out[r] - e) <= k * 0x1p-24 * mag + 1e-44))
                fail("n=%d k=%d: [%d] = %g, expected %g", n, k, r, out[r], e);
            call_new(&alone, w + (size_t)(r * k) * size, x, 1, k);
            if (memcmp(&alone, &out[r], 4))
                fail("n=%d k=%d: row %d has other bits alone", n, k, r);
        }
        if (!ck_guards(2))
            fail("n=%d k=%d: wrote outside", n, k);
    }
    char *w = ck_input(0, (size_t)(192 * 576) * size);
    float *x = ck_input(1, 576 * 4), *out = ck_output(2, 192 * 4, 0);
    ck_stored(w, type, 192 * 576);
    ck_floats(x, 576, -1, 1);
    bench_new(192.0 * 576, out, w, x, 192, 576);
    report();
}

void check_matmul(const AgDsp *ref, const AgDsp *dsp)
{
    for (int type = 0; type < 3; type++) {
        pack(&dsp->matmul, &ref->matmul, (AgDtype)type);
        gemv(&dsp->matmul, &ref->matmul, (AgDtype)type);
    }
    tile(&dsp->matmul, &ref->matmul);
    finish(&dsp->matmul, &ref->matmul);
}
