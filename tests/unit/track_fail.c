/*
 * Unit tests of the track on the embedded model: what it refuses, aspect
 * ratios, captions that fail.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/clip.h"

#include <errno.h>
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/caption.h"
#include "libargus/dsp/resample.h"
#include "libargus/track_sampler.h"

static void check_settings(void)
{
    static const struct {
        const char *word;
        int time_base, fps, fps_den, window, hop, max_frames, split, reuse;
    } t[] = {
        {"time_base", 0, 1, 1, 8, 0, 0, 0, 1}, {"fps", 1, -1, 1, 8, 0, 0, 0, 1},
        {"fps", 1, 1, 0, 8, 0, 0, 0, 1},       {"window", 1, 1, 1, 0, 0, 0, 0, 1},
        {"window", 1, 1, 1, AG_MAX_WINDOW + 1, 0, 0, 0, 1},
        {"hop", 1, 1, 1, 8, 9, 0, 0, 1},       {"hop", 1, 1, 1, 8, -1, 0, 0, 1},
        {"max_frames", 1, 1, 1, 8, 0, -1, 0, 1},
        {"split", 1, 1, 1, 8, 0, 0, 2, 1},     {"reuse", 1, 1, 1, 8, 0, 0, 0, -1},
    };
    ArgusTrackSettings s;

    argus_track_default_settings(&s);
    s.logger = *ag_test_log();
    CU_ASSERT_EQUAL(argus_track_check(&s), 0);
    CU_ASSERT_EQUAL(s.window, 8);
    CU_ASSERT_EQUAL(s.decoding.max_tokens, 64);
    for (size_t i = 0; i < AG_COUNT(t); i++) {
        s.time_base.num = t[i].time_base;
        s.fps = (ArgusRational){t[i].fps, t[i].fps_den};
        s.window = t[i].window;
        s.hop = t[i].hop;
        s.max_frames = t[i].max_frames;
        s.split = t[i].split;
        s.reuse = t[i].reuse;
        ag_messages_clear();
        CU_ASSERT(argus_track_check(&s) < 0);
        CU_ASSERT(ag_message_has(t[i].word));
    }
    argus_track_default_settings(&s);
    s.logger = *ag_test_log();
    s.decoding.temperature = 0.5; /* without a seed */
    CU_ASSERT(argus_track_check(&s) < 0);
    ag_messages_clear();
}

static void budget(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(8);
    ArgusTrack *t = NULL;
    static char longest[40000];

    ag_messages_clear();
    s.window = 2000;
    CU_ASSERT_EQUAL(argus_track_open(&t, ctx, &s), ARGUS_ERR_BUDGET);
    CU_ASSERT_PTR_NULL(t);
    CU_ASSERT(ag_message_has("8192"));
    CU_ASSERT(ag_message_has("window"));
    s.max_frames = 4; /* it can't get so full */
    CU_ASSERT_EQUAL(argus_track_open(&t, ctx, &s), 0);
    for (size_t i = 0; i + 1 < sizeof(longest); i++)
        longest[i] = i % 2 ? ' ' : '7';
    CU_ASSERT_EQUAL(argus_track_set_prompt(t, longest), ARGUS_ERR_BUDGET);
    Cues c = {0};
    clip_frame(t, 0, 0, &c); /* the old prompt still counts */
    argus_track_flush(t, ARGUS_NOPTS);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n, 1);
    CU_ASSERT_EQUAL(c.n_error, 0);
    argus_track_close(&t);

    /* tiles of a big frame: seen at the first one, before any vision work */
    s = clip_settings(100);
    s.split = 1;
    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    int64_t before = clip_stats(ctx).n_tile;
    ag_messages_clear();
    ArgusImage im = clip_picture(0);
    CU_ASSERT_EQUAL(argus_track_wants(t, 0, 0), 1);
    CU_ASSERT_EQUAL(argus_track_push(t, &im, clip_square), ARGUS_ERR_BUDGET);
    CU_ASSERT(ag_message_has("split"));
    CU_ASSERT_EQUAL(argus_track_wants(t, 500, 0), 1);
    CU_ASSERT_EQUAL(argus_track_push(t, &im, clip_square), ARGUS_ERR_BUDGET); /* still */
    CU_ASSERT_EQUAL(clip_stats(ctx).n_tile, before);
    CU_ASSERT_EQUAL(argus_track_samples(t), 0);
    argus_track_close(&t);

    s = clip_settings(2);
    s.decoding.top_k = 1 << 20;
    s.decoding.seeded = 1;
    CU_ASSERT_EQUAL(argus_track_open(&t, ctx, &s), ARGUS_ERR(EINVAL));
    argus_close(&ctx);
}

/* ------------------------------------------------------------------------ */
/* Pictures                                                                  */

