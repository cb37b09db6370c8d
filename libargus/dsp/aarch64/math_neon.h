/*
 * exp and what is made from it, parts of vectors, widening: NEON. The same
 * operations in the same order as math_avx2.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_AARCH64_MATH_NEON_H
#define AG_DSP_AARCH64_MATH_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "libargus/base/common.h"

/* All bits set in lanes 0..n-1. */
AG_INLINE uint32x4_t lanes(int n)
{
    static const int32_t index[4] = {0, 1, 2, 3};
    return vcltq_s32(vld1q_s32(index), vdupq_n_s32(n));
}

/* Lanes 0..n-1, 1 <= n < 4, of memory; 0 in the others. */
AG_INLINE float32x4_t load_part(const float *p, int n)
{
    float copy[4] = {0};
    memcpy(copy, p, (size_t)n * sizeof(*p));
    return vld1q_f32(copy);
}

AG_INLINE void store_part(float *p, float32x4_t v, int n)
{
    float copy[4];
    vst1q_f32(copy, v);
    memcpy(p, copy, (size_t)n * sizeof(*p));
}

/* Bits of v where the mask has them, else 0. */
AG_INLINE float32x4_t masked(float32x4_t v, uint32x4_t mask)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v), mask));
}

/* What the headers *_rows.h of libargus/dsp are written in. */
typedef float32x4_t Vec;
enum { VL = 4 };

AG_INLINE Vec v_load(const float *p) { return vld1q_f32(p); }
AG_INLINE void v_store(float *p, Vec v) { vst1q_f32(p, v); }
AG_INLINE Vec v_all(float x) { return vdupq_n_f32(x); }
AG_INLINE Vec v_add(Vec a, Vec b) { return vaddq_f32(a, b); }
AG_INLINE Vec v_sub(Vec a, Vec b) { return vsubq_f32(a, b); }
AG_INLINE Vec v_mul(Vec a, Vec b) { return vmulq_f32(a, b); }
AG_INLINE Vec v_max(Vec a, Vec b) { return vmaxq_f32(a, b); }
/* a * b + c and a * b - c, rounded once */
AG_INLINE Vec v_fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
AG_INLINE Vec v_fms(Vec a, Vec b, Vec c) { return vfmaq_f32(vnegq_f32(c), a, b); }
/* lanes 0..n-1 of v, the others of other; of nothing */
AG_INLINE Vec v_first(Vec v, int n, Vec other) { return vbslq_f32(lanes(n), v, other); }
AG_INLINE Vec v_keep(Vec v, int n) { return masked(v, lanes(n)); }
/* 1 <= n <= VL numbers of memory, nothing behind them is touched; 0 in the other lanes */
AG_INLINE Vec v_load_part(const float *p, int n) { return n == VL ? v_load(p) : load_part(p, n); }
AG_INLINE void v_store_part(float *p, Vec v, int n)
{
    if (n == VL)
        v_store(p, v);
    else
        store_part(p, v, n);
}
AG_INLINE float sum_lanes(Vec v) { return vaddvq_f32(v); }
AG_INLINE float max_lanes(Vec v) { return vmaxvq_f32(v); }

/* The larger one of each lane; NaN in x counts for nothing. */
AG_INLINE float32x4_t larger(float32x4_t top, float32x4_t x)
{
    return vbslq_f32(vcgtq_f32(x, top), x, top);
}

/* 4 stored 2-byte numbers: BF16 is the upper half of a float32, F16 is IEEE half. */
AG_INLINE float32x4_t widen4(uint16x4_t h, const int half)
{
    return half ? vcvt_f32_f16(vreinterpret_f16_u16(h))
                : vreinterpretq_f32_u32(vshll_n_u16(h, 16));
}

/* p * 2^n for whole n; p in 0.5..2 and the result a normal number */
AG_INLINE float32x4_t scale_ps(float32x4_t p, float32x4_t n)
{
    int32x4_t e = vshlq_n_s32(vcvtnq_s32_f32(n), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), e));
}

/* p * r + c */
AG_INLINE float32x4_t step_ps(float32x4_t p, float32x4_t r, float c)
{
    return vfmaq_f32(vdupq_n_f32(c), p, r);
}

/* exp(x) to about 1 ulp: x = n ln2 + r, |r| <= ln2 / 2, exp(r) by a polynomial
 * of degree 6 whose relative error is below 4e-9, times 2^n. exp(0) = 1; below
 * -87 it is 0, above 88.3 it stays at 2.2e38; NaN stays. */
AG_INLINE float32x4_t exp_ps(float32x4_t x)
{
    float32x4_t low = vdupq_n_f32(-87.0f);
    uint32x4_t some = vmvnq_u32(vcltq_f32(x, low)); /* NaN too */
    x = vminq_f32(vdupq_n_f32(88.3f), x);
    x = vmaxq_f32(low, x);
    float32x4_t n = vrndnq_f32(vmulq_f32(x, vdupq_n_f32(1.44269504f)));
    float32x4_t r = vfmsq_f32(x, n, vdupq_n_f32(0.693145752f));
    r = vfmsq_f32(r, n, vdupq_n_f32(1.42860677e-6f));
    float32x4_t p = vdupq_n_f32(0.00138146f);
    p = step_ps(p, r, 0.00836872f);
    p = step_ps(p, r, 0.04166839f);
    p = step_ps(p, r, 0.16666521f);
    p = step_ps(p, r, 0.49999993f);
    p = step_ps(p, r, 1.0f);
    p = step_ps(p, r, 1.0f);
    return masked(scale_ps(p, n), some);
}

/* 2^x to 2^-22, for attention: half the work. 2^0 = 1; below -125 it is 0;
 * x <= 127. */
AG_INLINE float32x4_t exp2_ps(float32x4_t x)
{
    float32x4_t low = vdupq_n_f32(-125.0f);
    uint32x4_t some = vmvnq_u32(vcltq_f32(x, low));
    x = vmaxq_f32(low, x);
    float32x4_t n = vrndnq_f32(x);
    float32x4_t r = vsubq_f32(x, n);
    float32x4_t p = vdupq_n_f32(0.00132647f);
    p = step_ps(p, r, 0.00967153f);
    p = step_ps(p, r, 0.05550734f);
    p = step_ps(p, r, 0.24022242f);
    p = step_ps(p, r, 0.69314698f);
    p = step_ps(p, r, 1.0f);
    return masked(scale_ps(p, n), some);
}

/* x / (1 + exp(-x)) */
AG_INLINE float32x4_t silu_ps(float32x4_t x)
{
    return vdivq_f32(x, vaddq_f32(vdupq_n_f32(1.0f), exp_ps(vnegq_f32(x))));
}

/* 0.5 x (1 + tanh u) = x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3) */
AG_INLINE float32x4_t gelu_ps(float32x4_t x)
{
    float32x4_t c = vfmaq_f32(vdupq_n_f32(-1.59576912f), vmulq_f32(x, x),
                              vdupq_n_f32(-0.0713548163f));
    return vdivq_f32(x, vaddq_f32(vdupq_n_f32(1.0f), exp_ps(vmulq_f32(x, c))));
}

#endif /* AG_DSP_AARCH64_MATH_NEON_H */
