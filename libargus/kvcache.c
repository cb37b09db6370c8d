/*
 * KV cache. See kvcache.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/kvcache.h"

#include <errno.h>

#include "libargus/argus.h"

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

void ag_kv_truncate(AgKv *kv, int len)
{
    kv->peak = AG_MAX(kv->peak, kv->len);
    kv->len = AG_MIN(kv->len, len);
}

int64_t ag_kv_bytes(const AgKv *kv)
{
    return AG_MAX(kv->peak, kv->len) * ag_kv_row_bytes(kv);
}

int64_t ag_kv_row_bytes(const AgKv *kv)
{
    return (int64_t)kv->n_layer * 2 * kv->row * (int64_t)sizeof(float);
}
