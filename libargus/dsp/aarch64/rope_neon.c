/*
 * Rotary position embedding, NEON. Plain products and sums, not fused: the
 * same bits as C.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>

#include "libargus/dsp/aarch64/aarch64.h"

static void rotate_neon(float *x, const float *cosine, const float *sine, int dim)
{
    int half = dim / 2, i = 0;
    float *y = x + half;

    for (; i + 4 <= half; i += 4) {
        float32x4_t c = vld1q_f32(cosine + i), s = vld1q_f32(sine + i);
        float32x4_t a = vld1q_f32(x + i), b = vld1q_f32(y + i);
        vst1q_f32(x + i, vsubq_f32(vmulq_f32(a, c), vmulq_f32(b, s)));
        vst1q_f32(y + i, vaddq_f32(vmulq_f32(b, c), vmulq_f32(a, s)));
    }
    for (; i < half; i++) {
        float a = x[i], b = y[i];
        x[i] = a * cosine[i] - b * sine[i];
        y[i] = b * cosine[i] + a * sine[i];
    }
}

void ag_rope_init_neon(AgRopeDsp *dsp)
{
    dsp->rotate = rotate_neon;
}
