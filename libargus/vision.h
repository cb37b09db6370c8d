/*
 * Stage: tiles -> patch features. A SigLIP tower: patch convolution, learned
 * positions, pre-norm transformer layers, final LayerNorm.
 *
 *     uint8 [tile, tile, 3]  ->  float [n_patch, d_vis]
 *
 * Follows modeling_idefics3.py of transformers 4.54.0.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_VISION_H
#define AG_VISION_H

#include "libargus/dsp/dsp.h"
#include "libargus/model/config.h"
#include "libargus/model/weights.h"
#include "libargus/preprocess.h"
#include "libargus/quant.h"
#include "libargus/tap.h"

typedef struct AgVision AgVision; /* model lifetime, read-only */

/* Context lifetime. */
typedef struct AgVisionWork {
    float *x;   /* [n_patch, d_vis]       residual stream */
    float *y;   /* [n_patch, max(d_vis, 3 patch^2)] norms, attention, patches */
    float *big; /* [n_patch, max(d_vis_ff, 3 d_vis)] q k v, then the MLP */
} AgVisionWork;

/* shifted: positions of transformers 4.55.0..4.57.6. Missing tensors are noted
 * in w (ag_weights_check). quant: takes the layers' matrices, NULL = exact; the
 * patches' stays exact. @return 0, ENOMEM. */
int ag_vision_load(AgVision **out, AgWeights *w, const AgConfig *c, const AgDsp *dsp, int shifted,
                   AgQuant *quant);
void ag_vision_carve(AgVisionWork *w, AgArena *a, const AgConfig *c);
/* One tile. out [n_patch, d_vis]. */
void ag_vision_run(const AgVision *v, AgVisionWork *w, AgExec *x, AgTile tile, float *out,
                   const AgTap *tap);
void ag_vision_free(AgVision **v);

#endif /* AG_VISION_H */
