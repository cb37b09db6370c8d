/*
 * Rungs of the dispatch ladder on AArch64: each sets the pointers that the
 * instruction set has a kernel for.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_AARCH64_AARCH64_H
#define AG_DSP_AARCH64_AARCH64_H

#include "libargus/dsp/dsp.h"

void ag_act_init_neon(AgActDsp *dsp);
void ag_attn_init_neon(AgAttnDsp *dsp);
void ag_matmul_init_neon(AgMatmulDsp *dsp);
void ag_norm_init_neon(AgNormDsp *dsp);
void ag_q8_attn_init_neon(AgQ8Dsp *dsp);
void ag_q8_init_dotprod(AgQ8Dsp *dsp);
void ag_q8_init_neon(AgQ8Dsp *dsp);
void ag_resample_init_neon(AgResampleDsp *dsp);
void ag_rope_init_neon(AgRopeDsp *dsp);
void ag_vec_init_neon(AgVecDsp *dsp);

#endif /* AG_DSP_AARCH64_AARCH64_H */
