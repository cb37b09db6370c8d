/*
 * AgQ8Dsp.quantise from a tier's function for one block. To be included after it:
 *
 *     void quantise_64(uint8_t *q, float *scale, const float *x)
 *
 * Only static functions: compiled with the tier's instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_Q8_INPUT_ROWS_H
#define AG_DSP_Q8_INPUT_ROWS_H

#include <string.h>

#include "libargus/dsp/q8.h"

static void quantise(uint8_t *q, float *scale, const float *x, int n)
{
    float copy[AG_Q8_BLOCK] = {0};
    int i = 0;

    for (; i + AG_Q8_BLOCK <= n; i += AG_Q8_BLOCK)
        quantise_64(q + i, scale++, x + i);
    if (i < n) {
        memcpy(copy, x + i, (size_t)(n - i) * sizeof(*x));
        quantise_64(q + i, scale, copy);
    }
}

#endif /* AG_DSP_Q8_INPUT_ROWS_H */
