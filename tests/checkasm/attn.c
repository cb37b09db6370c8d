/*
 * checkasm of attention: kernels against double arithmetic, then the driver.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "tests/checkasm/checkasm.h"

static const int keys[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 128, 255, 256};

static void pack_k(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, float *, const float *, int, int, int);

    if (!check_func(dsp->attn.pack_k, ref->attn.pack_k, "attn.pack_k"))
        return;
    for (int round = 0; round < 150; round++) {
        int n = keys[(size_t)round % AG_COUNT(keys)], dim = 16 + 8 * ck_below(15);
        int ld = dim + 8 * ck_below(4), count = (n - 1) * ld + dim;
        float *k = ck_input(0, (size_t)count * 4);
        int nr = dsp->attn.nr, all = AG_ALIGN_UP(n, nr);
        float *b = ck_output(1, (size_t)(dim * all) * 4, 0);
        ck_floats(k, count, -2, 2);
        call_new(b, k, ld, n, dim);
        for (int j = 0; j < all; j++) {
            for (int d = 0; d < dim; d++) {
                float x = b[(j / nr * dim + d) * nr + j % nr];
                if (x != (j < n ? k[j * ld + d] : 0))
                    fail("n=%d dim=%d: [%d][%d] = %g", n, dim, j, d, x);
            }
        }
        if (!ck_guards(1))
            fail("n=%d dim=%d: wrote outside", n, dim);
    }
    float *k = ck_input(0, AG_ATTN_KB * 768 * 4), *b = ck_output(1, 64 * AG_ATTN_KB * 4, 0);
    ck_floats(k, AG_ATTN_KB * 768, -2, 2);
    bench_new(64 * AG_ATTN_KB, b, k, 768 - 64, AG_ATTN_KB, 64);
    report();
}

/* Softmax of a query over keys in double: max, sum of p, sum of p v. */
typedef struct Exact {
    double max, sum, mag, o[AG_ATTN_DIM]; /* mag: largest sum |q k| */
} Exact;

static void exact_init(Exact *e)
{
    memset(e, 0, sizeof(*e));
    e->max = -INFINITY;
}

static void exact_key(Exact *e, const float *q, const float *k, const float *v, int dim)
{
    double s = 0, mag = 0;

    for (int d = 0; d < dim; d++) {
        s += (double)q[d] * k[d];
        mag += fabs((double)q[d] * k[d]);
    }
    double max = fmax(e->max, s), f = exp(e->max - max), p = exp(s - max);
    e->mag = fmax(e->mag, mag);
    e->max = max;
    e->sum = e->sum * f + p;
    for (int d = 0; d < dim; d++)
        e->o[d] = e->o[d] * f + p * v[d];
}

/* o / sum against the exact one; largest |v| is 1. */
static int exact_equal(const Exact *e, float max, float sum, const float *o, int dim)
{
    double bound = 1e-6 * (1 + e->mag);

    if (!(fabs(max - e->max * 1.4426950408889634) <= bound * 2))
        return 0;
    for (int d = 0; d < dim; d++)
        if (!(fabs(o[d] / sum - e->o[d] / e->sum) <= bound))
            return 0;
    return 1;
}

/* Exact scores, and values that show each p by itself: the precision of exp
 * alone. Key j has score s[j], value 1 in column j. */
static void probe(float *q, float *k, float *v, int dim, float *s)
{
    for (int d = 0; d < dim; d++)
        q[d] = d == 0;
    for (int j = 0; j < 16; j++) {
        s[j] = ck_float(-1, 1);
        for (int d = 0; d < dim; d++) {
            k[j * dim + d] = d == 0 ? s[j] : 0;
            v[j * dim + d] = d == j;
        }
    }
}

static void probe_check(const float *s, float sum, const float *o)
{
    double total = 0;

    for (int j = 0; j < 16; j++)
        total += exp(s[j]);
    for (int j = 0; j < 16; j++) /* its rounding, log2(e) s - max: up to 3 in size */
        if (!(fabs(o[j] / sum / (exp(s[j]) / total) - 1) <= 5e-7))
            fail("exp(%g) off by %.2g", s[j], o[j] / sum / (exp(s[j]) / total) - 1);
}

typedef struct TileData {
    float *q, *kt, *v, *o, *tmp, max[AG_ATTN_QR], sum[AG_ATTN_QR];
    float key[AG_ATTN_KB * AG_ATTN_DIM], value[AG_ATTN_KB * AG_ATTN_DIM]; /* [n, dim] */
    Exact exact[AG_ATTN_QR];
} TileData;

