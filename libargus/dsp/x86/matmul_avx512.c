/*
 * Matrix products, AVX-512: tiles of 14 rows by 32 columns. doc/kernels.md
 * has the why.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>

#include "libargus/dsp/x86/math_avx512.h"
#include "libargus/dsp/x86/tile_avx512.h"
#include "libargus/dsp/x86/x86.h"

/* ------------------------------------------------------------------------ */
/* Packing                                                                   */

/* 16 columns of 2-byte weights: pairs of k are transposed as 32-bit numbers. */
AG_INLINE void pack16_2byte(float *dst, const uint16_t *w, ptrdiff_t ld, int n, int k, int half)
{
    const __m512i high = _mm512_set1_epi32((int)0xFFFF0000);

    for (int i = 0; i < k; i += 32) {
        int left = AG_MIN(k - i, 32);
        __mmask32 m = left == 32 ? 0xFFFFFFFF : (1u << left) - 1;
        __m512i x[16];
        AG_UNROLL
        for (int c = 0; c < 16; c++)
            x[c] = c < n ? _mm512_maskz_loadu_epi16(m, w + c * ld + i) : _mm512_setzero_si512();
        AG_UNROLL
        for (int c = 0; c < 16; c++) /* the next 16 columns, which come next */
            _mm_prefetch((const char *)(w + (c + 16) * ld + i), _MM_HINT_T0);
        transpose16(x);
        for (int j = 0; j < 16 && 2 * j < left; j++) {
            __m512 even, odd;
            if (half) {
                even = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(x[j]));
                odd = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(x[j], 16)));
            } else {
                even = _mm512_castsi512_ps(_mm512_slli_epi32(x[j], 16));
                odd = _mm512_castsi512_ps(_mm512_and_si512(x[j], high));
            }
            _mm512_store_ps(dst + (ptrdiff_t)(i + 2 * j) * NR, even);
            if (2 * j + 1 < left)
                _mm512_store_ps(dst + (ptrdiff_t)(i + 2 * j + 1) * NR, odd);
        }
    }
}

static void pack_bf16_avx512(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int c = 0; c < NR; c += 16)
        pack16_2byte(dst + c, (const uint16_t *)w + c * ld, ld, n - c, k, 0);
}

static void pack_f16_avx512(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int c = 0; c < NR; c += 16)
        pack16_2byte(dst + c, (const uint16_t *)w + c * ld, ld, n - c, k, 1);
}

static void pack_f32_avx512(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int c0 = 0; c0 < NR; c0 += 16) {
        const char *src = (const char *)w + 4 * c0 * ld;
        for (int i = 0; i < k; i += 16) {
            __mmask16 m = lanes(k - i);
            __m512i x[16];
            AG_UNROLL
            for (int c = 0; c < 16; c++)
                x[c] = c0 + c < n ? _mm512_maskz_loadu_epi32(m, src + 4 * (c * ld + i))
                                  : _mm512_setzero_si512();
            transpose16(x);
            for (int j = 0; j < 16 && i + j < k; j++)
                _mm512_store_si512(dst + (ptrdiff_t)(i + j) * NR + c0, x[j]);
        }
    }
}

/* ------------------------------------------------------------------------ */
/* Matrix times vector                                                       */

AG_INLINE __m512 load16(const char *w, ptrdiff_t i, __mmask16 m, const AgDtype type)
{
    if (type == AG_F32)
        return _mm512_maskz_loadu_ps(m, w + 4 * i);
    __m256i h = _mm256_maskz_loadu_epi16(m, w + 2 * i);
    if (type == AG_F16)
        return _mm512_cvtph_ps(h);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* A core reads mapped weights faster in some streams, asked for early, into L1: its own
 * prefetching stops at the end of a page of 4 KiB. Figures: doc/kernels.md. */
enum { STREAMS = 4, AHEAD = 1024 };

AG_INLINE void dots(float *out, int ld, const char *w, size_t step, const float *x, int k,
                    const int rows, const AgDtype type)
{
    const int size = type == AG_F32 ? 4 : 2;
    __m512 s[STREAMS][2];
    int i = 0;

    AG_UNROLL
    for (int r = 0; r < rows; r++)
        s[r][0] = s[r][1] = _mm512_setzero_ps();
    for (; i + 32 <= k; i += 32) {
        __m512 x0 = _mm512_loadu_ps(x + i), x1 = _mm512_loadu_ps(x + i + 16);
        AG_UNROLL
        for (int r = 0; r < rows; r++) {
            const char *row = w + (size_t)r * step;
            _mm_prefetch(row + size * i + AHEAD, _MM_HINT_T0);
            if (type == AG_F32)
                _mm_prefetch(row + size * i + AHEAD + 64, _MM_HINT_T0);
            s[r][0] = _mm512_fmadd_ps(load16(row, i, 0xFFFF, type), x0, s[r][0]);
            s[r][1] = _mm512_fmadd_ps(load16(row, i + 16, 0xFFFF, type), x1, s[r][1]);
        }
    }
    for (; i < k; i += 16) {
        __mmask16 m = lanes(k - i);
        AG_UNROLL
        for (int r = 0; r < rows; r++)
            s[r][0] = _mm512_fmadd_ps(load16(w + (size_t)r * step, i, m, type),
                                      _mm512_maskz_loadu_ps(m, x + i), s[r][0]);
    }
    AG_UNROLL
    for (int r = 0; r < rows; r++)
        out[r * ld] = _mm512_reduce_add_ps(_mm512_add_ps(s[r][0], s[r][1]));
}

#include "libargus/dsp/matmul_rows.h" /* needs dots() */

void ag_matmul_init_avx512(AgMatmulDsp *dsp)
{
    set_products(dsp);
    dsp->nc = 384;
    dsp->depth = 768;
    dsp->pack[AG_BF16] = pack_bf16_avx512;
    dsp->pack[AG_F32] = pack_f32_avx512;
    dsp->pack[AG_F16] = pack_f16_avx512;
}
