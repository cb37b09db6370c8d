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

AG_INLINE Vec epilogue(Vec v, Vec old, const AgEpilogue epi)
{
    if (epi == AG_EPI_ADD)
        return v_add(v, old);
    if (epi == AG_EPI_GELU)
        return gelu_ps(v);
    return epi == AG_EPI_SILU_MUL ? v_mul(silu_ps(v), old) : v;
}

/* n <= VL columns of finish_rows(); epi and part (n < VL) are constants. */
AG_INLINE void finish_column(float *out, ptrdiff_t ld, const float *acc, int ld_acc, int m, int n,
                             const float *w_scale, Vec bias, Vec scale, const AgEpilogue epi,
                             const int part)
{
    Vec w = w_scale ? v_load(w_scale) : bias;

    for (int r = 0; r < m; r++, out += ld, acc += ld_acc) {
        Vec v = v_load(acc), old = v;
        if (epi == AG_EPI_ADD || epi == AG_EPI_SILU_MUL)
            old = part ? v_load_part(out, n) : v_load(out);
        v = v_mul(w_scale ? v_fma(v, w, bias) : v_add(v, bias), scale);
        v = epilogue(v, old, epi);
        if (part)
            v_store_part(out, v, n);
        else
            v_store(out, v);
    }
}

AG_INLINE void finish_columns(float *out, ptrdiff_t ld, const float *acc, int ld_acc, int m, int n,
                              const float *w_scale, const float *bias, float scale,
                              const AgEpilogue epi)
{
    const Vec mul = v_all(scale);

    for (int c = 0; c < n; c += VL) {
        int k = AG_MIN(n - c, (int)VL);
        Vec add = bias ? v_load_part(bias + c, k) : v_all(0);
        const float *w = w_scale ? w_scale + c : NULL;
        if (k == VL)
            finish_column(out + c, ld, acc + c, ld_acc, m, k, w, add, mul, epi, 0);
        else
            finish_column(out + c, ld, acc + c, ld_acc, m, k, w, add, mul, epi, 1);
    }
}

/* out[r*ld + c] = epilogue of (acc[r*ld_acc + c] + bias[c]) * scale, or of
 * fma(acc, w_scale[c], bias[c]) * scale if there is a w_scale, for r < m, c < n */
AG_INLINE void finish_rows(float *out, ptrdiff_t ld, const float *acc, int ld_acc, int m, int n,
                           const float *w_scale, const float *bias, float scale, AgEpilogue epi)
{
#define FINISH(e) finish_columns(out, ld, acc, ld_acc, m, n, w_scale, bias, scale, e)
    switch (epi) {
    case AG_EPI_ADD: FINISH(AG_EPI_ADD); break;
    case AG_EPI_GELU: FINISH(AG_EPI_GELU); break;
    case AG_EPI_SILU_MUL: FINISH(AG_EPI_SILU_MUL); break;
    default: FINISH(AG_EPI_STORE); break;
    }
#undef FINISH
}

#endif /* AG_DSP_FINISH_ROWS_H */
