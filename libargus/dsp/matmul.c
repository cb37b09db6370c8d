/*
 * Matrix products with stored weights: plain C kernels, dispatch, and the
 * driver that cuts a product into work items. doc/kernels.md has the why.
 *
 * in [m, n_in] x W [n_out, n_in]^T -> out [m, n_out]. m = 1 reads the weights
 * once, in place; m > 1 widens blocks of them into float32 panels.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/matmul.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/scalar.h"
#include "libargus/dsp/x86/x86.h"

enum {
    MC = 1040,       /* most rows, */
    NC = 192,        /* most columns of a work item */
    GEMV_MAX = 2048, /* most outputs of a matrix-vector item */
    JOBS = 8,        /* most jobs of one call */
};

/* ------------------------------------------------------------------------ */
/* Plain C kernels                                                           */

enum { C_MR = 4, C_NR = 8 };

static void pack_bf16_c(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int i = 0; i < k; i++)
        for (int c = 0; c < C_NR; c++)
            dst[i * C_NR + c] = c < n ? ag_load_bf16(w, c * ld + i) : 0;
}

static void pack_f32_c(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int i = 0; i < k; i++)
        for (int c = 0; c < C_NR; c++)
            dst[i * C_NR + c] = c < n ? ag_load_f32(w, c * ld + i) : 0;
}

static void pack_f16_c(float *dst, const void *w, ptrdiff_t ld, int n, int k)
{
    for (int i = 0; i < k; i++)
        for (int c = 0; c < C_NR; c++)
            dst[i * C_NR + c] = c < n ? ag_load_f16(w, c * ld + i) : 0;
}

static void tile_c(float *acc, const float *a, const float *b, int m, int k, int first)
{
    for (int r = 0; r < m; r++, acc += C_NR, a += AG_GEMM_LDA) {
        float s[C_NR] = {0};
        if (!first)
            memcpy(s, acc, sizeof(s));
        for (int i = 0; i < k; i++)
            for (int c = 0; c < C_NR; c++)
                s[c] += a[i] * b[i * C_NR + c];
        memcpy(acc, s, sizeof(s));
    }
}

static void finish_c(float *out, ptrdiff_t ld, const float *acc, int m, int n, const float *bias,
                     float scale, AgEpilogue epi)
{
    for (int r = 0; r < m; r++, out += ld, acc += C_NR) {
        for (int c = 0; c < n; c++) {
            float v = (acc[c] + (bias ? bias[c] : 0)) * scale;
            if (epi == AG_EPI_ADD)
                v += out[c];
            else if (epi == AG_EPI_GELU)
                v = 0.5f * v * (1.0f + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v)));
            else if (epi == AG_EPI_SILU_MUL)
                v = v / (1.0f + expf(-v)) * out[c];
            out[c] = v;
        }
    }
}

static void gemv_bf16_c(float *out, const void *w, const float *x, int n, int k)
{
    for (int r = 0; r < n; r++) {
        float s = 0;
        for (int i = 0; i < k; i++)
            s += ag_load_bf16(w, (ptrdiff_t)r * k + i) * x[i];
        out[r] = s;
    }
}

static void gemv_f32_c(float *out, const void *w, const float *x, int n, int k)
{
    for (int r = 0; r < n; r++) {
        float s = 0;
        for (int i = 0; i < k; i++)
            s += ag_load_f32(w, (ptrdiff_t)r * k + i) * x[i];
        out[r] = s;
    }
}

static void gemv_f16_c(float *out, const void *w, const float *x, int n, int k)
{
    for (int r = 0; r < n; r++) {
        float s = 0;
        for (int i = 0; i < k; i++)
            s += ag_load_f16(w, (ptrdiff_t)r * k + i) * x[i];
        out[r] = s;
    }
}

