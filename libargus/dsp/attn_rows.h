/*
 * A tile of queries against a block of keys, for all instruction sets: the two
 * products are the tile of tile_*.h, between them the running softmax.
 *
 * Included once by each attn_*.c, after that instruction set's math_*.h and
 * tile_*.h: they define Vec (VL floats) with its v_ functions, exp2_ps, MR, NR
 * and tile_fma. Only static functions.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ATTN_ROWS_H
#define AG_DSP_ATTN_ROWS_H

#include <math.h>

#include "libargus/dsp/attn.h"

#define LOG2E 1.44269504f

enum { ROWS = AG_ALIGN_UP((int)MR, (int)VL) };

/* The largest of s[0..n-1], in log2. */
AG_INLINE float largest(const float *s, int n)
{
    const Vec none = v_all(-INFINITY);
    Vec top = none;
    int j = 0;

    for (; j + VL <= n; j += VL)
        top = v_max(top, v_load(s + j));
    if (j < n)
        top = v_max(top, v_first(v_load(s + j), n - j, none));
    return max_lanes(top) * LOG2E;
}

/* Scores become p up to n, then 0 up to all; the sum of p. */
AG_INLINE float soft(float *s, int n, int all, float max)
{
    const Vec log2e = v_all(LOG2E), top = v_all(max);
    Vec sum = v_all(0);
    int j = 0;

    for (; j + VL <= n; j += VL) {
        Vec p = exp2_ps(v_fms(v_load(s + j), log2e, top));
        sum = v_add(sum, p);
        v_store(s + j, p);
    }
    if (j < n) {
        Vec p = v_keep(exp2_ps(v_fms(v_load(s + j), log2e, top)), n - j);
        sum = v_add(sum, p);
        v_store(s + j, p);
        j += VL;
    }
    for (; j < all; j += VL)
        v_store(s + j, v_all(0));
    return sum_lanes(sum);
}

/* Scores in tmp become p; scale is what o must be multiplied by. */
AG_INLINE void softmax_rows(const AgAttnTile *t, float scale[ROWS])
{
    float max[ROWS] AG_ALIGNED(4 * VL) = {0}, old[ROWS] AG_ALIGNED(4 * VL) = {0};

    for (int r = 0; r < t->m; r++) {
        int n = AG_MIN(t->n, t->seen + r);
        if (n < 1)
            continue; /* scale 2^0 */
        max[r] = largest(t->tmp + r * AG_ATTN_LDP, n);
        old[r] = -INFINITY;
        if (!t->first) {
            old[r] = t->max[r];
            max[r] = AG_MAX(max[r], old[r]);
        }
        t->max[r] = max[r];
    }
    AG_UNROLL
    for (int r = 0; r < ROWS; r += VL)
        v_store(scale + r, exp2_ps(v_sub(v_load(old + r), v_load(max + r))));
    for (int r = 0; r < t->m; r++) {
        int n = AG_MIN(t->n, t->seen + r);
        float sum = soft(t->tmp + r * AG_ATTN_LDP, AG_MAX(n, 0), t->n, max[r]);
        if (n > 0)
            t->sum[r] = (t->first ? 0 : t->sum[r] * scale[r]) + sum;
    }
}

AG_INLINE void tile_rows(const AgAttnTile *t, const int m)
{
    float scale[ROWS] AG_ALIGNED(4 * VL);

    for (int j = 0; j < t->n; j += NR)
        tile_fma(t->tmp + j, AG_ATTN_LDP, t->q, AG_ATTN_LD, AG_LINE, t->kt + j * t->dim, NR,
                 t->dim, 1, NULL, NULL, m);
    softmax_rows(t, scale);
    for (int d = 0; d < t->dim; d += NR)
        tile_fma(t->o + d, AG_ATTN_LD, t->tmp, AG_ATTN_LDP, AG_LINE, t->v + d * AG_ATTN_KB, NR,
                 t->n, t->first, scale, NULL, m);
}

/* AgAttnDsp.tile */
static void tile(const AgAttnTile *t)
{
#define TILE_ROWS(n) tile_rows(t, n)
    TILE_SWITCH(t->m, TILE_ROWS)
#undef TILE_ROWS
}

#endif /* AG_DSP_ATTN_ROWS_H */
