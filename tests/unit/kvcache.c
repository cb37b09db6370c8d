/*
 * Unit tests of the KV cache: what is filled survives growth.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/kvcache.h"

#include <string.h>

#include "libargus/context.h"
#include "tests/unit/clip.h"

static float number(int plane, int pos, int i)
{
    return (float)(plane * 1000000 + pos * 100 + i);
}

/* Planes 2i and 2i+1 are the keys and values of layer i. */
static float *plane(const AgKv *kv, int i)
{
    return i % 2 ? ag_kv_v(kv, i / 2) : ag_kv_k(kv, i / 2);
}

static void fill(AgKv *kv, int len)
{
    for (int p = 0; p < 2 * kv->n_layer; p++)
        for (int pos = kv->len; pos < len; pos++)
            for (int i = 0; i < kv->row; i++)
                plane(kv, p)[pos * kv->row + i] = number(p, pos, i);
    kv->len = len;
}

static int wrong(const AgKv *kv)
{
    int n = 0;

    for (int p = 0; p < 2 * kv->n_layer; p++)
        for (int pos = 0; pos < kv->len; pos++)
            for (int i = 0; i < kv->row; i++)
                n += plane(kv, p)[pos * kv->row + i] != number(p, pos, i);
    return n;
}

static void growth(void)
{
    const AgConfig c = {.n_layer = 3, .n_pos = 1000, .n_kv = 2, .head_dim = 16};
    AgKv kv;

    CU_ASSERT_EQUAL_FATAL(ag_kv_open(&kv, &c), 0);
    CU_ASSERT_EQUAL(ag_kv_bytes(&kv), 0);
    for (int len = 1; len <= 1000; len += 37) {
        ag_kv_reserve(&kv, len);
        CU_ASSERT(kv.room >= len && kv.room < len + 64 && kv.room <= 1000);
        CU_ASSERT_EQUAL(wrong(&kv), 0);
        fill(&kv, len);
    }
    int64_t most = ag_kv_bytes(&kv);
    CU_ASSERT_EQUAL(most, kv.room * (int64_t)(3 * 2 * 32 * 4));
    ag_kv_truncate(&kv, 5);
    ag_kv_reserve(&kv, 1000);
    CU_ASSERT_EQUAL(kv.room, 1000);
    CU_ASSERT_EQUAL(kv.len, 5);
    CU_ASSERT_EQUAL(wrong(&kv), 0);
    ag_kv_reserve(&kv, 6); /* never less */
    CU_ASSERT_EQUAL(kv.room, 1000);
    ag_kv_close(&kv);
}

/* Id after id through the text tower; the cache grows twice on the way, or never. */
static void logits(ArgusContext *ctx, int room, float *out)
{
    ag_kv_truncate(&ctx->kv, 0);
    ag_kv_reserve(&ctx->kv, room);
    for (int i = 0; i < 150; i++) {
        int id = 300 + i * 7 % 500;
        ag_text_run(ctx->model->text, &ctx->text, &ctx->exec, &ctx->kv, &id, 1, NULL, NULL, out,
                    NULL);
    }
}

static void same_numbers(void)
{
    static float first[4096], second[4096];
    ArgusContext *ctx = clip_open();
    size_t vocab = (size_t)ctx->model->config.vocab;

    CU_ASSERT_FATAL(vocab <= AG_COUNT(first));
    CU_ASSERT_EQUAL(ctx->kv.room, 0);
    logits(ctx, 0, first);
    CU_ASSERT_EQUAL(ctx->kv.room, 192);
    logits(ctx, 400, second);
    CU_ASSERT(!memcmp(first, second, vocab * sizeof(float)));
    ag_kv_truncate(&ctx->kv, 0); /* the ids of these rows are not known to the context */
    argus_close(&ctx);
}

void ag_tests_kvcache(void)
{
    static const AgTest tests[] = {
        {"growth keeps what is filled", growth},
        {"the same numbers with and without growth", same_numbers},
        {NULL, NULL},
    };
    ag_suite("kvcache", tests);
}