/* Push a, then b, as two samples of a new context; tiles computed. */
static int64_t tiles_of_two(const ArgusImage *a, ArgusRational sar_a, const ArgusImage *b,
                            ArgusRational sar_b)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(4);
    ArgusTrack *t = NULL;

    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    CU_ASSERT_EQUAL(argus_track_wants(t, 0, 0), 1);
    CU_ASSERT_EQUAL(argus_track_push(t, a, sar_a), 0);
    CU_ASSERT_EQUAL(argus_track_wants(t, 500, 0), 1);
    CU_ASSERT_EQUAL(argus_track_push(t, b, sar_b), 0);
    int64_t n = clip_stats(ctx).n_tile;
    argus_track_close(&t);
    argus_close(&ctx);
    return n;
}

static void aspect_ratio(void)
{
    static uint8_t wide[CLIP_H * 320 * 3], tall[160 * CLIP_W * 3], rgba[CLIP_H * CLIP_W * 4];
    ArgusImage im = clip_picture(3);
    const uint8_t *pixels = im.data;
    ArgusImage w = {wide, 320 * 3, 320, CLIP_H, ARGUS_RGB24};
    ArgusImage h = {tall, CLIP_W * 3, CLIP_W, 160, ARGUS_RGB24}, a = {rgba, CLIP_W * 4, CLIP_W,
                                                                      CLIP_H, ARGUS_RGBA};
    ArgusImage up = {pixels + (CLIP_H - 1) * CLIP_W * 3, -CLIP_W * 3, CLIP_W, CLIP_H, ARGUS_RGB24};

    for (int i = 0; i < CLIP_W * CLIP_H; i++)
        memcpy(rgba + 4 * i, pixels + 3 * i, 3);
    CU_ASSERT_EQUAL(ag_resample(NULL, wide, 320, CLIP_H, pixels, CLIP_W, CLIP_H, CLIP_W * 3), 0);
    CU_ASSERT_EQUAL(ag_resample(NULL, tall, CLIP_W, 160, pixels, CLIP_W, CLIP_H, CLIP_W * 3), 0);
    CU_ASSERT_EQUAL(tiles_of_two(&im, (ArgusRational){2, 1}, &w, clip_square), 1);
    CU_ASSERT_EQUAL(tiles_of_two(&im, (ArgusRational){3, 4}, &h, (ArgusRational){0, 1}), 1);
    CU_ASSERT_EQUAL(tiles_of_two(&a, (ArgusRational){2, 1}, &w, (ArgusRational){7, 7}), 1);
    CU_ASSERT_EQUAL(tiles_of_two(&im, (ArgusRational){2, 1}, &im, (ArgusRational){1, 0}), 2);
    CU_ASSERT_EQUAL(tiles_of_two(&im, clip_square, &up, clip_square), 1); /* it is symmetric */

    ag_messages_clear(); /* too much of a good thing */
    CU_ASSERT_EQUAL(tiles_of_two(&im, (ArgusRational){INT32_MAX, 1}, &im, clip_square), 1);
    CU_ASSERT(ag_message_has("aspect ratio"));
}

static void bad_pictures(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);
    ArgusTrack *t = NULL;
    ArgusImage im = clip_picture(0), none = im;
    Cues c = {0};

    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    CU_ASSERT_EQUAL(argus_track_push(t, &im, clip_square), ARGUS_ERR(EINVAL)); /* nobody asked */
    CU_ASSERT_EQUAL(argus_track_wants(t, 0, 0), 1);
    none.width = 0;
    CU_ASSERT_EQUAL(argus_track_push(t, &none, clip_square), ARGUS_ERR(EINVAL));
    none = im;
    none.data = NULL;
    CU_ASSERT_EQUAL(argus_track_push(t, &none, clip_square), ARGUS_ERR(EINVAL));
    CU_ASSERT_EQUAL(argus_track_samples(t), 0);
    CU_ASSERT_EQUAL(argus_track_push(t, &im, clip_square),
                    0); /* a better one for the same time */
    CU_ASSERT_EQUAL(argus_track_push(t, &im, clip_square), ARGUS_ERR(EINVAL));
    CU_ASSERT_EQUAL(argus_track_flush(t, 100), 0);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n, 1);
    argus_track_close(&t);
    argus_track_close(&t);
    argus_close(&ctx);
}

/* ------------------------------------------------------------------------ */
/* Failures                                                                  */

/* Cancels when the answer is about to be decoded, once. */
static void cancel_after_prefill(void *ctx, const char *stage, int layer, const float *data,
                                 int rows, int cols)
{
    (void)layer;
    (void)data;
    (void)rows;
    (void)cols;
    if (strcmp(stage, "logits"))
        return;
    argus_cancel(ctx);
    ag_caption_set_tap(ctx, (AgTap){0});
}

