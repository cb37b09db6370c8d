/*
 * AgAttnDsp.single for tiers of up to 8 lanes: one query against a cache. To be
 * included after attn_rows.h and the tier's
 *
 *     void score8(float *s, const float *q, const float *k, int ld, int n, int dim)
 *
 * which makes 8 scores, -infinity from n on. Only static functions: compiled with
 * the tier's instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ATTN_SINGLE_ROWS_H
#define AG_DSP_ATTN_SINGLE_ROWS_H

#include "libargus/dsp/attn_rows.h"

/* o[g][0..VL*vecs-1] = sum of p v for some heads; p of head g at p + g*ld_p */
AG_INLINE void values(float *o, ptrdiff_t ld_o, const float *p, ptrdiff_t ld_p, const float *v,
                      int ld, int n, const int heads, const int vecs)
{
    Vec s[3][4];

    AG_UNROLL
    for (int g = 0; g < heads; g++) {
        AG_UNROLL
        for (int i = 0; i < vecs; i++)
            s[g][i] = v_all(0);
    }
    for (int j = 0; j < n; j++, v += ld) {
        AG_UNROLL
        for (int g = 0; g < heads; g++) {
            Vec w = v_all(p[g * ld_p + j]);
            AG_UNROLL
            for (int i = 0; i < vecs; i++)
                s[g][i] = v_fma(w, v_load(v + VL * i), s[g][i]);
        }
    }
    AG_UNROLL
    for (int g = 0; g < heads; g++) {
        AG_UNROLL
        for (int i = 0; i < vecs; i++)
            v_store(o + g * ld_o + VL * i, s[g][i]);
    }
}

/* dim is a multiple of 8 */
AG_INLINE void values_heads(float *part, const float *p, ptrdiff_t ld_p, const float *v, int ld,
                            int n, int dim, const int heads)
{
    int d = 0;

    for (; d + 4 * VL <= dim; d += 4 * VL)
        values(part + 2 + d, dim + 2, p, ld_p, v + d, ld, n, heads, 4);
    for (; d < dim; d += 8)
        values(part + 2 + d, dim + 2, p, ld_p, v + d, ld, n, heads, 8 / VL);
}

static void single(float *part, const float *q, const float *k, const float *v, int ld_kv, int n,
                   int n_group, int dim, float *scores)
{
    int ld = AG_ALIGN_UP(n, 16), stride = dim + 2, g = 0;

    for (int j = 0; j < n; j += 8) /* 8 keys stay in L1 for all heads */
        for (int h = 0; h < n_group; h++)
            score8(scores + h * ld + j, q + h * dim, k + (ptrdiff_t)j * ld_kv, ld_kv, n - j, dim);
    for (int h = 0; h < n_group; h++) {
        float max = largest(scores + h * ld, n);
        part[h * stride] = max;
        part[h * stride + 1] = soft(scores + h * ld, n, n, max);
    }
    for (; g + 3 <= n_group; g += 3)
        values_heads(part + g * stride, scores + g * ld, ld, v, ld_kv, n, dim, 3);
    for (; g < n_group; g++)
        values_heads(part + g * stride, scores + g * ld, ld, v, ld_kv, n, dim, 1);
}

#endif /* AG_DSP_ATTN_SINGLE_ROWS_H */
