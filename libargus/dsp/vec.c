/*
 * Vectors: widening of stored numbers, sums, argmax. Plain C and dispatch.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/vec.h"

#include <math.h>
#include <string.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/scalar.h"
#include "libargus/dsp/x86/x86.h"

static void widen_bf16_c(float *dst, const uint16_t *src, int n)
{
    for (int i = 0; i < n; i++)
        dst[i] = ag_load_bf16(src, i);
}

static void widen_f16_c(float *dst, const uint16_t *src, int n)
{
    for (int i = 0; i < n; i++)
        dst[i] = ag_load_f16(src, i);
}

static void add_c(float *dst, const float *src, int n)
{
    for (int i = 0; i < n; i++)
        dst[i] += src[i];
}

static double sum_exp_c(const float *x, float max, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += (double)expf(x[i] - max);
    return sum;
}

static int argmax_c(const float *x, int n)
{
    float best = -INFINITY;
    int at = 0;

    for (int i = 0; i < n; i++) {
        if (x[i] > best) {
            best = x[i];
            at = i;
        }
    }
    return at;
}

void ag_widen(const AgVecDsp *dsp, float *dst, const void *src, AgDtype type, int n)
{
    switch (type) {
    case AG_BF16: dsp->widen_bf16(dst, src, n); break;
    case AG_F16: dsp->widen_f16(dst, src, n); break;
    case AG_F32: memcpy(dst, src, (size_t)n * sizeof(float)); break;
    case AG_Q8: break; /* no numbers: see q8.h */
    }
}

void ag_vec_init(AgVecDsp *dsp, unsigned cpu)
{
    dsp->widen_bf16 = widen_bf16_c;
    dsp->widen_f16 = widen_f16_c;
    dsp->add = add_c;
    dsp->sum_exp = sum_exp_c;
    dsp->argmax = argmax_c;
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_vec_init_avx2(dsp);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_vec_init_neon(dsp);
#endif
    (void)cpu;
}
