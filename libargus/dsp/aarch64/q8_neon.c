/*
 * int8 products, NEON: input, tiles, epilogue.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/epilogue_neon.h"
#include "libargus/dsp/aarch64/q8_tile_neon.h"

/* ------------------------------------------------------------------------ */
/* Input                                                                     */

AG_INLINE void quantise_64(uint8_t *q, float *scale, const float *x)
{
    float inverse;

    *scale = scale_of(top_64(x), AG_Q8_IN, &inverse);
    AG_UNROLL
    for (int i = 0; i < 64; i += 16)
        vst1q_s8((int8_t *)q + i, vaddq_s8(bytes16(x + i, inverse, AG_Q8_IN),
                                           vdupq_n_s8(AG_Q8_ZERO)));
}

static void quantise_neon(uint8_t *q, float *scale, const float *x, int n)
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

static void finish_neon(float *out, ptrdiff_t ld, const float *acc, int m, int n,
                        const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    for (int c = 0; c < n; c += 4) {
        int k = AG_MIN(n - c, 4);
        float32x4_t w = vld1q_f32(w_scale + c), add = load_most(bias ? bias + c : NULL, k);
        for (int r = 0; r < m; r++) {
            float32x4_t v = vfmaq_f32(add, vld1q_f32(acc + r * AG_Q8_NR + c), w);
            store_epilogue(out + r * ld + c, vmulq_n_f32(v, scale), k, epi);
        }
    }
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
    dsp->quantise = quantise_neon;
    dsp->tile = tile_neon;
    dsp->finish = finish_neon;
    dsp->gemv = gemv_neon;
    ag_q8_attn_init_neon(dsp);
}
