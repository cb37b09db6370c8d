/*
 * Unit tests of what contexts and tracks cost and refuse: windows longer than the model's
 * context, empty answers, threads, memory. D8, R1 and the like are names of failures that
 * users of neighbouring tools reported.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libargus/base/mem.h"
#include "libargus/caption.h"
#include "libargus/context.h"
#include "tests/gen/modelgen.h"
#include "tests/unit/clip.h"
#include "tests/unit/memio.h"

/* argus-tiny in a folder of its own: pictures resized to this longest edge, ended by `stop`
 * too. */
static ArgusContext *open_copy(const char *name, int longest_edge, int stop, int threads)
{
    const char *dir = ag_gen_dir(name);
    char edge[64], eos[64];
    ArgusModelSettings ms;
    ArgusSettings s;
    ArgusModel *m = NULL;
    ArgusContext *ctx = NULL;

    snprintf(edge, sizeof(edge), "\"longest_edge\": %d", longest_edge);
    snprintf(eos, sizeof(eos), "\"eos_token_id\": [895, %d]", stop);
    ag_gen_tiny(dir, "config.json", NULL, NULL);
    ag_gen_tiny(dir, "tokenizer.json", NULL, NULL);
    ag_gen_tiny(dir, "model.safetensors", NULL, NULL);
    ag_gen_tiny(dir, "preprocessor_config.json", "\"longest_edge\": 128", edge);
    ag_gen_tiny(dir, "generation_config.json", "\"eos_token_id\": 895", eos);
    ag_messages_clear();
    argus_model_default_settings(&ms);
    ms.logger = *ag_test_log();
    ms.model = dir;
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&m, &ms), 0);
    argus_default_settings(&s);
    s.logger = ms.logger;
    s.threads = threads;
    CU_ASSERT_EQUAL_FATAL(argus_open(&ctx, m, &s), 0);
    argus_model_close(&m);
    return ctx;
}

static int ask(ArgusContext *ctx, const ArgusImage *im, const char *question, int split,
               ArgusCaption *out)
{
    ArgusPart parts[2] = {{ARGUS_PART_IMAGE, NULL, im}, {ARGUS_PART_TEXT, question, NULL}};
    ArgusRequest r;

    argus_request_default(&r);
    r.parts = parts;
    r.n_part = 2;
    r.split = split;
    r.decoding.max_tokens = 32;
    return argus_describe(ctx, &r, out);
}

/* Pictures of 4x4 tiles with 64 ids each, as the published models have them. Eight of them
 * are refused before any work, with the numbers; seven fit. */
static void eight_frames(void)
{
    ArgusContext *ctx = open_copy("context/long", 256, 895, 1);
    ArgusImage im = clip_picture(0);
    ArgusPart parts[8];
    AgPromptPart grid[7];
    ArgusRequest r;
    ArgusCaption out;

    im.height = im.width = CLIP_H;
    ctx->model->config.n_img_tok = 64; /* a model of its own: nobody shares it */
    for (int i = 0; i < 8; i++)
        parts[i] = (ArgusPart){ARGUS_PART_IMAGE, NULL, &im};
    argus_request_default(&r);
    r.parts = parts;
    r.n_part = 8;
    r.decoding.max_tokens = 64;
    CU_ASSERT_EQUAL(argus_describe(ctx, &r, &out), ARGUS_ERR_BUDGET);
    /* 9016, and 7 that begin and end the turns; 8704 = 8 x 17 x 64 */
    CU_ASSERT(ag_message_has("prompt of 9023 tokens (8704 of pictures, "));
    CU_ASSERT(ag_message_has("expected at most 8192 together"));
    CU_ASSERT_EQUAL(clip_stats(ctx).n_tile, 0);
    for (int i = 0; i < 7; i++)
        grid[i] = (AgPromptPart){.kind = ARGUS_PART_IMAGE, .rows = 4, .cols = 4};
    CU_ASSERT_EQUAL(ag_caption_budget(ctx, grid, 7, &r.decoding), 7889 + 7);
    argus_close(&ctx);
}

