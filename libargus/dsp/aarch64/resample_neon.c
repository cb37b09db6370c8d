/*
 * Resampling with NEON. Exact, modulo 2^32 like the plain C: bytes are widened
 * to 32 bits and multiplied by the coefficients as they are, one operation for
 * four products; two signed words, as on x86, would need two.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <arm_neon.h>
#include <string.h>

#include "libargus/dsp/aarch64/aarch64.h"

enum { PRECISION = 22 };
static const uint32_t HALF = 1u << (PRECISION - 1);

AG_INLINE int32x4_t shifted(uint32x4_t sum)
{
    return vshrq_n_s32(vreinterpretq_s32_u32(sum), PRECISION);
}

/* Sums of eight bytes, rounded and cut to 0..255. */
AG_INLINE uint8x8_t clipped(uint32x4_t low, uint32x4_t high)
{
    return vqmovn_u16(vcombine_u16(vqmovun_s32(shifted(low)), vqmovun_s32(shifted(high))));
}

/* --- horizontal: four taps of one output pixel a step, R G B - in four lanes */

/* Bytes of pixel i of four, 12 bytes in all, as R G B -; 255 gives 0. */
static const uint8_t spread[4][16] = {
#define PIXEL(i) {3 * (i), 255, 255, 255, 3 * (i) + 1, 255, 255, 255, 3 * (i) + 2, 255, 255, 255, \
                  255, 255, 255, 255}
    PIXEL(0), PIXEL(1), PIXEL(2), PIXEL(3),
#undef PIXEL
};

typedef struct Masks {
    uint8x16_t pixel[4];
} Masks;

/* 12 bytes and not one more. */
AG_INLINE uint8x16_t load12(const uint8_t *p)
{
    uint32_t tail;

    memcpy(&tail, p + 8, sizeof(tail));
    return vcombine_u8(vld1_u8(p), vcreate_u8(tail));
}

AG_INLINE uint32x4_t widened(uint8x16_t pixels, uint8x16_t mask)
{
    return vreinterpretq_u32_u8(vqtbl1q_u8(pixels, mask));
}

/* Four taps; two sums take turns. */
AG_INLINE void step(uint32x4_t s[2], const Masks *m, uint8x16_t pixels, uint32x4_t k)
{
    s[0] = vmlaq_laneq_u32(s[0], widened(pixels, m->pixel[0]), k, 0);
    s[1] = vmlaq_laneq_u32(s[1], widened(pixels, m->pixel[1]), k, 1);
    s[0] = vmlaq_laneq_u32(s[0], widened(pixels, m->pixel[2]), k, 2);
    s[1] = vmlaq_laneq_u32(s[1], widened(pixels, m->pixel[3]), k, 3);
}

AG_INLINE uint32x4_t load_coefs(const int32_t *coef)
{
    return vreinterpretq_u32_s32(vld1q_s32(coef));
}

/* One output pixel: R G B - as sums. The last, odd taps are taken with those
 * before them once more, whose coefficients are then 0; fewer than four taps
 * go through a copy. Nothing outside the taps is read. */
AG_INLINE uint32x4_t pixel(const Masks *m, const uint8_t *p, const int32_t *coef, int count)
{
    static const uint32_t last[8] = {0, 0, 0, 0, ~0u, ~0u, ~0u, ~0u};
    uint32x4_t s[2] = {vdupq_n_u32(HALF), vdupq_n_u32(0)};
    int i = 0;

    for (; i + 4 <= count; i += 4)
        step(s, m, load12(p + i * 3), load_coefs(coef + i));
    if (i < count && count >= 4) {
        uint32x4_t k = load_coefs(coef + count - 4);
        step(s, m, load12(p + (count - 4) * 3), vandq_u32(k, vld1q_u32(last + count - i)));
    } else if (i < count) {
        uint8_t bytes[16] = {0};
        int32_t few[4] = {0};
        memcpy(bytes, p, (size_t)count * 3);
        memcpy(few, coef, (size_t)count * sizeof(*coef));
        step(s, m, vld1q_u8(bytes), load_coefs(few));
    }
    return vaddq_u32(s[0], s[1]);
}

