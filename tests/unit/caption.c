/*
 * Unit tests of argus_describe() on the embedded model: what must hold for any
 * model. Texts against Hugging Face are the parity program's business.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libargus/context.h"
#include "libargus/base/mem.h"

enum { W = 160, H = 120 };

static uint8_t pixels[H * W * 3];

/* A red square on black, at a place. */
static ArgusImage square(int x0, int y0)
{
    memset(pixels, 0, sizeof(pixels));
    for (int y = y0; y < y0 + 40; y++)
        for (int x = x0; x < x0 + 40; x++)
            pixels[(y * W + x) * 3] = 255;
    return (ArgusImage){pixels, W * 3, W, H, ARGUS_RGB24};
}

static ArgusContext *open_tiny(int threads, unsigned mask)
{
    ArgusModelSettings ms;
    ArgusSettings s;
    ArgusModel *m = NULL;
    ArgusContext *ctx = NULL;

    ag_messages_clear();
    argus_model_default_settings(&ms);
    ms.logger = *ag_test_log();
    ms.model = "argus-tiny";
    ms.cpumask = mask;
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&m, &ms), 0);
    argus_default_settings(&s);
    s.logger = ms.logger;
    s.threads = threads;
    CU_ASSERT_EQUAL_FATAL(argus_open(&ctx, m, &s), 0);
    argus_model_close(&m); /* the context holds it */
    return ctx;
}

static int ask(ArgusContext *ctx, const ArgusImage *im, const char *question, ArgusRequest *r,
               ArgusCaption *out)
{
    ArgusPart parts[2] = {{ARGUS_PART_IMAGE, NULL, im}, {ARGUS_PART_TEXT, question, NULL}};

    r->parts = parts;
    r->n_part = question ? 2 : 1;
    return argus_describe(ctx, r, out);
}

static void same(const ArgusCaption *a, const ArgusCaption *b, int bits)
{
    CU_ASSERT_STRING_EQUAL(a->text, b->text);
    CU_ASSERT_EQUAL_FATAL(a->n_id, b->n_id);
    CU_ASSERT(!memcmp(a->ids, b->ids, (size_t)a->n_id * sizeof(int)));
    if (bits)
        CU_ASSERT(!memcmp(a->logprobs, b->logprobs, (size_t)a->n_id * sizeof(float)));
}

static void threads_and_tiers(void)
{
    ArgusImage im = square(100, 20);
    ArgusRequest r;
    ArgusCaption ref, got;

    argus_request_default(&r);
    ArgusContext *ctx = open_tiny(1, ARGUS_CPU_ALL);
    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "Describe this image.", &r, &ref), 0);
    CU_ASSERT(strlen(ref.text) > 10 && ref.text[0] != ' ');
    CU_ASSERT_EQUAL(ref.finish, ARGUS_FINISH_STOP);
    argus_close(&ctx);
    for (int n = 2; n <= 3; n++) {
        ctx = open_tiny(n, ARGUS_CPU_ALL);
        CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "Describe this image.", &r, &got), 0);
        same(&ref, &got, 1);
        argus_caption_free(&got);
        argus_close(&ctx);
    }
    static const unsigned masks[] = {0, ARGUS_CPU_AVX2, ARGUS_CPU_AVX2 | ARGUS_CPU_AVX512};
    for (size_t i = 0; i < AG_COUNT(masks); i++) {
        ctx = open_tiny(2, masks[i]);
        CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "Describe this image.", &r, &got), 0);
        same(&ref, &got, 0);
        argus_caption_free(&got);
        argus_close(&ctx);
    }
    argus_caption_free(&ref);
}