/* The keys and values of t as panels. */
static void tile_panels(TileData *t, const AgAttnDsp *dsp, int n, int dim)
{
    int nr = dsp->nr, columns = AG_ALIGN_UP(dim, nr);

    t->kt = ck_aligned(1, (size_t)(dim * AG_ALIGN_UP(n, nr)) * 4);
    t->v = ck_aligned(2, (size_t)(((columns - nr) / nr * AG_ATTN_KB + n) * nr) * 4);
    dsp->pack_k(t->kt, t->key, dim, n, dim);
    for (int j = 0; j < n; j++)
        for (int d = 0; d < columns; d++)
            t->v[(d / nr * AG_ATTN_KB + j) * nr + d % nr] = d < dim ? t->value[j * dim + d] : 0;
}

static void tile_block(TileData *t, const AgAttnDsp *dsp, int n, int dim)
{
    ck_floats(t->key, n * dim, -2, 2);
    ck_floats(t->value, n * dim, -1, 1);
    tile_panels(t, dsp, n, dim);
}

/* Query r alone, with fewer unseen keys: the same bits. */
static void alone(const AgDsp *dsp, const AgAttnTile *a, int r)
{
    float o[AG_ATTN_LD] AG_ALIGNED(64), max, sum;
    int seen = AG_MIN(a->n, a->seen + r);
    AgAttnTile b = *a;

    b.q += r * AG_ATTN_LD, b.o = o, b.max = &max, b.sum = &sum;
    b.m = 1, b.seen = seen, b.n = seen + ck_below(a->n - seen + 1);
    dsp->attn.tile(&b);
    if (memcmp(o, a->o + r * AG_ATTN_LD, (size_t)a->dim * 4) || max != a->max[r]
        || sum != a->sum[r])
        fail("m=%d n=%d dim=%d: query %d has other bits alone", a->m, a->n, a->dim, r);
}

/* Two blocks after each other; every query sees its own number of keys. */
static void tile(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, const AgAttnTile *);
    static TileData t;

    if (!check_func(dsp->attn.tile, ref->attn.tile, "attn.tile"))
        return;
    for (int round = 0; round < 200; round++) {
        int m = 1 + round % dsp->attn.qr, dim = round % 2 ? 64 : 16 + 8 * ck_below(15);
        AgAttnTile a = {.m = m, .dim = dim};
        t.q = ck_aligned(0, (size_t)((m - 1) * AG_ATTN_LD + dim) * 4);
        t.o = ck_output(3, (size_t)((m - 1) * AG_ATTN_LD + AG_ALIGN_UP(dim, dsp->attn.nr)) * 4, 0);
        t.tmp = ck_output(4, AG_ATTN_QR * AG_ATTN_LDP * 4, 0);
        ck_floats(t.q, (m - 1) * AG_ATTN_LD + dim, -1, 1);
        for (int r = 0; r < m; r++)
            exact_init(&t.exact[r]);
        for (int block = 0; block < 2; block++) {
            a.n = keys[ck_below((int)AG_COUNT(keys))];
            a.first = block == 0;
            a.seen = round % 3 == 0 ? a.n : 1 + ck_below(a.n + 5) - (block ? m : 0);
            tile_block(&t, &dsp->attn, a.n, dim);
            a.q = t.q, a.kt = t.kt, a.v = t.v, a.o = t.o, a.tmp = t.tmp;
            a.max = t.max, a.sum = t.sum;
            call_new(&a);
            for (int r = 0; r < m; r++)
                for (int j = 0; j < AG_MIN(a.n, a.seen + r); j++)
                    exact_key(&t.exact[r], t.q + r * AG_ATTN_LD, t.key + j * dim,
                              t.value + j * dim, dim);
            for (int r = 0; r < m; r++)
                if (!exact_equal(&t.exact[r], t.max[r], t.sum[r], t.o + r * AG_ATTN_LD, dim))
                    fail("m=%d n=%d dim=%d seen=%d block=%d: query %d", m, a.n, dim, a.seen,
                         block, r);
            if (block || !ck_guards(3) || !ck_guards(4))
                continue;
            alone(dsp, &a, ck_below(m));
        }
        if (!ck_guards(3) || !ck_guards(4))
            fail("m=%d dim=%d: wrote outside", m, dim);
    }
    for (int round = 0; round < 100; round++) {
        float s[16];
        t.q = ck_aligned(0, 64 * 4), t.o = ck_output(3, 64 * 4, 0);
        probe(t.q, t.key, t.value, 64, s);
        tile_panels(&t, &dsp->attn, 16, 64);
        AgAttnTile a = {t.q, t.kt, t.v, t.o, t.max, t.sum, t.tmp, 1, 16, 64, 16, 1};
        call_new(&a);
        probe_check(s, t.sum[0], t.o);
    }
    int m = dsp->attn.qr;
    t.q = ck_aligned(0, (size_t)(m * AG_ATTN_LD) * 4);
    t.o = ck_output(3, (size_t)(m * AG_ATTN_LD) * 4, 0);
    ck_floats(t.q, m * AG_ATTN_LD, -1, 1);
    tile_block(&t, &dsp->attn, AG_ATTN_KB, 64);
    AgAttnTile a = {t.q, t.kt, t.v, t.o, t.max, t.sum, t.tmp, m, AG_ATTN_KB, 64, AG_ATTN_KB, 1};
    bench_new(4.0 * m * AG_ATTN_KB * 64, &a);
    report();
}

