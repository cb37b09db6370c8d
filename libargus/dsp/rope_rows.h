/*
 * AgRopeDsp.rotate for any tier. To be included after a tier's math header, which has Vec and
 * what works on it. Only static functions: compiled with the tier's instruction-set
 * flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ROPE_ROWS_H
#define AG_DSP_ROPE_ROWS_H

static void rotate(float *x, const float *cosine, const float *sine, int dim)
{
    int half = dim / 2, i = 0;
    float *y = x + half;

    for (; i + VL <= half; i += VL) {
        Vec c = v_load(cosine + i), s = v_load(sine + i), a = v_load(x + i), b = v_load(y + i);
        v_store(x + i, v_sub(v_mul(a, c), v_mul(b, s)));
        v_store(y + i, v_add(v_mul(b, c), v_mul(a, s)));
    }
    for (; i < half; i++) {
        float a = x[i], b = y[i];
        x[i] = a * cosine[i] - b * sine[i];
        y[i] = b * cosine[i] + a * sine[i];
    }
}

#endif /* AG_DSP_ROPE_ROWS_H */
