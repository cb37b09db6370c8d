/*
 * int8 products, NEON: input, tiles, epilogue.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/q8_tile_neon.h"
#include "libargus/dsp/finish_rows.h"

/* ------------------------------------------------------------------------ */
/* Input                                                                     */

AG_INLINE void quantise_64(uint8_t *q, float *scale, const float *x)
{
    float inverse;

    *scale = ag_q8_scale(top_64(x), AG_Q8_IN, &inverse);
    AG_UNROLL
    for (int i = 0; i < 64; i += 16)
        vst1q_s8((int8_t *)q + i, vaddq_s8(bytes16(x + i, inverse, AG_Q8_IN),
                                           vdupq_n_s8(AG_Q8_ZERO)));
}

#include "libargus/dsp/q8_input_rows.h" /* needs quantise_64() */

/* ------------------------------------------------------------------------ */
/* Epilogue                                                                  */

static void finish_neon(float *out, ptrdiff_t ld, const float *acc, int m, int n,
                        const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    finish_rows(out, ld, acc, AG_Q8_NR, m, n, w_scale, bias, scale, epi);
}

static void tile_neon(const AgQ8Tile *t)
{
    tile(t);
}

static void gemv_neon(const AgQ8Tile *t)
{
    gemv(t);
}

void ag_q8_init_neon(AgQ8Dsp *dsp)
{
    dsp->mr = Q8_MR;
    dsp->quantise = quantise;
    dsp->tile = tile_neon;
    dsp->finish = finish_neon;
    dsp->gemv = gemv_neon;
    ag_q8_attn_init_neon(dsp);
}
