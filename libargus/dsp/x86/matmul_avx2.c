/*
 * Matrix products, AVX2 with FMA and F16C: tiles of 6 rows by 16 columns.
 * doc/kernels.md has the why.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>
#include <string.h>

#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/tile_avx2.h"
#include "libargus/dsp/x86/x86.h"

/* ------------------------------------------------------------------------ */
/* Packing                                                                   */

/* 8 columns of 2-byte weights: pairs of k are transposed as 32-bit numbers.
 * The last, short step goes through a copy. */
AG_INLINE void pack8_2byte(float *dst, const uint16_t *w, ptrdiff_t ld, int n, int k, int half)
{
    const __m256i high = _mm256_set1_epi32((int)0xFFFF0000), low = _mm256_set1_epi32(0xFFFF);

    for (int i = 0; i < k; i += 16) {
        int left = AG_MIN(k - i, 16);
        __m256i x[8];
        for (int c = 0; c < 8; c++) {
            uint16_t copy[16] = {0};
            if (c >= n) {
                x[c] = _mm256_setzero_si256();
            } else if (left == 16) {
                x[c] = _mm256_loadu_si256((const void *)(w + c * ld + i));
            } else {
                memcpy(copy, w + c * ld + i, (size_t)left * sizeof(*w));
                x[c] = _mm256_loadu_si256((const void *)copy);
            }
            _mm_prefetch((const char *)(w + (c + 8) * ld + i), _MM_HINT_T0);
        }
        transpose8(x);
        for (int j = 0; j < 8 && 2 * j < left; j++) {
            __m256 even, odd;
            if (half) { /* halves of 32-bit lanes -> 8 halves in order */
                __m256i e = _mm256_and_si256(x[j], low), o = _mm256_srli_epi32(x[j], 16);
                __m256i eo = _mm256_permute4x64_epi64(_mm256_packus_epi32(e, o), 0xD8);
                even = _mm256_cvtph_ps(_mm256_castsi256_si128(eo));
                odd = _mm256_cvtph_ps(_mm256_extracti128_si256(eo, 1));
            } else {
                even = _mm256_castsi256_ps(_mm256_slli_epi32(x[j], 16));
                odd = _mm256_castsi256_ps(_mm256_and_si256(x[j], high));
            }
            _mm256_store_ps(dst + (ptrdiff_t)(i + 2 * j) * NR, even);
            if (2 * j + 1 < left)
                _mm256_store_ps(dst + (ptrdiff_t)(i + 2 * j + 1) * NR, odd);
        }
    }
}

static void pack_bf16_avx2(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int c = 0; c < NR; c += 8)
        pack8_2byte(dst + c, (const uint16_t *)w + c * ld, ld, n - c, k, 0);
}

static void pack_f16_avx2(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int c = 0; c < NR; c += 8)
        pack8_2byte(dst + c, (const uint16_t *)w + c * ld, ld, n - c, k, 1);
}

static void pack_f32_avx2(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int c0 = 0; c0 < NR; c0 += 8) {
        const char *src = (const char *)w + 4 * c0 * ld;
        for (int i = 0; i < k; i += 8) {
            __m256i m = lanes(k - i), x[8];
            AG_UNROLL
            for (int c = 0; c < 8; c++)
                x[c] = c0 + c < n ? _mm256_maskload_epi32((const void *)(src + 4 * (c * ld + i)), m)
                                  : _mm256_setzero_si256();
            transpose8(x);
            for (int j = 0; j < 8 && i + j < k; j++)
                _mm256_store_si256((void *)(dst + (ptrdiff_t)(i + j) * NR + c0), x[j]);
        }
    }
}

/* ------------------------------------------------------------------------ */
/* Matrix times vector                                                       */

AG_INLINE __m256 load8(const char *w, ptrdiff_t i, const AgDtype type)
{
    if (type == AG_F32)
        return _mm256_loadu_ps((const void *)(w + 4 * i));
    __m128i h = _mm_loadu_si128((const void *)(w + 2 * i));
    if (type == AG_F16)
        return _mm256_cvtph_ps(h);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* Two streams, for which there are registers; matmul_avx512.c says why. */
enum { STREAMS = 2, AHEAD = 2048 };

AG_INLINE void dots(float *out, int ld, const char *w, size_t step, const float *x, int k,
                    const int rows, const AgDtype type)
{
    const int size = type == AG_F32 ? 4 : 2;
    __m256 s[STREAMS][4];
    int i = 0;

    AG_UNROLL
    for (int j = 0; j < 4 * rows; j++)
        s[j / 4][j % 4] = _mm256_setzero_ps();
    for (; i + 32 <= k; i += 32) {
        AG_UNROLL
        for (int r = 0; r < rows; r++) {
            _mm_prefetch(w + (size_t)r * step + size * i + AHEAD, _MM_HINT_T0);
            if (type == AG_F32)
                _mm_prefetch(w + (size_t)r * step + size * i + AHEAD + 64, _MM_HINT_T0);
        }
        AG_UNROLL
        for (int j = 0; j < 4; j++) {
            __m256 v = _mm256_loadu_ps(x + i + 8 * j);
            for (int r = 0; r < rows; r++)
                s[r][j] = _mm256_fmadd_ps(load8(w + (size_t)r * step, i + 8 * j, type), v, s[r][j]);
        }
    }
    for (; i + 8 <= k; i += 8) {
        AG_UNROLL
        for (int r = 0; r < rows; r++)
            s[r][0] = _mm256_fmadd_ps(load8(w + (size_t)r * step, i, type),
                                      _mm256_loadu_ps(x + i), s[r][0]);
    }
    AG_UNROLL
    for (int r = 0; r < rows; r++) {
        if (i < k) {
            char copy[32] = {0};
            memcpy(copy, w + (size_t)r * step + size * i, (size_t)(size * (k - i)));
            s[r][1] = _mm256_fmadd_ps(load8(copy, 0, type), _mm256_maskload_ps(x + i, lanes(k - i)),
                                      s[r][1]);
        }
        out[r * ld] = sum_lanes(_mm256_add_ps(_mm256_add_ps(s[r][0], s[r][1]),
                                              _mm256_add_ps(s[r][2], s[r][3])));
    }
}

#include "libargus/dsp/matmul_rows.h" /* needs dots() */

void ag_matmul_init_avx2(AgMatmulDsp *dsp)
{
    set_products(dsp);
    dsp->nc = 96;
    dsp->depth = 768;
    dsp->pack[AG_BF16] = pack_bf16_avx2;
    dsp->pack[AG_F32] = pack_f32_avx2;
    dsp->pack[AG_F16] = pack_f16_avx2;
}
