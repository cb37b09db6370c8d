/*
 * Matrix products with int8 weights: plain C kernels, dispatch, packing. The
 * driver is in q8_matmul.c; q8.h has the numbers' format.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/q8.h"

#include <math.h>
#include <string.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/epilogue.h"
#include "libargus/dsp/x86/x86.h"

enum { BLOCK = AG_Q8_BLOCK, NR = AG_Q8_NR, C_MR = 4 };

/* ------------------------------------------------------------------------ */
/* Plain C kernels                                                           */

static void quantise_block(uint8_t *q, float *scale, const float *x, int n)
{
    float top = 0, inverse;

    for (int i = 0; i < n; i++)
        top = fabsf(x[i]) > top ? fabsf(x[i]) : top; /* NaN never wins */
    *scale = ag_q8_scale(top, AG_Q8_IN, &inverse);
    for (int i = 0; i < n; i++) {
        float v = rintf(x[i] * inverse);
        v = v > -AG_Q8_IN ? v : -AG_Q8_IN; /* NaN becomes the lowest */
        v = v < AG_Q8_IN ? v : AG_Q8_IN;
        q[i] = (uint8_t)(AG_Q8_ZERO + (int)v);
    }
    memset(q + n, AG_Q8_ZERO, (size_t)(BLOCK - n));
}

static void quantise_c(uint8_t *q, float *scale, const float *x, int n)
{
    for (int i = 0; i < n; i += BLOCK)
        quantise_block(q + i, scale + i / BLOCK, x + i, AG_MIN(BLOCK, n - i));
}

/* acc [16] of one row and one block */
static void block_c(float *acc, const uint8_t *a, float sa, const int8_t *w, const int16_t *sum,
                    int first)
{
    int32_t s[NR];

    for (int c = 0; c < NR; c++)
        s[c] = sum[c] * AG_Q8_ZERO;
    for (int i = 0; i < BLOCK / 4; i++)
        for (int c = 0; c < NR; c++)
            for (int j = 0; j < 4; j++)
                s[c] += a[4 * i + j] * w[(i * NR + c) * 4 + j];
    for (int c = 0; c < NR; c++)
        acc[c] = fmaf((float)s[c], sa, first ? 0 : acc[c]);
}

static void rows_c(const AgQ8Tile *t, int mr)
{
    for (int p = 0; p < t->n_panel; p++)
        for (int r = 0; r < t->m; r++)
            for (int b = 0; b < t->n_block; b++)
                block_c(t->acc + (p * mr + r) * NR, t->a + r * t->lda + b * BLOCK,
                        t->sa[r * t->ld_sa + b], t->w + p * t->w_step + b * BLOCK * NR,
                        t->sum + p * t->sum_step + b * NR, t->first && b == 0);
}

static void tile_c(const AgQ8Tile *t)
{
    rows_c(t, C_MR);
}

static void gemv_c(const AgQ8Tile *t)
{
    rows_c(t, 1);
}

static void finish_c(float *out, ptrdiff_t ld, const float *acc, int m, int n,
                     const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    for (int r = 0; r < m; r++, out += ld, acc += NR) {
        for (int c = 0; c < n; c++) {
            float v = fmaf(acc[c], w_scale[c], bias ? bias[c] : 0) * scale;
            out[c] = ag_epilogue(v, out[c], epi);
        }
    }
}

