/*
 * Pillow's LANCZOS resampling of 8-bit pictures, bit for bit: horizontal pass
 * into 8 bits, then vertical pass (smolvlm.md's description of
 * libImaging/Resample.c; Pillow itself is the reference in the tests).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_RESAMPLE_H
#define AG_DSP_RESAMPLE_H

#include "libargus/base/common.h"

typedef struct AgExec AgExec;

typedef struct AgResampleDsp {
    /* Each of `rows` rows, which are out_step and in_step bytes apart:
     * out[x*3+c] = clip8((2^21 + sum_i in[(lo[x]+i)*3+c] * coef[x*n_coef+i]) >> 22)
     * for x in 0..w-1, i < count[x]. Exact. */
    void (*horiz)(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step, int rows,
                  int w, const int *lo, const int *count, const int32_t *coef, int n_coef);
    /* One row of n bytes from `count` rows:
     * out[x] = clip8((2^21 + sum_i in[i*stride+x] * coef[i]) >> 22). Exact. */
    void (*vert)(uint8_t *out, const uint8_t *in, ptrdiff_t stride, int count, const int32_t *coef,
                 int n);
} AgResampleDsp;

void ag_resample_init(AgResampleDsp *dsp, unsigned cpu);

/* Resize RGB24 [in_h, in_stride] to dense [out_h, out_w, 3]. Equal sizes copy.
 * The vertical pass runs over bands, so only few rows exist between the passes.
 * x may be NULL for a single thread and plain C. @return 0 or ARGUS_ERR(ENOMEM). */
int ag_resample(AgExec *x, uint8_t *out, int out_w, int out_h, const uint8_t *in, int in_w,
                int in_h, ptrdiff_t in_stride);

#endif /* AG_DSP_RESAMPLE_H */
