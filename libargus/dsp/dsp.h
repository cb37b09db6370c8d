/*
 * All kernels behind one table, and what a stage needs to run them.
 *
 * A kernel does arithmetic on memory it is given: no allocation, no threads,
 * no I/O. Beside each table, drivers (ag_matmul, ag_attn ...) cut the work
 * into items for the pool; stages call drivers only. Every output element is
 * computed by one thread in one order, so the bits do not depend on threads.
 *
 * Each kernel is *exact* (same bits as the C version) or *bounded* (float
 * sums in another order, or a polynomial; the bound is in its contract).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_DSP_H
#define AG_DSP_DSP_H

#include "libargus/base/arena.h"
#include "libargus/base/thread.h"
#include "libargus/dsp/act.h"
#include "libargus/dsp/attn.h"
#include "libargus/dsp/convert.h"
#include "libargus/dsp/matmul.h"
#include "libargus/dsp/norm.h"
#include "libargus/dsp/q8.h"
#include "libargus/dsp/resample.h"
#include "libargus/dsp/rope.h"
#include "libargus/dsp/vec.h"

typedef struct AgDsp {
    unsigned cpu; /* enum ArgusCpu flags that were used */
    AgMatmulDsp matmul;
    AgQ8Dsp q8;
    AgAttnDsp attn;
    AgNormDsp norm;
    AgActDsp act;
    AgRopeDsp rope;
    AgVecDsp vec;
    AgResampleDsp resample;
    AgConvertDsp convert;
} AgDsp;

/* C first, then tier by tier as cpu (enum ArgusCpu flags) allows. */
void ag_dsp_init(AgDsp *dsp, unsigned cpu);

enum { AG_EXEC_SHARED = 65536 }; /* floats that the threads of one driver call share */

/* What a stage runs on. Carved once per context. */
struct AgExec {
    const AgDsp *dsp;
    AgPool *pool;               /* may be NULL */
    int n_thread;
    size_t scratch_size;        /* bytes of each thread's scratch */
    void *scratch[AG_MAX_THREADS]; /* packing panels, attention blocks */
    float *shared;              /* [AG_EXEC_SHARED]: parts that are combined at the end */
    AgQ8Rows q8;                /* ag_q8_carve: empty unless int8 weights are used */
    int64_t flops;              /* of all matrix products so far */
};

/* Measure or place the scratch of n_thread threads. */
void ag_exec_carve(AgExec *x, AgArena *a, const AgDsp *dsp, AgPool *pool);

#endif /* AG_DSP_DSP_H */
