/*
 * int8 products and their epilogue, AVX-512 without VNNI.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/math_avx512.h"
#include "libargus/dsp/x86/q8_tile_avx512.h"
#include "libargus/dsp/x86/x86.h"
#include "libargus/dsp/finish_rows.h"

/* 64 numbers as bytes 1..127. NaN becomes the lowest. */
AG_INLINE void quantise_64(uint8_t *q, float *scale, const __m512 x[4])
{
    const __m512 lo = _mm512_set1_ps(-AG_Q8_IN), hi = _mm512_set1_ps(AG_Q8_IN);
    __m512 m[4], zero = _mm512_setzero_ps();
    float inverse;

    AG_UNROLL
    for (int i = 0; i < 4; i++) /* NaN in the first operand: 0 */
        m[i] = _mm512_max_ps(_mm512_abs_ps(x[i]), zero);
    m[0] = _mm512_max_ps(_mm512_max_ps(m[0], m[1]), _mm512_max_ps(m[2], m[3]));
    *scale = ag_q8_scale(_mm512_reduce_max_ps(m[0]), AG_Q8_IN, &inverse);
    __m512 f = _mm512_set1_ps(inverse);
    AG_UNROLL
    for (int i = 0; i < 4; i++) {
        __m512 v = _mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(x[i], f), lo), hi);
        __m512i b = _mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(AG_Q8_ZERO));
        _mm_storeu_si128((void *)(q + 16 * i), _mm512_cvtepi32_epi8(b));
    }
}

static void quantise_avx512(uint8_t *q, float *scale, const float *x, int n)
{
    __m512 v[4];

    for (int i = 0; i < n; i += 64) {
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            v[j] = _mm512_maskz_loadu_ps(lanes(AG_MAX(n - i - 16 * j, 0)), x + i + 16 * j);
        quantise_64(q + i, scale++, v);
    }
}

static void finish_avx512(float *out, ptrdiff_t ld, const float *acc, int m, int n,
                          const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    finish_rows(out, ld, acc, AG_Q8_NR, m, n, w_scale, bias, scale, epi);
}

static void tile_avx512(const AgQ8Tile *t)
{
    tile(t);
}

static void gemv_avx512(const AgQ8Tile *t)
{
    gemv(t);
}

void ag_q8_init_avx512(AgQ8Dsp *dsp)
{
    dsp->mr = Q8_MR;
    dsp->quantise = quantise_avx512;
    dsp->tile = tile_avx512;
    dsp->finish = finish_avx512;
    dsp->gemv = gemv_avx512;
    ag_q8_attn_init_avx512(dsp);
}
