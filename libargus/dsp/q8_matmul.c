/*
 * Driver of the int8 products: quantises the input's rows, cuts the product
 * into items for the pool. See q8.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <assert.h>
#include <math.h>

#include "libargus/dsp/dsp.h"

enum {
    BLOCK = AG_Q8_BLOCK,
    NR = AG_Q8_NR,
    PANELS = 16,          /* most panels of an item */
    GEMV_PANELS = 128,    /* the same for one row */
    CACHE = 448 << 10,    /* bytes of an item's weights: they stay in L2 */
    DEPTH = 1024 / BLOCK, /* blocks of a tile of the input: it stays in L1 */
    ROWS = 16,            /* rows quantised by an item */
    JOBS = 8,
};

typedef struct Call {
    const AgQ8Dsp *dsp;
    const AgMatmulJob *jobs;
    AgExec *x;
    const float *in;     /* [m, ld_in] */
    int ld_in, m, n_job;
    int n_in, n_block;
    ptrdiff_t lda;       /* bytes from row to row of the quantised input */
    int row0;            /* first row of the output */
    int mc, nc;          /* rows and panels of an item */
    int n_row;           /* row blocks */
    int first[JOBS + 1]; /* first item of each job */
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

static const AgMatmulJob *job_of(const Call *c, int *item)
{
    int j = 0;

    while (*item >= c->first[j + 1])
        j++;
    *item -= c->first[j];
    return &c->jobs[j];
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
    const AgMatmulJob *job = job_of(c, &item);
    int all = (job->lin->n_out + NR - 1) / NR, mr = c->dsp->mr;
    int r0 = item % c->n_row * c->mc, r1 = AG_MIN(c->m, r0 + c->mc);
    int p0 = item / c->n_row * c->nc, p1 = AG_MIN(all, p0 + c->nc);
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
    const AgMatmulJob *job = job_of(c, &item);
    int all = (job->lin->n_out + NR - 1) / NR, p0 = item * c->nc, p1 = AG_MIN(all, p0 + c->nc);
    AgQ8Tile t = tile_of(c, job->lin->w, 0, 1, p0, p1);

    t.acc = c->x->scratch[thread];
    c->dsp->gemv(&t);
    finish(c, job, t.acc, 0, 1, p0, p1, 1);
}

/* Items of a job, and of all. */
static int count_items(Call *c)
{
    for (int j = 0; j < c->n_job; j++) {
        int all = (c->jobs[j].lin->n_out + NR - 1) / NR;
        c->first[j + 1] = c->first[j] + (all + c->nc - 1) / c->nc * c->n_row;
    }
    return c->first[c->n_job];
}

static int plan_gemv(Call *c)
{
    int want = c->x->n_thread == 1 ? 1 : 2 * c->x->n_thread, n = 0;

    for (int j = 0; j < c->n_job; j++)
        n += (c->jobs[j].lin->n_out + NR - 1) / NR;
    c->mc = c->n_row = 1;
    c->nc = AG_CLIP((n + want - 1) / want, 1, GEMV_PANELS);
    return count_items(c);
}

/* As in matmul.c: the slowest thread is done soonest. Panels by two: kernels
 * take them in pairs. */
static int plan(Call *c)
{
    int threads = c->x->n_thread, best_nc = 2, best_rows = 1;
    int max_rows = AG_MIN(threads, AG_MAX(1, c->m / (2 * c->dsp->mr)));
    int most = AG_CLIP(CACHE / (c->n_block * BLOCK * NR) / 2 * 2, 2, PANELS);
    double least = INFINITY;

    for (c->n_row = 1; c->n_row <= max_rows; c->n_row++) {
        c->mc = (c->m + c->n_row - 1) / c->n_row;
        for (c->nc = most; c->nc >= 2; c->nc -= 2) {
            int turns = (count_items(c) + threads - 1) / threads;
            double cost = (double)turns * (c->mc + 8) * (c->nc + 0.25);
            if (cost >= least * (c->n_row == best_rows ? 1.01 : 1))
                continue;
            least = AG_MIN(least, cost);
            best_nc = c->nc;
            best_rows = c->n_row;
        }
    }
    c->mc = (c->m + best_rows - 1) / best_rows;
    c->n_row = (c->m + c->mc - 1) / c->mc;
    c->nc = best_nc;
    return count_items(c);
}

void ag_q8_matmul(AgExec *x, const AgMatmulJob *jobs, int n_job, const float *in, int ld_in, int m)
{
    Call c = {.dsp = &x->dsp->q8, .jobs = jobs, .x = x, .in = in, .ld_in = ld_in, .n_job = n_job};
    size_t row = row_bytes(jobs[0].lin->n_in);
    int most = (int)AG_MIN(x->q8.size / row, (size_t)INT32_MAX);

    assert(n_job >= 1 && n_job <= JOBS && most >= 1);
    c.n_in = jobs[0].lin->n_in;
    c.n_block = (c.n_in + BLOCK - 1) / BLOCK;
    c.lda = (ptrdiff_t)row;
    for (int r = 0; r < m; r += c.m, c.row0 = r) {
        c.m = AG_MIN(m - r, most);
        ag_pool_run(c.m <= ROWS ? NULL : x->pool, (c.m + ROWS - 1) / ROWS, quantise_run, &c);
        if (c.m == 1)
            ag_pool_run(x->pool, plan_gemv(&c), gemv_run, &c);
        else
            ag_pool_run(x->pool, plan(&c), gemm_run, &c);
    }
}
