/*
 * Vision tower: one tile of uint8 pixels to [n_patch, d_vis] features.
 * See vision.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/vision.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "libargus/linear.h"
#include "libargus/preprocess.h"

typedef struct Layer {
    const float *ln1_w, *ln1_b, *ln2_w, *ln2_b; /* [d_vis] */
    AgLinear q, k, v, o;                        /* [d_vis, d_vis] */
    AgLinear fc1, fc2;                          /* [d_ff, d_vis], [d_vis, d_ff] */
} Layer;

struct AgVision {
    int d, d_ff, n_head, n_layer, n_patch, patch, tile;
    float eps;
    AgParams params;           /* the float32 vectors below live here */
    AgLinear conv;             /* [d, 3 patch^2] */
    const float *pos;          /* [n_patch, d], in the order of the patches */
    const float *post_w, *post_b;
    Layer *layer;
    float lut[3][256];
};

/* The position row of patch p. transformers 4.55.0..4.57.6 put each axis one
 * lower (its bucket is max(i - 1, 0)); texts made there need that. */
static int position_of(int p, int side, int shifted)
{
    int r = p / side, c = p % side;

    if (shifted) {
        r = AG_MAX(r - 1, 0);
        c = AG_MAX(c - 1, 0);
    }
    return r * side + c;
}

static void load_positions(AgVision *v, AgWeights *w, const AgConfig *c, const AgDsp *dsp,
                           int shifted)
{
    const AgTensor *t = ag_weights_get(w, "model.vision_model.embeddings.position_embedding.weight",
                                       c->n_patch, c->d_vis, -1, -1);
    float *pos = ag_params_take(&v->params, (size_t)c->n_patch * (size_t)c->d_vis);
    int side = c->tile / c->patch;

    v->pos = pos;
    if (!t || !pos)
        return;
    for (int p = 0; p < c->n_patch; p++) {
        size_t row = (size_t)position_of(p, side, shifted) * (size_t)c->d_vis;
        ag_widen(&dsp->vec, pos + (size_t)p * (size_t)c->d_vis,
                 (const char *)t->data + row * ag_dtype_size(t->dtype), t->dtype, c->d_vis);
    }
}

static void load_layer(AgVision *v, Layer *l, int i, AgWeights *w, const AgDsp *dsp,
                       AgQuant *quant)
{
    char p[80];
    int d = v->d, ff = v->d_ff;

    snprintf(p, sizeof(p), "model.vision_model.encoder.layers.%d.", i);
    AgLoader ld = {w, &v->params, dsp, p, quant};
    l->ln1_w = ag_load_vector(&ld, "layer_norm1.weight", d);
    l->ln1_b = ag_load_vector(&ld, "layer_norm1.bias", d);
    ag_load_linear(&ld, &l->q, "self_attn.q_proj", d, d, 1);
    ag_load_linear(&ld, &l->k, "self_attn.k_proj", d, d, 1);
    ag_load_linear(&ld, &l->v, "self_attn.v_proj", d, d, 1);
    ag_load_linear(&ld, &l->o, "self_attn.out_proj", d, d, 1);
    l->ln2_w = ag_load_vector(&ld, "layer_norm2.weight", d);
    l->ln2_b = ag_load_vector(&ld, "layer_norm2.bias", d);
    ag_load_linear(&ld, &l->fc1, "mlp.fc1", ff, d, 1);
    ag_load_linear(&ld, &l->fc2, "mlp.fc2", d, ff, 1);
}

int ag_vision_load(AgVision **out, AgWeights *w, const AgConfig *c, const AgDsp *dsp, int shifted,
                   AgQuant *quant)
{
    AgVision *v = ag_calloc(1, sizeof(*v));

    *out = NULL;
    if (!v)
        return ARGUS_ERR(ENOMEM);
    v->d = c->d_vis;
    v->d_ff = c->d_vis_ff;
    v->n_head = c->n_vis_head;
    v->n_layer = c->n_vis_layer;
    v->n_patch = c->n_patch;
    v->patch = c->patch;
    v->tile = c->tile;
    v->eps = c->vis_eps;
    ag_preprocess_lut(v->lut, c);
    size_t d = (size_t)v->d, per_layer = 4 * d + 5 * d + (size_t)v->d_ff;
    v->layer = ag_calloc((size_t)v->n_layer, sizeof(*v->layer));
    if (!v->layer || ag_params_open(&v->params, (size_t)v->n_patch * d + 3 * d
                                    + (size_t)v->n_layer * per_layer, 8 + 16 * v->n_layer) < 0) {
        ag_vision_free(&v);
        return ARGUS_ERR(ENOMEM);
    }
    AgLoader ld = {w, &v->params, dsp, "model.vision_model.", NULL};
    const AgTensor *t = ag_weights_get(w, "model.vision_model.embeddings.patch_embedding.weight",
                                       v->d, 3, v->patch, v->patch);
    if (t)
        v->conv = (AgLinear){t->data, t->dtype, v->d, 3 * v->patch * v->patch, NULL};
    v->conv.bias = ag_load_vector(&ld, "embeddings.patch_embedding.bias", v->d);
    load_positions(v, w, c, dsp, shifted);
    for (int i = 0; i < v->n_layer; i++)
        load_layer(v, &v->layer[i], i, w, dsp, quant);
    v->post_w = ag_load_vector(&ld, "post_layernorm.weight", v->d);
    v->post_b = ag_load_vector(&ld, "post_layernorm.bias", v->d);
    *out = v;
    return 0;
}

