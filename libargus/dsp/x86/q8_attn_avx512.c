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

/* As exp127_ps of q8_attn_avx2.c. */
AG_INLINE __m512 exp127_ps(__m512 x)
{
    const __m512 magic = _mm512_set1_ps(12582912.0f);
    x = _mm512_max_ps(x, _mm512_set1_ps(-30.0f));
    __m512 t = _mm512_add_ps(x, magic);
    __m512 r = _mm512_sub_ps(x, _mm512_sub_ps(t, magic));
    __m512 p = _mm512_set1_ps(6.98613f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(30.7608f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(88.0469f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(127.0f));
    __m512i n = _mm512_slli_epi32(_mm512_castps_si512(t), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), n));
}

/* 64 scores, -infinity from n on */
AG_INLINE void load_block(__m512 v[4], const float *s, ptrdiff_t step, const float *k_scale, int n)
{
    AG_UNROLL
    for (int i = 0; i < 4; i++) {
        __mmask16 k = lanes(AG_MAX(n - 16 * i, 0));
        if (n >= BLOCK) {
            v[i] = _mm512_mul_ps(_mm512_loadu_ps(s + i * step), _mm512_loadu_ps(k_scale + 16 * i));
        } else {
            v[i] = _mm512_mul_ps(_mm512_maskz_loadu_ps(k, s + i * step),
                                 _mm512_maskz_loadu_ps(k, k_scale + 16 * i));
            v[i] = _mm512_mask_blend_ps(k, _mm512_set1_ps(-INFINITY), v[i]);
        }
    }
}

/* 4 x 16 integers as bytes, in order */
AG_INLINE __m512i narrow64(const __m512i q[4])
{
    __m512i v = _mm512_packs_epi16(_mm512_packs_epi32(q[0], q[1]), _mm512_packs_epi32(q[2], q[3]));
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7,
                                                      11, 15), v);
}

static void softmax_avx512(uint8_t *p, float *scale, const float *s, ptrdiff_t step,
                           const float *k_scale, int n)
{
    float top[BLOCKS] AG_ALIGNED(64), sum[BLOCKS] AG_ALIGNED(64);
    int blocks = (n + BLOCK - 1) / BLOCK;

    for (int b = 0; b < BLOCKS; b++) {
        top[b] = -INFINITY;
        sum[b] = 0;
    }
    for (int b = 0; b < blocks; b++, s += 4 * step, k_scale += BLOCK) {
        __m512 v[4];
        __m512i q[4], total = _mm512_setzero_si512();
        load_block(v, s, step, k_scale, n - b * BLOCK);
        __m512 t = _mm512_max_ps(_mm512_max_ps(v[0], v[1]), _mm512_max_ps(v[2], v[3]));
        top[b] = _mm512_reduce_max_ps(t);
        t = _mm512_set1_ps(top[b]);
        AG_UNROLL
        for (int i = 0; i < 4; i++) {
            q[i] = _mm512_cvtps_epi32(exp127_ps(_mm512_sub_ps(v[i], t)));
            total = _mm512_add_epi32(total, q[i]);
        }
        _mm512_storeu_si512(p + b * BLOCK, narrow64(q));
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
