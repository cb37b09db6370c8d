/*
 * int8 products, AVX2: input, tiles, epilogue.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/finish_rows.h"
#include "libargus/dsp/x86/q8_tile_avx2.h"
#include "libargus/dsp/x86/x86.h"

/* ------------------------------------------------------------------------ */
/* Input                                                                     */

AG_INLINE void quantise_64(uint8_t *q, float *scale, const float *x)
{
    float inverse;

    *scale = ag_q8_scale(top_64(x), AG_Q8_IN, &inverse);
    __m256 f = _mm256_set1_ps(inverse);
    const __m256i zero = _mm256_set1_epi8(AG_Q8_ZERO);
    for (int i = 0; i < 64; i += 32)
        _mm256_storeu_si256((void *)(q + i), _mm256_add_epi8(bytes32(x + i, f, AG_Q8_IN), zero));
}

#include "libargus/dsp/q8_input_rows.h" /* needs quantise_64() */

/* ------------------------------------------------------------------------ */
/* Epilogue                                                                  */

static void finish_avx2(float *out, ptrdiff_t ld, const float *acc, int m, int n,
                        const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    finish_rows(out, ld, acc, AG_Q8_NR, m, n, w_scale, bias, scale, epi);
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
    dsp->quantise = quantise;
    dsp->tile = tile_avx2;
    dsp->finish = finish_avx2;
    dsp->gemv = gemv_avx2;
    ag_q8_attn_init_avx2(dsp);
}
