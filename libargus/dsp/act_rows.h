/*
 * AgActDsp.gelu and silu for any tier. To be included after a tier's math header, which has Vec and
 * what works on it. Only static functions: compiled with the tier's instruction-set
 * flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ACT_ROWS_H
#define AG_DSP_ACT_ROWS_H

static void gelu(float *x, int n)
{
    int i = 0;

    for (; i + VL <= n; i += VL)
        v_store(x + i, gelu_ps(v_load(x + i)));
    if (i < n)
        v_store_part(x + i, gelu_ps(v_load_part(x + i, n - i)), n - i);
}

static void silu(float *x, int n)
{
    int i = 0;

    for (; i + VL <= n; i += VL)
        v_store(x + i, silu_ps(v_load(x + i)));
    if (i < n)
        v_store_part(x + i, silu_ps(v_load_part(x + i, n - i)), n - i);
}

#endif /* AG_DSP_ACT_ROWS_H */
