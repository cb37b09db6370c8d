/*
 * Vectors: widening of stored numbers, sums, argmax.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_VEC_H
#define AG_DSP_VEC_H

#include "libargus/base/common.h"

typedef struct AgVecDsp {
    /* dst[i] = float32 of src[i]. Exact. Any alignment of 2. */
    void (*widen_bf16)(float *dst, const uint16_t *src, int n);
    void (*widen_f16)(float *dst, const uint16_t *src, int n);
    /* dst[i] += src[i]. Exact. */
    void (*add)(float *dst, const float *src, int n);
    /* Sum of exp(x[i] - max), no x[i] above max: to 1e-6 of it, and exp() below -87 is 0. */
    double (*sum_exp)(const float *x, float max, int n);
    /* Index of the largest value, the lowest one of several; NaN never wins.
     * Exact. */
    int (*argmax)(const float *x, int n);
} AgVecDsp;

void ag_vec_init(AgVecDsp *dsp, unsigned cpu);

/* n numbers of any stored type to float32. */
void ag_widen(const AgVecDsp *dsp, float *dst, const void *src, AgDtype type, int n);

#endif /* AG_DSP_VEC_H */
