/*
 * int8 products with 512-bit registers: tiles of at most Q8_MR rows by two
 * panels of 16 columns. Only static functions: this file is compiled with
 * instruction-set flags, and uses VNNI where they allow it.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_Q8_TILE_AVX512_H
#define AG_DSP_X86_Q8_TILE_AVX512_H

#include <immintrin.h>
#include <string.h>

#include "libargus/dsp/q8.h"

/* Without VNNI: 24 sums, 2 registers of w, ones, x, 2 products of 32. */
#ifdef __AVX512VNNI__
enum { Q8_MR = 14 };
#else
enum { Q8_MR = 12 };
#endif

/* s[lane] + sum of a[4 lane + j] * w[4 lane + j] over j < 4; see q8_tile_avx2.h */
AG_INLINE __m512i dot4(__m512i s, __m512i a, __m512i w)
{
#ifdef __AVX512VNNI__
    s = _mm512_dpbusd_epi32(s, a, w);
#else
    __m512i pairs = _mm512_maddubs_epi16(a, w);
    s = _mm512_add_epi32(s, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#endif
    AG_KEEP_ORDER(s);
    return s;
}

AG_INLINE __m512i load_sums(const int16_t *p)
{
    return _mm512_slli_epi32(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)p)), 6);
}

/* The next 4 bytes of row r. Rows are counted from bases 5 rows apart, so that the
 * machine's address modes reach all of them. */
AG_INLINE __m512i four(const uint8_t *const base[3], ptrdiff_t step, ptrdiff_t step3, const int r)
{
    const uint8_t *p = base[r / 5];
    int x;

    switch (r % 5) {
    case 0: memcpy(&x, p, sizeof(x)); break;
    case 1: memcpy(&x, p + step, sizeof(x)); break;
    case 2: memcpy(&x, p + 2 * step, sizeof(x)); break;
    case 3: memcpy(&x, p + step3, sizeof(x)); break;
    default: memcpy(&x, p + 4 * step, sizeof(x)); break;
    }
    return _mm512_set1_epi32(x);
}

/* np panels: acc [np, Q8_MR, 16] += one block of 64 of m rows, times the rows'
 * scales; first: from 0 */
AG_INLINE void block(const AgQ8Tile *t, float *acc, const int8_t *w, const int16_t *sum, int b,
                     const int first, const int m, const int np)
{
    const uint8_t *a = t->a + b * AG_Q8_BLOCK;
    const uint8_t *base[3] = {a, a + 5 * t->lda, a + 10 * t->lda};
    ptrdiff_t step = t->lda, step3 = 3 * step;
    __m512i s[Q8_MR][2];

    AG_UNROLL
    for (int j = 0; j < np; j++) {
        __m512i start = load_sums(sum + j * t->sum_step);
        AG_UNROLL
        for (int r = 0; r < m; r++)
            s[r][j] = start;
    }
    for (int k = 0; k < AG_Q8_BLOCK; k += 4, w += 64) {
        __m512i w0 = _mm512_load_si512(w), w1 = w0;
        if (np > 1)
            w1 = _mm512_load_si512(w + t->w_step);
        AG_UNROLL
        for (int r = 0; r < m; r++) {
            __m512i x = four(base, step, step3, r);
            s[r][0] = dot4(s[r][0], x, w0);
            if (np > 1)
                s[r][1] = dot4(s[r][1], x, w1);
        }
        AG_UNROLL
        for (int i = 0; i < 3; i++)
            base[i] += 4;
    }
    AG_UNROLL
    for (int r = 0; r < m; r++) {
        __m512 f = _mm512_set1_ps(t->sa[r * t->ld_sa + b]);
        AG_UNROLL
        for (int j = 0; j < np; j++) {
            float *p = acc + (j * Q8_MR + r) * AG_Q8_NR;
            __m512 v = _mm512_cvtepi32_ps(s[r][j]);
            _mm512_store_ps(p, _mm512_fmadd_ps(v, f, first ? _mm512_setzero_ps()
                                                           : _mm512_load_ps(p)));
        }
    }
}

/* np panels from p, all blocks */
AG_INLINE void blocks(const AgQ8Tile *t, int p, const int m, const int np)
{
    float *acc = t->acc + p * Q8_MR * AG_Q8_NR;
    const int8_t *w = t->w + p * t->w_step;
    const int16_t *sum = t->sum + p * t->sum_step;
    int b = 0;

    if (t->first)
        block(t, acc, w, sum, b++, 1, m, np);
    for (; b < t->n_block; b++)
        block(t, acc, w + b * AG_Q8_BLOCK * AG_Q8_NR, sum + b * AG_Q8_NR, b, 0, m, np);
}

AG_INLINE void panels(const AgQ8Tile *t, const int m)
{
    int p = 0;

    for (; p + 2 <= t->n_panel; p += 2)
        blocks(t, p, m, 2);
    if (p < t->n_panel)
        blocks(t, p, m, 1);
}

AG_INLINE void tile(const AgQ8Tile *t)
{
    switch (t->m) {
    case 1: panels(t, 1); break;
    case 2: panels(t, 2); break;
    case 3: panels(t, 3); break;
    case 4: panels(t, 4); break;
    case 5: panels(t, 5); break;
    case 6: panels(t, 6); break;
    case 7: panels(t, 7); break;
    case 8: panels(t, 8); break;
    case 9: panels(t, 9); break;
    case 10: panels(t, 10); break;
    case 11: panels(t, 11); break;
#ifdef __AVX512VNNI__
    case 12: panels(t, 12); break;
    case 13: panels(t, 13); break;
#endif
    default: panels(t, Q8_MR); break;
    }
}

/* One row: four chains, weights prefetched. */
AG_INLINE void gemv(const AgQ8Tile *t)
{
    for (int p = 0; p < t->n_panel; p++) {
        const int8_t *w = t->w + p * t->w_step;
        const int16_t *sum = t->sum + p * t->sum_step;
        __m512 v = _mm512_setzero_ps();
        for (int b = 0; b < t->n_block; b++, sum += AG_Q8_NR) {
            const uint8_t *a = t->a + b * AG_Q8_BLOCK;
            __m512i s[4] = {load_sums(sum), _mm512_setzero_si512(), _mm512_setzero_si512(),
                            _mm512_setzero_si512()};
            for (int k = 0; k < AG_Q8_BLOCK; k += 16, w += 256) {
                AG_UNROLL
                for (int i = 0; i < 4; i++) {
                    int x;
                    memcpy(&x, a + k + 4 * i, sizeof(x));
                    _mm_prefetch((const char *)w + 64 * i + 8192, _MM_HINT_T1);
                    s[i] = dot4(s[i], _mm512_set1_epi32(x), _mm512_load_si512(w + 64 * i));
                }
            }
            s[0] = _mm512_add_epi32(_mm512_add_epi32(s[0], s[1]), _mm512_add_epi32(s[2], s[3]));
            v = _mm512_fmadd_ps(_mm512_cvtepi32_ps(s[0]), _mm512_set1_ps(t->sa[b]), v);
        }
        _mm512_store_ps(t->acc + p * AG_Q8_NR, v);
    }
}

#endif /* AG_DSP_X86_Q8_TILE_AVX512_H */
