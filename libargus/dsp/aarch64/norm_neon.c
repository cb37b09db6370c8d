/*
 * LayerNorm and RMSNorm, NEON.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>
#include <math.h>

#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/math_neon.h"

/* Sum of x - sub, or of its square; eight sums, then lanes in order. */
AG_INLINE float sum_row(const float *x, int n, float sub, const int square)
{
    float32x4_t s[8], m = vdupq_n_f32(sub);
    int i = 0;

    AG_UNROLL
    for (int j = 0; j < 8; j++)
        s[j] = vdupq_n_f32(0);
    for (; i + 32 <= n; i += 32) {
        AG_UNROLL
        for (int j = 0; j < 8; j++) {
            float32x4_t d = vsubq_f32(vld1q_f32(x + i + 4 * j), m);
            s[j] = square ? vfmaq_f32(s[j], d, d) : vaddq_f32(d, s[j]);
        }
    }
    for (; i < n; i += 4) {
        int k = AG_MIN(n - i, 4);
        float32x4_t v = k == 4 ? vld1q_f32(x + i) : load_part(x + i, k);
        float32x4_t d = masked(vsubq_f32(v, m), lanes(k));
        s[0] = square ? vfmaq_f32(s[0], d, d) : vaddq_f32(d, s[0]);
    }
    AG_UNROLL
    for (int j = 0; j < 4; j++)
        s[j] = vaddq_f32(s[j], s[j + 4]);
    return sum_lanes(vaddq_f32(vaddq_f32(s[0], s[1]), vaddq_f32(s[2], s[3])));
}

static void layernorm_neon(float *out, const float *x, const float *w, const float *b, int n,
                           float eps)
{
    float mean = sum_row(x, n, 0, 0) / (float)n;
    float rstd = 1.0f / sqrtf(sum_row(x, n, mean, 1) / (float)n + eps);
    float32x4_t m = vdupq_n_f32(mean);
    int i = 0;

    for (; i + 4 <= n; i += 4) {
        float32x4_t v = vmulq_n_f32(vsubq_f32(vld1q_f32(x + i), m), rstd);
        v = vmulq_f32(v, vld1q_f32(w + i));
        vst1q_f32(out + i, vaddq_f32(v, vld1q_f32(b + i)));
    }
    for (; i < n; i++)
        out[i] = (x[i] - mean) * rstd * w[i] + b[i];
}

static void rmsnorm_neon(float *out, const float *x, const float *w, int n, float eps)
{
    float r = 1.0f / sqrtf(sum_row(x, n, 0, 1) / (float)n + eps);
    int i = 0;

    for (; i + 4 <= n; i += 4)
        vst1q_f32(out + i, vmulq_f32(vld1q_f32(w + i), vmulq_n_f32(vld1q_f32(x + i), r)));
    for (; i < n; i++)
        out[i] = w[i] * (x[i] * r);
}

void ag_norm_init_neon(AgNormDsp *dsp)
{
    dsp->layernorm = layernorm_neon;
    dsp->rmsnorm = rmsnorm_neon;
}
