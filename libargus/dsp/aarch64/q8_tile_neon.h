/*
 * int8 products, NEON: tiles of at most Q8_MR rows by one panel of 16 columns.
 * Only static functions: this file is compiled with instruction-set flags, and
 * uses the dot product where they allow it.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_AARCH64_Q8_TILE_NEON_H
#define AG_DSP_AARCH64_Q8_TILE_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/q8.h"

/* Four sums a row, a register of a for each, the rest for w and products. */
#ifdef __ARM_FEATURE_DOTPROD
enum { Q8_MR = 6 };
#else
enum { Q8_MR = 4 };
#endif

/* ------------------------------------------------------------------------ */
/* Floats to integers                                                        */

/* x * inverse as whole numbers of -most..most; NaN becomes the lowest. */
AG_INLINE int32x4_t whole4(float32x4_t x, float32x4_t inverse, const int most)
{
    float32x4_t v = vmaxnmq_f32(vmulq_f32(x, inverse), vdupq_n_f32((float)-most));
    return vcvtnq_s32_f32(vminq_f32(v, vdupq_n_f32((float)most)));
}

AG_INLINE int8x16_t narrow16(const int32x4_t q[4])
{
    int16x8_t low = vcombine_s16(vmovn_s32(q[0]), vmovn_s32(q[1]));
    int16x8_t high = vcombine_s16(vmovn_s32(q[2]), vmovn_s32(q[3]));
    return vcombine_s8(vmovn_s16(low), vmovn_s16(high));
}

AG_INLINE int8x16_t bytes16(const float *x, float inverse, const int most)
{
    int32x4_t q[4];

    AG_UNROLL
    for (int i = 0; i < 4; i++)
        q[i] = whole4(vld1q_f32(x + 4 * i), vdupq_n_f32(inverse), most);
    return narrow16(q);
}

/* Largest magnitude of 64 numbers; NaN counts for nothing. */
AG_INLINE float top_64(const float *x)
{
    float32x4_t top[2] = {vdupq_n_f32(0), vdupq_n_f32(0)};

    AG_UNROLL
    for (int i = 0; i < 64; i += 8) {
        top[0] = larger(top[0], vabsq_f32(vld1q_f32(x + i)));
        top[1] = larger(top[1], vabsq_f32(vld1q_f32(x + i + 4)));
    }
    return max_lanes(larger(top[0], top[1]));
}

/* ------------------------------------------------------------------------ */
/* Products                                                                  */

/* s[lane] + sum of x[4 l + j] * w[4 lane + j] over j < 4; l is a literal. The
 * input is below 128: signed, like the weights. Sums of two are at most 2 * 127 *
 * 127 < 2^15. */
#ifdef __ARM_FEATURE_DOTPROD
#define DOT4(s, w, x, l) vdotq_laneq_s32(s, w, x, l)
#else
#define DOT4(s, w, x, l) \
    dot4(s, w, vreinterpretq_s8_s32(vdupq_laneq_s32(vreinterpretq_s32_s8(x), l)))
AG_INLINE int32x4_t dot4(int32x4_t s, int8x16_t w, int8x16_t x)
{
    int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x)), high = vmull_high_s8(w, x);
    return vpadalq_s16(s, vpaddq_s16(low, high));
}
/* 4 bytes, in all four lanes */
AG_INLINE int8x16_t four(const uint8_t *p)
{
    int32_t x;
    memcpy(&x, p, sizeof(x));
    return vreinterpretq_s8_s32(vdupq_n_s32(x));
}
#endif

/* 16 values of k of the rows against the panel's 16 columns. Two registers of w
 * at a time: compilers would load more, and run out of registers. */
AG_INLINE void steps16(int32x4_t s[Q8_MR][4], const uint8_t *a, ptrdiff_t lda, const int8_t *w,
                       const int m)
{
#ifdef __ARM_FEATURE_DOTPROD
    int8x16_t x[Q8_MR];

    AG_UNROLL
    for (int r = 0; r < m; r++)
        x[r] = vreinterpretq_s8_u8(vld1q_u8(a + r * lda));
#define STEP(l) \
    AG_UNROLL \
    for (int j = 0; j < 4; j += 2) { \
        int8x16_t w0 = vld1q_s8(w + 64 * (l) + 16 * j), w1 = vld1q_s8(w + 64 * (l) + 16 * j + 16); \
        AG_UNROLL \
        for (int r = 0; r < m; r++) { \
            s[r][j] = vdotq_laneq_s32(s[r][j], w0, x[r], l); \
            s[r][j + 1] = vdotq_laneq_s32(s[r][j + 1], w1, x[r], l); \
        } \
        AG_KEEP_ORDER(s[0][j]); \
    }
    STEP(0)
    STEP(1)
    STEP(2)
    STEP(3)
#undef STEP
#else
    for (int i = 0; i < 4; i++, a += 4, w += 64) {
        int8x16_t x[4];
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            x[j] = vld1q_s8(w + 16 * j);
        AG_UNROLL
        for (int r = 0; r < m; r++) {
            AG_UNROLL
            for (int j = 0; j < 4; j++)
                s[r][j] = dot4(s[r][j], x[j], four(a + r * lda));
            AG_KEEP_ORDER(s[r][0]);
        }
    }
#endif
}

