/*
 * Unit tests of the track's thread: the same results as without, what happens
 * when its queue is full, cancelling, closing.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/clip.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "libargus/base/log.h"
#include "libargus/caption.h"
#include "libargus/context.h"

static void expect_same_cues(const Cues *a, const Cues *b)
{
    CU_ASSERT_EQUAL_FATAL(a->n, b->n);
    for (int i = 0; i < a->n; i++) {
        const ArgusCue *p = &a->cue[i], *q = &b->cue[i];
        CU_ASSERT_STRING_EQUAL(a->text[i], b->text[i]);
        CU_ASSERT_EQUAL(p->start, q->start);
        CU_ASSERT_EQUAL(p->end, q->end);
        CU_ASSERT_EQUAL(p->window, q->window);
        CU_ASSERT_EQUAL(p->n_frame, q->n_frame);
        CU_ASSERT_EQUAL(p->n_token, q->n_token);
        CU_ASSERT_EQUAL(p->mean_logprob, q->mean_logprob);
    }
}

/* Any queue: the same cues, bit by bit, for the same work. */
static void same_results(void)
{
    static const int still[10] = {3, 3, 3, 3, 3, 3, 3, 4, 3, 4}, *const clip[] = {clip_moving, still};
    static const int window[][2] = {{1, 0}, {2, 0}, {4, 1}, {8, 0}}, queue[] = {1, 2, 9};

    for (size_t w = 0; w < AG_COUNT(window) * AG_COUNT(clip); w++) {
        ArgusTrackSettings s = clip_settings(window[w / 2][0]);
        ArgusContext *ctx = clip_open();
        s.hop = window[w / 2][1];
        Cues plain = clip_run(ctx, &s, clip[w % 2], 10);
        ArgusStats want = clip_stats(ctx);
        argus_close(&ctx);
        for (size_t q = 0; q < AG_COUNT(queue); q++) {
            ctx = clip_open();
            s.queue = queue[q];
            Cues c = clip_run(ctx, &s, clip[w % 2], 10);
            ArgusStats st = clip_stats(ctx);
            expect_same_cues(&plain, &c);
            CU_ASSERT_EQUAL(st.n_tile, want.n_tile);
            CU_ASSERT_EQUAL(st.n_tile_reused, want.n_tile_reused);
            CU_ASSERT_EQUAL(st.n_caption, want.n_caption);
            CU_ASSERT_EQUAL(st.n_caption_reused, want.n_caption_reused);
            CU_ASSERT_EQUAL(st.n_prompt, want.n_prompt);
            CU_ASSERT_EQUAL(st.n_token, want.n_token);
            argus_close(&ctx);
        }
    }
}

/* The worker stops at a stage: it tells so, and waits to be let go. */
typedef struct Gate {
    ArgusContext *ctx;
    const char *stage;
    sem_t there, go;
    int cancel; /* on being let go */
} Gate;

static void at_gate(void *opaque, const char *stage, int layer, const float *data, int rows,
                    int cols)
{
    Gate *g = opaque;

    (void)layer;
    (void)data;
    (void)rows;
    (void)cols;
    if (strcmp(stage, g->stage))
        return;
    ag_caption_set_tap(g->ctx, (AgTap){0});
    sem_post(&g->there);
    sem_wait(&g->go);
    ag_log(&g->ctx->log, ARGUS_LOG_WARNING, "past the gate");
    if (g->cancel)
        argus_cancel(g->ctx);
}

static void gate_open(Gate *g, ArgusContext *ctx, const char *stage)
{
    *g = (Gate){.ctx = ctx, .stage = stage};
    sem_init(&g->there, 0, 0);
    sem_init(&g->go, 0, 0);
    ag_caption_set_tap(ctx, (AgTap){at_gate, g});
}

static void gate_close(Gate *g)
{
    sem_destroy(&g->there);
    sem_destroy(&g->go);
}

/* A thread that is busy: what finds room is taken, the rest is left out, and
 * nobody waits. With it free again the same track goes on. */
