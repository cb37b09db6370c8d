/*
 * Stage: picture -> tiles.
 *
 *     ArgusImage [h, w]
 *       -> RGB [h1, w1, 3]     longest edge to a fixed length, up or down
 *       -> RGB [h2, w2, 3]     each side up to whole tiles (splitting)
 *       -> [tile, tile, 3]     the global view; the other tiles are cut where they lie
 *
 * Sizes follow transformers 4.54.0, image_processing_idefics3.py: its order of
 * double divisions and its truncations decide the last pixel, so do not
 * simplify them. Two traps: a side is made even *after* the truncation, and
 * the global view is made from the tile-multiple picture, not from the
 * original.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/preprocess.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "libargus/base/mem.h"

#define MAX_SIDE 4096 /* the reference's bound after the first resize */

/* Longest edge to `longest`, the other one truncated, then made even. */
static void scale_to_longest(int *w, int *h, int longest)
{
    double ratio = (double)*w / *h;

    if (*w >= *h) {
        *w = longest;
        *h = (int)(*w / ratio);
        *h += *h & 1;
    } else {
        *h = longest;
        *w = (int)(*h * ratio);
        *w += *w & 1;
    }
    *w = AG_MAX(*w, 1);
    *h = AG_MAX(*h, 1);
}

static void scale_below(int *w, int *h, int most)
{
    double ratio = (double)*w / *h;

    if (*w >= *h && *w > most) {
        *w = most;
        *h = (int)(*w / ratio);
    } else if (*h > *w && *h > most) {
        *h = most;
        *w = (int)(*h * ratio);
    }
    *w = AG_MAX(*w, 1);
    *h = AG_MAX(*h, 1);
}

/* Longest edge to whole tiles, the other one by the ratio, then to whole tiles. */
static void scale_to_tiles(int *w, int *h, int tile)
{
    double ratio = (double)*w / *h;

    if (*w >= *h) {
        *w = AG_ALIGN_UP(*w, tile);
        *h = (int)(*w / ratio);
        *h = AG_ALIGN_UP(*h, tile);
    } else {
        *h = AG_ALIGN_UP(*h, tile);
        *w = (int)(*h * ratio);
        *w = AG_ALIGN_UP(*w, tile);
    }
}

int ag_preprocess_plan(AgPlan *p, const AgConfig *c, int w, int h, int split)
{
    AgPlan q = {.w1 = w, .h1 = h, .w2 = c->tile, .h2 = c->tile, .n_tile = 1};

    assert(c->tile > 0 && c->longest_edge > 0);
    if (!ag_image_size_ok(w, h))
        return ARGUS_ERR(EINVAL);
    scale_to_longest(&q.w1, &q.h1, c->longest_edge);
    scale_below(&q.w1, &q.h1, MAX_SIDE);
    if (split) {
        q.w2 = q.w1;
        q.h2 = q.h1;
        scale_to_tiles(&q.w2, &q.h2, c->tile);
        if (q.w2 > c->tile || q.h2 > c->tile) {
            q.rows = q.h2 / c->tile;
            q.cols = q.w2 / c->tile;
            q.n_tile = q.rows * q.cols + 1;
        }
    }
    *p = q;
    return 0;
}

/* A picture on the way: RGB24 rows, and the memory behind them if it is ours. */
typedef struct Rgb {
    const uint8_t *data;
    ptrdiff_t stride;
    int w, h;
    uint8_t *own;
} Rgb;

static int rgb_new(Rgb *r, int w, int h)
{
    r->own = ag_malloc(ag_mul(ag_mul((size_t)w, (size_t)h), 3));
    if (!r->own)
        return ARGUS_ERR(ENOMEM);
    r->data = r->own;
    r->stride = (ptrdiff_t)w * 3;
    r->w = w;
    r->h = h;
    return 0;
}

/* Replace r by itself in another size; in memory `to`, NULL: in its own, if any is needed. */
static int rgb_resize(AgExec *x, Rgb *r, int w, int h, uint8_t *to)
{
    Rgb out = {to, (ptrdiff_t)w * 3, w, h, NULL};
    int err = 0;

    if (r->w == w && r->h == h && !to)
        return 0;
    if (!to && (err = rgb_new(&out, w, h)) < 0)
        return err;
    err = ag_resample(x, to ? to : out.own, w, h, r->data, r->w, r->h, r->stride);
    ag_free(r->own);
    *r = out;
    return err;
}

static int rgb_read(Rgb *r, const ArgusImage *in)
{
    int err;

    if (in->format == ARGUS_RGB24) {
        *r = (Rgb){in->data, in->stride, in->width, in->height, NULL};
        return 0;
    }
    err = rgb_new(r, in->width, in->height);
    if (err >= 0)
        ag_image_rgb(r->own, in, 0, in->height);
    return err;
}

size_t ag_preprocess_size(const AgConfig *c, const AgPlan *p)
{
    return ag_mul((size_t)p->n_tile, (size_t)c->tile * (size_t)c->tile * 3);
}

int ag_preprocess_run(AgExec *x, const AgConfig *c, const AgPlan *p, const ArgusImage *in,
                      uint8_t *pixels)
{
    int split = p->n_tile > 1, whole = p->w1 == p->w2 && p->h1 == p->h2;
    Rgb r = {0};
    int err = rgb_read(&r, in);

    if (err >= 0)
        err = rgb_resize(x, &r, p->w1, p->h1, split && whole ? pixels : NULL);
    if (err >= 0 && split && !whole)
        err = rgb_resize(x, &r, p->w2, p->h2, pixels);
    if (err >= 0)
        err = ag_resample(x, (uint8_t *)ag_preprocess_tile(c, p, pixels, p->n_tile - 1).data,
                          c->tile, c->tile, r.data, r.w, r.h, r.stride);
    ag_free(r.own);
    return err;
}

AgTile ag_preprocess_tile(const AgConfig *c, const AgPlan *p, const uint8_t *pixels, int i)
{
    ptrdiff_t row = (ptrdiff_t)c->tile * 3, grid_row = row * p->cols;

    if (i < p->rows * p->cols)
        return (AgTile){pixels + i / p->cols * c->tile * grid_row + i % p->cols * row, grid_row};
    return (AgTile){pixels + p->rows * c->tile * grid_row, row};
}

void ag_preprocess_lut(float lut[3][256], const AgConfig *c)
{
    for (int i = 0; i < 3; i++) {
        for (int v = 0; v < 256; v++) {
            float scaled = (float)((double)v * c->rescale);
            lut[i][v] = (scaled - c->mean[i]) / c->std[i];
        }
    }
}