void ag_vision_free(AgVision **vp)
{
    AgVision *v = *vp;

    if (!v)
        return;
    ag_params_close(&v->params);
    ag_free(v->layer);
    ag_free(v);
    *vp = NULL;
}

void ag_vision_carve(AgVisionWork *w, AgArena *a, const AgConfig *c)
{
    size_t n = (size_t)c->n_patch;

    w->x = AG_TAKE(a, float, n * (size_t)c->d_vis);
    w->y = AG_TAKE(a, float, n * (size_t)AG_MAX(c->d_vis, 3 * c->patch * c->patch));
    w->big = AG_TAKE(a, float, n * (size_t)AG_MAX(c->d_vis_ff, 3 * c->d_vis));
}

typedef struct PatchJob {
    const AgVision *v;
    const AgDsp *dsp;
    AgTile tile;
    float *out; /* [n_patch, 3 patch^2] */
} PatchJob;

/* One row of patches. */
static void patch_row(void *arg, int row, int thread)
{
    const PatchJob *j = arg;
    const AgVision *v = j->v;
    int side = v->tile / v->patch;
    const uint8_t *in = j->tile.data + row * v->patch * j->tile.stride;
    float *out = j->out + (size_t)row * (size_t)side * (size_t)v->conv.n_in;

    (void)thread;
    for (int c = 0; c < side; c++, in += 3 * v->patch, out += v->conv.n_in)
        j->dsp->convert.patch(out, in, j->tile.stride, v->patch, v->lut);
}

static void embed(const AgVision *v, AgVisionWork *w, AgExec *x, AgTile tile,
                  const AgTap *tap)
{
    PatchJob job = {v, x->dsp, tile, w->y};
    size_t n = (size_t)v->n_patch * (size_t)v->d;

    ag_pool_run(x->pool, v->tile / v->patch, patch_row, &job);
    ag_linear(x, &v->conv, AG_EPI_STORE, w->y, v->conv.n_in, w->x, v->d, v->n_patch);
    ag_tap(tap, "patch_embedding", 0, w->x, v->n_patch, v->d);
    for (size_t i = 0; i < n; i += (size_t)v->d)
        x->dsp->vec.add(w->x + i, v->pos + i, v->d);
    ag_tap(tap, "embeddings", 0, w->x, v->n_patch, v->d);
}

static void layer_run(const AgVision *v, const Layer *l, AgVisionWork *w, AgExec *x)
{
    int n = v->n_patch, d = v->d, ld = 3 * d;
    float *q = w->big, *k = q + d, *val = k + d; /* [n, 3 d], a row holds q k v */
    float scale = (float)(1.0 / sqrt(d / v->n_head)); /* 1/8: exact */

    ag_layernorm(x, w->y, w->x, d, l->ln1_w, l->ln1_b, n, d, v->eps);
    AgMatmulJob jobs[3] = {
        {&l->q, q, ld, AG_EPI_STORE, scale},
        {&l->k, k, ld, AG_EPI_STORE, 1},
        {&l->v, val, ld, AG_EPI_STORE, 1},
    };
    ag_matmul(x, jobs, 3, w->y, d, n);
    AgAttnArgs a = {
        .q = q, .k = k, .v = val, .out = w->y, .ld_q = ld, .ld_kv = ld, .ld_out = d,
        .n_q = n, .n_kv = n, .n_head = v->n_head, .n_kv_head = v->n_head, .head_dim = d / v->n_head,
    };
    if (l->q.dtype == AG_Q8)
        ag_q8_attn(x, &a);
    else
        ag_attn(x, &a);
    ag_linear(x, &l->o, AG_EPI_ADD, w->y, d, w->x, d, n);
    ag_layernorm(x, w->y, w->x, d, l->ln2_w, l->ln2_b, n, d, v->eps);
    ag_linear(x, &l->fc1, AG_EPI_GELU, w->y, d, w->big, v->d_ff, n);
    ag_linear(x, &l->fc2, AG_EPI_ADD, w->big, v->d_ff, w->x, d, n);
}

void ag_vision_run(const AgVision *v, AgVisionWork *w, AgExec *x, AgTile tile, float *out,
                   const AgTap *tap)
{
    assert(w->x && w->y && w->big);
    embed(v, w, x, tile, tap);
    for (int i = 0; i < v->n_layer; i++) {
        layer_run(v, &v->layer[i], w, x);
        ag_tap(tap, "vision_layer", i, w->x, v->n_patch, v->d);
    }
    ag_layernorm(x, out, w->x, v->d, v->post_w, v->post_b, v->n_patch, v->d, v->eps);
}
