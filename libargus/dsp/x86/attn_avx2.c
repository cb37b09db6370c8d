/*
 * Attention, AVX2 with FMA: tiles of 6 queries, exp in base 2.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>
#include <math.h>

#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/tile_avx2.h"
#include "libargus/dsp/attn_rows.h"
#include "libargus/dsp/x86/x86.h"

static void pack_k_avx2(float *dst, const float *k, int ld, int n, int dim)
{
    for (int j = 0; j < n; j += 8) {
        float *panel = dst + j / NR * NR * dim + j % NR;
        for (int d = 0; d < dim; d += 8) { /* dim is a multiple of 8 */
            __m256i x[8];
            AG_UNROLL
            for (int c = 0; c < 8; c++) {
                const void *row = k + (ptrdiff_t)(j + c) * ld + d;
                x[c] = j + c < n ? _mm256_loadu_si256(row) : _mm256_setzero_si256();
                _mm_prefetch((const char *)row + 8 * (ptrdiff_t)sizeof(*k) * ld, _MM_HINT_T0);
            }
            transpose8(x);
            AG_UNROLL
            for (int i = 0; i < 8; i++)
                _mm256_store_si256((void *)(panel + (d + i) * NR), x[i]);
        }
    }
    if ((n + 7) / 8 & 1) /* half a panel */
        for (int d = 0; d < dim; d++)
            _mm256_store_ps(dst + (n / NR * dim + d) * NR + 8, _mm256_setzero_ps());
}

static void scale_avx2(float *out, const float *o, float scale, int n)
{
    int i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_loadu_ps(o + i), _mm256_set1_ps(scale)));
    for (; i < n; i++)
        out[i] = o[i] * scale;
}

/* ------------------------------------------------------------------------ */
/* One query                                                                 */

/* lane i of the result = sum of the lanes of x[i] */
AG_INLINE __m256 sum8(const __m256 x[8])
{
    __m256 a = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    __m256 b = _mm256_hadd_ps(_mm256_hadd_ps(x[4], x[5]), _mm256_hadd_ps(x[6], x[7]));
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

/* s[0..7] = q k for 8 keys; -inf from n on */
AG_INLINE void score8(float *s, const float *q, const float *k, int ld, int n, int dim)
{
    __m256 x[8];

    AG_UNROLL
    for (int j = 0; j < 8; j++)
        x[j] = _mm256_setzero_ps();
    for (int d = 0; d < dim; d += 8) { /* dim is a multiple of 8 */
        __m256 qd = _mm256_loadu_ps(q + d);
        AG_UNROLL
        for (int j = 0; j < 8; j++) { /* past the end: the last key again */
            const float *row = k + (ptrdiff_t)AG_MIN(j, n - 1) * ld + d;
            x[j] = _mm256_fmadd_ps(_mm256_loadu_ps(row), qd, x[j]);
        }
    }
    v_store(s, v_first(sum8(x), n, v_all(-INFINITY)));
}

#include "libargus/dsp/attn_single_rows.h" /* needs score8() */

void ag_attn_init_avx2(AgAttnDsp *dsp)
{
    dsp->qr = MR;
    dsp->nr = NR;
    dsp->pack_k = pack_k_avx2;
    dsp->tile = tile;
    dsp->scale = scale_avx2;
    dsp->single = single;
}