static void scale(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, float *, const float *, float, int);

    if (!check_same(dsp->attn.scale, ref->attn.scale, "attn.scale"))
        return;
    for (int n = 1; n <= 128; n++) {
        size_t size = (size_t)n * 4;
        float *x = ck_aligned(0, size), *a = ck_output(1, size, 4), *b = ck_output(2, size, 4);
        ck_floats(x, n, -2, 2);
        call_ref(a, x, 0.3f, n);
        call_new(b, x, 0.3f, n);
        if (memcmp(a, b, size) || !ck_guards(2))
            fail("n=%d", n);
    }
    float *x = ck_aligned(0, 64 * 4), *b = ck_output(2, 64 * 4, 0);
    bench_new(64, b, x, 0.3f, 64);
    report();
}

static void single(const AgDsp *ref, const AgDsp *dsp)
{
    declare_func(void, float *, const float *, const float *, const float *, int, int, int, int,
                 float *);
    static Exact e;

    if (!check_func(dsp->attn.single, ref->attn.single, "attn.single"))
        return;
    for (int round = 0; round < 200; round++) {
        int n = keys[(size_t)round % AG_COUNT(keys)] * (1 + round % 2), group = 1 + ck_below(8);
        int dim = round % 2 ? 64 : 16 + 8 * ck_below(15), ld = dim + 8 * ck_below(4);
        float *q = ck_input(0, (size_t)(group * dim) * 4);
        size_t kv = (size_t)((n - 1) * ld + dim);
        float *k = ck_input(1, kv * 4), *v = ck_input(2, kv * 4);
        float *part = ck_output(3, (size_t)(group * (dim + 2)) * 4, 4);
        float *scores = ck_output(4, (size_t)(group * AG_ALIGN_UP(n, 16)) * 4, 0);
        ck_floats(q, group * dim, -1, 1);
        ck_floats(k, (int)kv, -2, 2);
        ck_floats(v, (int)kv, -1, 1);
        call_new(part, q, k, v, ld, n, group, dim, scores);
        for (int g = 0; g < group; g++) {
            const float *p = part + g * (dim + 2);
            exact_init(&e);
            for (int j = 0; j < n; j++)
                exact_key(&e, q + g * dim, k + j * ld, v + j * ld, dim);
            if (!exact_equal(&e, p[0], p[1], p + 2, dim))
                fail("n=%d group=%d dim=%d: head %d", n, group, dim, g);
        }
        if (!ck_guards(3) || !ck_guards(4))
            fail("n=%d group=%d dim=%d: wrote outside", n, group, dim);
    }
    for (int round = 0; round < 100; round++) {
        float s[16], *x = ck_input(0, 64 * 4), *y = ck_input(1, 16 * 64 * 4);
        float *z = ck_input(2, 16 * 64 * 4), *p = ck_output(3, 66 * 4, 0);
        probe(x, y, z, 64, s);
        call_new(p, x, y, z, 64, 16, 1, 64, ck_output(4, 16 * 4, 0));
        probe_check(s, p[1], p + 2);
    }
    float *q = ck_input(0, 192 * 4), *k = ck_input(1, 256 * 192 * 4);
    float *v = ck_input(2, 256 * 192 * 4);
    float *part = ck_output(3, 3 * 66 * 4, 0), *scores = ck_output(4, 3 * 256 * 4, 0);
    ck_floats(k, 256 * 192, -2, 2);
    ck_floats(v, 256 * 192, -1, 1);
    ck_floats(q, 192, -1, 1);
    bench_new(4.0 * 3 * 256 * 64, part, q, k, v, 192 - 64, 256, 3, 64, scores);
    report();
}

void check_attn(const AgDsp *ref, const AgDsp *dsp)
{
    pack_k(ref, dsp);
    tile(ref, dsp);
    scale(ref, dsp);
    single(ref, dsp);
}

/* ------------------------------------------------------------------------ */
/* Driver                                                                    */

typedef struct Shape {
    int n_q, n_kv, n_head, n_kv_head, dim, causal, pos;
} Shape;

enum { MAX_Q = 600, MAX_KV = 700, PAD = 8 };