void ag_matmul_init(AgMatmulDsp *dsp, unsigned cpu)
{
    dsp->mr = C_MR;
    dsp->nr = C_NR;
    dsp->pack[AG_BF16] = pack_bf16_c;
    dsp->pack[AG_F32] = pack_f32_c;
    dsp->pack[AG_F16] = pack_f16_c;
    dsp->tile = tile_c;
    dsp->finish = finish_c;
    dsp->gemv[AG_BF16] = gemv_bf16_c;
    dsp->gemv[AG_F32] = gemv_f32_c;
    dsp->gemv[AG_F16] = gemv_f16_c;
    (void)cpu;
}

/* ------------------------------------------------------------------------ */
/* Driver                                                                    */

/* A thread's scratch. */
typedef struct Work {
    float *acc; /* [row tiles, panels, mr * nr]: sums of the item */
    float *b;   /* [panels, kc, nr]: widened weights */
    float *a;   /* [mr, AG_GEMM_LDA]: a tile of the input */
} Work;

typedef struct Call {
    const AgMatmulDsp *dsp;
    const AgMatmulJob *jobs;
    AgExec *x;
    const float *in; /* [m, ld_in] */
    int ld_in, m, n_job;
    int mc, nc;            /* rows and columns of an item */
    int n_row;             /* row blocks */
    int first[JOBS + 1];   /* first item of each job */
} Call;

static size_t acc_floats(const AgMatmulDsp *d)
{
    size_t tiles = (size_t)(MC / d->mr + 1), panels = (size_t)(NC / d->nr + 1);

    return AG_MAX(tiles * panels * (size_t)(d->mr * d->nr), (size_t)GEMV_MAX + AG_GEMM_TILE);
}

static size_t b_floats(const AgMatmulDsp *d)
{
    return (size_t)(NC / d->nr + 1) * (size_t)(AG_GEMM_KC * d->nr);
}

size_t ag_matmul_scratch(const AgMatmulDsp *dsp)
{
    return (acc_floats(dsp) + b_floats(dsp) + (size_t)(AG_GEMM_MR * AG_GEMM_LDA)) * sizeof(float);
}

static Work work_of(const Call *c, int thread)
{
    Work w;

    w.acc = c->x->scratch[thread];
    w.b = w.acc + acc_floats(c->dsp);
    w.a = w.b + b_floats(c->dsp);
    return w;
}

/* One item: rows r0..r1-1, columns c0..c1-1 of a job. */
static void block(const Call *c, const AgMatmulJob *job, const Work *w, int r0, int r1, int c0,
                  int c1)
{
    const AgMatmulDsp *d = c->dsp;
    const AgLinear *lin = job->lin;
    int nr = d->nr, tile = d->mr * nr, k_all = lin->n_in;
    int n_panel = (c1 - c0 + nr - 1) / nr, rows = r1 - r0;
    int n_tile = (rows + d->mr - 1) / d->mr, n_kb = (k_all + AG_GEMM_KC - 1) / AG_GEMM_KC;
    int kc = AG_ALIGN_UP((k_all + n_kb - 1) / n_kb, 16);
    size_t size = ag_dtype_size(lin->dtype);

    for (int k0 = 0; k0 < k_all; k0 += kc) {
        int k = AG_MIN(kc, k_all - k0), last = k0 + k == k_all;
        for (int p = 0; p < n_panel; p++) {
            int col = c0 + p * nr;
            const char *src = (const char *)lin->w + ((size_t)col * (size_t)k_all + (size_t)k0) * size;
            d->pack[lin->dtype](w->b + (ptrdiff_t)p * kc * nr, src, k_all, AG_MIN(nr, c1 - col), k);
        }
        for (int t = 0; t < n_tile; t++) {
            int i0 = r0 + (int)((int64_t)rows * t / n_tile);
            int m = r0 + (int)((int64_t)rows * (t + 1) / n_tile) - i0;
            for (int r = 0; r < m; r++)
                memcpy(w->a + r * AG_GEMM_LDA, c->in + (ptrdiff_t)(i0 + r) * c->ld_in + k0,
                       (size_t)k * sizeof(float));
            for (int p = 0; p < n_panel; p++) {
                float *acc = w->acc + (ptrdiff_t)(t * n_panel + p) * tile;
                int col = c0 + p * nr;
                d->tile(acc, w->a, w->b + (ptrdiff_t)p * kc * nr, m, k, k0 == 0);
                if (last)
                    d->finish(job->out + (ptrdiff_t)i0 * job->ld_out + col, job->ld_out, acc, m,
                              AG_MIN(nr, c1 - col), lin->bias ? lin->bias + col : NULL, job->scale,
                              job->epi);
            }
        }
    }
}

