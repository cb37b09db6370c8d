/*
 * int8 products, AVX2: input, tiles, epilogue.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/q8_tile_avx2.h"
#include "libargus/dsp/x86/x86.h"

/* ------------------------------------------------------------------------ */
/* Input                                                                     */

/* 32 numbers as bytes 1..127. NaN becomes the lowest. */
AG_INLINE __m256i bytes32(const float *x, __m256 inverse)
{
    const __m256 lo = _mm256_set1_ps(-AG_Q8_IN), hi = _mm256_set1_ps(AG_Q8_IN);
    __m256i q[4];

    AG_UNROLL
    for (int i = 0; i < 4; i++) {
        __m256 v = _mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), inverse);
        q[i] = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, lo), hi));
    }
    __m256i b = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
    b = _mm256_permutevar8x32_epi32(b, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    return _mm256_add_epi8(b, _mm256_set1_epi8(AG_Q8_ZERO));
}

AG_INLINE void quantise_64(uint8_t *q, float *scale, const float *x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 m0 = _mm256_setzero_ps(), m1 = m0;

    AG_UNROLL
    for (int i = 0; i < 64; i += 16) { /* NaN in the first operand: the maximum stays */
        m0 = _mm256_max_ps(_mm256_andnot_ps(sign, _mm256_loadu_ps(x + i)), m0);
        m1 = _mm256_max_ps(_mm256_andnot_ps(sign, _mm256_loadu_ps(x + i + 8)), m1);
    }
    float top = max_lanes(_mm256_max_ps(m0, m1)), inverse = 0;
    *scale = 0;
    if (top >= 1e-30f) {
        inverse = AG_Q8_IN / top;
        *scale = top / AG_Q8_IN;
    }
    __m256 f = _mm256_set1_ps(inverse);
    _mm256_storeu_si256((void *)q, bytes32(x, f));
    _mm256_storeu_si256((void *)(q + 32), bytes32(x + 32, f));
}

static void quantise_avx2(uint8_t *q, float *scale, const float *x, int n)
{
    float copy[64] = {0};
    int i = 0;

    for (; i + 64 <= n; i += 64)
        quantise_64(q + i, scale++, x + i);
    if (i < n) {
        memcpy(copy, x + i, (size_t)(n - i) * sizeof(*x));
        quantise_64(q + i, scale, copy);
    }
}

/* ------------------------------------------------------------------------ */
/* Epilogue                                                                  */

static void finish_avx2(float *out, ptrdiff_t ld, const float *acc, int m, int n,
                        const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    const __m256 mul = _mm256_set1_ps(scale);

    for (int c = 0; c < n; c += 8) {
        __m256i k = lanes(n - c);
        __m256 add = bias ? _mm256_maskload_ps(bias + c, k) : _mm256_setzero_ps();
        __m256 w = _mm256_loadu_ps(w_scale + c);
        for (int r = 0; r < m; r++) {
            float *dst = out + r * ld + c;
            __m256 v = _mm256_fmadd_ps(_mm256_load_ps(acc + r * AG_Q8_NR + c), w, add);
            v = _mm256_mul_ps(v, mul);
            if (epi == AG_EPI_ADD)
                v = _mm256_add_ps(v, _mm256_maskload_ps(dst, k));
            else if (epi == AG_EPI_GELU)
                v = gelu_ps(v);
            else if (epi == AG_EPI_SILU_MUL)
                v = _mm256_mul_ps(silu_ps(v), _mm256_maskload_ps(dst, k));
            if (n - c >= 8)
                _mm256_storeu_ps(dst, v);
            else
                _mm256_maskstore_ps(dst, k, v);
        }
    }
}

static void tile_avx2(const AgQ8Tile *t)
{
    tile(t);
}

static void gemv_avx2(const AgQ8Tile *t)
{
    gemv(t);
}

void ag_q8_init_avx2(AgQ8Dsp *dsp)
{
    dsp->mr = Q8_MR;
    dsp->quantise = quantise_avx2;
    dsp->tile = tile_avx2;
    dsp->finish = finish_avx2;
    dsp->gemv = gemv_avx2;
}
