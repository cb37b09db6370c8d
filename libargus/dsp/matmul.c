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
#include <limits.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/epilogue.h"
#include "libargus/dsp/plan.h"
#include "libargus/dsp/scalar.h"
#include "libargus/dsp/x86/x86.h"

enum {
    MC = 1152,       /* most rows of a work item whose sums wait for more k */
    GEMV_MAX = 2048, /* most outputs of a matrix-vector item */
    /* Numbers of a tile's input, and half a page: a core takes a load for one of what was
     * just stored where addresses differ by whole pages. */
    INPUT = AG_GEMM_MR * AG_GEMM_KC + 512,
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

static void finish_c(float *out, ptrdiff_t ld, const float *acc, int m, int n, const float *bias,
                     float scale, AgEpilogue epi)
{
    for (int r = 0; r < m; r++, out += ld, acc += C_NR) {
        for (int c = 0; c < n; c++) {
            float v = (acc[c] + (bias ? bias[c] : 0)) * scale;
            out[c] = ag_epilogue(v, out[c], epi);
        }
    }
}

static void tile_c(const AgGemmTile *t)
{
    const AgGemmOut *o = &t->out;
    AgLines next = t->next;

    ag_lines_copy(&next, INT_MAX, C_MR);
    for (int p = 0, c0 = 0; p < t->n_panel; p++, c0 += C_NR) {
        float *acc = t->acc + p * C_MR * C_NR;
        const float *b = t->b + p * t->step;
        for (int r = 0; r < t->m; r++, acc += C_NR) {
            const float *a = t->a + r * AG_LINE;
            float s[C_NR] = {0};
            if (!t->first)
                memcpy(s, acc, sizeof(s));
            for (int i = 0; i < t->k; i++)
                for (int c = 0; c < C_NR; c++)
                    s[c] += a[i / AG_LINE * C_MR * AG_LINE + i % AG_LINE] * b[i * C_NR + c];
            memcpy(acc, s, sizeof(s));
        }
        if (o->data)
            finish_c(o->data + c0, o->ld, t->acc + p * C_MR * C_NR, t->m,
                     AG_MIN((int)C_NR, o->n - c0), o->bias ? o->bias + c0 : NULL, o->scale, o->epi);
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
    dsp->nc = 64;
    dsp->depth = 256;
    dsp->pack[AG_BF16] = pack_bf16_c;
    dsp->pack[AG_F32] = pack_f32_c;
    dsp->pack[AG_F16] = pack_f16_c;
    dsp->tile = tile_c;
    dsp->finish = finish_c;
    dsp->gemv[AG_BF16] = gemv_bf16_c;
    dsp->gemv[AG_F32] = gemv_f32_c;
    dsp->gemv[AG_F16] = gemv_f16_c;
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_matmul_init_avx2(dsp);
#endif
#if HAVE_AVX512
    if ((cpu & ARGUS_CPU_AVX2) && (cpu & ARGUS_CPU_AVX512))
        ag_matmul_init_avx512(dsp);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_matmul_init_neon(dsp);
#endif
    (void)cpu;
}

/* ------------------------------------------------------------------------ */
/* Driver                                                                    */

/* A thread's scratch. */
typedef struct Work {
    float *acc; /* [row tiles, panels, mr * nr]: sums of the item */
    float *b;   /* [panels, depth, nr]: widened weights */
    float *a;   /* [2][INPUT]: input of this tile and the next */
} Work;

typedef struct Call {
    const AgMatmulDsp *dsp;
    const AgMatmulJob *jobs;
    AgExec *x;
    const float *in; /* [m, ld_in] */
    int ld_in, m;
    AgItemPlan plan;     /* units are columns */
} Call;

static size_t acc_floats(const AgMatmulDsp *d)
{
    size_t n = (size_t)(MC / d->mr + 1) * (size_t)d->mr * (size_t)d->nc;

    return AG_MAX(n, (size_t)GEMV_MAX + AG_GEMM_TILE);
}

static size_t b_floats(const AgMatmulDsp *d)
{
    return (size_t)d->nc * (size_t)d->depth;
}

size_t ag_matmul_scratch(const AgMatmulDsp *dsp)
{
    return (acc_floats(dsp) + b_floats(dsp) + 2 * (size_t)INPUT) * sizeof(float);
}

static Work work_of(const Call *c, int thread)
{
    Work w;

    w.acc = c->x->scratch[thread];
    w.b = w.acc + acc_floats(c->dsp);
    w.a = w.b + b_floats(c->dsp);
    return w;
}

/* Rows r0..r1-1, columns c0..c1-1 of a job: an item. */
typedef struct Item {
    const AgMatmulJob *job;
    int r0, r1, c0, c1;
    int n_tile;    /* of rows, of nearly equal heights */
    int depth, kc; /* values of k that are packed at once, of a tile's input */
} Item;

/* Where an item is: values k0+k..k0+k+n-1 of rows i0..i1-1. */
typedef struct Place {
    int k0, k, n, tile, i0, i1;
} Place;

/* The item's weights of k0..k0+k-1 as float32 panels. */
static void pack(const Call *c, const Item *it, float *b, int step, int k0, int k)
{
    const AgLinear *lin = it->job->lin;
    int nr = c->dsp->nr;

    for (int col = it->c0; col < it->c1; col += nr, b += step) {
        size_t at = (size_t)col * (size_t)lin->n_in + (size_t)k0;
        c->dsp->pack[lin->dtype](b, (const char *)lin->w + at * ag_dtype_size(lin->dtype),
                                 lin->n_in, AG_MIN(nr, it->c1 - col), k);
    }
}

/* Where the sums of rows from i0 go. */
static AgGemmOut out_of(const Item *it, int i0)
{
    const AgMatmulJob *job = it->job;

    return (AgGemmOut){job->out + (ptrdiff_t)i0 * job->ld_out + it->c0, job->ld_out,
                       job->lin->bias ? job->lin->bias + it->c0 : NULL, job->scale, job->epi,
                       it->c1 - it->c0};
}

/* n cut into the fewest parts of at most `most`, all but the last of the same
 * size, a multiple of 16. */
static int even_part(int n, int most)
{
    int parts = (n + most - 1) / most;

    return AG_ALIGN_UP((n + parts - 1) / parts, 16);
}

/* Fills in what k0, k and tile say. */
static void place_set(const Item *it, Place *p)
{
    int64_t rows = it->r1 - it->r0;

    p->n = AG_MIN(it->kc, AG_MIN(it->depth, it->job->lin->n_in - p->k0) - p->k);
    p->i0 = it->r0 + (int)(rows * p->tile / it->n_tile);
    p->i1 = it->r0 + (int)(rows * (p->tile + 1) / it->n_tile);
}

/* To the next: all k of a depth, then all tiles, then all depths. @return 0 if there is none */
static int place_next(const Item *it, Place *p)
{
    p->k += p->n;
    if (p->k0 + p->k == AG_MIN(it->job->lin->n_in, p->k0 + it->depth)) {
        p->k = 0;
        if (++p->tile == it->n_tile) {
            p->tile = 0;
            p->k0 += it->depth;
            if (p->k0 >= it->job->lin->n_in)
                return 0;
        }
    }
    place_set(it, p);
    return 1;
}

static AgLines lines_of(const Call *c, const Place *p, float *dst)
{
    return (AgLines){c->in + (ptrdiff_t)p->i0 * c->ld_in + p->k0 + p->k, c->ld_in, dst,
                     p->i1 - p->i0, p->n, p->n};
}

static void item_run(const Call *c, const Item *it, const Work *w)
{
    int mr = c->dsp->mr, nr = c->dsp->nr, n_in = it->job->lin->n_in, turn = 0, more;
    AgGemmTile t = {.step = (ptrdiff_t)it->depth * nr,
                    .n_panel = (it->c1 - it->c0 + nr - 1) / nr};
    /* one depth: a tile's sums are done at once, and all use the same memory */
    ptrdiff_t acc_step = it->depth < n_in ? (ptrdiff_t)t.n_panel * mr * nr : 0;
    Place p = {0}, next;

    place_set(it, &p);
    AgLines first = lines_of(c, &p, w->a);
    ag_lines_copy(&first, INT_MAX, mr);
    do {
        next = p;
        more = place_next(it, &next);
        if (p.tile == 0 && p.k == 0)
            pack(c, it, w->b, it->depth * nr, p.k0, AG_MIN(it->depth, n_in - p.k0));
        t.a = w->a + turn * INPUT;
        turn ^= 1;
        t.next = more ? lines_of(c, &next, w->a + turn * INPUT) : (AgLines){0};
        t.m = p.i1 - p.i0;
        t.k = p.n;
        t.first = p.k0 + p.k == 0;
        t.b = w->b + p.k * nr;
        t.acc = w->acc + p.tile * acc_step;
        t.out = p.k0 + p.k + p.n == n_in ? out_of(it, p.i0) : (AgGemmOut){0};
        c->dsp->tile(&t);
        p = next;
    } while (more);
}

static void gemm_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgMatmulJob *job = &c->jobs[ag_plan_job(&c->plan, &item)];
    Work w = work_of(c, thread);
    int r0 = item % c->plan.n_row * c->plan.mc, c0 = item / c->plan.n_row * c->plan.nc;
    Item it = {job, r0, AG_MIN(c->m, r0 + c->plan.mc), c0,
               AG_MIN(job->lin->n_out, c0 + c->plan.nc), .depth = even_part(job->lin->n_in,
                                                                           c->dsp->depth)};

    it.n_tile = (it.r1 - it.r0 + c->dsp->mr - 1) / c->dsp->mr;
    it.kc = even_part(it.depth, AG_GEMM_KC);
    item_run(c, &it, &w);
}

static void gemv_run(void *arg, int item, int thread)
{
    const Call *c = arg;
    const AgMatmulJob *job = &c->jobs[ag_plan_job(&c->plan, &item)];
    const AgLinear *lin = job->lin;
    Work w = work_of(c, thread);
    int c0 = item * c->plan.nc, c1 = AG_MIN(lin->n_out, c0 + c->plan.nc), nr = c->dsp->nr;
    const char *src = (const char *)lin->w
                      + (size_t)c0 * (size_t)lin->n_in * ag_dtype_size(lin->dtype);

    c->dsp->gemv[lin->dtype](w.acc, src, c->in, c1 - c0, lin->n_in);
    for (int i = c0; i < c1; i += nr)
        c->dsp->finish(job->out + i, 0, w.acc + i - c0, 1, AG_MIN(nr, c1 - i),
                       lin->bias ? lin->bias + i : NULL, job->scale, job->epi);
}

/* An item costs, besides its product, as much as 12 more rows (packing) and 2 more
 * columns (input from afar). */
static int plan(Call *c)
{
    int nr = c->dsp->nr, threads = c->plan.n_thread;
    int deep = c->jobs[0].lin->n_in > c->dsp->depth; /* sums need room: at most MC rows */
    int min_rows = deep ? (c->m + MC - 1) / MC : 1;
    int max_rows = AG_MIN(min_rows + threads - 1, AG_MAX(min_rows, c->m / (2 * c->dsp->mr)));
    AgItemRange range = {min_rows, max_rows, c->dsp->nc / nr * nr, nr, 12, 2};

    return ag_plan_make(&c->plan, &range);
}

void ag_matmul(AgExec *x, const AgMatmulJob *jobs, int n_job, const float *in, int ld_in, int m)
{
    Call c = {.dsp = &x->dsp->matmul, .jobs = jobs, .x = x, .in = in, .ld_in = ld_in, .m = m,
              .plan = {.m = m, .n_job = n_job, .n_thread = x->n_thread}};

    assert(n_job >= 1 && n_job <= AG_PLAN_JOBS && m >= 0);
    if (m == 0)
        return;
    for (int j = 0; j < n_job; j++) {
        assert(jobs[j].lin->n_in == jobs[0].lin->n_in);
        c.plan.unit[j] = jobs[j].lin->n_out;
        x->flops += (int64_t)2 * m * jobs[j].lin->n_out * jobs[j].lin->n_in;
    }
    if (jobs[0].lin->dtype == AG_Q8)
        ag_q8_matmul(x, jobs, n_job, in, ld_in, m);
    else if (m == 1)
        ag_pool_run(x->pool, ag_plan_vector(&c.plan, 16, GEMV_MAX), gemv_run, &c);
    else
        ag_pool_run(x->pool, plan(&c), gemm_run, &c);
}

void ag_linear(AgExec *x, const AgLinear *lin, AgEpilogue epi, const float *in, int ld_in,
               float *out, int ld_out, int m)
{
    AgMatmulJob job = {lin, out, ld_out, epi, 1.0f};

    ag_matmul(x, &job, 1, in, ld_in, m);
}
