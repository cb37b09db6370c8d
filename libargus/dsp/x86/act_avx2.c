/*
 * Activations and softmax, AVX2 with FMA.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>

#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/x86.h"
#include "libargus/dsp/act_rows.h"

static float exp_sum_avx2(float *x, int n, float max)
{
    __m256 top = _mm256_set1_ps(max), sum = _mm256_setzero_ps();
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 e = exp_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), top));
        _mm256_storeu_ps(x + i, e);
        sum = _mm256_add_ps(sum, e);
    }
    if (i < n) {
        __m256i m = lanes(n - i);
        __m256 e = exp_ps(_mm256_sub_ps(_mm256_maskload_ps(x + i, m), top));
        _mm256_maskstore_ps(x + i, m, e);
        sum = _mm256_add_ps(sum, _mm256_and_ps(e, _mm256_castsi256_ps(m)));
    }
    return sum_lanes(sum);
}

void ag_act_init_avx2(AgActDsp *dsp)
{
    dsp->gelu = gelu;
    dsp->silu = silu;
    dsp->exp_sum = exp_sum_avx2;
}
