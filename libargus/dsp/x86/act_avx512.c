/*
 * Activations and softmax, AVX-512.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>

#include "libargus/dsp/x86/math_avx512.h"
#include "libargus/dsp/x86/x86.h"
#include "libargus/dsp/act_rows.h"

static float exp_sum_avx512(float *x, int n, float max)
{
    __m512 top = _mm512_set1_ps(max), sum = _mm512_setzero_ps();

    for (int i = 0; i < n; i += 16) {
        __mmask16 m = lanes(n - i);
        __m512 e = exp_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(m, x + i), top));
        _mm512_mask_storeu_ps(x + i, m, e);
        sum = _mm512_mask_add_ps(sum, m, sum, e);
    }
    return _mm512_reduce_add_ps(sum);
}

void ag_act_init_avx512(AgActDsp *dsp)
{
    dsp->gelu = gelu;
    dsp->silu = silu;
    dsp->exp_sum = exp_sum_avx512;
}
