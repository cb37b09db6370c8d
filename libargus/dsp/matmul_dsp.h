/*
 * Kernel table of the matrix products; the record holds tile shape, packing
 * and kernel together. Included by matmul.h only.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_MATMUL_DSP_H
#define AG_DSP_MATMUL_DSP_H

struct AgMatmulDsp {
    int placeholder; /* the kernel author defines this */
};

void ag_matmul_init(AgMatmulDsp *dsp, unsigned cpu);
/* Bytes of scratch one thread needs. */
size_t ag_matmul_scratch(const AgMatmulDsp *dsp);

#endif
