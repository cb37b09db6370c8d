/*
 * Matrix products with stored weights: out = in · W^T, then an epilogue.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_MATMUL_H
#define AG_DSP_MATMUL_H

#include "libargus/base/common.h"

typedef struct AgExec AgExec;

/* A linear layer as stored: W [n_out, n_in], row-major, in the mapped file. */
typedef struct AgLinear {
    const void *w;       /* [n_out, n_in] of dtype; 2-byte aligned at least; AG_Q8: AgQ8 */
    AgDtype dtype;
    int n_out, n_in;
    const float *bias;   /* [n_out] or NULL */
} AgLinear;

/* What happens with acc = in · W^T + bias before it is stored. */
typedef enum AgEpilogue {
    AG_EPI_STORE,    /* out  = acc */
    AG_EPI_ADD,      /* out += acc                    (residual) */
    AG_EPI_GELU,     /* out  = gelu_tanh(acc) */
    AG_EPI_SILU_MUL, /* out  = silu(acc) * out        (SwiGLU gate; out holds up) */
} AgEpilogue;

typedef struct AgMatmulJob {
    const AgLinear *lin;
    float *out;       /* [m, ld_out], lin->n_out columns are written */
    int ld_out;       /* floats from row to row */
    AgEpilogue epi;
    float scale;      /* acc is multiplied by it after the bias; powers of two stay exact */
} AgMatmulJob;

/* All jobs read the same in [m, ld_in] (floats from row to row; lin->n_in
 * columns are read) and write different memory. m = 1 takes the
 * matrix-vector kernels, which read the weights once, in place. Rows are
 * independent: a row's bits do not depend on m as long as m > 1. */
void ag_matmul(AgExec *x, const AgMatmulJob *jobs, int n_job, const float *in, int ld_in, int m);

/* One job, scale 1. */
void ag_linear(AgExec *x, const AgLinear *lin, AgEpilogue epi, const float *in, int ld_in,
               float *out, int ld_out, int m);

typedef struct AgMatmulDsp AgMatmulDsp;

#include "libargus/dsp/matmul_dsp.h"

#endif /* AG_DSP_MATMUL_H */
