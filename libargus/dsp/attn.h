/*
 * Attention: out = softmax(q k^T) v for each head, with a running softmax over
 * blocks of keys, so that no [n_q, n_kv] matrix ever exists.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ATTN_H
#define AG_DSP_ATTN_H

#include "libargus/base/common.h"

typedef struct AgExec AgExec;

typedef struct AgAttnArgs {
    const float *q; /* [n_q, ld_q]; head h at column h * head_dim; already scaled */
    const float *k; /* [n_kv, ld_kv]; kv head g at column g * head_dim */
    const float *v; /* [n_kv, ld_kv] */
    float *out;     /* [n_q, ld_out]; head h at column h * head_dim; not q, k or v */
    int ld_q, ld_kv, ld_out; /* floats from row to row */
    int n_q, n_kv;
    int n_head, n_kv_head;   /* head h uses kv head h / (n_head / n_kv_head) */
    int head_dim;            /* 16..128, multiple of 8 */
    int causal;              /* 1: query i sees keys 0..pos+i only */
    int pos;                 /* position of query 0; n_kv >= pos + n_q when causal */
} AgAttnArgs;

/* A query's bits do not depend on n_q as long as n_q > 1 (one query alone has
 * its own kernel), on its place in the call, or on keys it does not see.
 * Bounded: relative error of an output row against double arithmetic <= 2e-6 *
 * sqrt(n_kv). */
void ag_attn(AgExec *x, const AgAttnArgs *a);

#include "libargus/dsp/attn_dsp.h"

#endif /* AG_DSP_ATTN_H */
