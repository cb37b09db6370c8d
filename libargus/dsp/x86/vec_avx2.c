/*
 * Widening of stored numbers, sums, argmax: AVX2 and F16C.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/x86.h"
#include "libargus/dsp/vec_rows.h"

AG_INLINE __m256 widen8(const void *src, const int half)
{
    __m128i h = _mm_loadu_si128(src);
    if (half)
        return _mm256_cvtph_ps(h);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

AG_INLINE void widen(float *dst, const uint16_t *src, int n, const int half)
{
    int i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(dst + i, widen8(src + i, half));
    if (i < n) {
        uint16_t copy[8] = {0};
        memcpy(copy, src + i, (size_t)(n - i) * sizeof(*src));
        _mm256_maskstore_ps(dst + i, lanes(n - i), widen8(copy, half));
    }
}

static void widen_bf16_avx2(float *dst, const uint16_t *src, int n)
{
    widen(dst, src, n, 0);
}

static void widen_f16_avx2(float *dst, const uint16_t *src, int n)
{
    widen(dst, src, n, 1);
}

/* The largest value first, then where it is: two passes, the second one short
 * on average. */
static int argmax_avx2(const float *x, int n)
{
    __m256 top = _mm256_set1_ps(-INFINITY);
    int i = 0;

    for (; i + 8 <= n; i += 8)
        top = _mm256_max_ps(_mm256_loadu_ps(x + i), top); /* NaN in the first operand: top stays */
    float best = max_lanes(top);
    for (; i < n; i++)
        if (x[i] > best)
            best = x[i];
    if (best == -INFINITY)
        return 0;
    __m256 b = _mm256_set1_ps(best);
    for (i = 0; i + 8 <= n; i += 8) {
        int hit = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + i), b, _CMP_EQ_OQ));
        if (hit) {
            while (!(hit & 1))
                hit >>= 1, i++;
            return i;
        }
    }
    while (x[i] != best)
        i++;
    return i;
}

void ag_vec_init_avx2(AgVecDsp *dsp)
{
    dsp->widen_bf16 = widen_bf16_avx2;
    dsp->widen_f16 = widen_f16_avx2;
    dsp->add = add;
    dsp->sum_exp = sum_exp;
    dsp->argmax = argmax_avx2;
}
