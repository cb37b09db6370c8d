/*
 * Attention: plain C kernels, dispatch, and the driver.
 *
 * Many queries: an item is a range of queries of one head; it walks over the
 * blocks of keys and keeps, for each query, the maximum, the sum and the
 * output so far. One query: an item is a block of keys of one kv head; the
 * parts are put together at the end.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/attn.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/x86/x86.h"

enum {
    RANGE = 1024, /* most queries of an item */
    PACK = 48,    /* packing keys and values costs an item as much as so many queries */
    SINGLE = 256, /* fewest keys of a part when there is one query */
    GROUP = 8,    /* most heads of one call of single */
};

static const double LOG2E = 1.4426950408889634;

/* ------------------------------------------------------------------------ */
/* Plain C kernels                                                           */

enum { C_NR = 8 };

static void pack_k_c(float *dst, const float *k, int ld, int n, int dim)
{
    for (int j0 = 0; j0 < n; j0 += C_NR, dst += dim * C_NR)
        for (int d = 0; d < dim; d++)
            for (int j = 0; j < C_NR; j++)
                dst[d * C_NR + j] = j0 + j < n ? k[(ptrdiff_t)(j0 + j) * ld + d] : 0;
}

/* p in place of the n scores; their sum */
static float soft(float *s, int n, float max)
{
    float sum = 0;

    for (int j = 0; j < n; j++) {
        s[j] = exp2f((float)(LOG2E * s[j] - max)); /* one rounding, as with FMA */
        sum += s[j];
    }
    return sum;
}

/* o += p v for n keys */
static void values(float *o, const float *p, const float *v, int ld, int n, int dim)
{
    for (int j = 0; j < n; j++)
        for (int d = 0; d < dim; d++)
            o[d] += p[j] * v[(ptrdiff_t)j * ld + d];
}

static float largest(const float *s, int n)
{
    float max = -INFINITY;

    for (int j = 0; j < n; j++)
        max = AG_MAX(max, s[j]);
    return max * (float)LOG2E;
}

static void tile_c(const AgAttnTile *t)
{
    for (int r = 0; r < t->m; r++) {
        const float *q = t->q + r * AG_ATTN_LD;
        float *o = t->o + r * AG_ATTN_LD, *s = t->tmp;
        int n = AG_MIN(t->n, t->seen + r);

        if (n < 1)
            continue;
        for (int j0 = 0; j0 < n; j0 += C_NR) {
            const float *k = t->kt + j0 * t->dim;
            float sum[C_NR] = {0};
            for (int d = 0; d < t->dim; d++, k += C_NR)
                for (int j = 0; j < C_NR; j++)
                    sum[j] += q[d] * k[j];
            memcpy(s + j0, sum, sizeof(sum));
        }
        float max = largest(s, n);
        if (t->first) {
            memset(o, 0, (size_t)t->dim * sizeof(float));
            t->sum[r] = 0;
        } else {
            float old = t->max[r];
            max = AG_MAX(max, old);
            float alpha = exp2f(old - max);
            for (int d = 0; d < t->dim; d++)
                o[d] *= alpha;
            t->sum[r] *= alpha;
        }
        t->max[r] = max;
        t->sum[r] += soft(s, n, max);
        for (int d = 0; d < t->dim; d += C_NR) /* dim is a multiple of 8 */
            values(o + d, s, t->v + d * AG_ATTN_KB, C_NR, n, C_NR);
    }
}

static void scale_c(float *out, const float *o, float scale, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = o[i] * scale;
}

static void single_c(float *part, const float *q, const float *k, const float *v, int ld_kv, int n,
                     int n_group, int dim, float *scores)
{
    for (int g = 0; g < n_group; g++, part += dim + 2, q += dim) {
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int d = 0; d < dim; d++)
                s += q[d] * k[(ptrdiff_t)j * ld_kv + d];
            scores[j] = s;
        }
        memset(part, 0, (size_t)(dim + 2) * sizeof(float));
        part[0] = largest(scores, n);
        part[1] = soft(scores, n, part[0]);
        values(part + 2, scores, v, ld_kv, n, dim);
    }
}

