/*
 * Loading of weights for the stages. See linear.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/linear.h"

#include <stdio.h>

int ag_params_open(AgParams *p, size_t n, int n_vector)
{
    size_t size = ag_add(ag_mul(n, sizeof(float)), ag_mul((size_t)n_vector, AG_ALIGN));

    p->arena = (AgArena){ag_malloc(size), 0, size};
    return p->arena.base ? 0 : ARGUS_ERR(ENOMEM);
}

void ag_params_close(AgParams *p)
{
    ag_free(p->arena.base);
    *p = (AgParams){0};
}

float *ag_params_take(AgParams *p, size_t n)
{
    return AG_TAKE(&p->arena, float, n);
}

const float *ag_load_vector(const AgLoader *l, const char *name, int n)
{
    char full[160];

    snprintf(full, sizeof(full), "%s%s", l->prefix, name);
    const AgTensor *t = ag_weights_get(l->w, full, n, -1, -1, -1);
    float *v = ag_params_take(l->params, (size_t)n);
    if (!t || !v)
        return NULL;
    ag_widen(&l->dsp->vec, v, t->data, t->dtype, n);
    return v;
}

void ag_load_linear(const AgLoader *l, AgLinear *out, const char *name, int n_out, int n_in,
                    int bias)
{
    char full[160];

    snprintf(full, sizeof(full), "%s%s.weight", l->prefix, name);
    const AgTensor *t = ag_weights_get(l->w, full, n_out, n_in, -1, -1);
    *out = (AgLinear){.n_out = n_out, .n_in = n_in};
    if (t) {
        out->w = t->data;
        out->dtype = t->dtype;
        if (l->quant)
            ag_quant_add(l->quant, out);
    }
    if (bias) {
        snprintf(full, sizeof(full), "%s.bias", name);
        out->bias = ag_load_vector(l, full, n_out);
    }
}