/* The same seed gives the same bytes, whatever the thread count. */
static void seeded_sampling(void)
{
    ArgusImage im = square(100, 20);
    ArgusRequest r;
    ArgusCaption ref = {0}, got;

    argus_request_default(&r);
    r.decoding.seeded = 1;
    r.decoding.seed = 42;
    r.decoding.temperature = 3;
    r.decoding.top_k = 50;
    r.decoding.top_p = 0.98;
    r.decoding.repetition_penalty = 1.1;
    r.decoding.max_tokens = 24;
    for (int threads = 1; threads <= 3; threads++) {
        ArgusContext *ctx = open_tiny(threads, ARGUS_CPU_ALL);
        for (int run = 0; run < 20; run++) {
            CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "Describe this image.", &r, &got), 0);
            if (!ref.text)
                ref = got;
            else
                same(&ref, &got, 1);
            if (ref.text != got.text)
                argus_caption_free(&got);
        }
        argus_close(&ctx);
    }
    ArgusContext *ctx = open_tiny(1, ARGUS_CPU_ALL);
    r.decoding.seed = 43; /* and another seed another text */
    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "Describe this image.", &r, &got), 0);
    CU_ASSERT_STRING_NOT_EQUAL(ref.text, got.text);
    argus_caption_free(&got);
    argus_caption_free(&ref);
    argus_close(&ctx);
}

/* Several questions about one picture: vision once, the same bits as alone. */
static void second_question(void)
{
    static const char *const q[] = {"Describe this image.", "What is the background colour?",
                                    "How many shapes are there?"};
    ArgusImage im = square(20, 60);
    ArgusCaption alone[3], got;
    ArgusStats stats;
    ArgusRequest r;

    argus_request_default(&r);
    for (int i = 0; i < 3; i++) {
        ArgusContext *one = open_tiny(2, ARGUS_CPU_ALL);
        CU_ASSERT_EQUAL_FATAL(ask(one, &im, q[i], &r, &alone[i]), 0);
        argus_close(&one);
    }
    ArgusContext *ctx = open_tiny(2, ARGUS_CPU_ALL);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, q[i], &r, &got), 0);
        same(&alone[i], &got, 1);
        argus_caption_free(&got);
    }
    argus_stats(ctx, &stats);
    CU_ASSERT_EQUAL(stats.n_tile, alone[0].n_tile);
    CU_ASSERT_EQUAL(stats.n_tile_reused, 2 * alone[0].n_tile);
    CU_ASSERT(stats.n_prompt_reused >= 2 * 16 * alone[0].n_tile);
    CU_ASSERT_EQUAL(stats.n_alloc_decode, 0);
    CU_ASSERT_EQUAL(stats.n_caption, 3);
    /* no forward pass is wasted: one less than tokens in every answer */
    CU_ASSERT_EQUAL(stats.n_forward, stats.n_token - 3);
    argus_close(&ctx);
    for (int i = 0; i < 3; i++)
        argus_caption_free(&alone[i]);
}

static void budget(void)
{
    ArgusImage im = square(0, 0);
    ArgusRequest r;
    ArgusCaption c;
    ArgusStats stats;
    ArgusContext *ctx = open_tiny(1, ARGUS_CPU_ALL);

    argus_request_default(&r);
    r.decoding.max_tokens = 8192;
    CU_ASSERT_EQUAL(ask(ctx, &im, NULL, &r, &c), ARGUS_ERR_BUDGET);
    CU_ASSERT(ag_message_has("max_tokens=8192"));
    CU_ASSERT(ag_message_has("expected at most 8192"));
    argus_stats(ctx, &stats);
    CU_ASSERT_EQUAL(stats.n_tile, 0); /* before any vision work */
    CU_ASSERT_EQUAL(stats.us_preprocess, 0);
    r.decoding.max_tokens = 8193;
    CU_ASSERT_EQUAL(ask(ctx, &im, NULL, &r, &c), ARGUS_ERR(EINVAL));
    argus_close(&ctx);
}

static void max_tokens(void)
{
    ArgusImage im = square(60, 40);
    ArgusRequest r;
    ArgusCaption whole, c;
    ArgusStats stats;
    ArgusContext *ctx = open_tiny(1, ARGUS_CPU_ALL);

    argus_request_default(&r);
    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, NULL, &r, &whole), 0);
    for (int n = 1; n <= whole.n_id; n++) {
        int64_t before;
        argus_stats(ctx, &stats);
        before = stats.n_forward;
        r.decoding.max_tokens = n;
        CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, NULL, &r, &c), 0);
        CU_ASSERT_EQUAL(c.n_id, n);
        CU_ASSERT(!memcmp(c.ids, whole.ids, (size_t)n * sizeof(int)));
        CU_ASSERT_EQUAL(c.finish, n < whole.n_id ? ARGUS_FINISH_LENGTH : ARGUS_FINISH_STOP);
        argus_stats(ctx, &stats);
        CU_ASSERT_EQUAL(stats.n_forward - before, n - 1);
        argus_caption_free(&c);
    }
    argus_caption_free(&whole);
    argus_close(&ctx);
}

