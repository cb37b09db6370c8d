/*
 * Attention in int8: both products are those of q8.h, keys and values take the
 * place of weights. Plain C kernels and the driver.
 *
 *     item: some queries of one head
 *       keys -> w, sum, scale; values -> w, scale          all of the head
 *       for each tile of queries:
 *         q -> u8, S = q · K                               [keys / 16, mr, 16]
 *         p = 2^(S - largest of 64) as u8, scales of 64 with the row's 1 / sum
 *         out = p · V
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "libargus/dsp/dsp.h"

enum {
    BLOCK = AG_Q8_BLOCK,
    NR = AG_Q8_NR,
    KEYS = 1024, /* most keys, */
    DIM = BLOCK, /* most numbers of a key */
    LD_P = KEYS + BLOCK,
};

/* ------------------------------------------------------------------------ */
/* Plain C kernels                                                           */

static int quantised(float v)
{
    v = v > -AG_Q8_WEIGHT ? v : -AG_Q8_WEIGHT; /* NaN becomes the lowest */
    v = v < AG_Q8_WEIGHT ? v : AG_Q8_WEIGHT;
    return (int)rintf(v);
}

static void keys_c(int8_t *w, int16_t *sum, float *scale, const float *x, ptrdiff_t ld, int n,
                   int dim)
{
    int all = AG_ALIGN_UP(n, NR);

    memset(w, 0, (size_t)(all * BLOCK));
    memset(sum, 0, (size_t)all * sizeof(*sum));
    memset(scale, 0, (size_t)all * sizeof(*scale));
    for (int j = 0; j < n; j++, x += ld) {
        int8_t *dst = w + j / NR * NR * BLOCK + j % NR * 4;
        float top = 0, inverse;
        for (int i = 0; i < dim; i++)
            top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
        scale[j] = ag_q8_scale(top, AG_Q8_WEIGHT, &inverse);
        for (int i = 0; i < dim; i++) {
            int q = quantised(x[i] * inverse);
            dst[i / 4 * NR * 4 + i % 4] = (int8_t)q;
            sum[j] = (int16_t)(sum[j] - q);
        }
    }
}

static void values_c(int8_t *w, float *scale, const float *x, ptrdiff_t ld, int n, int dim)
{
    int blocks = (n + BLOCK - 1) / BLOCK, all = AG_ALIGN_UP(dim, NR);

    memset(w, 0, (size_t)(all * blocks * BLOCK));
    memset(scale, 0, (size_t)all * sizeof(*scale));
    for (int c = 0; c < dim; c++) {
        int8_t *dst = w + c / NR * blocks * BLOCK * NR + c % NR * 4;
        float top = 0, inverse;
        for (int j = 0; j < n; j++)
            top = fabsf(x[j * ld + c]) > top ? fabsf(x[j * ld + c]) : top;
        scale[c] = ag_q8_scale(top, AG_Q8_WEIGHT, &inverse);
        for (int j = 0; j < n; j++)
            dst[j / 4 * NR * 4 + j % 4] = (int8_t)quantised(x[j * ld + c] * inverse);
    }
}

static void softmax_c(uint8_t *p, float *scale, const float *s, ptrdiff_t step,
                      const float *k_scale, int n)
{
    float top[KEYS / BLOCK], most = -INFINITY, total = 0;
    int blocks = (n + BLOCK - 1) / BLOCK;

    for (int b = 0; b < blocks; b++, p += BLOCK) {
        int first = b * BLOCK, end = AG_MIN(n, first + BLOCK), sum = 0;
        top[b] = -INFINITY;
        for (int j = first; j < end; j++)
            top[b] = fmaxf(top[b], s[j / NR * step + j % NR] * k_scale[j]);
        memset(p, 0, BLOCK);
        for (int j = first; j < end; j++) {
            float e = 127 * exp2f(s[j / NR * step + j % NR] * k_scale[j] - top[b]);
            p[j - first] = e > 0 ? (uint8_t)(int)rintf(fminf(e, 127)) : 0; /* NaN: 0 */
            sum += p[j - first];
        }
        most = fmaxf(most, top[b]);
        scale[b] = (float)sum;
    }
    for (int b = 0; b < blocks; b++) {
        top[b] = exp2f(top[b] - most);
        total += scale[b] * top[b];
    }
    for (int b = 0; b < blocks; b++)
        scale[b] = top[b] / total;
}

void ag_q8_attn_init_c(AgQ8Dsp *dsp)
{
    dsp->keys = keys_c;
    dsp->values = values_c;
    dsp->softmax = softmax_c;
}

/* ------------------------------------------------------------------------ */
/* Driver                                                                    */

/* A thread's scratch. */
typedef struct Work {
    int8_t *k, *v;
    int16_t *k_sum, *zeros;   /* zeros: p is stored without 64 added */
    float *k_scale, *v_scale;
    uint8_t *q, *p;           /* [mr, BLOCK], [mr, LD_P] */
    float *q_scale, *p_scale; /* [mr], [mr, KEYS / BLOCK] */
    float *s, *o;             /* [KEYS / NR, mr, NR], [DIM / NR, mr, NR] */
} Work;

