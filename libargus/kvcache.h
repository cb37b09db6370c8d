/*
 * Keys and values of the text tower for the positions seen so far.
 *
 * Address space for n_pos positions is reserved at once; memory is taken by
 * the positions that are written.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_KVCACHE_H
#define AG_KVCACHE_H

#include "libargus/base/mem.h"
#include "libargus/model/config.h"

typedef struct AgKv {
    float *data;     /* [n_layer][2][n_pos, row] */
    size_t size;     /* bytes reserved */
    int n_layer, n_pos;
    int row;         /* n_kv * head_dim floats */
    int len;         /* positions filled */
    int peak;        /* most positions ever filled since the memory was given back */
} AgKv;

int ag_kv_open(AgKv *kv, const AgConfig *c);
void ag_kv_close(AgKv *kv);
/* Keep the first len positions. */
void ag_kv_truncate(AgKv *kv, int len);
/* Bytes in use, and of one position in all layers. */
int64_t ag_kv_bytes(const AgKv *kv);
int64_t ag_kv_row_bytes(const AgKv *kv);

static inline float *ag_kv_k(const AgKv *kv, int layer)
{
    return kv->data + (size_t)layer * 2 * (size_t)kv->n_pos * (size_t)kv->row;
}

static inline float *ag_kv_v(const AgKv *kv, int layer)
{
    return ag_kv_k(kv, layer) + (size_t)kv->n_pos * (size_t)kv->row;
}

#endif /* AG_KVCACHE_H */