/* The model ends its answer at the first token: no cue, and an entry that says so. */
static void ends_at_once(void)
{
    ArgusContext *ctx = clip_open();
    ArgusImage im = clip_picture(3);
    ArgusTrackSettings ts = clip_settings(2);
    ArgusCaption out;

    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "Describe this image.", 0, &out), 0);
    int first = out.ids[0];
    argus_caption_free(&out);
    argus_close(&ctx);
    ctx = open_copy("context/empty", 128, first, 1);
    CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "Describe this image.", 0, &out), 0);
    CU_ASSERT_STRING_EQUAL(out.text, "");
    CU_ASSERT_EQUAL(out.finish, ARGUS_FINISH_EMPTY);
    CU_ASSERT_EQUAL(out.n_id, 1);
    argus_caption_free(&out);
    ts.prompt = "Describe this image.";
    Cues c = clip_run(ctx, &ts, clip_moving, 2);
    CU_ASSERT_EQUAL_FATAL(c.n, 1);
    CU_ASSERT_EQUAL(c.cue[0].finish, ARGUS_FINISH_EMPTY);
    c.cue[0].text = c.text[0]; /* what the track gave is gone */
    c.cue[0].prompt = ts.prompt;
    ArgusWriterSettings s = mem_settings(ARGUS_FORMAT_SRT);
    mem_write_all(&s, &mem_file, c.cue, 1);
    mem_expect("");
    s.format = ARGUS_FORMAT_JSON;
    mem_write_all(&s, &mem_file, c.cue, 1);
    mem_expect_segments(1, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(mem.data, "\"finish\": \"empty\""));
    argus_close(&ctx);
}

/* A question about n pictures. */
static int ask_many(ArgusContext *ctx, int n, int split, ArgusCaption *out)
{
    ArgusImage im[44];
    ArgusPart parts[44];
    ArgusRequest r;

    for (int i = 0; i < n; i++) {
        im[i] = clip_picture(i);
        parts[i] = (ArgusPart){ARGUS_PART_IMAGE, NULL, &im[i]};
    }
    argus_request_default(&r);
    r.parts = parts;
    r.n_part = (size_t)n;
    r.split = split;
    r.decoding.max_tokens = 24;
    return argus_describe(ctx, &r, out);
}

static void expect_same(const ArgusCaption *a, ArgusCaption *b)
{
    CU_ASSERT_EQUAL_FATAL(a->n_id, b->n_id);
    CU_ASSERT(!memcmp(a->ids, b->ids, (size_t)a->n_id * sizeof(*a->ids)));
    CU_ASSERT(!memcmp(a->logprobs, b->logprobs, (size_t)a->n_id * sizeof(float)));
    argus_caption_free(b);
}

/* One setting for both towers, and the same answer with any: about one picture of many
 * tiles, and about more pictures than are encoded together, whose prompt is cut in parts. */
static void threads(void)
{
    static const int n[] = {1, 2, 3, 8};
    ArgusCaption one = {0}, many = {0}, out;

    for (size_t i = 0; i < AG_COUNT(n); i++) {
        ArgusContext *ctx = open_copy("context/threads", 128, 895, n[i]);
        CU_ASSERT_EQUAL(ctx->exec.n_thread, n[i]);
        CU_ASSERT_EQUAL_FATAL(ask_many(ctx, 1, 1, i ? &out : &one), 0);
        if (i)
            expect_same(&one, &out);
        CU_ASSERT_EQUAL_FATAL(ask_many(ctx, 44, 0, i ? &out : &many), 0);
        if (i)
            expect_same(&many, &out);
        CU_ASSERT_EQUAL(clip_stats(ctx).n_tile, one.n_tile + 44);
        CU_ASSERT_EQUAL(clip_stats(ctx).flops_vision % (one.n_tile + 44), 0);
        argus_close(&ctx);
    }
    argus_caption_free(&one);
    argus_caption_free(&many);
}

