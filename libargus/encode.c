/*
 * Tiles to image tokens. See encode.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/encode.h"

/* What one tile at a time is encoded with. */
typedef struct Stream {
    AgVisionWork vision;
    AgExec exec;
} Stream;

typedef struct Encode {
    ArgusContext *ctx;
    const AgTileJob *tiles;
    int n;
    Stream stream[AG_STREAMS];
    atomic_int next, done; /* tiles */
} Encode;

static void tile_run(Encode *e, Stream *s, const AgTileJob *t)
{
    ArgusContext *ctx = e->ctx;
    const ArgusModel *m = ctx->model;
    float *patches = s->vision.y, *shuffled = s->vision.big; /* free by then */

    ag_vision_run(m->vision, &s->vision, &s->exec, t->tile, patches, &ctx->tap);
    ag_connector_run(m->connector, &s->exec, patches, shuffled, t->out, &ctx->tap);
}

static void stream_run(void *arg, int item, int thread)
{
    Encode *e = arg;
    Stream *s = &e->stream[item];

    (void)thread;
    for (;;) {
        int i = atomic_fetch_add(&e->next, 1);
        if (i >= e->n || atomic_load_explicit(&e->ctx->cancel, memory_order_relaxed))
            return;
        tile_run(e, s, &e->tiles[i]);
        atomic_fetch_add(&e->done, 1);
    }
}

/* Streams after the first: room of their own; threads' scratch is that of the context. */
static void carve(Encode *e, int n_stream, AgArena *a)
{
    const ArgusContext *ctx = e->ctx;
    const AgConfig *c = &ctx->model->config;

    for (int i = 1; i < n_stream; i++) {
        Stream *s = &e->stream[i];
        ag_vision_carve(&s->vision, a, c);
        s->exec = ctx->exec;
        s->exec.flops = 0;
        s->exec.shared = AG_TAKE(a, float, AG_EXEC_SHARED);
        if (ctx->model->quant)
            ag_q8_carve(&s->exec.q8, a, c->n_patch, AG_MAX(c->d_vis_ff, c->d_vis));
    }
}

static int open_streams(Encode *e)
{
    ArgusContext *ctx = e->ctx;
    AgArena measure = {0}, *a = &ctx->streams;
    int n = AG_MIN(AG_MIN(e->n, ctx->exec.n_thread), (int)AG_STREAMS);

    e->stream[0] = (Stream){ctx->vision, ctx->exec};
    if (n <= 1 || ctx->tap.fn)
        return 1;
    carve(e, n, &measure);
    if (measure.used > a->size) {
        ag_encode_release(ctx);
        *a = (AgArena){ag_malloc(measure.used), 0, measure.used};
        if (!a->base) {
            *a = (AgArena){0};
            return 1;
        }
    }
    a->used = 0;
    carve(e, n, a);
    for (int i = 0; i < n; i++)
        e->stream[i].exec.n_thread = (ctx->exec.n_thread + n - 1) / n;
    return n;
}

int ag_encode(ArgusContext *ctx, const AgTileJob *tiles, int n)
{
    Encode e = {.ctx = ctx, .tiles = tiles, .n = n};
    int n_stream = open_streams(&e);

    ag_pool_run_all(ctx->pool, n_stream, stream_run, &e);
    ctx->exec.flops = 0;
    for (int i = 0; i < n_stream; i++)
        ctx->exec.flops += e.stream[i].exec.flops;
    return e.done;
}

void ag_encode_release(ArgusContext *ctx)
{
    ag_free(ctx->streams.base);
    ctx->streams = (AgArena){0};
}
