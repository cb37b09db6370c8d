/*
 * From sums to output, for any tier: AgMatmulDsp.finish and AgQ8Dsp.finish. To be
 * included after a tier's math header, which has Vec and what works on it. Only
 * static functions: compiled with the tier's instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_FINISH_ROWS_H
#define AG_DSP_FINISH_ROWS_H

#include "libargus/dsp/matmul.h"

/* dst[0..n-1] = epilogue of v and what is there */
AG_INLINE void store_epilogue(float *dst, Vec v, int n, AgEpilogue epi)
{
    if (epi == AG_EPI_ADD)
        v = v_add(v, v_load_part(dst, n));
    else if (epi == AG_EPI_GELU)
        v = gelu_ps(v);
    else if (epi == AG_EPI_SILU_MUL)
        v = v_mul(silu_ps(v), v_load_part(dst, n));
    v_store_part(dst, v, n);
}

/* out[r*ld + c] = epilogue of (acc[r*ld_acc + c] + bias[c]) * scale, or of
 * fma(acc, w_scale[c], bias[c]) * scale if there is a w_scale, for r < m, c < n */
AG_INLINE void finish_rows(float *out, ptrdiff_t ld, const float *acc, int ld_acc, int m, int n,
                           const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
    const Vec mul = v_all(scale);

    for (int c = 0; c < n; c += VL) {
        int k = AG_MIN(n - c, (int)VL);
        Vec add = bias ? v_load_part(bias + c, k) : v_all(0);
        Vec w = w_scale ? v_load(w_scale + c) : add;
        for (int r = 0; r < m; r++) {
            Vec v = v_load(acc + r * ld_acc + c);
            v = w_scale ? v_fma(v, w, add) : v_add(v, add);
            store_epilogue(out + r * ld + c, v_mul(v, mul), k, epi);
        }
    }
}

#endif /* AG_DSP_FINISH_ROWS_H */
