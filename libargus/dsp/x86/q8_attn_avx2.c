/*
 * Keys, values and probabilities of attention as int8, AVX2. See q8_attn.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>

#include "libargus/dsp/x86/q8_tile_avx2.h"
#include "libargus/dsp/x86/x86.h"

enum { BLOCK = AG_Q8_BLOCK, NR = AG_Q8_NR, BLOCKS = 16 };

AG_INLINE int sum_ints(__m256i v)
{
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
    return _mm_cvtsi128_si32(s);
}

/* One key as 64 bytes. @return minus their sum. */
AG_INLINE int key(int8_t *dst, float *scale, const float *x)
{
    const __m256i ones = _mm256_set1_epi8(1);
    float inverse;

    *scale = ag_q8_scale(top_64(x), AG_Q8_WEIGHT, &inverse);
    __m256 f = _mm256_set1_ps(inverse);
    __m256i a = bytes32(x, f, AG_Q8_WEIGHT), b = bytes32(x + 32, f, AG_Q8_WEIGHT);
    _mm256_store_si256((void *)dst, a);
    _mm256_store_si256((void *)(dst + 32), b);
    __m256i s = _mm256_add_epi16(_mm256_maddubs_epi16(ones, a), _mm256_maddubs_epi16(ones, b));
    return -sum_ints(_mm256_madd_epi16(s, _mm256_set1_epi16(1)));
}

#include "libargus/dsp/q8_keys_rows.h" /* needs key() */

/* 4 keys of 8 dims: byte r of a lane is key r's. */
AG_INLINE __m256i four_keys(const float *x, ptrdiff_t ld, int n, __m256 inverse)
{
    const __m256i low = _mm256_set1_epi32(0xFF);
    __m256i v = _mm256_setzero_si256();

    AG_UNROLL
    for (int r = 3; r >= 0; r--) {
        v = _mm256_slli_epi32(v, 8);
        if (r < n) {
            __m256i q = whole8(_mm256_loadu_ps(x + r * ld), inverse, AG_Q8_WEIGHT);
            v = _mm256_or_si256(v, _mm256_and_si256(q, low));
        }
    }
    return v;
}

static void values_avx2(int8_t *w, float *scale, const float *x, ptrdiff_t ld, int n, int dim)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    int blocks = (n + BLOCK - 1) / BLOCK, all = AG_ALIGN_UP(dim, NR);
    __m256 top[BLOCK / 8], inverse[BLOCK / 8];
    float t[8], inv[8];

    memset(w, 0, (size_t)(all * blocks * BLOCK));
    memset(scale, 0, (size_t)all * sizeof(*scale));
    for (int d = 0; d < BLOCK / 8; d++)
        top[d] = _mm256_setzero_ps();
    for (int j = 0; j < n; j++)
        for (int d = 0; d < dim / 8; d++)
            top[d] = _mm256_max_ps(_mm256_andnot_ps(sign, _mm256_loadu_ps(x + j * ld + 8 * d)),
                                   top[d]);
    for (int d = 0; d < dim / 8; d++) {
        _mm256_storeu_ps(t, top[d]);
        for (int i = 0; i < 8; i++)
            scale[8 * d + i] = ag_q8_scale(t[i], AG_Q8_WEIGHT, &inv[i]);
        inverse[d] = _mm256_loadu_ps(inv);
    }
    for (int j = 0; j < n; j += 4) {
        for (int d = 0; d < dim / 8; d++) {
            int8_t *dst = w + d / 2 * blocks * BLOCK * NR + j * NR + d % 2 * 32;
            const float *src = x + j * ld + 8 * d;
            __m256i v = n - j >= 4 ? four_keys(src, ld, 4, inverse[d])
                                   : four_keys(src, ld, n - j, inverse[d]);
            _mm256_store_si256((void *)dst, v);
        }
    }
}

/* 127 * 2^x to 1e-4 for x <= 0, which is nothing beside the rounding that
 * follows; at most 2^-23 below -30 and for NaN, 127 for 0. */
