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
#include <math.h>
#include <string.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/x86/x86.h"

enum {
    RANGE = 256,  /* most queries of an item */
    SINGLE = 256, /* fewest keys of a part when there is one query */
    GROUP = 8,    /* most heads of one call of single */
};

/* ------------------------------------------------------------------------ */
/* Plain C kernels                                                           */

static void pack_k_c(float *dst, const float *k, int ld, int n, int dim)
{
    for (int d = 0; d < dim; d++)
        for (int j = 0; j < AG_ATTN_KB; j++)
            dst[d * AG_ATTN_KB + j] = j < n ? k[(ptrdiff_t)j * ld + d] : 0;
}

static void tile_c(const AgAttnTile *t)
{
    for (int r = 0; r < t->m; r++) {
        const float *q = t->q + (ptrdiff_t)r * t->ld_q;
        float *o = t->o + (ptrdiff_t)r * t->ld_o, *s = t->tmp, max = t->max[r], sum = 0;
        int n = AG_MIN(t->n, t->seen + r);

        if (n < 1)
            continue;
        memset(s, 0, (size_t)n * sizeof(float));
        for (int d = 0; d < t->dim; d++)
            for (int j = 0; j < n; j++)
                s[j] += q[d] * t->kt[d * AG_ATTN_KB + j];
        for (int j = 0; j < n; j++)
            max = AG_MAX(max, s[j]);
        float alpha = expf(t->max[r] - max);
        for (int d = 0; d < t->dim; d++)
            o[d] *= alpha;
        for (int j = 0; j < n; j++) {
            float p = expf(s[j] - max);
            sum += p;
            for (int d = 0; d < t->dim; d++)
                o[d] += p * t->v[(ptrdiff_t)j * t->ld_v + d];
        }
        t->max[r] = max;
        t->sum[r] = t->sum[r] * alpha + sum;
    }
}

static void single_c(float *part, const float *q, const float *k, const float *v, int ld_kv, int n,
                     int n_group, int dim, float *scores)
{
    for (int g = 0; g < n_group; g++, part += dim + 2, q += dim) {
        float *o = part + 2, max = -INFINITY, sum = 0;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int d = 0; d < dim; d++)
                s += q[d] * k[(ptrdiff_t)j * ld_kv + d];
            scores[j] = s;
            max = AG_MAX(max, s);
        }
        memset(o, 0, (size_t)dim * sizeof(float));
        for (int j = 0; j < n; j++) {
            float p = expf(scores[j] - max);
            sum += p;
            for (int d = 0; d < dim; d++)
                o[d] += p * v[(ptrdiff_t)j * ld_kv + d];
        }
        part[0] = max;
        part[1] = sum;
    }
}

void ag_attn_init(AgAttnDsp *dsp, unsigned cpu)
{
    dsp->qr = AG_ATTN_QR;
    dsp->pack_k = pack_k_c;
    dsp->tile = tile_c;
    dsp->single = single_c;
    (void)cpu;
}

/* ------------------------------------------------------------------------ */
/* Many queries                                                              */

typedef struct Call {
    const AgAttnArgs *a;
    AgExec *x;
    int range, n_range; /* queries of an item, items of a head */
    int part, n_part;   /* one query: keys of an item, items of a kv head */
} Call;

/* A thread's scratch. */
typedef struct Work {
    float *kt;        /* [head_dim, AG_ATTN_KB] */
    float *tmp;       /* [AG_ATTN_QR, AG_ATTN_KB] */
    float *max, *sum; /* [RANGE] */
    float *scores;    /* [GROUP, keys of a part], all of scratch */
} Work;

size_t ag_attn_scratch(const AgAttnDsp *dsp)
{
    (void)dsp;
    return (AG_ATTN_DIM * AG_ATTN_KB + AG_ATTN_QR * AG_ATTN_KB + 2 * RANGE) * sizeof(float);
}

static Work work_of(const Call *c, int thread)
{
    Work w;

    w.scores = w.kt = c->x->scratch[thread];
    w.tmp = w.kt + AG_ATTN_DIM * AG_ATTN_KB;
    w.max = w.tmp + AG_ATTN_QR * AG_ATTN_KB;
    w.sum = w.max + RANGE;
    return w;
}

