/*
 * Activations and softmax.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ACT_H
#define AG_DSP_ACT_H

typedef struct AgActDsp {
    /* x[i] = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), in place.
     * Bounded: absolute error <= 1e-6 * max(1, |x|); never above x for x > 0;
     * gelu(-9) = -0.0 or 0 to 1e-6. */
    void (*gelu)(float *x, int n);
    /* x[i] = x / (1 + exp(-x)), in place. */
    void (*silu)(float *x, int n);
    /* x[i] = exp(x[i] - max), returns the sum; softmax = times 1/sum. */
    float (*exp_sum)(float *x, int n, float max);
} AgActDsp;

void ag_act_init(AgActDsp *dsp, unsigned cpu);

#endif /* AG_DSP_ACT_H */
