/*
 * What this machine can do: the yardstick of benchmarks.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_PEAK_H
#define AG_DSP_PEAK_H

/* Floating-point operations a second (a fused multiply-add is two) of
 * independent chains in registers, with the widest instruction set of cpu
 * (enum ArgusCpu flags) that the machine has. Takes about 0.2 s; the best of
 * several rounds, and in *mean (may be NULL) what the threads did on average while
 * they ran, less where others use the machine too. 0 if memory or threads run out. */
double ag_peak_flops(unsigned cpu, int threads, double *mean);

/* Bytes a second of a plain read: the best of several passes over 512 MiB, one
 * after the other, as a token reads the weights. Of whole passes, since parts of
 * memory that large may lie in a shared cache. Takes about 0.3 s. *mean as above. 0 if
 * memory runs out. */
double ag_read_bandwidth(unsigned cpu, int threads, double *mean);

/* Seconds of a clock that never goes back. */
double ag_clock(void);

/* Kernels: n rounds of chains, operations done; sum of n floats (n a multiple
 * of 256, p aligned to 64). The sums are there to keep the work alive. */
typedef struct AgPeakDsp {
    double (*fma)(long n, float *sink);
    float (*read)(const float *p, long n);
} AgPeakDsp;

void ag_peak_init_avx2(AgPeakDsp *dsp);
void ag_peak_init_avx512(AgPeakDsp *dsp);
void ag_peak_init_neon(AgPeakDsp *dsp);

#endif /* AG_DSP_PEAK_H */