static void live(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(4);
    ArgusTrack *t = NULL;
    Cues c = {0};
    Gate g;

    s.queue = 2;
    s.live = 1;
    gate_open(&g, ctx, "patch_embedding");
    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    CU_ASSERT_EQUAL(clip_frame(t, 0, 0, &c), 0);
    sem_wait(&g.there);
    for (int i = 1; i < 9; i++)
        CU_ASSERT_EQUAL(clip_frame(t, 500 * i, i, &c), 0);
    /* one under way, one waits, and one more with the room of its window */
    CU_ASSERT_EQUAL(argus_track_samples(t), 3);
    CU_ASSERT_EQUAL(argus_track_dropped(t), 6);
    CU_ASSERT_EQUAL(argus_track_open_start(t), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(ag_messages(), "do not keep up"));
    CU_ASSERT_PTR_NULL(strstr(ag_messages(), "past the gate"));
    sem_post(&g.go);
    argus_track_wait(t);
    CU_ASSERT_PTR_NOT_NULL(strstr(ag_messages(), "past the gate"));
    CU_ASSERT_EQUAL(clip_frame(t, 4500, 9, &c), 0);
    argus_track_wait(t);
    CU_ASSERT_EQUAL(clip_frame(t, 5000, 2, &c), 0);
    CU_ASSERT_EQUAL(argus_track_flush(t, 5500), 0);
    argus_track_wait(t);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(argus_track_dropped(t), 6);
    CU_ASSERT_EQUAL_FATAL(c.n, 2);
    CU_ASSERT_EQUAL(c.n_error, 0);
    static const int taken[2][4] = {{0, 1, 2, 9}, {2}};
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(c.cue[i].start, i ? 5000 : 0);
        CU_ASSERT_EQUAL(c.cue[i].end, i ? 5500 : 5000);
        CU_ASSERT_EQUAL(c.cue[i].n_frame, i ? 1 : 4);
    }
    argus_track_close(&t);
    for (int i = 0; i < 2; i++)
        clip_expect(ctx, &c, i, taken[i], NULL);
    gate_close(&g);
    argus_close(&ctx);
}

/* What is under way and what waits behind it is lost, what comes later is not. */
static void cancelled(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(1);
    ArgusTrack *t = NULL;
    Cues c = {0};
    Gate g;

    s.queue = 8;
    gate_open(&g, ctx, "logits");
    g.cancel = 1;
    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    CU_ASSERT_EQUAL(clip_frame(t, 0, 0, &c), 0);
    sem_wait(&g.there);
    CU_ASSERT_EQUAL(argus_track_pending(t), 0); /* its end is not known */
    for (int i = 1; i < 3; i++)
        CU_ASSERT_EQUAL(clip_frame(t, 500 * i, i, &c), 0);
    CU_ASSERT_EQUAL(argus_track_pending(t), 2);
    sem_post(&g.go);
    argus_track_wait(t);
    for (int i = 3; i < 5; i++)
        CU_ASSERT_EQUAL(clip_frame(t, 500 * i, i, &c), 0);
    CU_ASSERT_EQUAL(argus_track_flush(t, 2500), 0);
    argus_track_wait(t);
    CU_ASSERT_EQUAL(argus_track_pending(t), 0);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n_error, 3);
    CU_ASSERT_EQUAL(c.error, ARGUS_ERR_CANCELLED);
    CU_ASSERT_EQUAL_FATAL(c.n, 2);
    CU_ASSERT_EQUAL(c.cue[0].window, 3);
    argus_track_close(&t);
    for (int i = 0; i < 2; i++)
        clip_expect(ctx, &c, i, clip_moving + 3 + i, NULL);
    gate_close(&g);
    argus_close(&ctx);
}

static void *let_go(void *gate)
{
    sem_post(&((Gate *)gate)->go);
    return NULL;
}

/* Closed while it works: the rest is not begun, the context is free again. */
static void closed(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);
    ArgusTrack *t = NULL;
    Cues c = {0};
    pthread_t thread;
    Gate g;

    s.queue = 4;
    gate_open(&g, ctx, "patch_embedding");
    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    CU_ASSERT_EQUAL(clip_frame(t, 0, 0, &c), 0);
    sem_wait(&g.there);
    for (int i = 1; i < 4; i++)
        CU_ASSERT_EQUAL(clip_frame(t, 500 * i, i, &c), 0);
    g.cancel = 1; /* the close may not be there yet */
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, let_go, &g), 0);
    argus_track_close(&t);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(c.n, 0);
    CU_ASSERT_EQUAL(clip_stats(ctx).n_caption, 0);
    s.queue = 0;
    Cues again = clip_run(ctx, &s, clip_moving, 2);
    CU_ASSERT_EQUAL_FATAL(again.n, 1);
    clip_expect(ctx, &again, 0, clip_moving, NULL);
    gate_close(&g);
    argus_close(&ctx);
}

static void settings(void)
{
    ArgusTrackSettings s = clip_settings(8);

    ag_messages_clear();
    s.queue = -1;
    CU_ASSERT_EQUAL(argus_track_check(&s), ARGUS_ERR(EINVAL));
    CU_ASSERT_PTR_NOT_NULL(strstr(ag_messages(), "queue: expected 0 to 4096, found -1"));
    s.queue = 0;
    s.live = 1;
    CU_ASSERT_EQUAL(argus_track_check(&s), ARGUS_ERR(EINVAL));
    CU_ASSERT_PTR_NOT_NULL(strstr(ag_messages(), "queue: expected at least 1 with live"));
    s.queue = 1;
    CU_ASSERT_EQUAL(argus_track_check(&s), 0);
}

void ag_tests_track_queue(void)
{
    static const AgTest tests[] = {
        {"same results", same_results},
        {"live", live},
        {"cancelled", cancelled},
        {"closed", closed},
        {"settings", settings},
        {NULL, NULL},
    };
    ag_suite("track_queue", tests);
}