static const AgMatmulJob *job_of(const Call *c, int *item)
{
    int j = 0;

    while (*item >= c->first[j + 1])
        j++;
    *item -= c->first[j];
    return &c->jobs[j];
}

static void gemm_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgMatmulJob *job = job_of(c, &item);
    Work w = work_of(c, thread);
    int row = item % c->n_row, col = item / c->n_row;

    block(c, job, &w, row * c->mc, AG_MIN(c->m, (row + 1) * c->mc), col * c->nc,
          AG_MIN(job->lin->n_out, (col + 1) * c->nc));
}

static void gemv_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgMatmulJob *job = job_of(c, &item);
    const AgLinear *lin = job->lin;
    Work w = work_of(c, thread);
    int c0 = item * c->nc, c1 = AG_MIN(lin->n_out, c0 + c->nc), nr = c->dsp->nr;
    const char *src = (const char *)lin->w
                      + (size_t)c0 * (size_t)lin->n_in * ag_dtype_size(lin->dtype);

    c->dsp->gemv[lin->dtype](w.acc, src, c->in, c1 - c0, lin->n_in);
    for (int i = c0; i < c1; i += nr)
        c->dsp->finish(job->out + i, 0, w.acc + i - c0, 1, AG_MIN(nr, c1 - i),
                       lin->bias ? lin->bias + i : NULL, job->scale, job->epi);
}

/* Rows and columns of an item, so that there are enough items for all threads. */
static void plan(Call *c, int n_out)
{
    int nr = c->dsp->nr, want = c->x->n_thread == 1 ? 1 : 4 * c->x->n_thread;

    if (c->m == 1) {
        c->mc = c->n_row = 1;
        c->nc = AG_CLIP(AG_ALIGN_UP(n_out / want + 1, 16), 16, GEMV_MAX);
        return;
    }
    c->n_row = (c->m + MC - 1) / MC;
    c->nc = AG_MAX(NC / nr * nr, nr);
    while (c->nc > nr && n_out / c->nc * c->n_row < want)
        c->nc -= nr;
    while (n_out / c->nc * c->n_row < c->x->n_thread && c->m / c->n_row > 2 * c->dsp->mr)
        c->n_row++;
    c->mc = (c->m + c->n_row - 1) / c->n_row;
    c->n_row = (c->m + c->mc - 1) / c->mc;
}

void ag_matmul(AgExec *x, const AgMatmulJob *jobs, int n_job, const float *in, int ld_in, int m)
{
    Call c = {.dsp = &x->dsp->matmul, .jobs = jobs, .x = x, .in = in, .ld_in = ld_in, .m = m};
    int n_out = 0;

    assert(n_job >= 1 && n_job <= JOBS && m >= 0);
    if (m == 0)
        return;
    for (int j = 0; j < n_job; j++) {
        assert(jobs[j].lin->n_in == jobs[0].lin->n_in);
        n_out += jobs[j].lin->n_out;
        x->flops += (int64_t)2 * m * jobs[j].lin->n_out * jobs[j].lin->n_in;
    }
    plan(&c, n_out);
    for (int j = 0; j < n_job; j++)
        c.first[j + 1] = c.first[j] + (jobs[j].lin->n_out + c.nc - 1) / c.nc * c.n_row;
    ag_pool_run(x->pool, c.first[n_job], m == 1 ? gemv_run : gemm_run, &c);
}

void ag_linear(AgExec *x, const AgLinear *lin, AgEpilogue epi, const float *in, int ld_in,
               float *out, int ld_out, int m)
{
    AgMatmulJob job = {lin, out, ld_out, epi, 1.0f};

    ag_matmul(x, &job, 1, in, ld_in, m);
}