static void carve(Work *w, AgArena *a, int mr)
{
    size_t m = (size_t)mr;

    w->k = AG_TAKE(a, int8_t, KEYS * DIM);
    w->v = AG_TAKE(a, int8_t, KEYS * DIM);
    w->k_sum = AG_TAKE(a, int16_t, KEYS);
    w->zeros = AG_TAKE(a, int16_t, KEYS / BLOCK * NR);
    w->k_scale = AG_TAKE(a, float, KEYS);
    w->v_scale = AG_TAKE(a, float, DIM);
    w->q = AG_TAKE(a, uint8_t, m * BLOCK);
    w->p = AG_TAKE(a, uint8_t, m * LD_P);
    w->q_scale = AG_TAKE(a, float, m);
    w->p_scale = AG_TAKE(a, float, m * (KEYS / BLOCK));
    w->s = AG_TAKE(a, float, m * KEYS);
    w->o = AG_TAKE(a, float, m * DIM);
}

size_t ag_q8_attn_scratch(const AgQ8Dsp *dsp)
{
    AgArena a = {0};
    Work w;

    carve(&w, &a, dsp->mr);
    return a.used;
}

typedef struct Call {
    AgExec *x;
    const AgAttnArgs *a;
    int n_part; /* items of a head */
} Call;

/* Queries i0.. (m of them) of a head. */
static void queries(const Call *c, const Work *w, int head, int i0, int m)
{
    const AgAttnArgs *a = c->a;
    const AgQ8Dsp *d = &c->x->dsp->q8;
    int blocks = (a->n_kv + BLOCK - 1) / BLOCK, dims = (a->head_dim + NR - 1) / NR;
    const float *q = a->q + (ptrdiff_t)i0 * a->ld_q + head * a->head_dim;
    float *out = a->out + (ptrdiff_t)i0 * a->ld_out + head * a->head_dim;
    AgQ8Tile s = {.acc = w->s, .a = w->q, .lda = BLOCK, .sa = w->q_scale, .ld_sa = 1, .w = w->k,
                  .w_step = BLOCK * NR, .sum = w->k_sum, .sum_step = NR, .m = m, .n_block = 1,
                  .n_panel = (a->n_kv + NR - 1) / NR, .first = 1};
    AgQ8Tile o = {.acc = w->o, .a = w->p, .lda = LD_P, .sa = w->p_scale, .ld_sa = KEYS / BLOCK,
                  .w = w->v, .w_step = (ptrdiff_t)blocks * BLOCK * NR, .sum = w->zeros,
                  .sum_step = 0, .m = m, .n_block = blocks, .n_panel = dims, .first = 1};

    for (int r = 0; r < m; r++)
        d->quantise(w->q + r * BLOCK, w->q_scale + r, q + (ptrdiff_t)r * a->ld_q, a->head_dim);
    d->tile(&s);
    for (int r = 0; r < m; r++)
        d->softmax(w->p + r * LD_P, w->p_scale + r * (KEYS / BLOCK), w->s + r * NR, d->mr * NR,
                   w->k_scale, a->n_kv);
    d->tile(&o);
    for (int p = 0; p < dims; p++)
        d->finish(out + p * NR, a->ld_out, w->o + p * d->mr * NR, m,
                  AG_MIN(NR, a->head_dim - p * NR), w->v_scale + p * NR, NULL, 1, AG_EPI_STORE);
}

static void attn_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgAttnArgs *a = c->a;
    const AgQ8Dsp *d = &c->x->dsp->q8;
    AgArena arena = {c->x->scratch[thread], 0, c->x->scratch_size};
    int head = item / c->n_part, part = item % c->n_part;
    int r0 = a->n_q * part / c->n_part, r1 = a->n_q * (part + 1) / c->n_part;
    int n_tile = (r1 - r0 + d->mr - 1) / d->mr;
    int at = head / (a->n_head / a->n_kv_head) * a->head_dim;
    Work w;

    carve(&w, &arena, d->mr);
    d->keys(w.k, w.k_sum, w.k_scale, a->k + at, a->ld_kv, a->n_kv, a->head_dim);
    d->values(w.v, w.v_scale, a->v + at, a->ld_kv, a->n_kv, a->head_dim);
    memset(w.zeros, 0, KEYS / BLOCK * NR * sizeof(*w.zeros));
    for (int j = 0; j < a->n_kv; j++)
        w.k_scale[j] *= 1.44269504f; /* exponentials are of 2 */
    for (int i = 0; i < n_tile; i++) {
        int i0 = r0 + (r1 - r0) * i / n_tile, i1 = r0 + (r1 - r0) * (i + 1) / n_tile;
        queries(c, &w, head, i0, i1 - i0);
    }
}

void ag_q8_attn(AgExec *x, const AgAttnArgs *a)
{
    Call c = {x, a, 1};
    double least = INFINITY;

    if (a->causal || a->n_kv > KEYS || a->head_dim > DIM) {
        ag_attn(x, a);
        return;
    }
    /* as few parts of a head as keep all threads busy: each quantises its keys */
    for (int n = 1; n <= 4 && n * 2 * x->dsp->q8.mr <= AG_MAX(a->n_q, 1); n++) {
        int turns = (a->n_head * n + x->n_thread - 1) / x->n_thread;
        double cost = turns * (1.0 / n + 0.03);
        if (cost < least) {
            least = cost;
            c.n_part = n;
        }
    }
    x->flops += (int64_t)4 * a->n_q * a->n_kv * a->n_head * a->head_dim;
    ag_pool_run(x->pool, a->n_head * c.n_part, attn_run, &c);
}
