/*
 * Driver of the int8 products: quantises the input's rows, cuts the product
 * into items for the pool. See q8.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <assert.h>
#include <math.h>

#include "libargus/dsp/dsp.h"
#include "libargus/dsp/plan.h"

enum {
    BLOCK = AG_Q8_BLOCK,
    NR = AG_Q8_NR,
    PANELS = 16,          /* most panels of an item */
    GEMV_PANELS = 128,    /* the same for one row */
    CACHE = 448 << 10,    /* bytes of an item's weights: they stay in L2 */
    DEPTH = 1024 / BLOCK, /* blocks of a tile of the input: it stays in L1 */
    ROWS = 16,            /* rows quantised by an item */
};

typedef struct Call {
    const AgQ8Dsp *dsp;
    const AgMatmulJob *jobs;
    AgExec *x;
    const float *in;     /* [m, ld_in] */
    int ld_in, m;
    int n_in, n_block;
    ptrdiff_t lda;       /* bytes from row to row of the quantised input */
    int row0;            /* first row of the output */
    AgItemPlan plan;         /* units are panels */
} Call;

size_t ag_q8_scratch(const AgQ8Dsp *dsp)
{
    return AG_MAX((size_t)(PANELS * dsp->mr), (size_t)GEMV_PANELS) * NR * sizeof(float);
}

/* Rows a multiple of 4096 bytes apart would share their places in L1. */
static size_t row_bytes(int n_in)
{
    return AG_ALIGN_UP((size_t)n_in, (size_t)BLOCK) + BLOCK;
}

void ag_q8_carve(AgQ8Rows *r, AgArena *a, int m, int n_in)
{
    r->size = ag_mul((size_t)m, row_bytes(n_in));
    r->q = AG_TAKE(a, uint8_t, r->size);
    r->scale = AG_TAKE(a, float, r->size / BLOCK);
}

static void quantise_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    int end = AG_MIN(c->m, (item + 1) * ROWS);

    (void)thread;
    for (int r = item * ROWS; r < end; r++)
        c->dsp->quantise(c->x->q8.q + r * c->lda, c->x->q8.scale + r * (c->lda / BLOCK),
                         c->in + (ptrdiff_t)(c->row0 + r) * c->ld_in, c->n_in);
}

/* Epilogue of m rows from row i0 and some panels from p0. */
static void finish(const Call *c, const AgMatmulJob *job, const float *acc, int i0, int m, int p0,
                   int p1, int mr)
{
    const AgLinear *lin = job->lin;
    const AgQ8 *q = lin->w;

    for (int p = p0; p < p1; p++, acc += mr * NR)
        c->dsp->finish(job->out + (ptrdiff_t)(c->row0 + i0) * job->ld_out + p * NR, job->ld_out,
                       acc, m, AG_MIN(NR, lin->n_out - p * NR), q->scale + p * NR,
                       lin->bias ? lin->bias + p * NR : NULL, job->scale, job->epi);
}

/* Rows i0.. (m of them) against panels from p0. */
static AgQ8Tile tile_of(const Call *c, const AgQ8 *q, int i0, int m, int p0, int p1)
{
    AgQ8Tile t = {
        .a = c->x->q8.q + i0 * c->lda,
        .lda = c->lda,
        .sa = c->x->q8.scale + i0 * (c->lda / BLOCK),
        .ld_sa = c->lda / BLOCK,
        .w_step = (ptrdiff_t)c->n_block * BLOCK * NR,
        .sum_step = (ptrdiff_t)c->n_block * NR,
        .m = m,
        .n_block = c->n_block,
        .n_panel = p1 - p0,
        .first = 1,
    };
    t.w = q->w + p0 * t.w_step;
    t.sum = q->sum + p0 * t.sum_step;
    return t;
}

static void gemm_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgMatmulJob *job = &c->jobs[ag_plan_job(&c->plan, &item)];
    int all = (job->lin->n_out + NR - 1) / NR, mr = c->dsp->mr;
    int r0 = item % c->plan.n_row * c->plan.mc, r1 = AG_MIN(c->m, r0 + c->plan.mc);
    int p0 = item / c->plan.n_row * c->plan.nc, p1 = AG_MIN(all, p0 + c->plan.nc);
    int n_tile = (r1 - r0 + mr - 1) / mr; /* of nearly equal heights */
    float *acc = c->x->scratch[thread];

    for (int i = 0; i < n_tile; i++) {
        int i0 = r0 + (int)((int64_t)(r1 - r0) * i / n_tile);
        int i1 = r0 + (int)((int64_t)(r1 - r0) * (i + 1) / n_tile);
        AgQ8Tile t = tile_of(c, job->lin->w, i0, i1 - i0, p0, p1);
        t.acc = acc;
        for (int b = 0; b < c->n_block; b += DEPTH) {
            t.n_block = AG_MIN(DEPTH, c->n_block - b);
            t.first = b == 0;
            c->dsp->tile(&t);
            t.a += DEPTH * BLOCK;
            t.sa += DEPTH;
            t.w += DEPTH * BLOCK * NR;
            t.sum += DEPTH * NR;
        }
        finish(c, job, acc, i0, i1 - i0, p0, p1, mr);
    }
}

static void gemv_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgMatmulJob *job = &c->jobs[ag_plan_job(&c->plan, &item)];
    int all = (job->lin->n_out + NR - 1) / NR;
    int p0 = item * c->plan.nc, p1 = AG_MIN(all, p0 + c->plan.nc);
    AgQ8Tile t = tile_of(c, job->lin->w, 0, 1, p0, p1);

    t.acc = c->x->scratch[thread];
    c->dsp->gemv(&t);
    finish(c, job, t.acc, 0, 1, p0, p1, 1);
}

/* Panels by two: kernels take them in pairs. */
static int plan(Call *c)
{
    int max_rows = AG_MIN(c->plan.n_thread, AG_MAX(1, c->m / (2 * c->dsp->mr)));
    int most = AG_CLIP(CACHE / (c->n_block * BLOCK * NR) / 2 * 2, 2, PANELS);
    AgItemRange range = {1, max_rows, most, 2, 8, 0.25};

    c->plan.m = c->m;
    return ag_plan_make(&c->plan, &range);
}

void ag_q8_matmul(AgExec *x, const AgMatmulJob *jobs, int n_job, const float *in, int ld_in, int m)
{
    Call c = {.dsp = &x->dsp->q8, .jobs = jobs, .x = x, .in = in, .ld_in = ld_in,
              .plan = {.n_job = n_job, .n_thread = x->n_thread}};
    size_t row = row_bytes(jobs[0].lin->n_in);
    int most = (int)AG_MIN(x->q8.size / row, (size_t)INT32_MAX);

    assert(n_job >= 1 && n_job <= AG_PLAN_JOBS && most >= 1);
    for (int j = 0; j < n_job; j++)
        c.plan.unit[j] = (jobs[j].lin->n_out + NR - 1) / NR;
    c.n_in = jobs[0].lin->n_in;
    c.n_block = (c.n_in + BLOCK - 1) / BLOCK;
    c.lda = (ptrdiff_t)row;
    for (int r = 0; r < m; r += c.m, c.row0 = r) {
        c.m = AG_MIN(m - r, most);
        ag_pool_run(c.m <= ROWS ? NULL : x->pool, (c.m + ROWS - 1) / ROWS, quantise_run, &c);
        if (c.m == 1)
            ag_pool_run(x->pool, ag_plan_vector(&c.plan, 1, GEMV_PANELS), gemv_run, &c);
        else
            ag_pool_run(x->pool, plan(&c), gemm_run, &c);
    }
}
