/*
 * Activations and softmax, NEON.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>

#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/act_rows.h"

static float exp_sum_neon(float *x, int n, float max)
{
    float32x4_t top = vdupq_n_f32(max), sum[2] = {vdupq_n_f32(0), vdupq_n_f32(0)};
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        AG_UNROLL
        for (int j = 0; j < 2; j++) {
            float32x4_t e = exp_ps(vsubq_f32(vld1q_f32(x + i + 4 * j), top));
            vst1q_f32(x + i + 4 * j, e);
            sum[j] = vaddq_f32(sum[j], e);
        }
    }
    for (; i < n; i += 4) {
        int k = AG_MIN(n - i, 4);
        float32x4_t e = exp_ps(vsubq_f32(load_part(x + i, k), top));
        store_part(x + i, e, k);
        sum[0] = vaddq_f32(sum[0], masked(e, lanes(k)));
    }
    return sum_lanes(vaddq_f32(sum[0], sum[1]));
}

void ag_act_init_neon(AgActDsp *dsp)
{
    dsp->gelu = gelu;
    dsp->silu = silu;
    dsp->exp_sum = exp_sum_neon;
}
