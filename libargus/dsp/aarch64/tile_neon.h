/*
 * Small matrix product and transpose, NEON: at most 8 rows by 8 columns in
 * registers (16 sums, 8 registers of a, each with 4 values of k of a row, and
 * the rest for b). Multiply-adds take a's value by its lane, so that nothing
 * is broadcast.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_AARCH64_TILE_NEON_H
#define AG_DSP_AARCH64_TILE_NEON_H

#include <arm_neon.h>

#include "libargus/dsp/lines.h"

enum { MR = 8, NR = 8 };

/* One k: b's row of 8 columns, lane l of each row's x. Lanes are literals. */
#define TILE_STEP(l) \
    do { \
        float32x4_t b0 = vld1q_f32(b + (l) * ldb), b1 = vld1q_f32(b + (l) * ldb + 4); \
        AG_UNROLL \
        for (int r = 0; r < m; r++) { \
            s[r][0] = vfmaq_laneq_f32(s[r][0], b0, x[r], l); \
            s[r][1] = vfmaq_laneq_f32(s[r][1], b1, x[r], l); \
        } \
    } while (0)

/* c[r][0..7] = c[r] * scale[r] + sum of a[r][i] * b[i][0..7] in rising i;
 * without scale, c counts as 0 if first. a[r][i] is a[i / 16 * line + r * row +
 * i % 16]. m, row and line are constants at the call; beside may be NULL. */
AG_INLINE void tile_fma(float *c, ptrdiff_t ldc, const float *a, const int row, const int line,
                        const float *b, ptrdiff_t ldb, int k, int first, const float *scale,
                        AgBeside *beside, const int m)
{
    float32x4_t s[MR][2], x[MR];

    AG_UNROLL
    for (int r = 0; r < m; r++) {
        if (first) {
            s[r][0] = s[r][1] = vdupq_n_f32(0);
        } else {
            s[r][0] = vld1q_f32(c + r * ldc);
            s[r][1] = vld1q_f32(c + r * ldc + 4);
        }
        if (scale) {
            s[r][0] = vmulq_n_f32(s[r][0], scale[r]);
            s[r][1] = vmulq_n_f32(s[r][1], scale[r]);
        }
    }
    for (; k > 0; k -= 16, a += line) {
        const float *p = a;
        int n = AG_MIN(k, 16);
        if (beside)
            ag_beside(beside, MR, NR);
        for (; n >= 4; n -= 4, p += 4, b += 4 * ldb) {
            AG_UNROLL
            for (int r = 0; r < m; r++)
                x[r] = vld1q_f32(p + r * row);
            TILE_STEP(0);
            TILE_STEP(1);
            TILE_STEP(2);
            TILE_STEP(3);
        }
        for (; n > 0; n--, p++, b += ldb) {
            AG_UNROLL
            for (int r = 0; r < m; r++)
                x[r] = vld1q_dup_f32(p + r * row);
            TILE_STEP(0);
        }
    }
    AG_UNROLL
    for (int r = 0; r < m; r++) {
        vst1q_f32(c + r * ldc, s[r][0]);
        vst1q_f32(c + r * ldc + 4, s[r][1]);
    }
}

/* x[r] lane c -> x[c] lane r */
AG_INLINE void transpose4(float32x4_t x[4])
{
    float64x2_t a = vreinterpretq_f64_f32(vtrn1q_f32(x[0], x[1])); /* 00 10 02 12 */
    float64x2_t b = vreinterpretq_f64_f32(vtrn2q_f32(x[0], x[1]));
    float64x2_t c = vreinterpretq_f64_f32(vtrn1q_f32(x[2], x[3]));
    float64x2_t d = vreinterpretq_f64_f32(vtrn2q_f32(x[2], x[3]));

    x[0] = vreinterpretq_f32_f64(vtrn1q_f64(a, c));
    x[1] = vreinterpretq_f32_f64(vtrn1q_f64(b, d));
    x[2] = vreinterpretq_f32_f64(vtrn2q_f64(a, c));
    x[3] = vreinterpretq_f32_f64(vtrn2q_f64(b, d));
}

/* F(n) for n = m, 1 <= m <= MR, as a constant */
#define TILE_SWITCH(m, F) \
    switch (m) { \
    case 1: F(1); break; \
    case 2: F(2); break; \
    case 3: F(3); break; \
    case 4: F(4); break; \
    case 5: F(5); break; \
    case 6: F(6); break; \
    case 7: F(7); break; \
    default: F(8); break; \
    }

#endif /* AG_DSP_AARCH64_TILE_NEON_H */
