/*
 * What the tiers' matrix products have in common. To be included after a tier's
 * tile header (MR, NR, tile_fma, TILE_SWITCH), its STREAMS and dots(): the
 * products of `rows` (1 or STREAMS) rows, `step` bytes apart, with x; sums go to
 * out[0], out[ld], ... and don't depend on `rows`.
 *
 *     void dots(float *out, int ld, const char *w, size_t step, const float *x, int k,
 *               const int rows, const AgDtype type)
 *
 * Only static functions: compiled with the tier's instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_MATMUL_ROWS_H
#define AG_DSP_MATMUL_ROWS_H

#include "libargus/dsp/finish_rows.h"

static void finish(float *out, ptrdiff_t ld, const float *acc, int m, int n, const float *bias,
                   float scale, AgEpilogue epi)
{
    finish_rows(out, ld, acc, NR, m, n, NULL, bias, scale, epi);
}

AG_INLINE void panels(const AgGemmTile *t, const int m)
{
    const AgGemmOut *o = &t->out;
    int times = ag_lines_count(t->n_panel, t->k), lines = ag_lines_count(t->next.m, t->next.k);
    AgBeside beside = {t->next, (lines + times - 1) / times, NULL, o->ld};

    for (int p = 0, c = 0; p < t->n_panel; p++, c += NR) {
        float *acc = t->acc + p * MR * NR;
        beside.out = o->data ? o->data + c : NULL;
        tile_fma(acc, NR, t->a, AG_LINE, (int)MR * AG_LINE, t->b + p * t->step, NR, t->k, t->first,
                 NULL, &beside, m);
        if (o->data)
            finish(o->data + c, o->ld, acc, m, AG_MIN((int)NR, o->n - c),
                   o->bias ? o->bias + c : NULL, o->scale, o->epi);
    }
}

static void tile(const AgGemmTile *t)
{
#define PANELS(n) panels(t, n)
    TILE_SWITCH(t->m, PANELS)
#undef PANELS
}

/* The rows are read in STREAMS streams, each from one end of its part to the other. */
AG_INLINE void gemv(float *out, const void *w, const float *x, int n, int k, const AgDtype type)
{
    size_t row = (size_t)k * ag_dtype_size(type);
    const char *src = (const char *)w;
    int part = n / STREAMS;

    for (int r = 0; r < part; r++)
        dots(out + r, part, src + (size_t)r * row, (size_t)part * row, x, k, STREAMS, type);
    for (int r = part * STREAMS; r < n; r++)
        dots(out + r, 0, src + (size_t)r * row, 0, x, k, 1, type);
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
