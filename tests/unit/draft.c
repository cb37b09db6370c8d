/*
 * Unit tests of drafts: whatever is guessed, the answer is the model's own.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/clip.h"

#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/caption.h"
#include "libargus/context.h"
#include "libargus/decode.h"

enum { MOST = 24 };

/* The answer about a picture of the clip with a draft; counts are since the last call. */
static void answer(ArgusContext *ctx, AgPicture *pic, const AgDraft *draft, const char *stop,
                   int most, ArgusCaption *out, ArgusStats *st)
{
    AgPromptPart part = {ARGUS_PART_IMAGE, .pic = pic, .rows = pic->plan.rows, .cols = pic->plan.cols};
    ArgusStats before = clip_stats(ctx);
    ArgusDecoding d;

    argus_decoding_default(&d);
    d.max_tokens = most;
    d.stop = &stop;
    d.n_stop = stop != NULL;
    CU_ASSERT_EQUAL_FATAL(ag_caption_answer(ctx, &part, 1, &d, draft, NULL, NULL, out), 0);
    *st = clip_stats(ctx);
    CU_ASSERT_EQUAL(st->n_alloc_decode, 0);
    st->n_forward -= before.n_forward;
    st->n_token_drafted -= before.n_token_drafted;
    st->flops_decode -= before.flops_decode;
}

static AgPicture *picture(ArgusContext *ctx, int k)
{
    ArgusImage im = clip_picture(k);
    AgPicture *pic = NULL;

    CU_ASSERT_EQUAL_FATAL(ag_caption_tiles(ctx, ag_caption_exec(ctx), &im, 0, &pic), 0);
    CU_ASSERT_EQUAL_FATAL(ag_caption_encode(ctx, &pic, 1), 0);
    return pic;
}

static void expect_same(const ArgusCaption *a, const ArgusCaption *b)
{
    CU_ASSERT_EQUAL_FATAL(a->n_id, b->n_id);
    CU_ASSERT(!memcmp(a->ids, b->ids, (size_t)a->n_id * sizeof(int)));
    CU_ASSERT_STRING_EQUAL(a->text, b->text);
    CU_ASSERT_EQUAL(a->finish, b->finish);
    for (int i = 0; i < a->n_id; i++)
        CU_ASSERT_DOUBLE_EQUAL(a->logprobs[i], b->logprobs[i], 1e-4);
}

/* Passes for an answer of n ids that agrees with its draft in full. */
static int passes(int n)
{
    int left = n - 1, count = 0;

    while (left) {
        int rows = AG_MIN(left, (int)AG_DRAFT_ROWS);
        left -= rows;
        count++;
    }
    return count;
}

static ArgusContext *open_precision(int precision)
{
    ArgusModelSettings ms;
    ArgusSettings s;
    ArgusModel *m = NULL;
    ArgusContext *ctx = NULL;

    argus_model_default_settings(&ms);
    ms.logger = *ag_test_log();
    ms.model = "argus-tiny";
    ms.precision = precision;
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&m, &ms), 0);
    argus_default_settings(&s);
    s.threads = 2;
    CU_ASSERT_EQUAL_FATAL(argus_open(&ctx, m, &s), 0);
    argus_model_close(&m);
    return ctx;
}

