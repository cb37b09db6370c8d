/*
 * AgNormDsp for any tier. To be included after a tier's math header, which has Vec and
 * what works on it. Only static functions: compiled with the tier's instruction-set
 * flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_NORM_ROWS_H
#define AG_DSP_NORM_ROWS_H

#include <math.h>

#include "libargus/base/common.h"

enum { SUMS = 32 / VL }; /* in flight */

/* Sum of x - sub, or of its square; some sums, then lanes in order. */
AG_INLINE float sum_row(const float *x, int n, float sub, const int square)
{
    Vec s[SUMS], m = v_all(sub);
    int i = 0;

    AG_UNROLL
    for (int j = 0; j < SUMS; j++)
        s[j] = v_all(0);
    for (; i + 32 <= n; i += 32) {
        AG_UNROLL
        for (int j = 0; j < SUMS; j++) {
            Vec d = v_sub(v_load(x + i + VL * j), m);
            s[j] = square ? v_fma(d, d, s[j]) : v_add(d, s[j]);
        }
    }
    for (; i < n; i += VL) {
        int k = AG_MIN(n - i, (int)VL);
        Vec d = v_keep(v_sub(v_load_part(x + i, k), m), k);
        s[0] = square ? v_fma(d, d, s[0]) : v_add(d, s[0]);
    }
    AG_UNROLL
    for (int j = 4; j < SUMS; j++)
        s[j - 4] = v_add(s[j - 4], s[j]);
    return sum_lanes(v_add(v_add(s[0], s[1]), v_add(s[2], s[3])));
}

static void layernorm(float *out, const float *x, const float *w, const float *b, int n, float eps)
{
    float mean = sum_row(x, n, 0, 0) / (float)n;
    float rstd = 1.0f / sqrtf(sum_row(x, n, mean, 1) / (float)n + eps);
    Vec m = v_all(mean), r = v_all(rstd);
    int i = 0;

    for (; i + VL <= n; i += VL) {
        Vec v = v_mul(v_mul(v_sub(v_load(x + i), m), r), v_load(w + i));
        v_store(out + i, v_add(v, v_load(b + i)));
    }
    for (; i < n; i++)
        out[i] = (x[i] - mean) * rstd * w[i] + b[i];
}

static void rmsnorm(float *out, const float *x, const float *w, int n, float eps)
{
    float rms = 1.0f / sqrtf(sum_row(x, n, 0, 1) / (float)n + eps);
    Vec r = v_all(rms);
    int i = 0;

    for (; i + VL <= n; i += VL)
        v_store(out + i, v_mul(v_load(w + i), v_mul(v_load(x + i), r)));
    for (; i < n; i++)
        out[i] = w[i] * (x[i] * rms);
}

#endif /* AG_DSP_NORM_ROWS_H */
