/*
 * exp and what is made from it, masks and sums over lanes, AVX2 with FMA. Only
 * static functions: this file is compiled with instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_MATH_AVX2_H
#define AG_DSP_X86_MATH_AVX2_H

#include <immintrin.h>

#include "libargus/base/common.h"

/* Lanes 0..n-1, for masked loads and stores. */
AG_INLINE __m256i lanes(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

AG_INLINE float sum_lanes(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

AG_INLINE float max_lanes(__m256 v)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

/* What the headers *_rows.h of libargus/dsp are written in. */
typedef __m256 Vec;
enum { VL = 8 };

AG_INLINE Vec v_load(const float *p) { return _mm256_loadu_ps(p); }
AG_INLINE void v_store(float *p, Vec v) { _mm256_storeu_ps(p, v); }
AG_INLINE Vec v_all(float x) { return _mm256_set1_ps(x); }
AG_INLINE Vec v_add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
AG_INLINE Vec v_sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
AG_INLINE Vec v_mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
AG_INLINE Vec v_max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
/* a * b + c and a * b - c, rounded once */
AG_INLINE Vec v_fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
AG_INLINE Vec v_fms(Vec a, Vec b, Vec c) { return _mm256_fmsub_ps(a, b, c); }
/* lanes 0..n-1 of v, the others of other; of nothing */
AG_INLINE Vec v_first(Vec v, int n, Vec other)
{
    return _mm256_blendv_ps(other, v, _mm256_castsi256_ps(lanes(n)));
}
AG_INLINE Vec v_keep(Vec v, int n)
{
    return _mm256_and_ps(v, _mm256_castsi256_ps(lanes(n)));
}

/* 1 <= n <= VL numbers of memory, nothing behind them is touched; 0 in the other lanes */
AG_INLINE Vec v_load_part(const float *p, int n) { return _mm256_maskload_ps(p, lanes(n)); }
AG_INLINE void v_store_part(float *p, Vec v, int n)
{
    if (n == VL) /* masked stores are slow on some cores */
        _mm256_storeu_ps(p, v);
    else
        _mm256_maskstore_ps(p, lanes(n), v);
}

/* p * 2^n for whole n; p in 0.5..2 and the result a normal number */
AG_INLINE __m256 scale_ps(__m256 p, __m256 n)
{
    __m256i e = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), e));
}

/* exp(x) to about 1 ulp: x = n ln2 + r, |r| <= ln2 / 2, exp(r) by a polynomial
 * of degree 6 whose relative error is below 4e-9, times 2^n. exp(0) = 1; below
 * -87 it is 0, above 88.3 it stays at 2.2e38; NaN stays. */
AG_INLINE __m256 exp_ps(__m256 x)
{
    __m256 low = _mm256_set1_ps(-87.0f), some = _mm256_cmp_ps(x, low, _CMP_NLT_UQ);
    x = _mm256_min_ps(_mm256_set1_ps(88.3f), x); /* NaN in the second operand passes */
    x = _mm256_max_ps(low, x);
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), 8);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693145752f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(1.42860677e-6f), r);
    __m256 p = _mm256_set1_ps(0.00138146f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.00836872f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.04166839f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.16666521f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.49999993f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    return _mm256_and_ps(scale_ps(p, n), some);
}

/* 2^x to 2^-22, for attention: half the work. 2^0 = 1; below -125 it is 0;
 * x <= 127. */
AG_INLINE __m256 exp2_ps(__m256 x)
{
    __m256 low = _mm256_set1_ps(-125.0f), some = _mm256_cmp_ps(x, low, _CMP_NLT_UQ);
    x = _mm256_max_ps(low, x);
    __m256 n = _mm256_round_ps(x, 8);
    __m256 r = _mm256_sub_ps(x, n);
    __m256 p = _mm256_set1_ps(0.00132647f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.00967153f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.05550734f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.24022242f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.69314698f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    return _mm256_and_ps(scale_ps(p, n), some);
}

/* x / (1 + exp(-x)) */
AG_INLINE __m256 silu_ps(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    return _mm256_div_ps(x, _mm256_add_ps(one, exp_ps(_mm256_sub_ps(_mm256_setzero_ps(), x))));
}

/* 0.5 x (1 + tanh u) = x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3) */
AG_INLINE __m256 gelu_ps(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    __m256 c = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(-0.0713548163f),
                               _mm256_set1_ps(-1.59576912f));
    return _mm256_div_ps(x, _mm256_add_ps(one, exp_ps(_mm256_mul_ps(x, c))));
}

#endif /* AG_DSP_X86_MATH_AVX2_H */
