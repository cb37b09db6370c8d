/*
 * Stage: tiles of pictures -> image tokens: the vision tower and the connector, on one
 * or on several tiles at a time.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_ENCODE_H
#define AG_ENCODE_H

#include "libargus/context.h"

/* Most tiles that are under way at a time; each takes working memory. */
enum { AG_STREAMS = 4 };

/* A tile, and where its image tokens go. */
typedef struct AgTileJob {
    AgTile tile;
    float *out; /* [n_img_tok, d_txt] */
} AgTileJob;

/* Encode n tiles. With several threads, several tiles are under way at a time, each on a
 * thread of its own: threads then wait for each other at the end only. The numbers are
 * the same. @return tiles that were encoded: fewer than n if the context was cancelled. */
int ag_encode(ArgusContext *ctx, const AgTileJob *tiles, int n);

/* Give back what tiles beyond the first were encoded in; it is taken again when needed. */
void ag_encode_release(ArgusContext *ctx);

#endif /* AG_ENCODE_H */
