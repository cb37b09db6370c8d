/*
 * Unit tests of the track on the embedded model: captions of windows, what is
 * computed and what is reused, prompts. The rules of time are in
 * track_sampler.c and track_random.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/clip.h"

#include <string.h>

static void captions(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(4);
    Cues c = clip_run(ctx, &s, clip_moving, 10);

    CU_ASSERT_EQUAL_FATAL(c.n, 3);
    CU_ASSERT_STRING_EQUAL(c.text[0], "A red square moves to the right.");
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(c.cue[i].start, 2000 * i);
        CU_ASSERT_EQUAL(c.cue[i].end, i < 2 ? 2000 * i + 2000 : 5000);
        CU_ASSERT_EQUAL(c.cue[i].window, i);
        CU_ASSERT_EQUAL(c.cue[i].n_frame, i < 2 ? 4 : 2);
        CU_ASSERT_EQUAL(c.cue[i].choice, -1);
        CU_ASSERT(c.text[i][0] && c.text[i][0] != ' ');
        clip_expect(ctx, &c, i, clip_moving + 4 * i, NULL);
    }
    argus_close(&ctx);
}

static void equal_pictures(void)
{
    static const int still[16] = {0}, two[] = {0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0};
    ArgusContext *ctx = clip_open(), *fresh = clip_open();
    ArgusTrackSettings s = clip_settings(8);
    Cues a = clip_run(ctx, &s, still, 16);
    ArgusStats st = clip_stats(ctx);

    CU_ASSERT_EQUAL(st.n_tile, 1);
    CU_ASSERT_EQUAL(st.n_tile_reused, 15);
    CU_ASSERT_EQUAL(st.n_caption, 1);
    CU_ASSERT_EQUAL(st.n_caption_reused, 1);
    s.reuse = 0;
    Cues b = clip_run(fresh, &s, still, 16);
    st = clip_stats(fresh);
    CU_ASSERT_EQUAL(st.n_tile, 16);
    CU_ASSERT_EQUAL(st.n_tile_reused, 0);
    CU_ASSERT_EQUAL(st.n_caption, 2);
    CU_ASSERT_EQUAL(st.n_caption_reused, 0);
    CU_ASSERT_EQUAL_FATAL(a.n, 2);
    CU_ASSERT_EQUAL_FATAL(b.n, 2);
    for (int i = 0; i < 2; i++) { /* and nobody can tell */
        CU_ASSERT_STRING_EQUAL(a.text[i], b.text[i]);
        CU_ASSERT_EQUAL(a.cue[i].mean_logprob, b.cue[i].mean_logprob);
        CU_ASSERT_EQUAL(a.cue[i].n_token, b.cue[i].n_token);
        CU_ASSERT_EQUAL(a.cue[i].end, b.cue[i].end);
    }
    argus_close(&fresh);

    fresh = clip_open(); /* same pictures in another order: another window */
    s.reuse = 1;
    s.window = 4;
    Cues c = clip_run(fresh, &s, two, 12);
    st = clip_stats(fresh);
    CU_ASSERT_EQUAL(st.n_tile, 2);
    CU_ASSERT_EQUAL(st.n_caption, 2);
    CU_ASSERT_EQUAL(st.n_caption_reused, 1); /* the third is like the second */
    CU_ASSERT_EQUAL(c.n, 3);
    argus_close(&fresh);
    argus_close(&ctx);
}

static void hop(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(4);

    for (int reuse = 0; reuse < 2; reuse++) {
        int64_t before = clip_stats(ctx).n_tile;
        s.hop = 1;
        s.reuse = reuse;
        Cues c = clip_run(ctx, &s, clip_moving, 8);
        CU_ASSERT_EQUAL(clip_stats(ctx).n_tile - before, 8); /* each frame once */
        CU_ASSERT_EQUAL_FATAL(c.n, 5);
        for (int i = 0; i < 5; i++) {
            CU_ASSERT_EQUAL(c.cue[i].n_frame, 4);
            CU_ASSERT_EQUAL(c.cue[i].start, 500 * i);
            CU_ASSERT_EQUAL(c.cue[i].end, i < 4 ? 500 * i + 500 : 4000);
        }
        clip_expect(ctx, &c, 0, clip_moving, NULL);
        clip_expect(ctx, &c, 3, clip_moving + 3, NULL);
    }
    argus_close(&ctx);
}

static void a_cue_comes_when_its_end_is_known(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);
    ArgusTrack *t = NULL;
    Cues c = {0};

    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    CU_ASSERT_EQUAL(argus_track_open_start(t), ARGUS_NOPTS);
    clip_frame(t, 0, 0, &c);
    CU_ASSERT_EQUAL(argus_track_open_start(t), 0);
    clip_frame(t, 500, 1, &c);
    CU_ASSERT_EQUAL(clip_stats(ctx).n_caption, 1); /* made at once */
    CU_ASSERT_EQUAL(c.n, 0);
    CU_ASSERT_EQUAL(argus_track_wants(t, 750, 0), 0);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n, 0);
    CU_ASSERT_EQUAL(argus_track_wants(t, 1000, 0), 1);
    CU_ASSERT_EQUAL(argus_track_open_start(t), 0); /* not polled yet */
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n, 1);
    CU_ASSERT_EQUAL(c.cue[0].end, 1000);
    CU_ASSERT_EQUAL(argus_track_open_start(t), 1000);
    CU_ASSERT_EQUAL(argus_track_flush(t, ARGUS_NOPTS), 0); /* that frame never came */
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n, 1);
    CU_ASSERT_EQUAL(argus_track_open_start(t), ARGUS_NOPTS);
    clip_frame(t, 1500, 3, &c); /* the track goes on */
    CU_ASSERT_EQUAL(argus_track_flush(t, 1600), 0);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL(c.n, 2);
    CU_ASSERT_EQUAL(c.cue[1].window, 1);
    CU_ASSERT_EQUAL(c.cue[1].end, 1600);
    argus_track_close(&t);
    argus_close(&ctx);
}