static void stop_strings(void)
{
    ArgusImage im = square(60, 40);
    ArgusRequest r;
    ArgusCaption whole, c;
    ArgusContext *ctx = open_tiny(1, ARGUS_CPU_ALL);

    argus_request_default(&r);
    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, NULL, &r, &whole), 0);
    size_t n = strlen(whole.text);
    CU_ASSERT_FATAL(n > 12);
    char stop[5] = {0}; /* across word borders, at every place */
    for (size_t at = 1; at + 4 < n; at++) {
        memcpy(stop, whole.text + at, 4);
        const char *list[2] = {"never in it", stop};
        r.decoding.stop = list;
        r.decoding.n_stop = 2;
        CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, NULL, &r, &c), 0);
        size_t first = (size_t)(strstr(whole.text, stop) - whole.text);
        CU_ASSERT_EQUAL(c.finish, ARGUS_FINISH_STRING);
        CU_ASSERT_EQUAL(strlen(c.text), first);
        CU_ASSERT(!strncmp(c.text, whole.text, first));
        argus_caption_free(&c);
    }
    argus_caption_free(&whole);
    argus_close(&ctx);
}

typedef struct Heard {
    char text[512];
    int n, cancel_at;
    ArgusContext *ctx;
} Heard;

static int hear(void *opaque, int id, const char *text)
{
    Heard *h = opaque;

    (void)id;
    strncat(h->text, text, sizeof(h->text) - strlen(h->text) - 1);
    if (++h->n == h->cancel_at) {
        if (!h->ctx)
            return 1;
        argus_cancel(h->ctx);
    }
    return 0;
}

static void streaming(void)
{
    ArgusImage im = square(60, 40);
    ArgusRequest r;
    ArgusCaption c;
    Heard h = {.cancel_at = -1};
    ArgusContext *ctx = open_tiny(2, ARGUS_CPU_ALL);

    argus_request_default(&r);
    r.on_token = hear;
    r.opaque = &h;
    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, NULL, &r, &c), 0);
    CU_ASSERT_STRING_EQUAL(h.text, c.text);
    CU_ASSERT_EQUAL(h.n, c.n_id);
    argus_caption_free(&c);
    for (int by_flag = 0; by_flag < 2; by_flag++) {
        h = (Heard){.cancel_at = 3, .ctx = by_flag ? ctx : NULL};
        CU_ASSERT_EQUAL(ask(ctx, &im, NULL, &r, &c), ARGUS_ERR_CANCELLED);
        CU_ASSERT_PTR_NULL(c.text);
        h = (Heard){.cancel_at = -1}; /* the next call starts afresh */
        CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, NULL, &r, &c), 0);
        CU_ASSERT_STRING_EQUAL(h.text, c.text);
        argus_caption_free(&c);
    }
    argus_close(&ctx);
}

static void choices(void)
{
    static const char *const list[] = {"Green.", "Red.", "Blue."};
    ArgusImage im = square(60, 40);
    ArgusRequest r;
    ArgusCaption c;
    ArgusContext *ctx = open_tiny(1, ARGUS_CPU_ALL);

    argus_request_default(&r);
    r.decoding.choices = list;
    r.decoding.n_choice = 3;
    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "What colour is the square?", &r, &c), 0);
    CU_ASSERT_EQUAL(c.choice, 1);
    CU_ASSERT_STRING_EQUAL(c.text, "Red.");
    CU_ASSERT(c.choice_prob > 0.5 && c.choice_prob <= 1);
    argus_caption_free(&c);
    argus_close(&ctx);
}