void ag_attn_init(AgAttnDsp *dsp, unsigned cpu)
{
    dsp->qr = AG_ATTN_QR;
    dsp->nr = C_NR;
    dsp->pack_k = pack_k_c;
    dsp->tile = tile_c;
    dsp->scale = scale_c;
    dsp->single = single_c;
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_attn_init_avx2(dsp);
#endif
#if HAVE_AVX512
    if ((cpu & ARGUS_CPU_AVX2) && (cpu & ARGUS_CPU_AVX512))
        ag_attn_init_avx512(dsp);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_attn_init_neon(dsp);
#endif
    (void)cpu;
}

/* ------------------------------------------------------------------------ */
/* Many queries                                                              */

typedef struct Call {
    const AgAttnArgs *a;
    AgExec *x;
    int range, n_range; /* queries of an item, items of a head */
    int seen;           /* one query: keys it sees */
    int part, n_part;   /* keys of an item, items of a kv head */
} Call;

/* A thread's scratch. */
typedef struct Work {
    float *kt, *v;    /* keys and values of a block, in panels */
    float *tmp;       /* [AG_ATTN_QR, AG_ATTN_LDP] */
    float *q, *o;     /* [RANGE, AG_ATTN_LD] */
    float *max, *sum; /* [RANGE] */
    float *scores;    /* one query: [GROUP, keys of a part], all of scratch */
} Work;

size_t ag_attn_scratch(const AgAttnDsp *dsp)
{
    (void)dsp;
    return (2 * AG_ATTN_DIM * AG_ATTN_KB + AG_ATTN_QR * AG_ATTN_LDP + 2 * RANGE * AG_ATTN_LD
            + 2 * RANGE) * sizeof(float);
}

static Work work_of(const Call *c, int thread)
{
    Work w;

    w.scores = w.kt = c->x->scratch[thread];
    w.v = w.kt + AG_ATTN_DIM * AG_ATTN_KB;
    w.tmp = w.v + AG_ATTN_DIM * AG_ATTN_KB;
    w.q = w.tmp + AG_ATTN_QR * AG_ATTN_LDP;
    w.o = w.q + RANGE * AG_ATTN_LD;
    w.max = w.o + RANGE * AG_ATTN_LD;
    w.sum = w.max + RANGE;
    return w;
}

/* dst[d/nr][j][d%nr] = v[j*ld + d] for d < dim, 0 for the other columns of the last panel;
 * by eights, of which dim and nr are multiples */
static void pack_v(float *dst, const float *v, int ld, int n, int dim, int nr)
{
    for (int j = 0; j < n; j++, dst += nr, v += ld) {
        for (int d = 0; d < dim; d += 16) /* rows are pages apart: no core foresees them */
            AG_PREFETCH(v + 8 * (ptrdiff_t)ld + d);
        for (int d = 0; d < dim; d += nr) {
            float *to = dst + d * AG_ATTN_KB;
            int count = AG_MIN(nr, dim - d);
            for (int i = 0; i < count; i += 8)
                memcpy(to + i, v + d + i, 8 * sizeof(float));
            for (int i = count; i < nr; i += 8)
                memset(to + i, 0, 8 * sizeof(float));
        }
    }
}

/* Queries q0..q0+n-1 of a head. */
typedef struct Range {
    int q0, n;
    const float *q, *k, *v; /* the head's columns of the first query, the first key, its value */
    float *out;
    int n_kv;               /* keys that the last query sees */
} Range;

/* Rows that come near the core, into L2, while tiles are computed. */
typedef struct Ahead {
    const float *row[3];
    int ld[3], n[3];
} Ahead;

/* What item i is. */
static Range range_of(const Call *c, int i)
{
    const AgAttnArgs *a = c->a;
    /* the last ranges see the most keys: start with them */
    int q0 = (c->n_range - 1 - i / a->n_head) * c->range, head = i % a->n_head;
    int n = AG_MIN(a->n_q - q0, c->range);
    ptrdiff_t kv = (ptrdiff_t)(head / (a->n_head / a->n_kv_head)) * a->head_dim;
    ptrdiff_t col = (ptrdiff_t)head * a->head_dim;

    return (Range){q0, n, a->q + (ptrdiff_t)q0 * a->ld_q + col, a->k + kv, a->v + kv,
                   a->out + (ptrdiff_t)q0 * a->ld_out + col,
                   a->causal ? AG_MIN(a->n_kv, a->pos + q0 + n) : a->n_kv};
}

/* What is read after the keys from k0: the next block, or what the next item begins with,
 * which this thread takes where it has a tile of its own. */
