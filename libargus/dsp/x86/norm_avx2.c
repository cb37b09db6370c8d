/*
 * LayerNorm and RMSNorm, AVX2 with FMA.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/x86.h"
#include "libargus/dsp/norm_rows.h"

void ag_norm_init_avx2(AgNormDsp *dsp)
{
    dsp->layernorm = layernorm;
    dsp->rmsnorm = rmsnorm;
}
