/*
 * LayerNorm and RMSNorm, AVX2 with FMA.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <immintrin.h>
#include <math.h>

#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/x86.h"

/* Sum of x - sub, or of its square; four sums, then lanes in order. */
AG_INLINE float sum_row(const float *x, int n, float sub, const int square)
{
    __m256 s[4], m = _mm256_set1_ps(sub);
    int i = 0;

    AG_UNROLL
    for (int j = 0; j < 4; j++)
        s[j] = _mm256_setzero_ps();
    for (; i + 32 <= n; i += 32) {
        AG_UNROLL
        for (int j = 0; j < 4; j++) {
            __m256 d = _mm256_sub_ps(_mm256_loadu_ps(x + i + 8 * j), m);
            s[j] = square ? _mm256_fmadd_ps(d, d, s[j]) : _mm256_add_ps(d, s[j]);
        }
    }
    for (; i < n; i += 8) {
        __m256i k = lanes(n - i);
        __m256 d = _mm256_sub_ps(_mm256_maskload_ps(x + i, k), m);
        d = _mm256_and_ps(d, _mm256_castsi256_ps(k));
        s[0] = square ? _mm256_fmadd_ps(d, d, s[0]) : _mm256_add_ps(d, s[0]);
    }
    return sum_lanes(_mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3])));
}

static void layernorm_avx2(float *out, const float *x, const float *w, const float *b, int n,
                           float eps)
{
    float mean = sum_row(x, n, 0, 0) / (float)n;
    float rstd = 1.0f / sqrtf(sum_row(x, n, mean, 1) / (float)n + eps);
    __m256 m = _mm256_set1_ps(mean), r = _mm256_set1_ps(rstd);
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), m), r);
        v = _mm256_mul_ps(v, _mm256_loadu_ps(w + i));
        _mm256_storeu_ps(out + i, _mm256_add_ps(v, _mm256_loadu_ps(b + i)));
    }
    for (; i < n; i++)
        out[i] = (x[i] - mean) * rstd * w[i] + b[i];
}

static void rmsnorm_avx2(float *out, const float *x, const float *w, int n, float eps)
{
    float rms = 1.0f / sqrtf(sum_row(x, n, 0, 1) / (float)n + eps);
    __m256 r = _mm256_set1_ps(rms);
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_mul_ps(_mm256_loadu_ps(x + i), r);
        _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_loadu_ps(w + i), v));
    }
    for (; i < n; i++)
        out[i] = w[i] * (x[i] * rms);
}

void ag_norm_init_avx2(AgNormDsp *dsp)
{
    dsp->layernorm = layernorm_avx2;
    dsp->rmsnorm = rmsnorm_avx2;
}
