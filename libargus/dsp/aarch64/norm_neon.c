/*
 * LayerNorm and RMSNorm, NEON.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/norm_rows.h"

void ag_norm_init_neon(AgNormDsp *dsp)
{
    dsp->layernorm = layernorm;
    dsp->rmsnorm = rmsnorm;
}