static Ahead ahead_of(const Call *c, const Range *r, int item, int k0)
{
    const AgAttnArgs *a = c->a;
    int n = AG_MIN(AG_ATTN_KB, r->n_kv - k0 - AG_ATTN_KB);
    ptrdiff_t at = (ptrdiff_t)(k0 + AG_ATTN_KB) * a->ld_kv;

    if (n > 0)
        return (Ahead){{r->k + at, r->v + at}, {a->ld_kv, a->ld_kv}, {n, n}};
    if (item + 1 >= c->n_range * a->n_head)
        return (Ahead){0};
    Range next = range_of(c, item + 1);
    n = AG_MIN(AG_ATTN_KB, next.n_kv);
    return (Ahead){{next.k, next.v, next.q}, {a->ld_kv, a->ld_kv, a->ld_q}, {n, n, next.n}};
}

static void prefetch_rows(const float *row, int ld, int r0, int r1, int dim)
{
    for (int r = r0; r < r1; r++)
        for (int d = 0; d < dim; d += 16)
            AG_PREFETCH_L2(row + (ptrdiff_t)r * ld + d);
}

/* Part i of n. */
static void prefetch_part(const Ahead *h, int dim, int i, int n)
{
    for (int j = 0; j < 3; j++)
        prefetch_rows(h->row[j], h->ld[j], h->n[j] * i / n, h->n[j] * (i + 1) / n, dim);
}

/* All queries of a range against the n keys from k0; queries that have seen all their
 * keys are done. */
static void key_block(const Call *c, AgAttnTile *t, const Work *w, const Range *g, int k0, int n,
                      const Ahead *ahead)
{
    const AgAttnArgs *a = c->a;
    const AgAttnDsp *d = &c->x->dsp->attn;
    int n_tile = (g->n + d->qr - 1) / d->qr; /* of nearly equal heights */

    t->first = k0 == 0;
    for (int i = 0; i < n_tile; i++) {
        int r = g->n * i / n_tile;
        t->m = g->n * (i + 1) / n_tile - r;
        t->seen = a->causal ? a->pos + g->q0 + r + 1 - k0 : n;
        int end = a->causal ? t->seen + t->m - 1 : g->n_kv - k0; /* of what the last query sees */
        t->n = AG_MIN(n, end);
        int done = end <= n;
        prefetch_part(ahead, a->head_dim, i, n_tile);
        if (t->n < 1)
            continue;
        if (done)
            prefetch_rows(g->out, a->ld_out, r, r + t->m, a->head_dim);
        t->q = w->q + r * AG_ATTN_LD;
        t->o = w->o + r * AG_ATTN_LD;
        t->max = w->max + r;
        t->sum = w->sum + r;
        d->tile(t);
        for (int q = 0; done && q < t->m; q++)
            d->scale(g->out + (ptrdiff_t)(r + q) * a->ld_out, t->o + q * AG_ATTN_LD,
                     1.0f / t->sum[q], a->head_dim);
    }
}

static void copy_queries(const Call *c, float *dst, const Range *g)
{
    const float *q = g->q;

    for (int i = 0; i < g->n; i++, dst += AG_ATTN_LD, q += c->a->ld_q) {
        for (int d = 0; d < c->a->head_dim; d += 8) {
            AG_PREFETCH(q + 4 * (ptrdiff_t)c->a->ld_q + d);
            memcpy(dst + d, q + d, 8 * sizeof(float));
        }
    }
}

static void batch_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgAttnArgs *a = c->a;
    const AgAttnDsp *d = &c->x->dsp->attn;
    Work w = work_of(c, thread);
    Range g = range_of(c, item);
    AgAttnTile t = {.kt = w.kt, .v = w.v, .tmp = w.tmp, .dim = a->head_dim};

    copy_queries(c, w.q, &g);
    for (int k0 = 0; k0 < g.n_kv; k0 += AG_ATTN_KB) {
        ptrdiff_t at = (ptrdiff_t)k0 * a->ld_kv;
        int n = AG_MIN(AG_ATTN_KB, g.n_kv - k0);
        Ahead ahead = ahead_of(c, &g, item, k0);
        d->pack_k(w.kt, g.k + at, a->ld_kv, n, a->head_dim);
        pack_v(w.v, g.v + at, a->ld_kv, n, a->head_dim, d->nr);
        key_block(c, &t, &w, &g, k0, n, &ahead);
    }
}

