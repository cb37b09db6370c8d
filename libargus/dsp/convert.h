/*
 * Pixels to the vision tower's patches.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_CONVERT_H
#define AG_DSP_CONVERT_H

#include "libargus/base/common.h"

typedef struct AgConvertDsp {
    /* One patch: out[c*P*P + y*P + x] = lut[c][in[y*stride + x*3 + c]], the
     * order of the convolution's weights. Exact. */
    void (*patch)(float *out, const uint8_t *in, ptrdiff_t stride, int patch,
                  const float lut[3][256]);
} AgConvertDsp;

void ag_convert_init(AgConvertDsp *dsp, unsigned cpu);

#endif /* AG_DSP_CONVERT_H */
