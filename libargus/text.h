/*
 * Stage: ids and image tokens -> logits. A llama decoder: RMSNorm, RoPE,
 * grouped-query attention over the KV cache, SwiGLU, untied head.
 *
 *     int [n] (+ float [n_image, d_txt])  ->  float [vocab]
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TEXT_H
#define AG_TEXT_H

#include "libargus/dsp/dsp.h"
#include "libargus/kvcache.h"
#include "libargus/model/config.h"
#include "libargus/model/weights.h"
#include "libargus/quant.h"
#include "libargus/tap.h"

enum { AG_TEXT_CHUNK = 1152 }; /* rows that go through the layers together */

typedef struct AgText AgText;

typedef struct AgTextWork {
    float *x;    /* [chunk, d_txt] residual stream */
    float *y;    /* [chunk, max(d_txt, n_head * head_dim)] norms, attention */
    float *q;    /* [chunk, n_head * head_dim] */
    float *ff;   /* [chunk, d_ff] */
    float *rope; /* [chunk, head_dim] */
} AgTextWork;

/* quant: takes the layers' matrices and the head, NULL = exact. @return 0, ENOMEM. */
int ag_text_load(AgText **out, AgWeights *w, const AgConfig *c, const AgDsp *dsp, AgQuant *quant);
void ag_text_carve(AgTextWork *w, AgArena *a, const AgConfig *c);
/* Run n ids at positions kv->len.. and append them to the cache. The k-th
 * image_token_id takes the row slots[*slot] [d_txt], and *slot moves on. logits [vocab] of the
 * last id, NULL if not wanted (then the last layer stops at its keys and values). kv->len + n <=
 * n_pos. */
void ag_text_run(const AgText *t, AgTextWork *w, AgExec *x, AgKv *kv, const int *ids, int n,
                 const float *const *slots, int *slot, float *logits, const AgTap *tap);
/* The same for n <= AG_TEXT_CHUNK ids without pictures, with the logits after each:
 * [n, vocab]. */
void ag_text_verify(const AgText *t, AgTextWork *w, AgExec *x, AgKv *kv, const int *ids, int n,
                    float *logits);
/* Bytes of weights that a forward pass of one id reads. */
int64_t ag_text_bytes(const AgText *t);
void ag_text_free(AgText **t);

#endif /* AG_TEXT_H */