/* A caption fails while its window's end is not known yet. */
static void full_window_fails(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);
    ArgusTrack *t = NULL;
    Cues c = {0};

    for (long n = 0; n < 200 && !c.n_error; n++) { /* the allocation that is the answer's */
        argus_track_close(&t);
        CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
        CU_ASSERT_EQUAL(clip_frame(t, 0, 0, &c), 0);
        ag_mem_fail_after(n);
        int err = clip_frame(t, 500, 0, &c);
        ag_mem_fail_after(-1);
        CU_ASSERT(err == 0 || err == ARGUS_ERR(ENOMEM));
    }
    CU_ASSERT_EQUAL(c.n_error, 1); /* at once */
    CU_ASSERT_EQUAL(clip_frame(t, 1000, 0, &c), 0);
    CU_ASSERT_EQUAL(clip_frame(t, 1500, 0, &c), 0);
    CU_ASSERT_EQUAL(argus_track_flush(t, 2000), 0);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL_FATAL(c.n, 1);
    CU_ASSERT_EQUAL(c.n_error, 1);
    CU_ASSERT_EQUAL(c.cue[0].start, 1000);
    CU_ASSERT_EQUAL(c.cue[0].end, 2000);
    CU_ASSERT_EQUAL(clip_stats(ctx).n_caption_reused, 0); /* there was none to reuse */
    argus_track_close(&t);
    argus_close(&ctx);
}

static void cancelled(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(8);
    ArgusTrack *t = NULL;
    Cues c = {0};

    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(clip_frame(t, 500 * i, i, &c), 0);
    ag_caption_set_tap(ctx, (AgTap){cancel_after_prefill, ctx});
    CU_ASSERT_EQUAL(argus_track_flush(t, 3000), 0); /* the caption is lost */
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n, 0);
    CU_ASSERT_EQUAL(c.n_error, 1);
    CU_ASSERT_EQUAL(c.error, ARGUS_ERR_CANCELLED);
    for (int i = 0; i < 6; i++) /* the track goes on; nothing was learnt from the lost one */
        CU_ASSERT_EQUAL(clip_frame(t, 3000 + 500 * i, i, &c), 0);
    CU_ASSERT_EQUAL(argus_track_flush(t, 6000), 0);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL_FATAL(c.n, 1);
    CU_ASSERT_EQUAL(c.cue[0].window, 1);
    CU_ASSERT_EQUAL(c.n_error, 1);
    clip_expect(ctx, &c, 0, clip_moving, NULL);
    argus_track_close(&t);
    argus_close(&ctx);
}

/* An allocation of a track's life fails, and all later ones too. The calls say
 * so, nothing leaks, and with memory back the track goes on. */
static void out_of_memory(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);
    ArgusImage im = clip_picture(0);
    int done = 0, failures = 0;

    s.prompt = "What is it?";
    s.system = "Be brief.";
    s.hop = 1;
    s.decoding.max_tokens = 4;
    for (long n = 0; n < 5000 && !done; n += 1 + n / 100) {
        ArgusTrack *t = NULL;
        Cues c = {0};
        ag_mem_fail_after(n);
        int bad = argus_track_open(&t, ctx, &s);
        for (int i = 0; t && i < 4 && bad == 0; i++) {
            int ret = argus_track_wants(t, 500 * i, 500);
            if (ret > 0)
                ret = argus_track_push(t, &im, (ArgusRational){4, 3});
            bad = ret < 0 ? ret : 0;
            clip_poll(t, &c);
        }
        if (t && argus_track_flush(t, 2000) < 0)
            bad = ARGUS_ERR(ENOMEM);
        if (t)
            clip_poll(t, &c);
        ag_mem_fail_after(-1);
        CU_ASSERT(bad == 0 || bad == ARGUS_ERR(ENOMEM));
        CU_ASSERT(c.n_error == 0 || c.error == ARGUS_ERR(ENOMEM));
        failures += bad < 0 || c.n_error;
        done = bad == 0 && !c.n_error;
        if (t && !done) {
            Cues more = {0};
            for (int i = 4; i < 6; i++)
                CU_ASSERT_EQUAL(clip_frame(t, 500 * i, i, &more), 0);
            CU_ASSERT_EQUAL(argus_track_flush(t, 3000), 0);
            clip_poll(t, &more);
            CU_ASSERT(more.n >= 1);
        }
        argus_track_close(&t);
    }
    CU_ASSERT(done);
    CU_ASSERT(failures > 20);
    argus_close(&ctx);
}

void ag_tests_track_fail(void)
{
    static const AgTest tests[] = {
        {"settings out of range", check_settings},
        {"D8 budget", budget},
        {"V13 aspect ratio", aspect_ratio},
        {"pictures that are none", bad_pictures},
        {"cancelled", cancelled},
        {"a full window fails", full_window_fails},
        {"out of memory", out_of_memory},
        {NULL, NULL},
    };

    ag_suite("track_fail", tests);
}
