/*
 * Rotary position embedding: tables, plain C, dispatch, and the driver.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/rope.h"

#include <math.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/x86/x86.h"

enum { ROWS = 16 }; /* rows of a work item */

static void rotate_c(float *x, const float *cosine, const float *sine, int dim)
{
    int half = dim / 2;

    for (int i = 0; i < half; i++) {
        float a = x[i], b = x[i + half];
        x[i] = a * cosine[i] - b * sine[i];
        x[i + half] = b * cosine[i] + a * sine[i];
    }
}

void ag_rope_table(float *table, int first, int n_pos, int dim, double theta)
{
    int half = dim / 2;

    for (int i = 0; i < half; i++) {
        float power = (float)pow(theta, (double)((float)(2 * i) / (float)dim));
        float inv_freq = 1.0f / power;
        for (int p = 0; p < n_pos; p++) {
            float angle = (float)(first + p) * inv_freq; /* rounded, as the reference has it */
            table[(ptrdiff_t)p * dim + i] = (float)cos(angle);
            table[(ptrdiff_t)p * dim + half + i] = (float)sin(angle);
        }
    }
}

typedef struct Rope {
    const AgRopeDsp *dsp;
    float *data;        /* [m, ld] */
    const float *table; /* [.., dim], row 0 is the first row's position */
    int ld, n_head, dim, m;
} Rope;

static void rope_run(void *arg, int item, int thread)
{
    const Rope *r = arg;
    int end = AG_MIN(r->m, (item + 1) * ROWS);

    (void)thread;
    for (int i = item * ROWS; i < end; i++) {
        const float *t = r->table + (ptrdiff_t)i * r->dim;
        float *row = r->data + (ptrdiff_t)i * r->ld;
        for (int h = 0; h < r->n_head; h++)
            r->dsp->rotate(row + h * r->dim, t, t + r->dim / 2, r->dim);
    }
}

void ag_rope(AgExec *x, float *data, int ld, int n_head, int dim, int m, const float *table,
             int pos)
{
    Rope r = {&x->dsp->rope, data, table + (ptrdiff_t)pos * dim, ld, n_head, dim, m};

    ag_pool_run(x->pool, (m + ROWS - 1) / ROWS, rope_run, &r);
}

void ag_rope_init(AgRopeDsp *dsp, unsigned cpu)
{
    dsp->rotate = rotate_c;
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_rope_init_avx2(dsp);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_rope_init_neon(dsp);
#endif
    (void)cpu;
}
