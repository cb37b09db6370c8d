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

AG_INLINE void quantise_64(uint8_t *q, float *scale, const float *x)
{
    float top = top_64(x), inverse = 0;

    *scale = 0;
    if (top >= 1e-30f) {
        inverse = AG_Q8_IN / top;
        *scale = top / AG_Q8_IN;
    }
    __m256 f = _mm256_set1_ps(inverse);
    const __m256i zero = _mm256_set1_epi8(AG_Q8_ZERO);
    for (int i = 0; i < 64; i += 32)
        _mm256_storeu_si256((void *)(q + i), _mm256_add_epi8(bytes32(x + i, f, AG_Q8_IN), zero));
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
    ag_q8_attn_init_avx2(dsp);
}
