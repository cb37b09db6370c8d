/*
 * Kernel table of attention. Included by attn.h only.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ATTN_DSP_H
#define AG_DSP_ATTN_DSP_H

typedef struct AgAttnDsp {
    int placeholder;
} AgAttnDsp;

void ag_attn_init(AgAttnDsp *dsp, unsigned cpu);
size_t ag_attn_scratch(const AgAttnDsp *dsp);

#endif
