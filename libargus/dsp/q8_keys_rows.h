/*
 * AgQ8Dsp.keys from a tier's function for one key. To be included after it:
 *
 *     int key(int8_t *dst, float *scale, const float *x)    64 bytes; minus their sum
 *
 * Only static functions: compiled with the tier's instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_Q8_KEYS_ROWS_H
#define AG_DSP_Q8_KEYS_ROWS_H

#include <string.h>

#include "libargus/dsp/q8.h"

static void keys(int8_t *w, int16_t *sum, float *scale, const float *x, ptrdiff_t ld, int n,
                 int dim)
{
    int8_t row[AG_Q8_NR][AG_Q8_BLOCK] AG_ALIGNED(32);
    float copy[AG_Q8_BLOCK] = {0};

    for (int j0 = 0; j0 < n; j0 += AG_Q8_NR, w += AG_Q8_NR * AG_Q8_BLOCK) {
        memset(row, 0, sizeof(row));
        for (int c = 0; c < AG_Q8_NR; c++) {
            sum[j0 + c] = 0;
            scale[j0 + c] = 0;
            if (j0 + c >= n)
                continue;
            const float *src = x + (j0 + c) * ld;
            if (dim < AG_Q8_BLOCK)
                src = (const float *)memcpy(copy, src, (size_t)dim * sizeof(*src));
            sum[j0 + c] = (int16_t)key(row[c], scale + j0 + c, src);
        }
        for (int i = 0; i < AG_Q8_BLOCK / 4; i++)
            for (int c = 0; c < AG_Q8_NR; c++)
                memcpy(w + (i * AG_Q8_NR + c) * 4, row[c] + 4 * i, 4);
    }
}

#endif /* AG_DSP_Q8_KEYS_ROWS_H */