static void horiz_row(uint8_t *out, const uint8_t *in, int w, const int *lo, const int *count,
                      const int32_t *coef, int n_coef)
{
    static const uint8_t pack[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 255, 255, 255, 255};
    Masks m;
    int x = 0;

    for (int i = 0; i < 4; i++)
        m.pixel[i] = vld1q_u8(spread[i]);
    for (; x + 4 <= w; x += 4, out += 12) {
        uint32x4_t s[4];
        AG_UNROLL
        for (int j = 0; j < 4; j++)
            s[j] = pixel(&m, in + (ptrdiff_t)lo[x + j] * 3, coef + (ptrdiff_t)(x + j) * n_coef,
                         count[x + j]);
        uint8x16_t rgb = vcombine_u8(clipped(s[0], s[1]), clipped(s[2], s[3]));
        rgb = vqtbl1q_u8(rgb, vld1q_u8(pack));
        vst1_u8(out, vget_low_u8(rgb));
        uint32_t tail = vgetq_lane_u32(vreinterpretq_u32_u8(rgb), 2);
        memcpy(out + 8, &tail, sizeof(tail));
    }
    for (; x < w; x++, out += 3) {
        uint32x4_t s = pixel(&m, in + (ptrdiff_t)lo[x] * 3, coef + (ptrdiff_t)x * n_coef, count[x]);
        uint8_t rgb[8];
        vst1_u8(rgb, clipped(s, s));
        memcpy(out, rgb, 3);
    }
}

static void horiz_neon(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step,
                       int rows, int w, const int *lo, const int *count, const int32_t *coef,
                       int n_coef)
{
    for (int y = 0; y < rows; y++)
        horiz_row(out + y * out_step, in + y * in_step, w, lo, count, coef, n_coef);
}

/* --- vertical: 16 columns in four vectors */

/* 16 * n columns, n = 1 or 2. */
AG_INLINE void block(uint8_t *out, const uint8_t *in, ptrdiff_t stride, int count,
                     const int32_t *coef, const int n)
{
    uint32x4_t s[8];

    AG_UNROLL
    for (int j = 0; j < 4 * n; j++)
        s[j] = vdupq_n_u32(HALF);
    for (int i = 0; i < count; i++, in += stride) {
        uint32_t k = (uint32_t)coef[i];
        AG_UNROLL
        for (int j = 0; j < n; j++) {
            uint8x16_t v = vld1q_u8(in + 16 * j);
            uint16x8_t low = vmovl_u8(vget_low_u8(v)), high = vmovl_u8(vget_high_u8(v));
            s[4 * j] = vmlaq_n_u32(s[4 * j], vmovl_u16(vget_low_u16(low)), k);
            s[4 * j + 1] = vmlaq_n_u32(s[4 * j + 1], vmovl_u16(vget_high_u16(low)), k);
            s[4 * j + 2] = vmlaq_n_u32(s[4 * j + 2], vmovl_u16(vget_low_u16(high)), k);
            s[4 * j + 3] = vmlaq_n_u32(s[4 * j + 3], vmovl_u16(vget_high_u16(high)), k);
        }
    }
    AG_UNROLL
    for (int j = 0; j < n; j++)
        vst1q_u8(out + 16 * j, vcombine_u8(clipped(s[4 * j], s[4 * j + 1]),
                                           clipped(s[4 * j + 2], s[4 * j + 3])));
}

static void vert_neon(uint8_t *out, const uint8_t *in, ptrdiff_t stride, int count,
                      const int32_t *coef, int n)
{
    int x = 0;

    for (; x + 32 <= n; x += 32)
        block(out + x, in + x, stride, count, coef, 2);
    for (; x + 16 <= n; x += 16)
        block(out + x, in + x, stride, count, coef, 1);
    if (x < n && n >= 16) { /* the last ones once more, with their neighbours */
        block(out + n - 16, in + n - 16, stride, count, coef, 1);
        return;
    }
    for (; x < n; x++) {
        uint32_t sum = HALF;
        for (int i = 0; i < count; i++)
            sum += in[x + i * stride] * (uint32_t)coef[i];
        int32_t v = (int32_t)sum >> PRECISION;
        out[x] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

void ag_resample_init_neon(AgResampleDsp *dsp)
{
    dsp->horiz = horiz_neon;
    dsp->vert = vert_neon;
}
