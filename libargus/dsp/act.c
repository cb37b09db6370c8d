/*
 * Activations and softmax. Plain C and dispatch.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/act.h"

#include <math.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/x86/x86.h"

static void gelu_c(float *x, int n)
{
    for (int i = 0; i < n; i++) {
        float v = x[i];
        float t = tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v));
        x[i] = 0.5f * v * (1.0f + t);
    }
}

static void silu_c(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] / (1.0f + expf(-x[i]));
}

static float exp_sum_c(float *x, int n, float max)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        x[i] = expf(x[i] - max);
        sum += x[i];
    }
    return (float)sum;
}

void ag_act_init(AgActDsp *dsp, unsigned cpu)
{
    dsp->gelu = gelu_c;
    dsp->silu = silu_c;
    dsp->exp_sum = exp_sum_c;
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_act_init_avx2(dsp);
#endif
#if HAVE_AVX512
    if ((cpu & ARGUS_CPU_AVX2) && (cpu & ARGUS_CPU_AVX512))
        ag_act_init_avx512(dsp);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_act_init_neon(dsp);
#endif
    (void)cpu;
}
