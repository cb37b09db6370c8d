/*
 * Numbers between stages, for parity tests.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TAP_H
#define AG_TAP_H

/* Called with [rows, cols] of a stage: "patch_embedding", "embeddings",
 * "vision_layer" (layer 0..), "connector", "text_embedding" and "text_layer"
 * ([1, d_txt], last prompt position), "logits" ([1, vocab], after prefill).
 * Vision stages report every tile, in order. */
typedef struct AgTap {
    void (*fn)(void *opaque, const char *stage, int layer, const float *data, int rows, int cols);
    void *opaque;
} AgTap;

static inline void ag_tap(const AgTap *t, const char *stage, int layer, const float *data, int rows,
                          int cols)
{
    if (t && t->fn)
        t->fn(t->opaque, stage, layer, data, rows, cols);
}

#endif /* AG_TAP_H */
