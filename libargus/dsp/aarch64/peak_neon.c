/*
 * Multiply-add chains and memory reads, NEON.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>

#include "libargus/base/common.h"
#include "libargus/dsp/peak.h"

enum { CHAINS = 24, LANES = 4 }; /* four units, each with up to six in flight */

static double fma_neon(long n, float *sink)
{
    float32x4_t s[CHAINS], a = vdupq_n_f32(sink[0] + 0.999f), b = vdupq_n_f32(sink[0] + 1e-3f);

    AG_UNROLL
    for (int j = 0; j < CHAINS; j++)
        s[j] = vdupq_n_f32((float)j);
    for (long i = 0; i < n; i++) {
        AG_UNROLL
        for (int j = 0; j < CHAINS; j++) /* the sum is what is multiplied into: no move */
            s[j] = vfmaq_f32(s[j], a, b);
    }
    AG_UNROLL
    for (int j = 1; j < CHAINS; j++)
        s[0] = vaddq_f32(s[0], s[j]);
    sink[1] += vgetq_lane_f32(s[0], 0);
    return 2.0 * CHAINS * LANES * (double)n;
}

static float read_neon(const float *p, long n)
{
    float32x4_t s[8];

    AG_UNROLL
    for (int j = 0; j < 8; j++)
        s[j] = vdupq_n_f32(0);
    for (long i = 0; i < n; i += 8 * LANES) {
        AG_UNROLL
        for (int j = 0; j < 8; j++)
            s[j] = vaddq_f32(s[j], vld1q_f32(p + i + j * LANES));
    }
    AG_UNROLL
    for (int j = 1; j < 8; j++)
        s[0] = vaddq_f32(s[0], s[j]);
    return vgetq_lane_f32(s[0], 0);
}

void ag_peak_init_neon(AgPeakDsp *dsp)
{
    dsp->fma = fma_neon;
    dsp->read = read_neon;
}
