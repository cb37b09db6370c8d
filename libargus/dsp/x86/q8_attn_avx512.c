/*
 * Probabilities of attention as int8, AVX-512. See q8_attn.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>
#include <string.h>

#include "libargus/dsp/x86/math_avx512.h"
#include "libargus/dsp/x86/x86.h"

enum { BLOCK = AG_Q8_BLOCK, BLOCKS = 16 };

static void softmax_avx512(uint8_t *p, float *scale, const float *s, ptrdiff_t step,
                           const float *k_scale, int n)
{
    const __m512 f127 = _mm512_set1_ps(127), zero = _mm512_setzero_ps();
    float top[BLOCKS] AG_ALIGNED(64), sum[BLOCKS] AG_ALIGNED(64);
    int blocks = (n + BLOCK - 1) / BLOCK;

    for (int b = 0; b < BLOCKS; b++) {
        top[b] = -INFINITY;
        sum[b] = 0;
    }
    for (int b = 0; b < blocks; b++, s += 4 * step, k_scale += BLOCK) {
        __m512 v[4], t = _mm512_set1_ps(-INFINITY);
        __m512i total = _mm512_setzero_si512();
        AG_UNROLL
        for (int i = 0; i < 4; i++) {
            __mmask16 k = lanes(AG_MAX(n - b * BLOCK - 16 * i, 0));
            v[i] = _mm512_mul_ps(_mm512_maskz_loadu_ps(k, s + i * step),
                                 _mm512_maskz_loadu_ps(k, k_scale + 16 * i));
            v[i] = _mm512_mask_blend_ps(k, _mm512_set1_ps(-INFINITY), v[i]);
            t = _mm512_max_ps(v[i], t);
        }
        top[b] = _mm512_reduce_max_ps(t);
        t = _mm512_set1_ps(top[b]);
        AG_UNROLL
        for (int i = 0; i < 4; i++) {
            __m512 e = _mm512_mul_ps(exp2_ps(_mm512_sub_ps(v[i], t)), f127);
            e = _mm512_min_ps(_mm512_max_ps(e, zero), f127); /* NaN: 0 */
            __m512i q = _mm512_cvtps_epi32(e);
            total = _mm512_add_epi32(total, q);
            _mm_storeu_si128((void *)(p + b * BLOCK + 16 * i), _mm512_cvtepi32_epi8(q));
        }
        sum[b] = (float)_mm512_reduce_add_epi32(total);
    }
    __m512 tops = _mm512_load_ps(top);
    __m512 e = exp2_ps(_mm512_sub_ps(tops, _mm512_set1_ps(_mm512_reduce_max_ps(tops))));
    float all = _mm512_reduce_add_ps(_mm512_mul_ps(e, _mm512_load_ps(sum)));
    _mm512_store_ps(top, _mm512_div_ps(e, _mm512_set1_ps(all)));
    memcpy(scale, top, (size_t)blocks * sizeof(*scale));
}

void ag_q8_attn_init_avx512(AgQ8Dsp *dsp)
{
    dsp->softmax = softmax_avx512;
}
