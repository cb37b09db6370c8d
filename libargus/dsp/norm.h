/*
 * LayerNorm and RMSNorm over rows.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_NORM_H
#define AG_DSP_NORM_H

typedef struct AgExec AgExec;

typedef struct AgNormDsp {
    /* out[i] = (x[i] - mean) * rstd * w[i] + b[i], rstd = 1/sqrt(var + eps),
     * var over n (population). out may be x. n >= 1, any. Bounded: relative
     * error <= n * 2^-24 of the row's largest value. */
    void (*layernorm)(float *out, const float *x, const float *w, const float *b, int n, float eps);
    /* out[i] = w[i] * (x[i] * 1/sqrt(mean(x^2) + eps)). out may be x. */
    void (*rmsnorm)(float *out, const float *x, const float *w, int n, float eps);
} AgNormDsp;

void ag_norm_init(AgNormDsp *dsp, unsigned cpu);

/* m rows of n; ld floats from row to row of x, out is dense [m, n]. */
void ag_layernorm(AgExec *x, float *out, const float *in, int ld, const float *w, const float *b,
                  int m, int n, float eps);
void ag_rmsnorm(AgExec *x, float *out, const float *in, int ld, const float *w, int m, int n,
                float eps);

#endif /* AG_DSP_NORM_H */
