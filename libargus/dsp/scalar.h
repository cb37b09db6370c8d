/*
 * Stored numbers to float32, one at a time, at any address. For plain C
 * kernels only: files with instruction-set flags must not include it.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_SCALAR_H
#define AG_DSP_SCALAR_H

#include <string.h>

#include "libargus/base/common.h"

AG_INLINE float ag_bits_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

AG_INLINE float ag_load_bf16(const void *p, ptrdiff_t i)
{
    uint16_t h;
    memcpy(&h, (const char *)p + 2 * i, sizeof(h));
    return ag_bits_float((uint32_t)h << 16);
}

AG_INLINE float ag_load_f32(const void *p, ptrdiff_t i)
{
    float f;
    memcpy(&f, (const char *)p + 4 * i, sizeof(f));
    return f;
}

/* IEEE half: subnormals are exact in float32; a NaN becomes quiet and keeps
 * the rest of its bits, as the hardware does it. */
AG_INLINE float ag_load_f16(const void *p, ptrdiff_t i)
{
    uint16_t h;
    memcpy(&h, (const char *)p + 2 * i, sizeof(h));
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 31, frac = h & 1023;

    if (exp == 31)
        return ag_bits_float(sign | 0x7F800000u | frac << 13 | (frac ? 0x400000u : 0));
    if (exp == 0) {
        float f = (float)frac * 0x1p-24f;
        return sign ? -f : f;
    }
    return ag_bits_float(sign | (exp + 112) << 23 | frac << 13);
}

#endif /* AG_DSP_SCALAR_H */
