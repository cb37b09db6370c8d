/*
 * Pixels to the vision tower's patches. Plain C on every machine: each value
 * is a look-up of its own, for which gather instructions are no faster.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/convert.h"

static void patch_c(float *out, const uint8_t *in, ptrdiff_t stride, int patch,
                    const float lut[3][256])
{
    for (int c = 0; c < 3; c++) {
        const uint8_t *row = in + c;

        for (int y = 0; y < patch; y++, row += stride)
            for (int x = 0; x < patch; x++)
                *out++ = lut[c][row[x * 3]];
    }
}

void ag_convert_init(AgConvertDsp *dsp, unsigned cpu)
{
    dsp->patch = patch_c;
    (void)cpu;
}
