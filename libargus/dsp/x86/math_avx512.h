/*
 * exp and what is made from it, and sums over lanes, AVX-512. Only static
 * functions: this file is compiled with instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_MATH_AVX512_H
#define AG_DSP_X86_MATH_AVX512_H

#include <immintrin.h>

#include "libargus/base/common.h"

/* Lanes 0..n-1, n >= 0. */
AG_INLINE __mmask16 lanes(int n)
{
    return (__mmask16)(n >= 16 ? 0xFFFF : (1u << n) - 1);
}

/* What the headers *_rows.h of libargus/dsp are written in. */
typedef __m512 Vec;
enum { VL = 16 };

AG_INLINE Vec v_load(const float *p) { return _mm512_loadu_ps(p); }
AG_INLINE void v_store(float *p, Vec v) { _mm512_storeu_ps(p, v); }
AG_INLINE Vec v_all(float x) { return _mm512_set1_ps(x); }
AG_INLINE Vec v_add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
AG_INLINE Vec v_sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
AG_INLINE Vec v_mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
AG_INLINE Vec v_max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
/* a * b + c and a * b - c, rounded once */
AG_INLINE Vec v_fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
AG_INLINE Vec v_fms(Vec a, Vec b, Vec c) { return _mm512_fmsub_ps(a, b, c); }
/* lanes 0..n-1 of v, the others of other; of nothing */
AG_INLINE Vec v_first(Vec v, int n, Vec other) { return _mm512_mask_mov_ps(other, lanes(n), v); }
AG_INLINE Vec v_keep(Vec v, int n) { return _mm512_maskz_mov_ps(lanes(n), v); }
/* 1 <= n <= VL numbers of memory, nothing behind them is touched; 0 in the other lanes */
AG_INLINE Vec v_load_part(const float *p, int n) { return _mm512_maskz_loadu_ps(lanes(n), p); }
AG_INLINE void v_store_part(float *p, Vec v, int n) { _mm512_mask_storeu_ps(p, lanes(n), v); }
AG_INLINE float sum_lanes(Vec v) { return _mm512_reduce_add_ps(v); }
AG_INLINE float max_lanes(Vec v) { return _mm512_reduce_max_ps(v); }

/* exp(x) to about 1 ulp: x = n ln2 + r, |r| <= ln2 / 2, exp(r) by a polynomial
 * of degree 6 whose relative error is below 4e-9, times 2^n. exp(0) = 1; below
 * -87 it is 0, above 88.7 infinity; NaN stays. */
AG_INLINE __m512 exp_ps(__m512 x)
{
    __mmask16 some = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.0f), _CMP_NLT_UQ);
    x = _mm512_min_ps(_mm512_set1_ps(100.0f), x); /* NaN in the second operand passes */
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), 8);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693145752f), x);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(1.42860677e-6f), r);
    __m512 p = _mm512_set1_ps(0.00138146f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.00836872f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.04166839f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.16666521f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.49999993f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_maskz_scalef_ps(some, p, n);
}

/* 2^x to 2^-22, for attention: half the work. 2^0 = 1; below -126 it is 0;
 * x <= 127. */
AG_INLINE __m512 exp2_ps(__m512 x)
{
    __mmask16 some = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126.0f), _CMP_NLT_UQ);
    __m512 r = _mm512_reduce_ps(x, 8); /* x - n, n the nearest integer: one operation */
    __m512 p = _mm512_set1_ps(0.00132647f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.00967153f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.05550734f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.24022242f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.69314698f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_maskz_scalef_ps(some, p, _mm512_sub_ps(x, r));
}

/* x / (1 + exp(-x)) */
AG_INLINE __m512 silu_ps(__m512 x)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    return _mm512_div_ps(x, _mm512_add_ps(one, exp_ps(_mm512_sub_ps(_mm512_setzero_ps(), x))));
}

/* 0.5 x (1 + tanh u) = x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3) */
AG_INLINE __m512 gelu_ps(__m512 x)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    __m512 c = _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(-0.0713548163f),
                               _mm512_set1_ps(-1.59576912f));
    return _mm512_div_ps(x, _mm512_add_ps(one, exp_ps(_mm512_mul_ps(x, c))));
}

#endif /* AG_DSP_X86_MATH_AVX512_H */
