/*
 * What the tiers' matrix products have in common. To be included after a tier's
 * tile header (MR, NR, tile_fma, TILE_SWITCH) and its dot():
 *
 *     float dot(const char *w, const float *x, int k, const AgDtype type)
 *
 * Only static functions: compiled with the tier's instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_MATMUL_ROWS_H
#define AG_DSP_MATMUL_ROWS_H

#include "libargus/dsp/finish_rows.h"

AG_INLINE void panels(const AgGemmTile *t, const int m)
{
    for (int p = 0; p < t->n_panel; p++) {
        int r = m * p / t->n_panel; /* each panel prefetches its share of the rows */
        tile_fma(t->acc + p * MR * NR, NR, t->a, t->lda, t->b + p * t->step, NR, t->k,
                 t->first, NULL, t->next + r * t->ld_next, t->ld_next,
                 m * (p + 1) / t->n_panel - r, m);
    }
}

static void tile(const AgGemmTile *t)
{
#define PANELS(n) panels(t, n)
    TILE_SWITCH(t->m, PANELS)
#undef PANELS
}

static void finish(float *out, ptrdiff_t ld, const float *acc, int m, int n, const float *bias,
                   float scale, AgEpilogue epi)
{
    finish_rows(out, ld, acc, NR, m, n, NULL, bias, scale, epi);
}

AG_INLINE void gemv(float *out, const void *w, const float *x, int n, int k, const AgDtype type)
{
    size_t row = (size_t)k * ag_dtype_size(type);

    for (int r = 0; r < n; r++)
        out[r] = dot((const char *)w + (size_t)r * row, x, k, type);
}

static void gemv_bf16(float *out, const void *w, const float *x, int n, int k)
{
    gemv(out, w, x, n, k, AG_BF16);
}

static void gemv_f32(float *out, const void *w, const float *x, int n, int k)
{
    gemv(out, w, x, n, k, AG_F32);
}

static void gemv_f16(float *out, const void *w, const float *x, int n, int k)
{
    gemv(out, w, x, n, k, AG_F16);
}

/* All but packing and the sizes of blocks. */
AG_INLINE void set_products(AgMatmulDsp *dsp)
{
    dsp->mr = MR;
    dsp->nr = NR;
    dsp->tile = tile;
    dsp->finish = finish;
    dsp->gemv[AG_BF16] = gemv_bf16;
    dsp->gemv[AG_F32] = gemv_f32;
    dsp->gemv[AG_F16] = gemv_f16;
}

#endif /* AG_DSP_MATMUL_ROWS_H */
