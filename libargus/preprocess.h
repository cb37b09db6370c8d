/*
 * Stage: picture -> tiles. RGB bytes in, uint8 pixels out: what the tiles are cut
 * from, in one piece, and the global view.
 *
 * The sizes follow Hugging Face's slow Idefics3 image processor in its order
 * of double operations (transformers 4.54.0, image_processing_idefics3.py).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_PREPROCESS_H
#define AG_PREPROCESS_H

#include "libargus/dsp/dsp.h"
#include "libargus/image.h"
#include "libargus/model/config.h"

/* Sizes on the way, from a picture's size alone. */
typedef struct AgPlan {
    int w1, h1;      /* after the longest-edge resize */
    int w2, h2;      /* after rounding up to whole tiles (splitting); tile x tile otherwise */
    int rows, cols;  /* grid; 0, 0 = one unsplit tile */
    int n_tile;      /* rows * cols + 1 (global view, last), or 1 */
} AgPlan;

/* @return 0 or ARGUS_ERR(EINVAL) for sizes outside 1.. and AG_MAX_PIXELS. */
int ag_preprocess_plan(AgPlan *p, const AgConfig *c, int w, int h, int split);

/* Bytes of all tiles' pixels: n_tile * tile * tile * 3. */
size_t ag_preprocess_size(const AgConfig *c, const AgPlan *p);
/* Fill pixels: [rows * tile, cols * tile, 3], from which tiles are cut, then the global
 * view or only tile [tile, tile, 3]. Allocates the pictures in between and frees them.
 * @return 0, ENOMEM. */
int ag_preprocess_run(AgExec *x, const AgConfig *c, const AgPlan *p, const ArgusImage *in,
                      uint8_t *pixels);

/* RGB24 [tile, tile] in rows that are `stride` bytes apart. */
typedef struct AgTile {
    const uint8_t *data;
    ptrdiff_t stride;
} AgTile;

/* Tile i < n_tile: the grid row by row, then the global view. */
AgTile ag_preprocess_tile(const AgConfig *c, const AgPlan *p, const uint8_t *pixels, int i);

/* lut[c][v]: normalised float32 of byte v, in the reference's order of roundings. */
void ag_preprocess_lut(float lut[3][256], const AgConfig *c);

#endif /* AG_PREPROCESS_H */
