/*
 * Attention, AVX-512: tiles of 14 queries, exp in base 2.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>
#include <math.h>

#include "libargus/dsp/x86/math_avx512.h"
#include "libargus/dsp/x86/tile_avx512.h"
#include "libargus/dsp/attn_rows.h"
#include "libargus/dsp/x86/x86.h"

static void pack_k_avx512(float *dst, const float *k, int ld, int n, int dim)
{
    for (int j = 0; j < n; j += 16) {
        float *panel = dst + j / NR * NR * dim + j % NR;
        for (int d = 0; d < dim; d += 16) {
            __mmask16 m = lanes(dim - d);
            __m512i x[16];
            AG_UNROLL
            for (int c = 0; c < 16; c++)
                x[c] = j + c < n ? _mm512_maskz_loadu_epi32(m, k + (ptrdiff_t)(j + c) * ld + d)
                                 : _mm512_setzero_si512();
            AG_UNROLL
            for (int c = 0; c < 16; c++) /* rows are pages apart: no core foresees them */
                _mm_prefetch((const char *)(k + (ptrdiff_t)(j + c + 16) * ld + d), _MM_HINT_T0);
            transpose16(x);
            for (int i = 0; i < 16 && d + i < dim; i++)
                _mm512_store_si512(panel + (d + i) * NR, x[i]);
        }
    }
    if ((n + 15) / 16 & 1) /* half a panel */
        for (int d = 0; d < dim; d++)
            _mm512_store_ps(dst + (n / NR * dim + d) * NR + 16, _mm512_setzero_ps());
}

static void scale_avx512(float *out, const float *o, float scale, int n)
{
    for (int i = 0; i < n; i += 16) {
        __mmask16 m = lanes(n - i);
        _mm512_mask_storeu_ps(out + i, m, _mm512_mul_ps(_mm512_maskz_loadu_ps(m, o + i),
                                                        _mm512_set1_ps(scale)));
    }
}

/* ------------------------------------------------------------------------ */
/* One query                                                                 */

/* lane i of the result = sum of the lanes of x[i] */
AG_INLINE __m512 sum16(__m512 x[16])
{
    AG_UNROLL
    for (int i = 0; i < 8; i++) /* pairs of quarters: rows i and i+8 */
        x[i] = _mm512_add_ps(_mm512_shuffle_f32x4(x[i], x[i + 8], 0x44),
                             _mm512_shuffle_f32x4(x[i], x[i + 8], 0xEE));
    AG_UNROLL
    for (int i = 0; i < 4; i++) /* one quarter each: rows i, i+4, i+8, i+12 */
        x[i] = _mm512_add_ps(_mm512_shuffle_f32x4(x[i], x[i + 4], 0x88),
                             _mm512_shuffle_f32x4(x[i], x[i + 4], 0xDD));
    /* quarters: rows i, i+8, i+4, i+12 */
    __m512 a = _mm512_add_ps(_mm512_unpacklo_ps(x[0], x[1]), _mm512_unpackhi_ps(x[0], x[1]));
    __m512 b = _mm512_add_ps(_mm512_unpacklo_ps(x[2], x[3]), _mm512_unpackhi_ps(x[2], x[3]));
    /* lanes of a quarter: row 0, row 1, row 0, row 1 */
    a = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
    return _mm512_shuffle_f32x4(a, a, 0xD8);
}

/* q k for 16 keys; -inf from n on */
AG_INLINE __m512 score16(const float *q, const float *k, int ld, int n, int dim)
{
    __m512 x[16];

    AG_UNROLL
    for (int j = 0; j < 16; j++)
        x[j] = _mm512_setzero_ps();
    for (int d = 0; d < dim; d += 16) {
        __mmask16 m = lanes(dim - d);
        __m512 qd = _mm512_maskz_loadu_ps(m, q + d);
        AG_UNROLL
        for (int j = 0; j < 16; j++) { /* past the end: the last key again */
            const float *row = k + (ptrdiff_t)AG_MIN(j, n - 1) * ld + d;
            x[j] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(m, row), qd, x[j]);
        }
    }
    return _mm512_mask_mov_ps(_mm512_set1_ps(-INFINITY), lanes(n), sum16(x));
}

/* o[g][0..63] = sum of p v for some heads; p of head g at p + g*ld_p */
AG_INLINE void values(float *o, ptrdiff_t ld_o, const float *p, ptrdiff_t ld_p, const float *v,
                      int ld, int n, int dim, const int heads)
{
    __m512 s[4][4];
    __mmask16 m[4];

    AG_UNROLL
    for (int i = 0; i < 4; i++) {
        m[i] = lanes(AG_MAX(dim - 16 * i, 0));
        AG_UNROLL
        for (int g = 0; g < heads; g++)
            s[g][i] = _mm512_setzero_ps();
    }
    for (int j = 0; j < n; j++, v += ld) {
        __m512 x[4];
        AG_UNROLL
        for (int i = 0; i < 4; i++)
            x[i] = _mm512_maskz_loadu_ps(m[i], v + 16 * i);
        AG_UNROLL
        for (int g = 0; g < heads; g++) {
            __m512 w = _mm512_set1_ps(p[g * ld_p + j]);
            AG_UNROLL
            for (int i = 0; i < 4; i++)
                s[g][i] = _mm512_fmadd_ps(w, x[i], s[g][i]);
        }
    }
    AG_UNROLL
    for (int g = 0; g < heads; g++) {
        AG_UNROLL
        for (int i = 0; i < 4; i++)
            _mm512_mask_storeu_ps(o + g * ld_o + 16 * i, m[i], s[g][i]);
    }
}

static void single_avx512(float *part, const float *q, const float *k, const float *v, int ld_kv,
                          int n, int n_group, int dim, float *scores)
{
    int ld = AG_ALIGN_UP(n, 16), stride = dim + 2;

    for (int j = 0; j < n; j += 16) /* 16 keys stay in L1 for all heads */
        for (int g = 0; g < n_group; g++)
            _mm512_storeu_ps(scores + g * ld + j, score16(q + g * dim, k + (ptrdiff_t)j * ld_kv,
                                                          ld_kv, n - j, dim));
    for (int g = 0; g < n_group; g++) {
        float max = largest(scores + g * ld, n);
        part[g * stride] = max;
        part[g * stride + 1] = soft(scores + g * ld, n, n, max);
    }
    for (int d = 0; d < dim; d += 64) {
        int g = 0;
        for (; g + 3 <= n_group; g += 3)
            values(part + g * stride + 2 + d, stride, scores + g * ld, ld, v + d, ld_kv, n,
                   dim - d, 3);
        for (; g < n_group; g++)
            values(part + g * stride + 2 + d, stride, scores + g * ld, ld, v + d, ld_kv, n,
                   dim - d, 1);
    }
}

void ag_attn_init_avx512(AgAttnDsp *dsp)
{
    dsp->qr = MR;
    dsp->nr = NR;
    dsp->pack_k = pack_k_avx512;
    dsp->tile = tile;
    dsp->scale = scale_avx512;
    dsp->single = single_avx512;
}