static void bad_requests(void)
{
    static const struct {
        const char *name;
        size_t offset;
        double value;
    } t[] = {
        {"temperature", offsetof(ArgusDecoding, temperature), -1},
        {"temperature", offsetof(ArgusDecoding, temperature), NAN},
        {"temperature", offsetof(ArgusDecoding, temperature), HUGE_VAL},
        {"top_p", offsetof(ArgusDecoding, top_p), 0},
        {"top_p", offsetof(ArgusDecoding, top_p), 1.5},
        {"top_p", offsetof(ArgusDecoding, top_p), NAN},
        {"repetition_penalty", offsetof(ArgusDecoding, repetition_penalty), 0},
        {"repetition_penalty", offsetof(ArgusDecoding, repetition_penalty), NAN},
    };
    static const char *const same[] = {"a", "b", "a"};
    ArgusDecoding d;

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        argus_decoding_default(&d);
        d.seeded = 1;
        *(double *)(void *)((char *)&d + t[i].offset) = t[i].value;
        ag_messages_clear();
        CU_ASSERT_EQUAL(argus_decoding_check(&d, ag_test_log()), ARGUS_ERR(EINVAL));
        CU_ASSERT(ag_message_has(t[i].name));
        CU_ASSERT(ag_message_has("expected"));
    }
    argus_decoding_default(&d);
    d.temperature = 0.7;
    CU_ASSERT_EQUAL(argus_decoding_check(&d, ag_test_log()), ARGUS_ERR(EINVAL));
    CU_ASSERT(ag_message_has("seed"));
    d.seeded = 1;
    CU_ASSERT_EQUAL(argus_decoding_check(&d, ag_test_log()), 0);
    argus_decoding_default(&d);
    d.choices = same;
    d.n_choice = 3;
    CU_ASSERT_EQUAL(argus_decoding_check(&d, ag_test_log()), ARGUS_ERR(EINVAL));
    CU_ASSERT(ag_message_has("found 'a' twice"));
    d.n_choice = 2;
    CU_ASSERT_EQUAL(argus_decoding_check(&d, ag_test_log()), 0);
}

/* Every allocation of open and describe fails once: an error, no leak. */
static void out_of_memory(void)
{
    ArgusImage im = square(60, 40);
    int done = 0;

    for (long n = 0; n < 4000 && !done; n = n < 60 ? n + 1 : n * 9 / 8) {
        ArgusModelSettings ms;
        ArgusSettings s;
        ArgusModel *m = NULL;
        ArgusContext *ctx = NULL;
        ArgusRequest r;
        ArgusCaption c;

        argus_model_default_settings(&ms);
        argus_default_settings(&s);
        argus_request_default(&r);
        ms.model = "argus-tiny";
        s.threads = 1;
        r.decoding.max_tokens = 3;
        ag_mem_fail_after(n);
        int err = argus_model_open(&m, &ms);
        if (err == 0)
            err = argus_open(&ctx, m, &s);
        if (err == 0)
            err = ask(ctx, &im, "Describe this image.", &r, &c);
        ag_mem_fail_after(-1);
        CU_ASSERT(err == 0 || err == ARGUS_ERR(ENOMEM));
        if (err == 0) {
            argus_caption_free(&c);
            done = 1;
        }
        argus_close(&ctx);
        argus_model_close(&m);
    }
    CU_ASSERT(done);
}

static void shared_model(void)
{
    ArgusModelSettings ms;
    ArgusModel *a, *b;

    argus_model_default_settings(&ms);
    ms.model = "argus-tiny";
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&a, &ms), 0);
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&b, &ms), 0);
    CU_ASSERT_PTR_EQUAL(a, b); /* one copy of the weights */
    argus_model_close(&a);
    ms.cpumask = 0;
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&a, &ms), 0);
    CU_ASSERT_PTR_NOT_EQUAL(a, b); /* other kernels */
    argus_model_close(&a);
    argus_model_close(&b);
    argus_model_close(&b);
}

void ag_tests_caption(void)
{
    static const AgTest tests[] = {
        {"threads_and_tiers", threads_and_tiers},
        {"seeded_sampling", seeded_sampling},
        {"second_question", second_question},
        {"budget", budget},
        {"max_tokens", max_tokens},
        {"stop_strings", stop_strings},
        {"streaming", streaming},
        {"choices", choices},
        {"bad_requests", bad_requests},
        {"out_of_memory", out_of_memory},
        {"shared_model R6", shared_model},
        {NULL, NULL},
    };
    ag_suite("caption", tests);
}
