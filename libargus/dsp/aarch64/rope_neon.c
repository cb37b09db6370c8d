/*
 * Rotary position embedding, NEON. Plain products and sums, not fused: the
 * same bits as C.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/aarch64/math_neon.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/rope_rows.h"

void ag_rope_init_neon(AgRopeDsp *dsp)
{
    dsp->rotate = rotate;
}
