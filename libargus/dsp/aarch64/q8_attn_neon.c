/*
 * Keys, values and probabilities of attention as int8, NEON. See q8_attn.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <math.h>

#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/q8_tile_neon.h"

enum { BLOCK = AG_Q8_BLOCK, NR = AG_Q8_NR, BLOCKS = 16 };

/* One key as 64 bytes. @return minus their sum. */
AG_INLINE int key(int8_t *dst, float *scale, const float *x)
{
    float inverse;
    int sum = 0;

    *scale = ag_q8_scale(top_64(x), AG_Q8_WEIGHT, &inverse);
    AG_UNROLL
    for (int i = 0; i < BLOCK; i += 16) {
        int8x16_t b = bytes16(x + i, inverse, AG_Q8_WEIGHT);
        vst1q_s8(dst + i, b);
        sum += vaddlvq_s8(b);
    }
    return -sum;
}

#include "libargus/dsp/q8_keys_rows.h" /* needs key() */

/* n of 4 keys of 4 dims: byte r of a lane is key r's. */
AG_INLINE int8x16_t four_keys(const float *x, ptrdiff_t ld, int n, float32x4_t inverse)
{
    int32x4_t v = vdupq_n_s32(0);

    AG_UNROLL
    for (int r = 3; r >= 0; r--) {
        int32x4_t q = vdupq_n_s32(0);
        if (r < n)
            q = whole4(vld1q_f32(x + r * ld), inverse, AG_Q8_WEIGHT);
        v = vsliq_n_s32(q, v, 8);
    }
    return vreinterpretq_s8_s32(v);
}

static void values_neon(int8_t *w, float *scale, const float *x, ptrdiff_t ld, int n, int dim)
{
    int blocks = (n + BLOCK - 1) / BLOCK, all = AG_ALIGN_UP(dim, NR);
    float32x4_t top[BLOCK / 4];
    float t[BLOCK], inverse[BLOCK];

    memset(w, 0, (size_t)(all * blocks * BLOCK));
    memset(scale, 0, (size_t)all * sizeof(*scale));
    for (int d = 0; d < BLOCK / 4; d++)
        top[d] = vdupq_n_f32(0);
    for (int j = 0; j < n; j++)
        for (int d = 0; d < dim / 4; d++)
            top[d] = larger(top[d], vabsq_f32(vld1q_f32(x + j * ld + 4 * d)));
    for (int d = 0; d < dim / 4; d++)
        vst1q_f32(t + 4 * d, top[d]);
    for (int d = 0; d < dim; d++)
        scale[d] = ag_q8_scale(t[d], AG_Q8_WEIGHT, &inverse[d]);
    for (int j = 0; j < n; j += 4) {
        for (int d = 0; d < dim; d += 4) {
            int8_t *dst = w + d / NR * blocks * BLOCK * NR + j * NR + d % NR * 4;
            float32x4_t inv = vld1q_f32(inverse + d);
            if (n - j >= 4)
                vst1q_s8(dst, four_keys(x + j * ld + d, ld, 4, inv));
            else
                vst1q_s8(dst, four_keys(x + j * ld + d, ld, n - j, inv));
        }
    }
}

/* v: 64 scores, -infinity from n on. @return the largest. */
AG_INLINE float load_block(float v[BLOCK], const float *s, ptrdiff_t step, const float *k_scale,
                           int n)
{
    const float32x4_t none = vdupq_n_f32(-INFINITY);
    float32x4_t top = none;

    for (int i = 0; i < BLOCK; i += 4) {
        const float *from = s + i / NR * step + i % NR;
        float32x4_t x = none;
        int k = AG_MIN(n - i, 4);
        if (k == 4)
            x = vmulq_f32(vld1q_f32(from), vld1q_f32(k_scale + i));
        else if (k > 0)
            x = v_first(vmulq_f32(load_part(from, k), load_part(k_scale + i, k)), k, none);
        vst1q_f32(v + i, x);
        top = larger(top, x);
    }
    return max_lanes(top);
}

/* 127 * 2^x to 1e-4 for x <= 0, which is nothing beside the rounding that
 * follows; at most 2^-23 below -30 and for NaN, 127 for 0. */
AG_INLINE float32x4_t exp127_ps(float32x4_t x)
{
    const float32x4_t magic = vdupq_n_f32(12582912.0f); /* whole numbers come to the lowest bits */
    x = vmaxnmq_f32(x, vdupq_n_f32(-30.0f));
    float32x4_t t = vaddq_f32(x, magic);
    float32x4_t r = vsubq_f32(x, vsubq_f32(t, magic));
    float32x4_t p = step_ps(vdupq_n_f32(6.98613f), r, 30.7608f);
    p = step_ps(p, r, 88.0469f);
    p = step_ps(p, r, 127.0f);
    uint32x4_t n = vshlq_n_u32(vreinterpretq_u32_f32(t), 23);
    return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(p), n));
}

/* 127 * 2^(v - top) as bytes; NaN: 0. @return their sum. */
AG_INLINE int probabilities(uint8_t *p, const float v[BLOCK], float top)
{
    int sum = 0;

    for (int i = 0; i < BLOCK; i += 16) {
        int32x4_t q[4];
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            q[j] = vcvtnq_s32_f32(exp127_ps(vsubq_f32(vld1q_f32(v + i + 4 * j), vdupq_n_f32(top))));
        uint8x16_t b = vreinterpretq_u8_s8(narrow16(q));
        vst1q_u8(p + i, b);
        sum += vaddlvq_u8(b);
    }
    return sum;
}

static void softmax_neon(uint8_t *p, float *scale, const float *s, ptrdiff_t step,
                         const float *k_scale, int n)
{
    float top[BLOCKS], sum[BLOCKS], most = -INFINITY;
    float32x4_t e[BLOCKS / 4], all = vdupq_n_f32(0);
    int blocks = (n + BLOCK - 1) / BLOCK;

    for (int b = 0; b < BLOCKS; b++) {
        top[b] = -INFINITY;
        sum[b] = 0;
    }
    for (int b = 0; b < blocks; b++, s += 4 * step, k_scale += BLOCK) {
        float v[BLOCK];
        top[b] = load_block(v, s, step, k_scale, n - b * BLOCK);
        most = AG_MAX(most, top[b]);
        sum[b] = (float)probabilities(p + b * BLOCK, v, top[b]);
    }
    AG_UNROLL
    for (int i = 0; i < BLOCKS / 4; i++) {
        e[i] = exp2_ps(vsubq_f32(vld1q_f32(top + 4 * i), vdupq_n_f32(most)));
        all = vfmaq_f32(all, e[i], vld1q_f32(sum + 4 * i));
    }
    float total = sum_lanes(all);
    AG_UNROLL
    for (int i = 0; i < BLOCKS / 4; i++)
        vst1q_f32(top + 4 * i, vdivq_f32(e[i], vdupq_n_f32(total)));
    memcpy(scale, top, (size_t)blocks * sizeof(*scale));
}

void ag_q8_attn_init_neon(AgQ8Dsp *dsp)
{
    dsp->keys = keys;
    dsp->values = values_neon;
    dsp->softmax = softmax_neon;
}
