/*
 * Rotary position embedding, AVX2. Plain products and sums, no FMA: the same
 * bits as C.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>

#include "libargus/dsp/x86/x86.h"

static void rotate_avx2(float *x, const float *cosine, const float *sine, int dim)
{
    int half = dim / 2, i = 0;
    float *y = x + half;

    for (; i + 8 <= half; i += 8) {
        __m256 c = _mm256_loadu_ps(cosine + i), s = _mm256_loadu_ps(sine + i);
        __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(y + i);
        _mm256_storeu_ps(x + i, _mm256_sub_ps(_mm256_mul_ps(a, c), _mm256_mul_ps(b, s)));
        _mm256_storeu_ps(y + i, _mm256_add_ps(_mm256_mul_ps(b, c), _mm256_mul_ps(a, s)));
    }
    for (; i < half; i++) {
        float a = x[i], b = y[i];
        x[i] = a * cosine[i] - b * sine[i];
        y[i] = b * cosine[i] + a * sine[i];
    }
}

void ag_rope_init_avx2(AgRopeDsp *dsp)
{
    dsp->rotate = rotate_avx2;
}
