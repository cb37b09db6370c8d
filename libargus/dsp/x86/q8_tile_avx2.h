/*
 * int8 products with 256-bit registers: tiles of at most Q8_MR rows by one
 * panel of 16 columns. Only static functions: this file is compiled with
 * instruction-set flags, and uses AVX-VNNI where they allow it.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_Q8_TILE_AVX2_H
#define AG_DSP_X86_Q8_TILE_AVX2_H

#include <immintrin.h>
#include <string.h>

#include "libargus/dsp/q8.h"
#include "libargus/dsp/x86/math_avx2.h"

/* Without VNNI: 8 sums, 2 registers of w, ones, x, 2 products of 16. */
#ifdef __AVXVNNI__
enum { Q8_MR = 6 };
#else
enum { Q8_MR = 4 };
#endif

/* s[lane] + sum of a[4 lane + j] * w[4 lane + j] over j < 4. Sums of two are at
 * most 2 * 127 * 127 < 2^15 (see q8.h): maddubs does not saturate. */
AG_INLINE __m256i dot4(__m256i s, __m256i a, __m256i w)
{
#ifdef __AVXVNNI__
    s = _mm256_dpbusd_avx_epi32(s, a, w);
#else
    __m256i pairs = _mm256_maddubs_epi16(a, w);
    s = _mm256_add_epi32(s, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
    AG_KEEP_ORDER(s);
    return s;
}

/* Largest magnitude of 64 numbers. NaN never wins. */
AG_INLINE float top_64(const float *x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 m0 = _mm256_setzero_ps(), m1 = m0;

    AG_UNROLL
    for (int i = 0; i < 64; i += 16) { /* NaN in the first operand: the maximum stays */
        m0 = _mm256_max_ps(_mm256_andnot_ps(sign, _mm256_loadu_ps(x + i)), m0);
        m1 = _mm256_max_ps(_mm256_andnot_ps(sign, _mm256_loadu_ps(x + i + 8)), m1);
    }
    return max_lanes(_mm256_max_ps(m0, m1));
}

/* 8 numbers as integers -most..most. NaN becomes the lowest. */
AG_INLINE __m256i whole8(__m256 x, __m256 inverse, float most)
{
    __m256 v = _mm256_max_ps(_mm256_mul_ps(x, inverse), _mm256_set1_ps(-most));
    return _mm256_cvtps_epi32(_mm256_min_ps(v, _mm256_set1_ps(most)));
}

/* 4 x 8 integers as bytes, in order */
AG_INLINE __m256i narrow32(__m256i a, __m256i b, __m256i c, __m256i d)
{
    __m256i v = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

AG_INLINE __m256i bytes32(const float *x, __m256 inverse, float most)
{
    return narrow32(whole8(_mm256_loadu_ps(x), inverse, most),
                    whole8(_mm256_loadu_ps(x + 8), inverse, most),
                    whole8(_mm256_loadu_ps(x + 16), inverse, most),
                    whole8(_mm256_loadu_ps(x + 24), inverse, most));
}

AG_INLINE __m256i load_sums(const int16_t *p)
{
    return _mm256_slli_epi32(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p)), 6);
}

AG_INLINE __m256i four(const uint8_t *p)
{
    int x;
    memcpy(&x, p, sizeof(x));
    return _mm256_set1_epi32(x);
}

