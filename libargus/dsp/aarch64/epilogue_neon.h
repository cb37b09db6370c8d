/*
 * What happens with sums of a product before they are stored, NEON.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_AARCH64_EPILOGUE_NEON_H
#define AG_DSP_AARCH64_EPILOGUE_NEON_H

#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/matmul.h"

/* Lanes 0..n-1, 1 <= n <= 4, of memory, 0 in the others; 0 if p is NULL. */
AG_INLINE float32x4_t load_most(const float *p, int n)
{
    return !p ? vdupq_n_f32(0) : n == 4 ? vld1q_f32(p) : load_part(p, n);
}

/* dst[0..n-1] = epilogue of v and what is there */
AG_INLINE void store_epilogue(float *dst, float32x4_t v, int n, AgEpilogue epi)
{
    if (epi == AG_EPI_ADD)
        v = vaddq_f32(v, load_most(dst, n));
    else if (epi == AG_EPI_GELU)
        v = gelu_ps(v);
    else if (epi == AG_EPI_SILU_MUL)
        v = vmulq_f32(silu_ps(v), load_most(dst, n));
    if (n == 4)
        vst1q_f32(dst, v);
    else
        store_part(dst, v, n);
}

#endif /* AG_DSP_AARCH64_EPILOGUE_NEON_H */
