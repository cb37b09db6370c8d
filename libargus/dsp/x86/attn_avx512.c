/*
 * Attention, AVX-512: tiles of 14 queries, exp in base 2.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>
#include <math.h>

#include "libargus/dsp/x86/math_avx512.h"
#include "libargus/dsp/x86/tile_avx512.h"
#include "libargus/dsp/x86/x86.h"

#define LOG2E 1.44269504f

static void pack_k_avx512(float *dst, const float *k, int ld, int n, int dim)
{
    for (int j = 0; j < n; j += 16) {
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
                _mm512_store_si512(dst + (d + i) * AG_ATTN_KB + j, x[i]);
        }
    }
    if ((n + 15) / 16 & 1) /* tiles are 32 keys wide */
        for (int d = 0; d < dim; d++)
            _mm512_store_ps(dst + d * AG_ATTN_KB + (n + 15) / 16 * 16, _mm512_setzero_ps());
}

/* The largest of s[0..n-1], in log2. */
AG_INLINE float largest(const float *s, int n)
{
    const __m512 none = _mm512_set1_ps(-INFINITY);
    __m512 top = none;
    int j = 0;

    for (; j + 16 <= n; j += 16)
        top = _mm512_max_ps(top, _mm512_loadu_ps(s + j));
    if (j < n)
        top = _mm512_max_ps(top, _mm512_mask_loadu_ps(none, lanes(n - j), s + j));
    return _mm512_reduce_max_ps(top) * LOG2E;
}

/* Scores become p up to n, then 0 up to all; the sum of p. */
AG_INLINE float soft(float *s, int n, int all, float max)
{
    const __m512 log2e = _mm512_set1_ps(LOG2E), top = _mm512_set1_ps(max);
    __m512 sum = _mm512_setzero_ps();
    int j = 0;

    for (; j + 16 <= n; j += 16) {
        __m512 p = exp2_ps(_mm512_fmsub_ps(_mm512_loadu_ps(s + j), log2e, top));
        sum = _mm512_add_ps(sum, p);
        _mm512_storeu_ps(s + j, p);
    }
    if (j < n) {
        __m512 p = exp2_ps(_mm512_fmsub_ps(_mm512_loadu_ps(s + j), log2e, top));
        p = _mm512_maskz_mov_ps(lanes(n - j), p);
        sum = _mm512_add_ps(sum, p);
        _mm512_storeu_ps(s + j, p);
        j += 16;
    }
    for (; j < all; j += 16)
        _mm512_storeu_ps(s + j, _mm512_setzero_ps());
    return _mm512_reduce_add_ps(sum);
}

/* Scores in tmp become p; scale is what o must be multiplied by. */
AG_INLINE void softmax_rows(const AgAttnTile *t, float scale[16])
{
    float max[16] AG_ALIGNED(64) = {0}, old[16] AG_ALIGNED(64) = {0};

    for (int r = 0; r < t->m; r++) {
        int n = AG_MIN(t->n, t->seen + r);
        if (n < 1)
            continue; /* scale 2^0 */
        max[r] = largest(t->tmp + r * AG_ATTN_LDP, n);
        old[r] = -INFINITY;
        if (!t->first) {
            old[r] = t->max[r];
            max[r] = AG_MAX(max[r], old[r]);
        }
        t->max[r] = max[r];
    }
    _mm512_store_ps(scale, exp2_ps(_mm512_sub_ps(_mm512_load_ps(old), _mm512_load_ps(max))));
    for (int r = 0; r < t->m; r++) {
        int n = AG_MIN(t->n, t->seen + r);
        float sum = soft(t->tmp + r * AG_ATTN_LDP, AG_MAX(n, 0), t->n, max[r]);
        if (n > 0)
            t->sum[r] = (t->first ? 0 : t->sum[r] * scale[r]) + sum;
    }
}

AG_INLINE void tile_rows(const AgAttnTile *t, const int m)
{
    float scale[16] AG_ALIGNED(64);

    for (int j = 0; j < t->n; j += NR)
        tile_fma(t->tmp + j, AG_ATTN_LDP, t->q, AG_ATTN_LD, t->kt + j, AG_ATTN_KB, t->dim, 1, NULL,
                 NULL, 0, 0, m);
    softmax_rows(t, scale);
    for (int d = 0; d < t->dim; d += NR)
        tile_fma(t->o + d, AG_ATTN_LD, t->tmp, AG_ATTN_LDP, t->v + d, t->ld_v, t->n, t->first,
                 scale, NULL, 0, 0, m);
}

static void tile_avx512(const AgAttnTile *t)
{
#define ROWS(n) tile_rows(t, n)
    TILE_SWITCH(t->m, ROWS)
#undef ROWS
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
    dsp->pack_k = pack_k_avx512;
    dsp->tile = tile_avx512;
    dsp->scale = scale_avx512;
    dsp->single = single_avx512;
}