/* acc [m, 16] += one block of 64 of m rows, times the rows' scales; first: from 0 */
AG_INLINE void block(const AgQ8Tile *t, float *acc, const int8_t *w, const int16_t *sum, int b,
                     const int first, const int m)
{
    const uint8_t *a = t->a + b * AG_Q8_BLOCK;
    ptrdiff_t lda = t->lda;
    __m256i s[Q8_MR][2], s0 = load_sums(sum), s1 = load_sums(sum + 8);

    AG_UNROLL
    for (int r = 0; r < m; r++) {
        s[r][0] = s0;
        s[r][1] = s1;
    }
    for (int k = 0; k < AG_Q8_BLOCK; k += 16, w += 256, a += 16) {
        AG_UNROLL
        for (int i = 0; i < 4; i++) {
            __m256i w0 = _mm256_load_si256((const __m256i *)(w + 64 * i));
            __m256i w1 = _mm256_load_si256((const __m256i *)(w + 64 * i + 32));
            AG_UNROLL
            for (int r = 0; r < m; r++) {
                __m256i x = four(a + r * lda + 4 * i);
                s[r][0] = dot4(s[r][0], x, w0);
                s[r][1] = dot4(s[r][1], x, w1);
            }
        }
    }
    AG_UNROLL
    for (int r = 0; r < m; r++) {
        __m256 f = _mm256_set1_ps(t->sa[r * t->ld_sa + b]);
        AG_UNROLL
        for (int j = 0; j < 2; j++) {
            float *p = acc + r * AG_Q8_NR + 8 * j;
            __m256 v = _mm256_cvtepi32_ps(s[r][j]);
            _mm256_store_ps(p, _mm256_fmadd_ps(v, f, first ? _mm256_setzero_ps()
                                                           : _mm256_load_ps(p)));
        }
    }
}

AG_INLINE void panels(const AgQ8Tile *t, const int m)
{
    for (int p = 0; p < t->n_panel; p++) {
        float *acc = t->acc + p * Q8_MR * AG_Q8_NR;
        const int8_t *w = t->w + p * t->w_step;
        const int16_t *sum = t->sum + p * t->sum_step;
        int b = 0;
        if (t->first)
            block(t, acc, w, sum, b++, 1, m);
        for (; b < t->n_block; b++)
            block(t, acc, w + b * AG_Q8_BLOCK * AG_Q8_NR, sum + b * AG_Q8_NR, b, 0, m);
    }
}

AG_INLINE void tile(const AgQ8Tile *t)
{
    switch (t->m) {
    case 1: panels(t, 1); break;
    case 2: panels(t, 2); break;
    case 3: panels(t, 3); break;
#ifdef __AVXVNNI__
    case 4: panels(t, 4); break;
    case 5: panels(t, 5); break;
#endif
    default: panels(t, Q8_MR); break;
    }
}

/* One row: two chains for each half of the panel, weights prefetched. */
AG_INLINE void gemv(const AgQ8Tile *t)
{
    for (int p = 0; p < t->n_panel; p++) {
        const int8_t *w = t->w + p * t->w_step;
        const int16_t *sum = t->sum + p * t->sum_step;
        __m256 v0 = _mm256_setzero_ps(), v1 = v0;
        for (int b = 0; b < t->n_block; b++, sum += AG_Q8_NR) {
            const uint8_t *a = t->a + b * AG_Q8_BLOCK;
            __m256i s[4] = {load_sums(sum), load_sums(sum + 8), _mm256_setzero_si256(),
                            _mm256_setzero_si256()};
            for (int k = 0; k < AG_Q8_BLOCK; k += 16, w += 256) {
                AG_UNROLL
                for (int i = 0; i < 4; i++) {
                    const int8_t *row = w + 64 * i;
                    __m256i x = four(a + k + 4 * i);
                    _mm_prefetch((const char *)row + 8192, _MM_HINT_T1);
                    s[i % 2 * 2] = dot4(s[i % 2 * 2], x, _mm256_load_si256((const __m256i *)row));
                    s[i % 2 * 2 + 1] = dot4(s[i % 2 * 2 + 1], x,
                                            _mm256_load_si256((const __m256i *)(row + 32)));
                }
            }
            __m256 f = _mm256_set1_ps(t->sa[b]);
            v0 = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_add_epi32(s[0], s[2])), f, v0);
            v1 = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_add_epi32(s[1], s[3])), f, v1);
        }
        _mm256_store_ps(t->acc + p * AG_Q8_NR, v0);
        _mm256_store_ps(t->acc + p * AG_Q8_NR + 8, v1);
    }
}

#endif /* AG_DSP_X86_Q8_TILE_AVX2_H */