static void batch_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgAttnArgs *a = c->a;
    const AgAttnDsp *d = &c->x->dsp->attn;
    Work w = work_of(c, thread);
    /* the last ranges see the most keys: start with them */
    int range = c->n_range - 1 - item / a->n_head, head = item % a->n_head;
    int q0 = range * c->range, q1 = AG_MIN(a->n_q, q0 + c->range);
    ptrdiff_t kv = (ptrdiff_t)(head / (a->n_head / a->n_kv_head)) * a->head_dim;
    float *out = a->out + (ptrdiff_t)q0 * a->ld_out + head * a->head_dim;
    int n_kv = a->causal ? AG_MIN(a->n_kv, a->pos + q1) : a->n_kv;

    for (int i = 0; i < q1 - q0; i++) {
        w.max[i] = -INFINITY;
        w.sum[i] = 0;
        memset(out + (ptrdiff_t)i * a->ld_out, 0, (size_t)a->head_dim * sizeof(float));
    }
    AgAttnTile t = {.kt = w.kt, .tmp = w.tmp, .ld_q = a->ld_q, .ld_v = a->ld_kv,
                    .ld_o = a->ld_out, .dim = a->head_dim};
    for (int k0 = 0; k0 < n_kv; k0 += AG_ATTN_KB) {
        t.n = AG_MIN(AG_ATTN_KB, n_kv - k0);
        t.v = a->v + (ptrdiff_t)k0 * a->ld_kv + kv;
        d->pack_k(w.kt, a->k + (ptrdiff_t)k0 * a->ld_kv + kv, a->ld_kv, t.n, a->head_dim);
        for (int q = q0; q < q1; q += d->qr) {
            t.m = AG_MIN(d->qr, q1 - q);
            t.seen = a->causal ? a->pos + q + 1 - k0 : t.n;
            if (t.seen + t.m - 1 < 1)
                continue;
            t.q = a->q + (ptrdiff_t)q * a->ld_q + head * a->head_dim;
            t.o = out + (ptrdiff_t)(q - q0) * a->ld_out;
            t.max = w.max + (q - q0);
            t.sum = w.sum + (q - q0);
            d->tile(&t);
        }
    }
    for (int i = 0; i < q1 - q0; i++) {
        float scale = 1.0f / w.sum[i];
        for (int j = 0; j < a->head_dim; j++)
            out[(ptrdiff_t)i * a->ld_out + j] *= scale;
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
    int n = AG_MIN(c->part, c->range - k0), stride = a->head_dim + 2;
    ptrdiff_t kv = (ptrdiff_t)k0 * a->ld_kv + kv_head * a->head_dim;

    for (int g = 0; g < group; g += GROUP) {
        int h = kv_head * group + g;
        c->x->dsp->attn.single(c->x->shared + (ptrdiff_t)(part * a->n_head + h) * stride,
                               a->q + h * a->head_dim, a->k + kv, a->v + kv, a->ld_kv, n,
                               AG_MIN(GROUP, group - g), a->head_dim, w.scores);
    }
}

/* out = sum of o exp(max - top) / sum of sum exp(max - top) over the parts */
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
            float f = expf(part[0] - top);
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
    c->range = n;
    c->part = AG_MAX(SINGLE, AG_ALIGN_UP((n + room - 1) / room, 16));
    if (c->part > most)
        return 0;
    c->n_part = (n + c->part - 1) / c->part;
    ag_pool_run(c->x->pool, a->n_kv_head * c->n_part, single_run, c);
    combine(c);
    return 1;
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
    c.range = RANGE;
    while (c.range > 2 * AG_ATTN_QR && (a->n_q / c.range + 1) * a->n_head < 4 * x->n_thread)
        c.range /= 2;
    c.n_range = (a->n_q + c.range - 1) / c.range;
    ag_pool_run(x->pool, c.n_range * a->n_head, batch_run, &c);
}
