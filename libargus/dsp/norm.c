/*
 * LayerNorm and RMSNorm over rows. Plain C, dispatch, and the drivers that
 * share rows between threads.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/norm.h"

#include <math.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/x86/x86.h"

enum { ROWS = 16 }; /* rows of a work item */

static void layernorm_c(float *out, const float *x, const float *w, const float *b, int n,
                        float eps)
{
    double sum = 0, sq = 0;

    for (int i = 0; i < n; i++)
        sum += x[i];
    float mean = (float)(sum / n);
    for (int i = 0; i < n; i++) {
        double d = x[i] - mean;
        sq += d * d;
    }
    float rstd = 1.0f / sqrtf((float)(sq / n) + eps);
    for (int i = 0; i < n; i++)
        out[i] = (x[i] - mean) * rstd * w[i] + b[i];
}

static void rmsnorm_c(float *out, const float *x, const float *w, int n, float eps)
{
    double sq = 0;

    for (int i = 0; i < n; i++)
        sq += (double)x[i] * x[i];
    float r = 1.0f / sqrtf((float)(sq / n) + eps);
    for (int i = 0; i < n; i++)
        out[i] = w[i] * (x[i] * r);
}

typedef struct Rows {
    const AgNormDsp *dsp;
    float *out;      /* [m, n] */
    const float *in; /* [m, ld] */
    const float *w, *b;
    int ld, m, n;
    float eps;
} Rows;

static void rows_run(void *arg, int item, int thread)
{
    const Rows *r = arg;
    int end = AG_MIN(r->m, (item + 1) * ROWS);

    (void)thread;
    for (int i = item * ROWS; i < end; i++) {
        float *out = r->out + (ptrdiff_t)i * r->n;
        const float *in = r->in + (ptrdiff_t)i * r->ld;
        if (r->b)
            r->dsp->layernorm(out, in, r->w, r->b, r->n, r->eps);
        else
            r->dsp->rmsnorm(out, in, r->w, r->n, r->eps);
    }
}

void ag_layernorm(AgExec *x, float *out, const float *in, int ld, const float *w, const float *b,
                  int m, int n, float eps)
{
    Rows r = {&x->dsp->norm, out, in, w, b, ld, m, n, eps};

    ag_pool_run(x->pool, (m + ROWS - 1) / ROWS, rows_run, &r);
}

void ag_rmsnorm(AgExec *x, float *out, const float *in, int ld, const float *w, int m, int n,
                float eps)
{
    Rows r = {&x->dsp->norm, out, in, w, NULL, ld, m, n, eps};

    ag_pool_run(x->pool, (m + ROWS - 1) / ROWS, rows_run, &r);
}

void ag_norm_init(AgNormDsp *dsp, unsigned cpu)
{
    dsp->layernorm = layernorm_c;
    dsp->rmsnorm = rmsnorm_c;
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_norm_init_avx2(dsp);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_norm_init_neon(dsp);
#endif
    (void)cpu;
}
