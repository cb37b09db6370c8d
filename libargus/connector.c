/*
 * Connector: pixel shuffle and projection. See connector.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/connector.h"

#include <string.h>

#include "libargus/linear.h"

struct AgConnector {
    int d_vis, shuffle, side; /* side: tokens along an edge of the tile */
    AgLinear proj;            /* [d_txt, shuffle^2 * d_vis], no bias */
};

int ag_connector_load(AgConnector **out, AgWeights *w, const AgConfig *c)
{
    AgConnector *k = ag_calloc(1, sizeof(*k));

    *out = NULL;
    if (!k)
        return ARGUS_ERR(ENOMEM);
    AgLoader ld = {w, NULL, NULL, "model.connector.", NULL};
    k->d_vis = c->d_vis;
    k->shuffle = c->shuffle;
    k->side = c->tile / c->patch / c->shuffle;
    ag_load_linear(&ld, &k->proj, "modality_projection.proj", c->d_txt,
                   c->shuffle * c->shuffle * c->d_vis, 0);
    *out = k;
    return 0;
}

void ag_connector_free(AgConnector **c)
{
    ag_free(*c);
    *c = NULL;
}

void ag_connector_run(const AgConnector *c, AgExec *x, const float *in, float *shuffled, float *out,
                      const AgTap *tap)
{
    int s = c->shuffle, side = c->side, n_tok = side * side;
    size_t d = (size_t)c->d_vis;
    float *dst = shuffled;

    /* Token (Y, X), channel (dy, dx, c): patch (Y s + dy, X s + dx). dx and c
     * are neighbours in memory on both sides. */
    for (int t = 0; t < n_tok; t++) {
        for (int dy = 0; dy < s; dy++, dst += (size_t)s * d) {
            int row = t / side * s + dy, col = t % side * s;
            memcpy(dst, in + (size_t)(row * side * s + col) * d, (size_t)s * d * sizeof(float));
        }
    }
    ag_linear(x, &c->proj, AG_EPI_STORE, shuffled, c->proj.n_in, out, c->proj.n_out, n_tok);
    ag_tap(tap, "connector", 0, out, n_tok, c->proj.n_out);
}
