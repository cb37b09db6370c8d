/*
 * Rotary position embedding, AVX2. Plain products and sums, no FMA: the same
 * bits as C.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/math_avx2.h"
#include "libargus/dsp/x86/x86.h"
#include "libargus/dsp/rope_rows.h"

void ag_rope_init_avx2(AgRopeDsp *dsp)
{
    dsp->rotate = rotate;
}
