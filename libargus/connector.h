/*
 * Stage: patch features -> image tokens. Pixel shuffle (shuffle x shuffle
 * neighbouring patches become one row) and one projection.
 *
 *     float [n_patch, d_vis]  ->  float [n_img_tok, d_txt]
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_CONNECTOR_H
#define AG_CONNECTOR_H

#include "libargus/dsp/dsp.h"
#include "libargus/model/config.h"
#include "libargus/model/weights.h"
#include "libargus/tap.h"

typedef struct AgConnector AgConnector;

int ag_connector_load(AgConnector **out, AgWeights *w, const AgConfig *c);
/* One tile. shuffled: work, as large as in. */
void ag_connector_run(const AgConnector *c, AgExec *x, const float *in, float *shuffled, float *out,
                      const AgTap *tap);
void ag_connector_free(AgConnector **c);

#endif /* AG_CONNECTOR_H */
