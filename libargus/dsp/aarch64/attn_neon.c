/*
 * Attention, NEON: tiles of 8 queries, exp in base 2.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>
#include <math.h>

#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/aarch64/tile_neon.h"
#include "libargus/dsp/attn_rows.h"

static void pack_k_neon(float *dst, const float *k, int ld, int n, int dim)
{
    for (int j = 0; j < n; j += 4) {
        const float *row = k + (ptrdiff_t)j * ld;
        float *panel = dst + j / NR * NR * dim + j % NR;
        for (int d = 0; d < dim; d += 4) { /* dim is a multiple of 8 */
            float32x4_t x[4];
            AG_UNROLL
            for (int c = 0; c < 4; c++)
                x[c] = j + c < n ? vld1q_f32(row + (ptrdiff_t)c * ld + d) : vdupq_n_f32(0);
            for (int c = 0; c < 4 && d % 16 == 0; c++) /* a line of the next rows */
                AG_PREFETCH(row + (ptrdiff_t)(c + 4) * ld + d);
            transpose4(x);
            AG_UNROLL
            for (int i = 0; i < 4; i++)
                vst1q_f32(panel + (d + i) * NR, x[i]);
        }
    }
    if ((n + 3) / 4 & 1) /* half a panel */
        for (int d = 0; d < dim; d++)
            vst1q_f32(dst + (n / NR * dim + d) * NR + 4, vdupq_n_f32(0));
}

static void scale_neon(float *out, const float *o, float scale, int n)
{
    int i = 0;

    for (; i + 4 <= n; i += 4)
        vst1q_f32(out + i, vmulq_n_f32(vld1q_f32(o + i), scale));
    for (; i < n; i++)
        out[i] = o[i] * scale;
}

/* ------------------------------------------------------------------------ */
/* One query                                                                 */

/* s[0..7] = q k for 8 keys; -inf from n on */
AG_INLINE void score8(float *s, const float *q, const float *k, int ld, int n, int dim)
{
    float32x4_t x[8];

    AG_UNROLL
    for (int j = 0; j < 8; j++)
        x[j] = vdupq_n_f32(0);
    for (int d = 0; d < dim; d += 4) { /* dim is a multiple of 8 */
        float32x4_t qd = vld1q_f32(q + d);
        AG_UNROLL
        for (int j = 0; j < 8; j++) { /* past the end: the last key again */
            const float *row = k + (ptrdiff_t)AG_MIN(j, n - 1) * ld + d;
            x[j] = vfmaq_f32(x[j], vld1q_f32(row), qd);
        }
    }
    AG_UNROLL
    for (int j = 0; j < 8; j += 4) { /* lane i: sum of the lanes of x[j + i] */
        float32x4_t sum = vpaddq_f32(vpaddq_f32(x[j], x[j + 1]), vpaddq_f32(x[j + 2], x[j + 3]));
        vst1q_f32(s + j, v_first(sum, n - j, vdupq_n_f32(-INFINITY)));
    }
}

#include "libargus/dsp/attn_single_rows.h" /* needs score8() */

void ag_attn_init_neon(AgAttnDsp *dsp)
{
    dsp->qr = MR;
    dsp->nr = NR;
    dsp->pack_k = pack_k_neon;
    dsp->tile = tile;
    dsp->scale = scale_neon;
    dsp->single = single;
}
