/*
 * Multiply-add chains and memory reads, AVX512.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>

#include "libargus/base/common.h"
#include "libargus/dsp/peak.h"

enum { CHAINS = 24, LANES = 16 };

static double fma_avx512(long n, float *sink)
{
    __m512 s[CHAINS], a = _mm512_set1_ps(sink[0] + 0.999f), b = _mm512_set1_ps(sink[0] + 1e-3f);

    AG_UNROLL
    for (int j = 0; j < CHAINS; j++)
        s[j] = _mm512_set1_ps((float)j);
    for (long i = 0; i < n; i++) {
        AG_UNROLL
        for (int j = 0; j < CHAINS; j++)
            s[j] = _mm512_fmadd_ps(s[j], a, b);
    }
    AG_UNROLL
    for (int j = 0; j < CHAINS; j++)
        s[0] = _mm512_add_ps(s[0], s[j]);
    sink[1] += _mm_cvtss_f32(_mm512_castps512_ps128(s[0]));
    return 2.0 * CHAINS * LANES * (double)n;
}

static float read_avx512(const float *p, long n)
{
    __m512 s[8];

    AG_UNROLL
    for (int j = 0; j < 8; j++)
        s[j] = _mm512_setzero_ps();
    for (long i = 0; i < n; i += 8 * LANES) {
        AG_UNROLL
        for (int j = 0; j < 8; j++)
            s[j] = _mm512_add_ps(s[j], _mm512_load_ps(p + i + j * LANES));
    }
    AG_UNROLL
    for (int j = 1; j < 8; j++)
        s[0] = _mm512_add_ps(s[0], s[j]);
    return _mm_cvtss_f32(_mm512_castps512_ps128(s[0]));
}

void ag_peak_init_avx512(AgPeakDsp *dsp)
{
    dsp->fma = fma_avx512;
    dsp->read = read_avx512;
}
