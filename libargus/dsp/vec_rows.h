/*
 * Sums of vectors for any tier. To be included after a tier's math header, which has
 * Vec and what works on it. Only static functions: compiled with the tier's
 * instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_VEC_ROWS_H
#define AG_DSP_VEC_ROWS_H

#include "libargus/base/common.h"

static void add(float *dst, const float *src, int n)
{
    int i = 0;

    for (; i + VL <= n; i += VL)
        v_store(dst + i, v_add(v_load(dst + i), v_load(src + i)));
    for (; i < n; i++)
        dst[i] += src[i];
}

/* float32 sums of 64 vectors at most, which are then added in double. */
static double sum_exp(const float *x, float max, int n)
{
    Vec m = v_all(max);
    double sum = 0;
    int i = 0;

    while (i + VL <= n) {
        int end = AG_MIN(n - VL, i + 63 * VL);
        Vec s = v_all(0);
        for (; i <= end; i += VL)
            s = v_add(s, exp_ps(v_sub(v_load(x + i), m)));
        sum += (double)sum_lanes(s);
    }
    if (i < n)
        sum += (double)sum_lanes(v_keep(exp_ps(v_sub(v_load_part(x + i, n - i), m)), n - i));
    return sum;
}

#endif /* AG_DSP_VEC_ROWS_H */
