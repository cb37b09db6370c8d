/*
 * Keys and values of the text tower for the positions seen so far.
 *
 * Address space for n_pos positions is taken at once. Memory is taken by those that
 * ag_kv_reserve() made room for: the layers lie close together, so that they can be in
 * large pages, and move apart when more is wanted.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_KVCACHE_H
#define AG_KVCACHE_H

#include "libargus/base/mem.h"
#include "libargus/model/config.h"

typedef struct AgKv {
    float *data;     /* [n_layer][2][room, row] */
    size_t size;     /* bytes of address space */
    int n_layer, n_pos;
    int row;         /* n_kv * head_dim floats */
    int len;         /* positions filled */
    int room;        /* positions there is room for, at most n_pos */
} AgKv;

int ag_kv_open(AgKv *kv, const AgConfig *c);
void ag_kv_close(AgKv *kv);
/* Room for n <= n_pos positions at least; what is filled stays, at another place: pointers
 * to keys and values are no longer valid. */
void ag_kv_reserve(AgKv *kv, int n);
/* Keep the first len positions. */
void ag_kv_truncate(AgKv *kv, int len);
/* Bytes there is room for, and of one position in all layers. */
int64_t ag_kv_bytes(const AgKv *kv);
int64_t ag_kv_row_bytes(const AgKv *kv);

static inline float *ag_kv_k(const AgKv *kv, int layer)
{
    return kv->data + (size_t)layer * 2 * (size_t)kv->room * (size_t)kv->row;
}

static inline float *ag_kv_v(const AgKv *kv, int layer)
{
    return ag_kv_k(kv, layer) + (size_t)kv->room * (size_t)kv->row;
}

#endif /* AG_KVCACHE_H */
