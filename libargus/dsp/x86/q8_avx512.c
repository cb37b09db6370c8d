/*
 * int8 products and their epilogue, AVX-512 without VNNI.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/math_avx512.h"
#include "libargus/dsp/x86/q8_tile_avx512.h"
#include "libargus/dsp/x86/x86.h"

static void finish_avx512(float *out, ptrdiff_t ld, const float *acc, int m, int n,
                          const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    const __m512 mul = _mm512_set1_ps(scale), w = _mm512_loadu_ps(w_scale);
    __mmask16 k = lanes(n);
    __m512 add = bias ? _mm512_maskz_loadu_ps(k, bias) : _mm512_setzero_ps();

    for (int r = 0; r < m; r++, out += ld) {
        __m512 v = _mm512_fmadd_ps(_mm512_load_ps(acc + r * AG_Q8_NR), w, add);
        v = _mm512_mul_ps(v, mul);
        if (epi == AG_EPI_ADD)
            v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(k, out));
        else if (epi == AG_EPI_GELU)
            v = gelu_ps(v);
        else if (epi == AG_EPI_SILU_MUL)
            v = _mm512_mul_ps(silu_ps(v), _mm512_maskz_loadu_ps(k, out));
        _mm512_mask_storeu_ps(out, k, v);
    }
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
    dsp->tile = tile_avx512;
    dsp->finish = finish_avx512;
    dsp->gemv = gemv_avx512;
    ag_q8_attn_init_avx512(dsp);
}
