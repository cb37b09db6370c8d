/*
 * Multiply-add chains and memory reads, AVX2.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>

#include "libargus/base/common.h"
#include "libargus/dsp/peak.h"

enum { CHAINS = 12, LANES = 8 };

static double fma_avx2(long n, float *sink)
{
    __m256 s[CHAINS], a = _mm256_set1_ps(sink[0] + 0.999f), b = _mm256_set1_ps(sink[0] + 1e-3f);

    AG_UNROLL
    for (int j = 0; j < CHAINS; j++)
        s[j] = _mm256_set1_ps((float)j);
    for (long i = 0; i < n; i++) {
        AG_UNROLL
        for (int j = 0; j < CHAINS; j++)
            s[j] = _mm256_fmadd_ps(s[j], a, b);
    }
    AG_UNROLL
    for (int j = 0; j < CHAINS; j++)
        s[0] = _mm256_add_ps(s[0], s[j]);
    sink[1] += _mm_cvtss_f32(_mm256_castps256_ps128(s[0]));
    return 2.0 * CHAINS * LANES * (double)n;
}

static float read_avx2(const float *p, long n)
{
    __m256 s[8];

    AG_UNROLL
    for (int j = 0; j < 8; j++)
        s[j] = _mm256_setzero_ps();
    for (long i = 0; i < n; i += 8 * LANES) {
        AG_UNROLL
        for (int j = 0; j < 8; j++)
            s[j] = _mm256_add_ps(s[j], _mm256_load_ps(p + i + j * LANES));
    }
    AG_UNROLL
    for (int j = 1; j < 8; j++)
        s[0] = _mm256_add_ps(s[0], s[j]);
    return _mm_cvtss_f32(_mm256_castps256_ps128(s[0]));
}

void ag_peak_init_avx2(AgPeakDsp *dsp)
{
    dsp->fma = fma_avx2;
    dsp->read = read_avx2;
}
