/*
 * Small matrix product and transpose, AVX-512: at most 14 rows by 32 columns in registers
 * (28 sums, 2 registers of b, 2 to broadcast a). Only static functions: this
 * file is compiled with instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_TILE_AVX512_H
#define AG_DSP_X86_TILE_AVX512_H

#include <immintrin.h>
#include <string.h>

#include "libargus/base/common.h"

enum { MR = 14, NR = 32 };

/* a[r][i]. Rows are counted from bases 5 rows apart, so that the machine's
 * address modes reach all of them: base + step * 0, 1, 2, 4 or step3. */
AG_INLINE __m512 row_value(const char *const base[3], ptrdiff_t step, ptrdiff_t step3, const int r,
                          const int i)
{
    const char *p = base[r / 5] + 4 * i;
    float x;

    switch (r % 5) {
    case 0: memcpy(&x, p, sizeof(x)); break;
    case 1: memcpy(&x, p + step, sizeof(x)); break;
    case 2: memcpy(&x, p + 2 * step, sizeof(x)); break;
    case 3: memcpy(&x, p + step3, sizeof(x)); break;
    default: memcpy(&x, p + 4 * step, sizeof(x)); break;
    }
    return _mm512_set1_ps(x);
}

/* n steps of k: few scalar additions, which would take turns from the sums */
AG_INLINE void tile_steps(__m512 s[MR][2], const char *base[3], ptrdiff_t step, ptrdiff_t step3,
                          const float *b, ptrdiff_t ldb, const int m, const int n)
{
    AG_UNROLL
    for (int i = 0; i < n; i++) {
        __m512 b0 = _mm512_load_ps(b + i * ldb), b1 = _mm512_load_ps(b + i * ldb + 16);
        AG_UNROLL
        for (int r = 0; r < m; r++) {
            __m512 x = row_value(base, step, step3, r, i);
            s[r][0] = _mm512_fmadd_ps(x, b0, s[r][0]);
            s[r][1] = _mm512_fmadd_ps(x, b1, s[r][1]);
        }
    }
    AG_UNROLL
    for (int j = 0; j < 3; j++)
        base[j] += n * (int)sizeof(float);
}

/* c[r][0..31] = c[r] * scale[r] + sum of a[r][i] * b[i][0..31] in rising i;
 * without scale, c counts as 0 if first. m is a constant at the call. Every 16
 * steps a line of each of the n_pf rows of pf is prefetched. */
AG_INLINE void tile_fma(float *c, ptrdiff_t ldc, const float *a, ptrdiff_t lda,
                        const float *b, ptrdiff_t ldb, int k, int first, const float *scale,
                        const float *pf, ptrdiff_t ld_pf, int n_pf, const int m)
{
    __m512 s[MR][2];
    ptrdiff_t step = 4 * lda, step3 = 12 * lda;
    const char *base[3] = {(const char *)a, (const char *)(a + 5 * lda),
                           (const char *)(a + 10 * lda)};
    int i = 0;

    AG_UNROLL
    for (int r = 0; r < m; r++) {
        if (first) {
            s[r][0] = s[r][1] = _mm512_setzero_ps();
        } else {
            s[r][0] = _mm512_load_ps(c + r * ldc);
            s[r][1] = _mm512_load_ps(c + r * ldc + 16);
        }
        if (scale) {
            s[r][0] = _mm512_mul_ps(s[r][0], _mm512_set1_ps(scale[r]));
            s[r][1] = _mm512_mul_ps(s[r][1], _mm512_set1_ps(scale[r]));
        }
    }
    while (i < k) {
        int end = AG_MIN(k, i + 16);
        for (int r = 0; r < n_pf; r++)
            _mm_prefetch((const char *)(pf + r * ld_pf + i), _MM_HINT_T0);
        for (; i + 2 <= end; i += 2, b += 2 * ldb)
            tile_steps(s, base, step, step3, b, ldb, m, 2);
        for (; i < end; i++, b += ldb)
            tile_steps(s, base, step, step3, b, ldb, m, 1);
    }
    AG_UNROLL
    for (int r = 0; r < m; r++) {
        _mm512_store_ps(c + r * ldc, s[r][0]);
        _mm512_store_ps(c + r * ldc + 16, s[r][1]);
    }
}

/* x[r] lane c -> x[c] lane r */
AG_INLINE void transpose16(__m512i x[16])
{
    __m512i t[16];

    AG_UNROLL
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    AG_UNROLL
    for (int i = 0; i < 16; i += 4) { /* x[i+j]: in each quarter q, column 4q+j of rows i..i+3 */
        x[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    AG_UNROLL
    for (int j = 0; j < 4; j++) {
        t[j] = _mm512_shuffle_i32x4(x[j], x[j + 4], 0x88);          /* quarters 0 2 of rows 0..7 */
        t[j + 4] = _mm512_shuffle_i32x4(x[j], x[j + 4], 0xDD);      /* quarters 1 3 */
        t[j + 8] = _mm512_shuffle_i32x4(x[j + 8], x[j + 12], 0x88); /* of rows 8..15 */
        t[j + 12] = _mm512_shuffle_i32x4(x[j + 8], x[j + 12], 0xDD);
    }
    AG_UNROLL
    for (int j = 0; j < 4; j++) {
        x[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
        x[j + 4] = _mm512_shuffle_i32x4(t[j + 4], t[j + 12], 0x88);
        x[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xDD);
        x[j + 12] = _mm512_shuffle_i32x4(t[j + 4], t[j + 12], 0xDD);
    }
}

/* F(n) for n = m, 1 <= m <= MR, as a constant */
#define TILE_SWITCH(m, F) \
    switch (m) { \
    case 1: F(1); break; \
    case 2: F(2); break; \
    case 3: F(3); break; \
    case 4: F(4); break; \
    case 5: F(5); break; \
    case 6: F(6); break; \
    case 7: F(7); break; \
    case 8: F(8); break; \
    case 9: F(9); break; \
    case 10: F(10); break; \
    case 11: F(11); break; \
    case 12: F(12); break; \
    case 13: F(13); break; \
    default: F(14); break; \
    }

#endif /* AG_DSP_X86_TILE_AVX512_H */