AG_INLINE __m256 exp127_ps(__m256 x)
{
    const __m256 magic = _mm256_set1_ps(12582912.0f); /* whole numbers come to the lowest bits */
    x = _mm256_max_ps(x, _mm256_set1_ps(-30.0f));
    __m256 t = _mm256_add_ps(x, magic);
    __m256 r = _mm256_sub_ps(x, _mm256_sub_ps(t, magic));
    __m256 p = _mm256_set1_ps(6.98613f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(30.7608f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(88.0469f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(127.0f));
    __m256i n = _mm256_slli_epi32(_mm256_castps_si256(t), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), n));
}

/* 64 scores, -infinity from n on. @return the largest. */
AG_INLINE float load_block(__m256 v[8], const float *s, ptrdiff_t step, const float *k_scale, int n)
{
    __m256 top = _mm256_set1_ps(-INFINITY);

    AG_UNROLL
    for (int i = 0; i < 8; i++) {
        __m256i k = lanes(n - 8 * i);
        if (n >= BLOCK) {
            v[i] = _mm256_mul_ps(_mm256_loadu_ps(s + i / 2 * step + i % 2 * 8),
                                 _mm256_loadu_ps(k_scale + 8 * i));
        } else {
            v[i] = _mm256_mul_ps(_mm256_maskload_ps(s + i / 2 * step + i % 2 * 8, k),
                                 _mm256_maskload_ps(k_scale + 8 * i, k));
            v[i] = _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), v[i], _mm256_castsi256_ps(k));
        }
        top = _mm256_max_ps(v[i], top);
    }
    return max_lanes(top);
}

static void softmax_avx2(uint8_t *p, float *scale, const float *s, ptrdiff_t step,
                         const float *k_scale, int n)
{
    float top[BLOCKS] AG_ALIGNED(32), sum[BLOCKS] AG_ALIGNED(32), most = -INFINITY;
    int blocks = (n + BLOCK - 1) / BLOCK;

    for (int b = 0; b < BLOCKS; b++) {
        top[b] = -INFINITY;
        sum[b] = 0;
    }
    for (int b = 0; b < blocks; b++, s += 4 * step, k_scale += BLOCK) {
        __m256 v[8];
        __m256i q[8], total = _mm256_setzero_si256();
        top[b] = load_block(v, s, step, k_scale, n - b * BLOCK);
        most = AG_MAX(most, top[b]);
        __m256 t = _mm256_set1_ps(top[b]);
        AG_UNROLL
        for (int i = 0; i < 8; i++) {
            q[i] = _mm256_cvtps_epi32(exp127_ps(_mm256_sub_ps(v[i], t)));
            total = _mm256_add_epi32(total, q[i]);
        }
        _mm256_storeu_si256((void *)(p + b * BLOCK), narrow32(q[0], q[1], q[2], q[3]));
        _mm256_storeu_si256((void *)(p + b * BLOCK + 32), narrow32(q[4], q[5], q[6], q[7]));
        sum[b] = (float)sum_ints(total);
    }
    __m256 m = _mm256_set1_ps(most);
    __m256 e0 = exp2_ps(_mm256_sub_ps(_mm256_load_ps(top), m));
    __m256 e1 = exp2_ps(_mm256_sub_ps(_mm256_load_ps(top + 8), m));
    __m256 all = _mm256_fmadd_ps(e1, _mm256_load_ps(sum + 8),
                                 _mm256_mul_ps(e0, _mm256_load_ps(sum)));
    all = _mm256_set1_ps(sum_lanes(all));
    _mm256_store_ps(top, _mm256_div_ps(e0, all));
    _mm256_store_ps(top + 8, _mm256_div_ps(e1, all));
    memcpy(scale, top, (size_t)blocks * sizeof(*scale));
}

void ag_q8_attn_init_avx2(AgQ8Dsp *dsp)
{
    dsp->keys = keys;
    dsp->values = values_avx2;
    dsp->softmax = softmax_avx2;
}
