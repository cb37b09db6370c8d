/*
 * Small matrix product and transpose, AVX2 with FMA: at most 6 rows by 16 columns in
 * registers (12 sums, 2 registers of b, 2 to broadcast a). Only static
 * functions: this file is compiled with instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_TILE_AVX2_H
#define AG_DSP_X86_TILE_AVX2_H

#include <immintrin.h>

#include "libargus/dsp/lines.h"

enum { MR = 6, NR = 16 };

/* s += x * b, in the register of s: compilers would swap and copy sums. */
AG_INLINE __m256 fma_here(__m256 s, __m256 x, __m256 b)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(s) : "x"(x), "x"(b));
    return s;
}

/* n steps of k */
AG_INLINE void tile_steps(__m256 s[MR][2], const float *a, const int row, const float *b,
                          ptrdiff_t ldb, const int m, const int n)
{
    AG_UNROLL
    for (int i = 0; i < n; i++) {
        __m256 b0 = _mm256_load_ps(b + i * ldb), b1 = _mm256_load_ps(b + i * ldb + 8);
        AG_UNROLL
        for (int r = 0; r < m; r++) {
            __m256 x = _mm256_set1_ps(a[r * row + i]);
            s[r][0] = fma_here(s[r][0], x, b0);
            s[r][1] = fma_here(s[r][1], x, b1);
        }
    }
}

/* c[r][0..15] = c[r] * scale[r] + sum of a[r][i] * b[i][0..15] in rising i;
 * without scale, c counts as 0 if first. a[r][i] is a[i / 16 * line + r * row +
 * i % 16]. m, row and line are constants at the call; beside may be NULL. */
AG_INLINE void tile_fma(float *c, ptrdiff_t ldc, const float *a, const int row, const int line,
                        const float *b, ptrdiff_t ldb, int k, int first, const float *scale,
                        AgBeside *beside, const int m)
{
    __m256 s[MR][2];

    AG_UNROLL
    for (int r = 0; r < m; r++) {
        if (first) {
            s[r][0] = s[r][1] = _mm256_setzero_ps();
        } else {
            s[r][0] = _mm256_load_ps(c + r * ldc);
            s[r][1] = _mm256_load_ps(c + r * ldc + 8);
        }
        if (scale) {
            s[r][0] = _mm256_mul_ps(s[r][0], _mm256_set1_ps(scale[r]));
            s[r][1] = _mm256_mul_ps(s[r][1], _mm256_set1_ps(scale[r]));
        }
    }
    for (; k > 0; k -= 16, a += line) {
        const float *p = a;
        int n = AG_MIN(k, 16);
        if (beside)
            ag_beside(beside, MR, NR);
        for (; n >= 4; n -= 4, p += 4, b += 4 * ldb)
            tile_steps(s, p, row, b, ldb, m, 4);
        for (; n > 0; n--, p++, b += ldb)
            tile_steps(s, p, row, b, ldb, m, 1);
    }
    AG_UNROLL
    for (int r = 0; r < m; r++) {
        _mm256_store_ps(c + r * ldc, s[r][0]);
        _mm256_store_ps(c + r * ldc + 8, s[r][1]);
    }
}

/* x[r] lane c -> x[c] lane r */
AG_INLINE void transpose8(__m256i x[8])
{
    __m256i t[8];

    AG_UNROLL
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_epi32(x[i], x[i + 1]);
        t[i + 1] = _mm256_unpackhi_epi32(x[i], x[i + 1]);
    }
    AG_UNROLL
    for (int i = 0; i < 8; i += 4) { /* x[i+j]: columns j and 4+j of rows i..i+3 */
        x[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
        x[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
        x[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
        x[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    AG_UNROLL
    for (int j = 0; j < 4; j++) {
        __m256i low = _mm256_permute2x128_si256(x[j], x[j + 4], 0x20);
        x[j + 4] = _mm256_permute2x128_si256(x[j], x[j + 4], 0x31);
        x[j] = low;
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
    default: F(6); break; \
    }

#endif /* AG_DSP_X86_TILE_AVX2_H */