typedef struct Canceller {
    ArgusContext *ctx;
    atomic_int quit;
} Canceller;

/* At odd moments: less and less often, until calls come to their end between two. */
static void *cancel_often(void *arg)
{
    Canceller *c = arg;

    for (int i = 0; !atomic_load(&c->quit); i++) {
        struct timespec t = {0, 1000 * (i * 37 % 900 + 20 * i)};
        nanosleep(&t, NULL);
        argus_cancel(c->ctx);
    }
    return NULL;
}

/* A cancel may come at any time, also while threads wait for each other's rows: the call ends,
 * and the next one answers as if there had been none. */
static void cancels(void)
{
    for (int n = 3; n <= 5; n += 2) {
        ArgusContext *ctx = open_copy("context/cancels", 128, 895, n);
        ArgusCaption before, after, out;
        Canceller c = {.ctx = ctx};
        pthread_t thread;
        int n_cancelled = 0, n_done = 0;
        CU_ASSERT_EQUAL_FATAL(ask_many(ctx, 44, 0, &before), 0);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_often, &c), 0);
        for (int i = 0; i < 60; i++) {
            int err = ask_many(ctx, 43 + i % 2, 0, &out);
            n_cancelled += err == ARGUS_ERR_CANCELLED;
            n_done += err == 0;
            argus_caption_free(&out);
        }
        atomic_store(&c.quit, 1);
        pthread_join(thread, NULL);
        CU_ASSERT_EQUAL(n_cancelled + n_done, 60);
        CU_ASSERT(n_cancelled > 0);
        CU_ASSERT_EQUAL_FATAL(ask_many(ctx, 44, 0, &after), 0);
        expect_same(&before, &after);
        argus_caption_free(&before);
        argus_close(&ctx);
    }
}

/* With one core to run on, one thread. */
static void affinity(void)
{
#ifdef __linux__
    cpu_set_t old, one;

    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof(old), &old), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &old))
            CPU_SET(i, &one);
    CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof(one), &one), 0);
    CU_ASSERT_EQUAL(argus_cpu_count(), 1);
    ArgusContext *ctx = open_copy("context/affinity", 128, 895, 0);
    CU_ASSERT_EQUAL(ctx->exec.n_thread, 1);
    argus_close(&ctx);
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof(old), &old), 0);
    CU_ASSERT(argus_cpu_count() >= 1 && argus_cpu_count() <= CPU_COUNT(&old));
#else
    ag_skip("R1 one core", "affinity is asked for on Linux only");
#endif
}

/* 17 tiles need what one needs, and room for what comes out of them. */
static void tiles(void)
{
    ArgusContext *ctx = open_copy("context/tiles", 256, 895, 1);
    ArgusImage im = clip_picture(0);
    ArgusCaption out;
    int64_t after[2];

    im.width = CLIP_H;
    for (int split = 0; split < 2; split++) {
        CU_ASSERT_EQUAL_FATAL(ask(ctx, &im, "What?", split, &out), 0);
        CU_ASSERT_EQUAL(out.n_tile, split ? 17 : 1);
        argus_caption_free(&out);
        after[split] = clip_stats(ctx).anon_bytes - ag_kv_bytes(&ctx->kv);
    }
    int64_t features = 16 * 16 * (int64_t)ctx->model->config.d_txt * 4; /* of 16 more tiles */
    int64_t pixels = 16 * 64 * 64 * 3;
    CU_ASSERT(after[1] - after[0] <= features + pixels);
    CU_ASSERT(after[1] - after[0] < (int64_t)ctx->arena.size);
    argus_close(&ctx);
}

/* Pages that are really there, in bytes; -1 if this system does not tell. */
static int64_t resident(void)
{
    long total = 0, pages = -1;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%ld %ld", &total, &pages) != 2)
        pages = -1;
    if (f)
        fclose(f);
    return pages < 0 ? -1 : pages * (int64_t)sysconf(_SC_PAGESIZE);
}

