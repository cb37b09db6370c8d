/*
 * Matrix products with int8 weights and int8 activations: precision=q8.
 *
 * A weight is one scale of its row times an integer of -127..127. An input row
 * is cut into blocks of 64; a number in it is one scale of the block times an
 * integer of -63..63, stored with 64 added: unsigned times signed bytes, whose
 * sums of two products stay below 2^15 (AVX2 has no wider ones). A block's sum
 * is exact in int32; blocks are added in float32, in rising order with one
 * rounding each. Every tier, thread count and number of rows, one row
 * included, gives the same bits before the epilogue.
 *
 *     float rows [m, n_in] -> u8 [m, n_in] + scales -> panels' sums -> epilogue
 *
 * Weights lie packed for the kernels, in one block of memory that is the same
 * for all machines (little-endian), so it can be a mapped file:
 *
 *     float scale[P * 16] | int16 sum[P][blocks][16] | int8 w[P][n_in / 4][16][4]
 *
 * P panels of 16 rows of W, n_in rounded up to 64; sum is minus the sum of a
 * block's weights. Each part begins at a multiple of 64 bytes.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_Q8_H
#define AG_DSP_Q8_H

#include "libargus/base/arena.h"
#include "libargus/dsp/attn.h"
#include "libargus/dsp/matmul.h"
#include "libargus/dsp/vec.h"

enum {
    AG_Q8_BLOCK = 64, /* numbers of an input row that share a scale */
    AG_Q8_NR = 16,    /* outputs of a panel */
    AG_Q8_MR = 14,    /* most rows of any tile */
    AG_Q8_ZERO = 64,  /* stored for 0 */
    AG_Q8_IN = 63,    /* largest integer of an input, */
    AG_Q8_WEIGHT = 127, /* of a weight */
};

/* Packed weights: what AgLinear.w points to if dtype is AG_Q8. */
typedef struct AgQ8 {
    const int8_t *w;
    const int16_t *sum;
    const float *scale;
} AgQ8;

/* Bytes of a packed matrix; SIZE_MAX if it can't be. */
size_t ag_q8_size(int n_out, int n_in);
/* Where the parts lie in a packed matrix. */
void ag_q8_view(AgQ8 *q, const void *packed, int n_out, int n_in);
/* Quantise lin (of any stored type) into packed [ag_q8_size]. tmp: room for
 * ag_q8_tmp(n_in) bytes. The same bytes on every machine. */
size_t ag_q8_tmp(int n_in);
void ag_q8_pack(void *packed, const AgLinear *lin, const AgVecDsp *vec, void *tmp);

/* One tile of rows against some panels. */
typedef struct AgQ8Tile {
    float *acc;         /* [n_panel, mr, 16]; aligned to 64, like w */
    const uint8_t *a;   /* [m, lda], [n_block] blocks of 64 each */
    ptrdiff_t lda;
    const float *sa;    /* [m, ld_sa]: scale of each block */
    ptrdiff_t ld_sa;
    const int8_t *w;    /* [n_panel, n_block] blocks of [16][16][4], */
    ptrdiff_t w_step;   /* bytes from panel to panel */
    const int16_t *sum; /* [n_panel, n_block, 16], */
    ptrdiff_t sum_step; /* numbers from panel to panel */
    int m, n_block, n_panel; /* 1 <= m <= mr */
    int first;          /* 1: sums begin at 0 */
} AgQ8Tile;

/* Scale of numbers up to top as whole ones up to most, and one over it. */
AG_INLINE float ag_q8_scale(float top, const int most, float *inverse)
{
    *inverse = top < 1e-30f ? 0.0f : (float)most / top;
    return top < 1e-30f ? 0.0f : top / (float)most;
}

typedef struct AgQ8Dsp {
    int mr; /* rows of a tile, <= AG_Q8_MR */

    /* q [n rounded up to 64], scale [n / 64 rounded up] of the n numbers x, as
     * above; 64 past n. Scale = largest magnitude / 63, to nearest, ties to
     * even; a block below 1e-30 is 0. Exact. */
    void (*quantise)(uint8_t *q, float *scale, const float *x, int n);

    /* acc[p][r][c] = fma((float)(sum of (a - 64) * w over a block), sa, acc) for
     * each block in rising order, from 0 if first. Rows from m on: undefined.
     * Exact. */
    void (*tile)(const AgQ8Tile *t);

    /* out[r*ld + c] = epilogue of fma(acc[r*16 + c], w_scale[c], bias[c]) * scale
     * for r < m, c < n <= 16; bias may be NULL (0). Store and add: exact; the
     * others: the bounds of gelu and silu. */
    void (*finish)(float *out, ptrdiff_t ld, const float *acc, int m, int n, const float *w_scale,
                   const float *bias, float scale, AgEpilogue epi);

    /* The tile of m = 1, first = 1, whose acc is [n_panel, 16]: for weights that
     * come from memory. Exact. */
    void (*gemv)(const AgQ8Tile *t);

    /* Attention. Keys [n, ld] of dim <= 64 numbers as a tile's weights: w
     * [panels of 16 keys][16][16][4], sum [panels][16], scale [panels * 16];
     * keys from n to the end of the last panel are 0. Values [n, ld] as the
     * weights of dim outputs: w [panels of 16 dims][blocks of 64 keys][16][16][4],
     * scale [panels * 16]; 0 past n and past dim. Exact. */
    void (*keys)(int8_t *w, int16_t *sum, float *scale, const float *x, ptrdiff_t ld, int n,
                 int dim);
    void (*values)(int8_t *w, float *scale, const float *x, ptrdiff_t ld, int n, int dim);

    /* Scores of a row, 16 at s, s + step ...: e = 2^(s * k_scale). p [n rounded up
     * to 64] = round(127 e / largest e of the block of 64), 0 past n; scale of
     * each block such that the sum of all p * scale is 1. n <= 1024. Bounded: p is within
     * 0.52 of the exact 127 e / largest, scale's relative error is 1e-5. */
    void (*softmax)(uint8_t *p, float *scale, const float *s, ptrdiff_t step,
                    const float *k_scale, int n);
} AgQ8Dsp;

void ag_q8_init(AgQ8Dsp *dsp, unsigned cpu);
void ag_q8_attn_init_c(AgQ8Dsp *dsp);
/* Bytes of scratch one thread needs. */
size_t ag_q8_scratch(const AgQ8Dsp *dsp);

/* Room for quantised rows, of one call at a time. */
typedef struct AgQ8Rows {
    uint8_t *q;
    float *scale;
    size_t size; /* bytes of q; a scale for each AG_Q8_BLOCK of them */
} AgQ8Rows;

/* Measure or place room for m rows of n_in numbers. Products with more rows run
 * in several parts. */
void ag_q8_carve(AgQ8Rows *r, AgArena *a, int m, int n_in);

/* Bytes of scratch one thread needs for ag_q8_attn. */
size_t ag_q8_attn_scratch(const AgQ8Dsp *dsp);
/* Attention with queries, keys, probabilities and values in int8: without causal,
 * n_kv <= 1024, head_dim <= 64, else it is ag_attn(). */
void ag_q8_attn(AgExec *x, const AgAttnArgs *a);

/* ag_matmul when the jobs' weights are AG_Q8, all of them. */
void ag_q8_matmul(AgExec *x, const AgMatmulJob *jobs, int n_job, const float *in, int ld_in,
                  int m);

#endif /* AG_DSP_Q8_H */
