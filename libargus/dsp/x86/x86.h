/*
 * Rungs of the dispatch ladder on x86-64: each sets the pointers that the
 * instruction set has a kernel for.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_X86_X86_H
#define AG_DSP_X86_X86_H

#include "libargus/dsp/dsp.h"

void ag_act_init_avx2(AgActDsp *dsp);
void ag_act_init_avx512(AgActDsp *dsp);
void ag_attn_init_avx2(AgAttnDsp *dsp);
void ag_attn_init_avx512(AgAttnDsp *dsp);
void ag_matmul_init_avx2(AgMatmulDsp *dsp);
void ag_matmul_init_avx512(AgMatmulDsp *dsp);
void ag_norm_init_avx2(AgNormDsp *dsp);
void ag_q8_init_avx2(AgQ8Dsp *dsp);
void ag_q8_attn_init_avx2(AgQ8Dsp *dsp);
void ag_q8_attn_init_avx512(AgQ8Dsp *dsp);
void ag_q8_init_avx512(AgQ8Dsp *dsp);
void ag_q8_init_avxvnni(AgQ8Dsp *dsp);
void ag_q8_init_vnni(AgQ8Dsp *dsp);
void ag_resample_init_avx2(AgResampleDsp *dsp);
void ag_rope_init_avx2(AgRopeDsp *dsp);
void ag_vec_init_avx2(AgVecDsp *dsp);

#endif /* AG_DSP_X86_X86_H */
