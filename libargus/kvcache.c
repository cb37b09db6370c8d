/*
 * KV cache. See kvcache.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/kvcache.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "libargus/argus.h"

enum { STEP = 64 }; /* room is a multiple of */

int ag_kv_open(AgKv *kv, const AgConfig *c)
{
    *kv = (AgKv){.n_layer = c->n_layer, .n_pos = c->n_pos, .row = c->n_kv * c->head_dim};
    kv->size = ag_mul(ag_mul((size_t)c->n_layer * 2, (size_t)c->n_pos),
                      (size_t)kv->row * sizeof(float));
    kv->data = ag_vm_alloc(kv->size);
    return kv->data ? 0 : ARGUS_ERR(ENOMEM);
}

void ag_kv_close(AgKv *kv)
{
    ag_vm_free(kv->data, kv->size);
    *kv = (AgKv){0};
}

void ag_kv_reserve(AgKv *kv, int n)
{
    size_t old = (size_t)kv->room * (size_t)kv->row;

    assert(n <= kv->n_pos);
    if (n <= kv->room)
        return;
    kv->room = AG_MIN(kv->n_pos, AG_ALIGN_UP(n, STEP));
    size_t now = (size_t)kv->room * (size_t)kv->row;
    size_t filled = (size_t)kv->len * (size_t)kv->row * sizeof(float);
    for (size_t i = 2 * (size_t)kv->n_layer; filled && i-- > 0;) /* the last first: they move up */
        memmove(kv->data + i * now, kv->data + i * old, filled);
}

void ag_kv_truncate(AgKv *kv, int len)
{
    kv->len = AG_MIN(kv->len, len);
}

int64_t ag_kv_bytes(const AgKv *kv)
{
    return kv->room * ag_kv_row_bytes(kv);
}

int64_t ag_kv_row_bytes(const AgKv *kv)
{
    return (int64_t)kv->n_layer * 2 * kv->row * (int64_t)sizeof(float);
}
