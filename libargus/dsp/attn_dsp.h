/*
 * Kernel table of attention. Included by attn.h only.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ATTN_DSP_H
#define AG_DSP_ATTN_DSP_H

#include "libargus/dsp/attn.h" /* so that it compiles alone */

enum {
    AG_ATTN_KB = 256,                /* keys of a block; blocks start at multiples of it */
    AG_ATTN_DIM = 128,               /* largest head_dim */
    AG_ATTN_QR = 16,                 /* most queries of a tile */
    AG_ATTN_LD = AG_ATTN_DIM + 16,   /* floats from query to query */
    AG_ATTN_LDP = AG_ATTN_KB + 16,   /* floats from query to query of the scores */
};

/* One tile of queries against one block of keys. Pointers to matrices are
 * aligned to 64. */
typedef struct AgAttnTile {
    const float *q;  /* [m, AG_ATTN_LD] */
    const float *kt; /* panels of nr keys, [n / nr rounded up][dim][nr], from pack_k */
    const float *v;  /* panels of nr columns, [dim / nr rounded up][AG_ATTN_KB][nr]; 0 behind dim */
    float *o;        /* [m, AG_ATTN_LD]: running sum of p v, not yet divided; written up to a
                      * multiple of nr */
    float *max;      /* [m]: running maximum of log2(e) q k */
    float *sum;      /* [m]: running sum of p */
    float *tmp;      /* [AG_ATTN_QR, AG_ATTN_LDP] */
    int m, n, dim;   /* m <= qr, 1 <= n <= AG_ATTN_KB, dim 16..128, multiple of 8 */
    int seen;        /* query r sees keys 0..min(n, seen + r)-1; none if that is < 1 */
    int first;       /* 1: before any key; o, max, sum are only written, seen >= 1 */
} AgAttnTile;

typedef struct AgAttnDsp {
    int qr; /* queries of a tile, <= AG_ATTN_QR */
    int nr; /* keys, or columns of values, of a panel; divides 32 */

    /* dst[j/nr][d][j%nr] = k[j*ld + d] for j < n <= AG_ATTN_KB; 0 for the other
     * keys of the last panel; d < dim. Exact. */
    void (*pack_k)(float *dst, const float *k, int ld, int n, int dim);

    /* For each query: new max; o and sum times 2^(old max - new max); then
     * p = 2^(log2(e) q k - max), sum += p, o += p v over the keys seen. A
     * query that sees none stays as it is. A query's bits do not depend on
     * the other queries of the tile or on unseen keys. Bounded: 1e-6 *
     * (1 + sum |q k|) of the largest |v|, after division by sum. */
    void (*tile)(const AgAttnTile *t);

    /* out[i] = o[i] * scale. Exact. */
    void (*scale)(float *out, const float *o, float scale, int n);

    /* One query of n_group heads that share a kv head, against n keys, from
     * nothing: part[g*(dim+2)] = max, then sum, then o[dim], as above.
     * q [n_group, dim] dense; scores [n_group, n rounded up to 16], scratch.
     * Bounded as above. */
    void (*single)(float *part, const float *q, const float *k, const float *v, int ld_kv, int n,
                   int n_group, int dim, float *scores);
} AgAttnDsp;

void ag_attn_init(AgAttnDsp *dsp, unsigned cpu);
size_t ag_attn_scratch(const AgAttnDsp *dsp);

#endif /* AG_DSP_ATTN_DSP_H */