/* ------------------------------------------------------------------------ */
/* One query                                                                 */

static void single_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgAttnArgs *a = c->a;
    Work w = work_of(c, thread);
    int kv_head = item % a->n_kv_head, part = item / a->n_kv_head;
    int group = a->n_head / a->n_kv_head, k0 = part * c->part;
    int n = AG_MIN(c->part, c->seen - k0), stride = a->head_dim + 2;
    ptrdiff_t kv = (ptrdiff_t)k0 * a->ld_kv + kv_head * a->head_dim;

    for (int g = 0; g < group; g += GROUP) {
        int h = kv_head * group + g;
        c->x->dsp->attn.single(c->x->shared + (ptrdiff_t)(part * a->n_head + h) * stride,
                               a->q + h * a->head_dim, a->k + kv, a->v + kv, a->ld_kv, n,
                               AG_MIN(GROUP, group - g), a->head_dim, w.scores);
    }
}

/* out = sum of o 2^(max - top) / sum of sum 2^(max - top) over the parts */
static void combine(const Call *c)
{
    const AgAttnArgs *a = c->a;
    int stride = a->head_dim + 2;

    for (int h = 0; h < a->n_head; h++) {
        float *out = a->out + h * a->head_dim, top = -INFINITY, sum = 0;
        const float *part = c->x->shared + (ptrdiff_t)h * stride;
        for (int i = 0; i < c->n_part; i++)
            top = AG_MAX(top, part[(ptrdiff_t)i * a->n_head * stride]);
        memset(out, 0, (size_t)a->head_dim * sizeof(float));
        for (int i = 0; i < c->n_part; i++, part += a->n_head * stride) {
            float f = exp2f(part[0] - top);
            sum += f * part[1];
            for (int d = 0; d < a->head_dim; d++)
                out[d] += f * part[2 + d];
        }
        for (int d = 0; d < a->head_dim; d++)
            out[d] /= sum;
    }
}

/* Scores the parts of n keys; 0 if they don't fit and nothing was done. */
static int single(Call *c, int n)
{
    const AgAttnArgs *a = c->a;
    int most = (int)(c->x->scratch_size / (GROUP * sizeof(float))) / 16 * 16;
    int room = AG_EXEC_SHARED / (a->n_head * (a->head_dim + 2)); /* parts */

    if (!room)
        return 0;
    c->seen = n;
    c->part = AG_MAX(SINGLE, AG_ALIGN_UP((n + room - 1) / room, 16));
    if (c->part > most)
        return 0;
    c->n_part = (n + c->part - 1) / c->part;
    ag_pool_run(c->x->pool, a->n_kv_head * c->n_part, single_run, c);
    combine(c);
    return 1;
}

/* Ranges of queries, of nearly equal sizes, such that the slowest thread is done soonest. */
static void cut(Call *c)
{
    int n_q = c->a->n_q, n_thread = c->x->n_thread, least = INT_MAX, best = n_q;

    for (int n = (n_q + RANGE - 1) / RANGE; n <= AG_MAX(1, n_q / (2 * AG_ATTN_QR)); n++) {
        int range = (n_q + n - 1) / n;
        int cost = (n * c->a->n_head + n_thread - 1) / n_thread * (range + PACK);
        if (cost < least) {
            least = cost;
            best = range;
        }
    }
    c->range = best;
    c->n_range = (n_q + best - 1) / best;
}

void ag_attn(AgExec *x, const AgAttnArgs *a)
{
    Call c = {.a = a, .x = x};
    int64_t seen = (int64_t)a->n_q * a->n_kv; /* pairs of query and key */

    assert(a->head_dim >= 16 && a->head_dim <= AG_ATTN_DIM && a->head_dim % 8 == 0);
    assert(a->n_head % a->n_kv_head == 0 && a->n_kv >= 1);
    assert(!a->causal || a->n_kv >= a->pos + a->n_q);
    if (a->n_q < 1)
        return;
    if (a->causal)
        seen = (int64_t)a->n_q * a->pos + (int64_t)a->n_q * (a->n_q + 1) / 2;
    x->flops += 4 * seen * a->head_dim * a->n_head;
    if (a->n_q == 1 && single(&c, a->causal ? a->pos + 1 : a->n_kv))
        return;
    cut(&c);
    ag_pool_run(x->pool, c.n_range * a->n_head, batch_run, &c);
}