void ag_q8_init(AgQ8Dsp *dsp, unsigned cpu)
{
    dsp->mr = C_MR;
    dsp->quantise = quantise_c;
    dsp->tile = tile_c;
    dsp->finish = finish_c;
    dsp->gemv = gemv_c;
    ag_q8_attn_init_c(dsp);
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_q8_init_neon(dsp);
#endif
#if HAVE_DOTPROD
    if (cpu & ARGUS_CPU_NEON && cpu & ARGUS_CPU_DOTPROD)
        ag_q8_init_dotprod(dsp);
#endif
#if HAVE_AVX2
    if (!(cpu & ARGUS_CPU_AVX2))
        return;
    ag_q8_init_avx2(dsp);
#if HAVE_AVXVNNI
    if (cpu & ARGUS_CPU_AVX_VNNI)
        ag_q8_init_avxvnni(dsp);
#endif
#endif
#if HAVE_AVX512
    if (cpu & ARGUS_CPU_AVX512)
        ag_q8_init_avx512(dsp);
#endif
#if HAVE_VNNI
    if (cpu & ARGUS_CPU_AVX512 && cpu & ARGUS_CPU_AVX512_VNNI)
        ag_q8_init_vnni(dsp);
#endif
    (void)cpu;
}

/* ------------------------------------------------------------------------ */
/* Packing                                                                   */

typedef struct Parts {
    size_t n_panel, n_block, sum, w, size; /* bytes from the start */
} Parts;

static Parts parts_of(int n_out, int n_in)
{
    Parts p;

    p.n_panel = ((size_t)n_out + NR - 1) / NR;
    p.n_block = ((size_t)n_in + BLOCK - 1) / BLOCK;
    p.sum = ag_mul(p.n_panel, NR * sizeof(float));
    p.w = ag_add(p.sum, AG_ALIGN_UP(ag_mul(ag_mul(p.n_panel, p.n_block), NR * sizeof(int16_t)),
                                    (size_t)AG_ALIGN));
    p.size = ag_add(p.w, ag_mul(ag_mul(p.n_panel, p.n_block), (size_t)(BLOCK * NR)));
    return p;
}

size_t ag_q8_size(int n_out, int n_in)
{
    return parts_of(n_out, n_in).size;
}

void ag_q8_view(AgQ8 *q, const void *packed, int n_out, int n_in)
{
    Parts p = parts_of(n_out, n_in);
    const char *base = packed;

    q->scale = (const void *)base;
    q->sum = (const void *)(base + p.sum);
    q->w = (const void *)(base + p.w);
}

size_t ag_q8_tmp(int n_in)
{
    return ag_mul((size_t)n_in, sizeof(float));
}

/* Row c of a panel. */
static void pack_row(int8_t *w, int16_t *sum, float *scale, const float *x, int n, int c)
{
    float top = 0, inverse;

    for (int i = 0; i < n; i++)
        top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
    *scale = ag_q8_scale(top, AG_Q8_WEIGHT, &inverse);
    for (int b = 0; b * BLOCK < n; b++, w += BLOCK * NR, sum += NR) {
        int total = 0;
        for (int i = 0; i < AG_MIN(BLOCK, n - b * BLOCK); i++) {
            float v = x[b * BLOCK + i] * inverse;
            v = v > -AG_Q8_WEIGHT ? v : -AG_Q8_WEIGHT;
            v = v < AG_Q8_WEIGHT ? v : AG_Q8_WEIGHT;
            int q = (int)rintf(v);
            w[(i / 4 * NR + c) * 4 + i % 4] = (int8_t)q;
            total -= q;
        }
        sum[c] = (int16_t)total;
    }
}

void ag_q8_pack(void *packed, const AgLinear *lin, const AgVecDsp *vec, void *tmp)
{
    Parts p = parts_of(lin->n_out, lin->n_in);
    float *scale = packed;
    size_t row = (size_t)lin->n_in * ag_dtype_size(lin->dtype), panel = p.n_block * BLOCK * NR;

    memset(packed, 0, p.size);
    for (int r = 0; r < lin->n_out; r++) {
        size_t at = (size_t)(r / NR);
        ag_widen(vec, tmp, (const char *)lin->w + (size_t)r * row, lin->dtype, lin->n_in);
        pack_row((int8_t *)packed + p.w + at * panel,
                 (int16_t *)(void *)((char *)packed + p.sum) + at * p.n_block * NR, scale + r, tmp,
                 lin->n_in, r % NR);
    }
}