/* Relative error of one head's output row against double. */
static double row_error(const AgAttnArgs *a, int i, int h)
{
    static Exact e;
    int g = h / (a->n_head / a->n_kv_head) * a->head_dim, n = a->causal ? a->pos + i + 1 : a->n_kv;
    double diff = 0, norm = 0;

    exact_init(&e);
    for (int j = 0; j < n; j++)
        exact_key(&e, a->q + i * a->ld_q + h * a->head_dim, a->k + j * a->ld_kv + g,
                  a->v + j * a->ld_kv + g, a->head_dim);
    for (int d = 0; d < a->head_dim; d++) {
        double o = e.o[d] / e.sum, x = a->out[i * a->ld_out + h * a->head_dim + d] - o;
        diff += isnan(x) ? INFINITY : x * x;
        norm += o * o;
    }
    return sqrt(diff / norm);
}

static void driver(const AgDsp *dsp, const Shape *s)
{
    int w_q = s->n_head * s->dim, ld_q = w_q + PAD;
    int w_kv = s->n_kv_head * s->dim, ld_kv = w_kv + PAD;
    size_t q_n = (size_t)((s->n_q - 1) * ld_q + w_q), kv_n = (size_t)((s->n_kv - 1) * ld_kv + w_kv);
    float *q = ck_input(0, q_n * 4), *k = ck_input(1, kv_n * 4), *v = ck_input(2, kv_n * 4);
    float *out[3];
    AgAttnArgs a = {q, k, v, NULL, ld_q, ld_kv, ld_q, s->n_q, s->n_kv,
                    s->n_head, s->n_kv_head, s->dim, s->causal, s->pos};
    int64_t pairs = s->causal ? (int64_t)s->n_q * s->pos + (int64_t)s->n_q * (s->n_q + 1) / 2
                              : (int64_t)s->n_q * s->n_kv;

    ck_floats(q, (int)q_n, -1, 1);
    ck_floats(k, (int)kv_n, -1, 1);
    ck_floats(v, (int)kv_n, -1, 1);
    for (int t = 0; t < 3; t++) {
        CkExec e;
        ck_exec_open(&e, dsp, t + 1);
        a.out = out[t] = ck_output(3 + t, q_n * 4, 0);
        ag_attn(&e.x, &a);
        if (!ck_guards(3 + t))
            fail("n_q=%d n_kv=%d: wrote outside", s->n_q, s->n_kv);
        if (e.x.flops != 4 * pairs * s->dim * s->n_head)
            fail("flops");
        if (t == 0) { /* a part of the queries, and without the keys they can't see */
            int from = s->n_q / 3, n = AG_MIN(s->n_q - from, 2 + s->n_q / 4);
            AgAttnArgs b = a;
            b.q += from * ld_q, b.n_q = n, b.out = ck_output(6, q_n * 4, 0);
            b.pos += from;
            if (s->causal)
                b.n_kv = b.pos + n;
            if (n > 1) {
                ag_attn(&e.x, &b);
                for (int i = 0; i < n; i++)
                    if (memcmp(b.out + i * ld_q, a.out + (from + i) * ld_q, (size_t)w_q * 4))
                        fail("n_q=%d n_kv=%d: query %d has other bits in a part", s->n_q,
                             s->n_kv, from + i);
            }
        }
        ck_exec_close(&e);
        if (memcmp(out[t], out[0], q_n * 4))
            fail("n_q=%d n_kv=%d: other bits with %d threads", s->n_q, s->n_kv, t + 1);
    }
    a.out = out[0];
    for (int i = 0; i < 200; i++) {
        int r = ck_below(s->n_q), h = ck_below(s->n_head);
        double err = row_error(&a, r, h);
        if (!(err <= 2e-6 * sqrt(s->n_kv)))
            fail("n_q=%d n_kv=%d dim=%d: query %d head %d, error %.3g", s->n_q, s->n_kv, s->dim, r,
                 h, err);
    }
}

void check_attn_driver(const AgDsp *dsp)
{
    static const Shape shapes[] = {
        {1, 1, 1, 1, 16, 0, 0},      {2, 1, 2, 1, 24, 0, 0},      {300, 300, 3, 3, 64, 0, 0},
        {64, 64, 12, 12, 64, 0, 0},  {17, 129, 4, 2, 32, 0, 0},   {130, 257, 2, 1, 128, 0, 0},
        {67, 67, 9, 3, 64, 1, 0},    {300, 300, 6, 2, 64, 1, 0},  {5, 205, 9, 3, 64, 1, 200},
        {257, 400, 3, 1, 40, 1, 140}, {2, 129, 6, 2, 64, 1, 127}, {1, 300, 9, 3, 64, 1, 299},
        {1, 700, 15, 5, 64, 1, 600}, {1, 256, 4, 4, 72, 0, 0},    {1, 257, 18, 2, 16, 0, 0},
    };

    if (!ck_test("attn (driver)"))
        return;
    for (size_t i = 0; i < AG_COUNT(shapes); i++)
        driver(dsp, &shapes[i]);
    report();
}
