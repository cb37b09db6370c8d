/*
 * Widening of stored numbers, sums, argmax: NEON.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>
#include <math.h>
#include <string.h>

#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/vec_rows.h"

AG_INLINE void widen(float *dst, const uint16_t *src, int n, const int half)
{
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        uint16x8_t h = vld1q_u16(src + i);
        vst1q_f32(dst + i, widen4(vget_low_u16(h), half));
        vst1q_f32(dst + i + 4, widen4(vget_high_u16(h), half));
    }
    for (; i < n; i += 4) {
        int k = AG_MIN(n - i, 4);
        uint16_t copy[4] = {0};
        memcpy(copy, src + i, (size_t)k * sizeof(*src));
        store_part(dst + i, widen4(vld1_u16(copy), half), k);
    }
}

static void widen_bf16_neon(float *dst, const uint16_t *src, int n)
{
    widen(dst, src, n, 0);
}

static void widen_f16_neon(float *dst, const uint16_t *src, int n)
{
    widen(dst, src, n, 1);
}

/* The largest value first, then where it is: two passes, the second one short
 * on average. */
static int argmax_neon(const float *x, int n)
{
    float32x4_t top[4];
    int i = 0;

    AG_UNROLL
    for (int j = 0; j < 4; j++)
        top[j] = vdupq_n_f32(-INFINITY);
    for (; i + 16 <= n; i += 16) {
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            top[j] = larger(top[j], vld1q_f32(x + i + 4 * j));
    }
    float best = vmaxvq_f32(larger(larger(top[0], top[1]), larger(top[2], top[3])));
    for (; i < n; i++)
        if (x[i] > best)
            best = x[i];
    if (best == -INFINITY)
        return 0;
    float32x4_t b = vdupq_n_f32(best);
    for (i = 0; i + 4 <= n; i += 4)
        if (vmaxvq_u32(vceqq_f32(vld1q_f32(x + i), b)))
            break;
    while (x[i] != best)
        i++;
    return i;
}

void ag_vec_init_neon(AgVecDsp *dsp)
{
    dsp->widen_bf16 = widen_bf16_neon;
    dsp->widen_f16 = widen_f16_neon;
    dsp->add = add;
    dsp->sum_exp = sum_exp;
    dsp->argmax = argmax_neon;
}