static void t13_empty_stream(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(8);
    Cues c = clip_run(ctx, &s, NULL, 0);

    CU_ASSERT_EQUAL(c.n, 0);
    CU_ASSERT_EQUAL(clip_stats(ctx).n_caption, 0);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    argus_close(&ctx);
}

static void warnings_once(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(8);
    ArgusTrack *t = NULL;
    Cues c = {0};

    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    ag_messages_clear();
    for (int i = 0; i < 6; i++)
        clip_frame(t, i == 3 ? 0 : ARGUS_NOPTS, 0, &c);
    for (int i = 0; i < 3; i++)
        clip_frame(t, 0, 0, &c);
    argus_track_close(&t);
    const char *first = strstr(ag_messages(), "without a time stamp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_PTR_NULL(strstr(first + 1, "without a time stamp"));
    first = strstr(ag_messages(), "backwards");
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_PTR_NULL(strstr(first + 1, "backwards"));
    argus_close(&ctx);
}

/* ------------------------------------------------------------------------ */
/* Prompts                                                                   */

static void prompts(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);
    ArgusTrack *t = NULL;
    Cues c = {0};
    char question[] = "What colour is it?";

    s.prompt = question;
    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    memset(question, 'x', 4); /* the track has its own */
    clip_frame(t, 0, 0, &c);
    CU_ASSERT_EQUAL(argus_track_set_prompt(t, "Where is it?"), 0); /* from the next window on */
    for (int i = 1; i < 4; i++)
        clip_frame(t, 500 * i, i, &c);
    CU_ASSERT_EQUAL(argus_track_set_prompt(t, ""), 0); /* none */
    for (int i = 4; i < 6; i++)
        clip_frame(t, 500 * i, i, &c);
    CU_ASSERT_EQUAL(argus_track_flush(t, 3000), 0);
    clip_poll(t, &c);
    CU_ASSERT_EQUAL_FATAL(c.n, 3);
    clip_expect(ctx, &c, 0, clip_moving, "What colour is it?");
    clip_expect(ctx, &c, 1, clip_moving + 2, "Where is it?");
    clip_expect(ctx, &c, 2, clip_moving + 4, NULL);

    /* same pictures, other question: not the same window */
    int64_t n = clip_stats(ctx).n_caption;
    clip_frame(t, 3000, 4, &c);
    CU_ASSERT_EQUAL(argus_track_set_prompt(t, "What colour is it?"), 0);
    clip_frame(t, 3500, 5, &c);
    clip_frame(t, 4000, 4, &c);
    clip_frame(t, 4500, 5, &c);
    CU_ASSERT_EQUAL(clip_stats(ctx).n_caption - n, 1);
    CU_ASSERT_EQUAL(clip_stats(ctx).n_caption_reused, 1);
    argus_track_close(&t);
    argus_close(&ctx);
}

static void system_turn(void)
{
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);
    int64_t plain, with;

    clip_run(ctx, &s, clip_moving, 2);
    plain = clip_stats(ctx).n_prompt;
    s.system = "Answer briefly.";
    clip_run(ctx, &s, clip_moving, 2);
    with = clip_stats(ctx).n_prompt - plain;
    CU_ASSERT(with > plain + 3);
    argus_close(&ctx);
}

static void choices(void)
{
    static const char *const yes_no[] = {"yes", "no"};
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(2);

    s.prompt = "Is it red?";
    s.decoding.choices = yes_no;
    s.decoding.n_choice = 2;
    Cues c = clip_run(ctx, &s, clip_moving, 4);
    CU_ASSERT_EQUAL_FATAL(c.n, 2);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_FATAL(c.cue[i].choice == 0 || c.cue[i].choice == 1);
        CU_ASSERT_STRING_EQUAL(c.text[i], yes_no[c.cue[i].choice]);
        CU_ASSERT(c.cue[i].choice_prob >= 0.5 && c.cue[i].choice_prob <= 1);
    }
    argus_close(&ctx);
}

void ag_tests_track(void)
{
    static const AgTest tests[] = {
        {"captions of windows", captions},
        {"equal pictures, equal windows", equal_pictures},
        {"hop", hop},
        {"a cue comes when its end is known", a_cue_comes_when_its_end_is_known},
        {"T13 empty stream", t13_empty_stream},
        {"V8 S8 warnings, once", warnings_once},
        {"prompts", prompts},
        {"system turn", system_turn},
        {"choices", choices},
        {NULL, NULL},
    };

    ag_suite("track", tests);
}