/* The answer itself, and the answer with one id changed, left out, or put in. */
static void guesses_in(int precision)
{
    ArgusContext *ctx = open_precision(precision);
    AgPicture *pic = picture(ctx, 3);
    ArgusCaption plain, out;
    ArgusStats st, first;
    int ids[MOST + 1];

    answer(ctx, pic, NULL, NULL, MOST, &plain, &first);
    CU_ASSERT_FATAL(plain.n_id > 6 && plain.n_id < MOST);
    CU_ASSERT_EQUAL(first.n_forward, plain.n_id - 1);
    for (int k = 0; k < 3 * plain.n_id; k++) {
        int at = k / 3, n = plain.n_id + k % 3 - 1;
        memcpy(ids, plain.ids, (size_t)plain.n_id * sizeof(int));
        if (k % 3 == 0)
            memmove(ids + at, ids + at + 1, (size_t)(plain.n_id - at - 1) * sizeof(int));
        if (k % 3 == 1)
            ids[at] = 300 + at;
        if (k % 3 == 2)
            memmove(ids + at + 1, ids + at, (size_t)(plain.n_id - at) * sizeof(int));
        answer(ctx, pic, &(AgDraft){ids, n}, NULL, MOST, &out, &st);
        expect_same(&plain, &out);
        CU_ASSERT(st.n_forward <= first.n_forward);
        argus_caption_free(&out);
    }
    answer(ctx, pic, &(AgDraft){plain.ids, plain.n_id}, NULL, MOST, &out, &st);
    expect_same(&plain, &out);
    CU_ASSERT_EQUAL(st.n_forward, passes(plain.n_id));
    CU_ASSERT_EQUAL(st.n_token_drafted, plain.n_id - 1);
    argus_caption_free(&out);
    argus_caption_free(&plain);
    ag_picture_free(&pic);
    argus_close(&ctx);
}

static void guesses(void)
{
    guesses_in(ARGUS_PRECISION_EXACT);
    guesses_in(ARGUS_PRECISION_Q8);
}

/* An answer that ends before its draft, by its length or at a string; the cache
 * then knows what it holds. */
static void cut_short(void)
{
    ArgusContext *ctx = clip_open();
    AgPicture *pic = picture(ctx, 3);
    ArgusCaption plain, cut, out;
    ArgusStats st;

    answer(ctx, pic, NULL, NULL, MOST, &plain, &st);
    AgDraft draft = {plain.ids, plain.n_id};
    for (int most = 1; most < plain.n_id; most++) {
        answer(ctx, pic, NULL, NULL, most, &cut, &st);
        CU_ASSERT_EQUAL(cut.finish, ARGUS_FINISH_LENGTH);
        answer(ctx, pic, &draft, NULL, most, &out, &st);
        expect_same(&cut, &out);
        argus_caption_free(&out);
        argus_caption_free(&cut);
    }
    answer(ctx, pic, NULL, " square", MOST, &cut, &st);
    CU_ASSERT_EQUAL(cut.finish, ARGUS_FINISH_STRING);
    answer(ctx, pic, &draft, " square", MOST, &out, &st);
    expect_same(&cut, &out);
    argus_caption_free(&out);
    argus_caption_free(&cut);
    answer(ctx, pic, NULL, NULL, MOST, &out, &st);
    expect_same(&plain, &out);
    argus_caption_free(&out);
    argus_caption_free(&plain);
    ag_picture_free(&pic);
    argus_close(&ctx);
}

/* A track drafts with its last caption: other pictures, the same words. */
static void track(void)
{
    ArgusTrackSettings s = clip_settings(1);
    ArgusContext *ctx = clip_open();
    Cues with = clip_run(ctx, &s, clip_moving, 10), without;
    ArgusStats st = clip_stats(ctx), plain;

    argus_close(&ctx);
    ctx = clip_open();
    s.reuse = 0;
    without = clip_run(ctx, &s, clip_moving, 10);
    plain = clip_stats(ctx);
    argus_close(&ctx);
    CU_ASSERT_EQUAL_FATAL(with.n, without.n);
    for (int i = 0; i < with.n; i++)
        CU_ASSERT_STRING_EQUAL(with.text[i], without.text[i]);
    CU_ASSERT_EQUAL(st.n_token, plain.n_token);
    CU_ASSERT_EQUAL(plain.n_token_drafted, 0);
    CU_ASSERT(st.n_token_drafted > 0);
    CU_ASSERT(st.n_forward < plain.n_forward);
    CU_ASSERT_EQUAL(st.n_alloc_decode, 0);
}

void ag_tests_draft(void)
{
    static const AgTest tests[] = {
        {"guesses", guesses}, {"cut short", cut_short}, {"of a track", track}, {NULL, NULL},
    };
    ag_suite("draft", tests);
}
