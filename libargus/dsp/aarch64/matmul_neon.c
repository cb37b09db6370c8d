/*
 * Matrix products, NEON: tiles of 8 rows by 8 columns. doc/kernels.md has the
 * why.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>
#include <string.h>

#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/aarch64/tile_neon.h"

/* ------------------------------------------------------------------------ */
/* Packing                                                                   */

/* x[r] lane c -> x[c] lane r, 8 lanes of 16 bits */
AG_INLINE void transpose8(uint16x8_t x[8])
{
    uint32x4_t p[8];

    AG_UNROLL
    for (int i = 0; i < 8; i += 2) { /* p[i]: pairs of rows i, i+1; even columns, then odd */
        p[i] = vreinterpretq_u32_u16(vtrn1q_u16(x[i], x[i + 1]));
        p[i + 1] = vreinterpretq_u32_u16(vtrn2q_u16(x[i], x[i + 1]));
    }
    AG_UNROLL
    for (int j = 0; j < 2; j++) { /* j: parity of the column */
        uint64x2_t a = vreinterpretq_u64_u32(vtrn1q_u32(p[j], p[j + 2])); /* columns j, j+4 */
        uint64x2_t b = vreinterpretq_u64_u32(vtrn2q_u32(p[j], p[j + 2])); /* columns j+2, j+6 */
        uint64x2_t c = vreinterpretq_u64_u32(vtrn1q_u32(p[j + 4], p[j + 6]));
        uint64x2_t d = vreinterpretq_u64_u32(vtrn2q_u32(p[j + 4], p[j + 6]));
        x[j] = vreinterpretq_u16_u64(vtrn1q_u64(a, c));
        x[j + 2] = vreinterpretq_u16_u64(vtrn1q_u64(b, d));
        x[j + 4] = vreinterpretq_u16_u64(vtrn2q_u64(a, c));
        x[j + 6] = vreinterpretq_u16_u64(vtrn2q_u64(b, d));
    }
}

/* 8 values of k of n columns, left of them there; zeros for the rest. */
AG_INLINE void load8x8(uint16x8_t x[8], const uint16_t *w, ptrdiff_t ld, int n, int left)
{
    uint16_t copy[NR][8] = {{0}};

    if (n >= NR && left == 8) {
        AG_UNROLL
        for (int c = 0; c < NR; c++)
            x[c] = vld1q_u16(w + c * ld);
        return;
    }
    for (int c = 0; c < AG_MIN(n, NR); c++)
        memcpy(copy[c], w + c * ld, (size_t)left * sizeof(*w));
    AG_UNROLL
    for (int c = 0; c < NR; c++)
        x[c] = vld1q_u16(copy[c]);
}

/* 2-byte weights. The next 8 columns are prefetched. */
AG_INLINE void pack_2byte(float *dst, const uint16_t *w, ptrdiff_t ld, int n, int k,
                          const int half)
{
    for (int i = 0; i < k; i += 8) {
        int left = AG_MIN(k - i, 8);
        uint16x8_t x[8];
        load8x8(x, w + i, ld, n, left);
        for (int c = 0; c < NR && i % 32 == 0; c++) /* a line of 64 bytes */
            AG_PREFETCH(w + (c + NR) * ld + i);
        transpose8(x);
        AG_UNROLL
        for (int j = 0; j < 8; j++, dst += NR) {
            if (j >= left)
                break;
            vst1q_f32(dst, widen4(vget_low_u16(x[j]), half));
            vst1q_f32(dst + 4, widen4(vget_high_u16(x[j]), half));
        }
    }
}

static void pack_bf16_neon(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    pack_2byte(dst, w, ld, n, k, 0);
}

static void pack_f16_neon(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    pack_2byte(dst, w, ld, n, k, 1);
}

/* Weights are aligned to 2: floats are read as bytes. */
AG_INLINE float32x4_t load_bytes(const char *p)
{
    return vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)p));
}

/* 4 values of k of n columns, left of them there; zeros for the rest. */
AG_INLINE void load4x4(float32x4_t x[4], const char *w, ptrdiff_t ld, int n, int left)
{
    char copy[4][16] = {{0}};

    if (n >= 4 && left == 4) {
        AG_UNROLL
        for (int c = 0; c < 4; c++)
            x[c] = load_bytes(w + 4 * c * ld);
        return;
    }
    for (int c = 0; c < AG_MIN(n, 4); c++)
        memcpy(copy[c], w + 4 * c * ld, (size_t)left * 4);
    AG_UNROLL
    for (int c = 0; c < 4; c++)
        x[c] = load_bytes(copy[c]);
}

static void pack_f32_neon(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int c = 0; c < NR; c += 4) {
        for (int i = 0; i < k; i += 4) {
            int left = AG_MIN(k - i, 4);
            float32x4_t x[4];
            load4x4(x, (const char *)w + 4 * (c * ld + i), ld, n - c, left);
            transpose4(x);
            for (int j = 0; j < left; j++)
                vst1q_f32(dst + (ptrdiff_t)(i + j) * NR + c, x[j]);
        }
    }
}

/* ------------------------------------------------------------------------ */
/* Matrix times vector                                                       */

AG_INLINE float32x4_t load4(const char *w, ptrdiff_t i, const AgDtype type)
{
    if (type == AG_F32)
        return load_bytes(w + 4 * i);
    return widen4(vreinterpret_u16_u8(vld1_u8((const uint8_t *)(w + 2 * i))), type == AG_F16);
}

enum { STREAMS = 1 }; /* more were not timed */

AG_INLINE void dots(float *out, int ld, const char *w, size_t step, const float *x, int k,
                    const int rows, const AgDtype type)
{
    const int size = type == AG_F32 ? 4 : 2;
    float32x4_t s[8];
    int i = 0;

    AG_UNROLL
    for (int j = 0; j < 8; j++)
        s[j] = vdupq_n_f32(0);
    for (; i + 32 <= k; i += 32) {
        AG_UNROLL
        for (int j = 0; j < 8; j++)
            s[j] = vfmaq_f32(s[j], load4(w, i + 4 * j, type), vld1q_f32(x + i + 4 * j));
    }
    for (; i + 4 <= k; i += 4)
        s[0] = vfmaq_f32(s[0], load4(w, i, type), vld1q_f32(x + i));
    if (i < k) {
        char copy[16] = {0};
        memcpy(copy, w + size * i, (size_t)(size * (k - i)));
        s[1] = vfmaq_f32(s[1], load4(copy, 0, type), load_part(x + i, k - i));
    }
    AG_UNROLL
    for (int j = 0; j < 4; j++)
        s[j] = vaddq_f32(s[j], s[j + 4]);
    *out = sum_lanes(vaddq_f32(vaddq_f32(s[0], s[1]), vaddq_f32(s[2], s[3])));
    (void)ld, (void)step, (void)rows;
}

#include "libargus/dsp/matmul_rows.h" /* needs dots() */

void ag_matmul_init_neon(AgMatmulDsp *dsp)
{
    set_products(dsp);
    dsp->nc = 64;
    dsp->depth = 768;
    dsp->pack[AG_BF16] = pack_bf16_neon;
    dsp->pack[AG_F32] = pack_f32_neon;
    dsp->pack[AG_F16] = pack_f16_neon;
}
