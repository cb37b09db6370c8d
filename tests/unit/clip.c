/*
 * Helpers of the track's tests. See clip.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/clip.h"

#include <stdio.h>
#include <string.h>

const ArgusRational clip_square = {1, 1};
const int clip_moving[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static uint8_t pixels[CLIP_H * CLIP_W * 3];

/* Picture k of a clip: a red square on black that moves to the right. */
ArgusImage clip_picture(int k)
{
    memset(pixels, 0, sizeof(pixels));
    for (int y = 45; y < 75; y++)
        for (int x = 10 + 15 * k; x < 40 + 15 * k; x++)
            pixels[(y * CLIP_W + x % CLIP_W) * 3] = 255;
    return (ArgusImage){pixels, CLIP_W * 3, CLIP_W, CLIP_H, ARGUS_RGB24};
}

ArgusContext *clip_open(void)
{
    ArgusModelSettings ms;
    ArgusSettings s;
    ArgusModel *m = NULL;
    ArgusContext *ctx = NULL;

    ag_messages_clear();
    argus_model_default_settings(&ms);
    ms.logger = *ag_test_log();
    ms.model = "argus-tiny";
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&m, &ms), 0);
    argus_default_settings(&s);
    s.logger = ms.logger;
    s.threads = 2;
    CU_ASSERT_EQUAL_FATAL(argus_open(&ctx, m, &s), 0);
    argus_model_close(&m);
    return ctx;
}

/* One sample for each frame; frames are 500 ms apart. */
ArgusTrackSettings clip_settings(int window)
{
    ArgusTrackSettings s;

    argus_track_default_settings(&s);
    s.logger = *ag_test_log();
    s.time_base = (ArgusRational){1, 1000};
    s.frame_rate = (ArgusRational){2, 1};
    s.fps = (ArgusRational){2, 1};
    s.window = window;
    s.decoding.max_tokens = 24;
    return s;
}

void clip_poll(ArgusTrack *t, Cues *c)
{
    int ret;

    while (c->n < CLIP_MAX_CUE && (ret = argus_track_poll(t, &c->cue[c->n])) != 0) {
        if (ret < 0) {
            c->n_error++;
            c->error = ret;
            continue;
        }
        snprintf(c->text[c->n], sizeof(c->text[0]), "%s", c->cue[c->n].text);
        c->n++;
    }
}

int clip_frame(ArgusTrack *t, int64_t pts, int k, Cues *c)
{
    ArgusImage im = clip_picture(k);
    int ret = argus_track_wants(t, pts, 500);

    if (ret > 0)
        ret = argus_track_push(t, &im, clip_square);
    clip_poll(t, c);
    return ret;
}

/* Frames with these pictures, 500 ms apart, and the end. */
Cues clip_run(ArgusContext *ctx, const ArgusTrackSettings *s, const int *k, int n)
{
    ArgusTrack *t = NULL;
    Cues c = {0};

    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, s), 0);
    for (int i = 0; i < n; i++)
        CU_ASSERT_EQUAL(clip_frame(t, 500 * i, k[i], &c), 0);
    CU_ASSERT_EQUAL(argus_track_samples(t), n);
    CU_ASSERT_EQUAL(argus_track_flush(t, 500 * n), 0);
    argus_track_wait(t);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n_error, 0);
    argus_track_close(&t);
    CU_ASSERT_PTR_NULL(t);
    return c;
}

/* What argus_describe() says about these pictures in one prompt. */
static void describe(ArgusContext *ctx, const int *k, int n, const char *prompt, ArgusCaption *out)
{
    static uint8_t copy[8][CLIP_H * CLIP_W * 3];
    ArgusImage im[8];
    ArgusPart parts[9];
    ArgusRequest r;

    CU_ASSERT_FATAL(n <= 8);
    argus_request_default(&r);
    r.split = 0;
    r.decoding.max_tokens = 24;
    for (int i = 0; i < n; i++) {
        im[i] = clip_picture(k[i]);
        memcpy(copy[i], im[i].data, sizeof(copy[i]));
        im[i].data = copy[i];
        parts[i] = (ArgusPart){ARGUS_PART_IMAGE, NULL, &im[i]};
    }
    parts[n] = (ArgusPart){ARGUS_PART_TEXT, prompt, NULL};
    r.parts = parts;
    r.n_part = (size_t)n + (prompt != NULL);
    CU_ASSERT_EQUAL_FATAL(argus_describe(ctx, &r, out), 0);
}

void clip_expect(ArgusContext *ctx, const Cues *c, int i, const int *k,
                             const char *prompt)
{
    ArgusCaption d;

    describe(ctx, k, c->cue[i].n_frame, prompt, &d);
    CU_ASSERT_STRING_EQUAL(c->text[i], d.text);
    CU_ASSERT_EQUAL(c->cue[i].n_token, d.n_id);
    CU_ASSERT_EQUAL(c->cue[i].finish, d.finish);
    CU_ASSERT_DOUBLE_EQUAL(c->cue[i].mean_logprob, d.mean_logprob, 1e-4);
    argus_caption_free(&d);
}

ArgusStats clip_stats(const ArgusContext *ctx)
{
    ArgusStats st;

    argus_stats(ctx, &st);
    return st;
}
