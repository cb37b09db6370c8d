/*
 * Kernel table of attention. Included by attn.h only.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ATTN_DSP_H
#define AG_DSP_ATTN_DSP_H

enum {
    AG_ATTN_KB = 128,  /* keys of a block; blocks start at multiples of it */
    AG_ATTN_DIM = 128, /* largest head_dim */
    AG_ATTN_QR = 16,   /* most queries of a tile */
};

/* One tile of queries against one block of keys. */
typedef struct AgAttnTile {
    const float *q;  /* [m, ld_q] */
    const float *kt; /* [dim, AG_ATTN_KB], from pack_k; aligned to 64 */
    const float *v;  /* [n, ld_v] */
    float *o;        /* [m, ld_o]: running sum of p v, not yet divided by sum */
    float *max;      /* [m]: running maximum of the scores, -inf before the first block */
    float *sum;      /* [m]: running sum of p */
    float *tmp;      /* [AG_ATTN_QR * AG_ATTN_KB], aligned to 64 */
    int ld_q, ld_v, ld_o;
    int m, n, dim;   /* m <= qr, 1 <= n <= AG_ATTN_KB, dim 16..128, multiple of 8 */
    int seen;        /* query r sees keys 0..min(n, seen + r)-1; none if that is < 1 */
} AgAttnTile;

typedef struct AgAttnDsp {
    int qr; /* queries of a tile, <= AG_ATTN_QR */

    /* dst[d*AG_ATTN_KB + j] = k[j*ld + d] for j < n <= AG_ATTN_KB, 0 for the
     * other j; d < dim. Exact. */
    void (*pack_k)(float *dst, const float *k, int ld, int n, int dim);

    /* For each query: new max; o and sum times exp(old max - new max); then
     * p = exp(q k - max), sum += p, o += p v over the keys seen. A query that
     * sees none stays as it is. Bounded; a query's bits do not depend on the
     * other queries of the tile or on unseen keys. */
    void (*tile)(const AgAttnTile *t);

    /* One query of n_group heads that share a kv head, against n keys, from
     * nothing: part[g*(dim+2)] = max, then sum, then o[dim].
     * q [n_group, dim] dense; scores [n_group * n rounded up to 16], scratch.
     * Bounded. */
    void (*single)(float *part, const float *q, const float *k, const float *v, int ld_kv, int n,
                   int n_group, int dim, float *scores);
} AgAttnDsp;

void ag_attn_init(AgAttnDsp *dsp, unsigned cpu);
size_t ag_attn_scratch(const AgAttnDsp *dsp);

#endif /* AG_DSP_ATTN_DSP_H */
