/*
 * What happens with a sum before it is stored, in plain C. Tiers have finish_rows.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_EPILOGUE_H
#define AG_DSP_EPILOGUE_H

#include <math.h>

#include "libargus/dsp/matmul.h"

/* v where there was out */
static inline float ag_epilogue(float v, float out, AgEpilogue epi)
{
    switch (epi) {
    case AG_EPI_ADD: return v + out;
    case AG_EPI_GELU:
        return 0.5f * v * (1.0f + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v)));
    case AG_EPI_SILU_MUL: return v / (1.0f + expf(-v)) * out;
    default: return v;
    }
}

#endif /* AG_DSP_EPILOGUE_H */