/* A window of eight 4K pictures: none of them stays. */
static void big_frames(void)
{
    enum { BIG_W = 3840, BIG_H = 2160 };
    const size_t size = (size_t)BIG_W * BIG_H * 3;
    ArgusContext *ctx = clip_open();
    ArgusTrackSettings s = clip_settings(8);
    uint8_t *pixels = ag_malloc(size);
    ArgusImage im = {pixels, BIG_W * 3, BIG_W, BIG_H, ARGUS_RGB24};
    ArgusTrack *t = NULL;
    int64_t first = 0, last = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(pixels);
    CU_ASSERT_EQUAL_FATAL(argus_track_open(&t, ctx, &s), 0);
    for (int i = 0; i < 7; i++) {
        memset(pixels, 30 * i, size);
        CU_ASSERT_EQUAL(argus_track_wants(t, 500 * i, 0), 1);
        CU_ASSERT_EQUAL(argus_track_push(t, &im, clip_square), 0);
        *(i ? &last : &first) = resident();
    }
    CU_ASSERT_EQUAL(argus_track_samples(t), 7);
    if (first < 0)
        ag_skip("R5 a window of 4K pictures", "no /proc/self/statm");
    else
        CU_ASSERT(last - first < (int64_t)size); /* six more of them would be six times that */
    argus_track_close(&t);
    argus_close(&ctx);
    ag_free(pixels);
}

typedef struct Asker {
    ArgusContext *ctx;
    ArgusImage im;
    const char *question;
    ArgusCaption alone, out[3];
    int err;
} Asker;

static void *ask_often(void *arg)
{
    Asker *a = arg;

    for (int i = 0; i < 3 && a->err == 0; i++)
        a->err = ask(a->ctx, &a->im, a->question, 1, &a->out[i]);
    return NULL;
}

/* Two threads with a context each on one model: neither hears of the other. */
static void two_contexts(void)
{
    static const char *const question[] = {"Describe this image.", "What colour is the square?"};
    static uint8_t copy[2][CLIP_W * CLIP_H * 3];
    Asker a[2] = {{0}};
    pthread_t thread[2];

    for (int i = 0; i < 2; i++) {
        a[i].im = clip_picture(4 * i);
        memcpy(copy[i], a[i].im.data, sizeof(copy[i]));
        a[i].im.data = copy[i];
        a[i].question = question[i];
        ArgusContext *one = clip_open();
        CU_ASSERT_EQUAL_FATAL(ask(one, &a[i].im, question[i], 1, &a[i].alone), 0);
        argus_close(&one);
        a[i].ctx = clip_open();
    }
    CU_ASSERT_PTR_EQUAL(a[0].ctx->model, a[1].ctx->model);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, ask_often, &a[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(a[i].err, 0);
        for (int k = 0; k < 3; k++) {
            CU_ASSERT_STRING_EQUAL(a[i].out[k].text, a[i].alone.text);
            argus_caption_free(&a[i].out[k]);
        }
        CU_ASSERT_EQUAL(clip_stats(a[i].ctx).n_caption, 3);
        CU_ASSERT_EQUAL(clip_stats(a[i].ctx).n_tile, a[i].alone.n_tile);
        argus_caption_free(&a[i].alone);
        argus_close(&a[i].ctx);
    }
}

void ag_tests_context(void)
{
    static const AgTest tests[] = {
        {"D8 eight pictures of 4x4 tiles", eight_frames},
        {"D9 an answer that ends at once", ends_at_once},
        {"R1 threads", threads},
        {"cancelled at any time", cancels},
        {"R1 one core", affinity},
        {"R3 memory of 17 tiles", tiles},
        {"R5 a window of 4K pictures", big_frames},
        {"R6 two contexts, one model", two_contexts},
        {NULL, NULL},
    };
    ag_suite("context", tests);
}