/* acc [m, 16] += one block of 64 of m rows, times the rows' scales */
AG_INLINE void block(float *acc, const uint8_t *a, ptrdiff_t lda, const float *sa, ptrdiff_t ld_sa,
                     const int8_t *w, const int16_t *sum, const int m)
{
    int32x4_t s[Q8_MR][4];

    AG_UNROLL
    for (int j = 0; j < 4; j++) {
        int32x4_t s0 = vshll_n_s16(vld1_s16(sum + 4 * j), 6);
        AG_UNROLL
        for (int r = 0; r < m; r++)
            s[r][j] = s0;
    }
    for (int k = 0; k < AG_Q8_BLOCK; k += 16)
        steps16(s, a + k, lda, w + k * AG_Q8_NR, m);
    AG_UNROLL
    for (int r = 0; r < m; r++) {
        float32x4_t f = vdupq_n_f32(sa[r * ld_sa]);
        AG_UNROLL
        for (int j = 0; j < 4; j++) {
            float *p = acc + r * AG_Q8_NR + 4 * j;
            vst1q_f32(p, vfmaq_f32(vld1q_f32(p), vcvtq_f32_s32(s[r][j]), f));
        }
    }
}

AG_INLINE void panels(const AgQ8Tile *t, const int m)
{
    if (t->first)
        memset(t->acc, 0, (size_t)(t->n_panel * Q8_MR * AG_Q8_NR) * sizeof(*t->acc));
    for (int p = 0; p < t->n_panel; p++)
        for (int b = 0; b < t->n_block; b++)
            block(t->acc + p * Q8_MR * AG_Q8_NR, t->a + b * AG_Q8_BLOCK, t->lda, t->sa + b,
                  t->ld_sa, t->w + p * t->w_step + b * AG_Q8_BLOCK * AG_Q8_NR,
                  t->sum + p * t->sum_step + b * AG_Q8_NR, m);
}

AG_INLINE void tile(const AgQ8Tile *t)
{
    switch (t->m) {
    case 1: panels(t, 1); break;
    case 2: panels(t, 2); break;
    case 3: panels(t, 3); break;
#ifdef __ARM_FEATURE_DOTPROD
    case 4: panels(t, 4); break;
    case 5: panels(t, 5); break;
#endif
    default: panels(t, Q8_MR); break;
    }
}

/* Lane l of x against 4 values of k; chains in h. */
#define Q8_ROW(l, h) \
    AG_UNROLL \
    for (int j = 0; j < 4; j++) \
        s[h][j] = DOT4(s[h][j], vld1q_s8(w + 64 * (l) + 16 * j), x, l);

/* One row: two chains for each four columns. */
AG_INLINE void gemv(const AgQ8Tile *t)
{
    for (int p = 0; p < t->n_panel; p++) {
        const int8_t *w = t->w + p * t->w_step;
        const int16_t *sum = t->sum + p * t->sum_step;
        float32x4_t v[4];
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            v[j] = vdupq_n_f32(0);
        for (int b = 0; b < t->n_block; b++, sum += AG_Q8_NR) {
            const uint8_t *a = t->a + b * AG_Q8_BLOCK;
            int32x4_t s[2][4];
            AG_UNROLL
            for (int j = 0; j < 4; j++) {
                s[0][j] = vshll_n_s16(vld1_s16(sum + 4 * j), 6);
                s[1][j] = vdupq_n_s32(0);
            }
            for (int k = 0; k < AG_Q8_BLOCK; k += 16, w += 256) {
                int8x16_t x = vreinterpretq_s8_u8(vld1q_u8(a + k));
                Q8_ROW(0, 0)
                Q8_ROW(1, 1)
                Q8_ROW(2, 0)
                Q8_ROW(3, 1)
            }
            float32x4_t f = vdupq_n_f32(t->sa[b]);
            AG_UNROLL
            for (int j = 0; j < 4; j++)
                v[j] = vfmaq_f32(v[j], vcvtq_f32_s32(vaddq_s32(s[0][j], s[1][j])), f);
        }
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            vst1q_f32(t->acc + p * AG_Q8_NR + 4 * j, v[j]);
    }
}

#endif /* AG_DSP_AARCH64_Q8_TILE_NEON_H */
