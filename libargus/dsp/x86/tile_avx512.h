/*
 * Small matrix product and transpose, AVX-512: at most 14 rows by 32 columns in registers
 * (28 sums, 2 registers of b, up to 2 for a). Only static functions: this file is
 * compiled with instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_TILE_AVX512_H
#define AG_DSP_X86_TILE_AVX512_H

#include <immintrin.h>

#include "libargus/dsp/lines.h"

enum { MR = 14, NR = 32 };

/* s += *x * b. A broadcast that is part of the multiply-add costs no operation, of which a
 * core starts 6 a cycle for all its threads; compilers would make it one. */
AG_INLINE __m512 fma_memory(__m512 s, const float *x, __m512 b)
{
    __asm__("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(s) : "m"(*x), "v"(b));
    return s;
}

/* n steps of k. Two loads a cycle is what a core can do: each 4th row is broadcast once. */
AG_INLINE void tile_steps(__m512 s[MR][2], const float *a, const int row, const float *b,
                          ptrdiff_t ldb, const int m, const int n)
{
    AG_UNROLL
    for (int i = 0; i < n; i++) {
        __m512 b0 = _mm512_load_ps(b + i * ldb), b1 = _mm512_load_ps(b + i * ldb + 16);
        AG_UNROLL
        for (int r = 0; r < m; r++) {
            const float *p = a + (r - MR / 2) * row + i;
            if (r % 4 == 1) {
                __m512 x = _mm512_set1_ps(*p);
                s[r][0] = _mm512_fmadd_ps(x, b0, s[r][0]);
                s[r][1] = _mm512_fmadd_ps(x, b1, s[r][1]);
            } else {
                s[r][0] = fma_memory(s[r][0], p, b0);
                s[r][1] = fma_memory(s[r][1], p, b1);
            }
        }
    }
}

/* c[r][0..31] = c[r] * scale[r] + sum of a[r][i] * b[i][0..31] in rising i;
 * without scale, c counts as 0 if first. a[r][i] is a[i / 16 * line + r * row +
 * i % 16]. m, row and line are constants at the call; beside may be NULL. */
AG_INLINE void tile_fma(float *c, ptrdiff_t ldc, const float *a, const int row, const int line,
                        const float *b, ptrdiff_t ldb, int k, int first, const float *scale,
                        AgBeside *beside, const int m)
{
    __m512 s[MR][2];

    a += MR / 2 * row; /* short distances to both sides */
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
    for (; k > 0; k -= 16, a += line) {
        const float *p = a;
        int n = AG_MIN(k, 16);
        if (beside)
            ag_beside(beside, MR, NR);
        for (; n >= 2; n -= 2, p += 2, b += 2 * ldb) {
            AG_KEEP_POINTER(p);
            tile_steps(s, p, row, b, ldb, m, 2);
        }
        if (n) {
            tile_steps(s, p, row, b, ldb, m, 1);
            b += ldb;
        }
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
