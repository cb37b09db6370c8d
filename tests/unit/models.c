/*
 * Whole models derived from argus-tiny: what a checkpoint may leave out, spell in another
 * way or store in another type without another answer, and what it may not. M8, M10 and
 * M11 are names of failures that users of neighbouring tools reported.
 *
 * Expected ids are those of Hugging Face transformers 4.54.0, float32, eager, greedy.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "libargus/base/common.h"
#include "tests/gen/modelgen.h"

enum { W = 160, H = 120, MAX_ID = 16 };

#define WEIGHTS "model.safetensors"
#define HEAD "lm_head.weight"
#define TEXT_UNTIED "\"tie_word_embeddings\": false,\n    \"torch"
#define TEXT_TIED "\"tie_word_embeddings\": true,\n    \"torch"

/* "A red square at the bottom right on a black background." and the end */
static const int untied[] = {302, 384, 347, 414, 288, 502, 420, 290, 273, 353, 297, 30, 895};
/* The embedding in place of the head, for which it was not trained: words, but no sentence. */
static const int tied[] = {620, 605, 605, 605, 605, 605, 605, 605,
                           605, 605, 605, 605, 605, 605, 62, 322};

/* A folder with all small files but config.json. */
static const char *folder(const char *name)
{
    const char *dir = ag_gen_dir(name);

    ag_gen_tiny(dir, "preprocessor_config.json", NULL, NULL);
    ag_gen_tiny(dir, "generation_config.json", NULL, NULL);
    ag_gen_tiny(dir, "tokenizer.json", NULL, NULL);
    return dir;
}

/* What the model of a folder says about a red square. */
static int ask(const char *dir, ArgusCaption *out)
{
    static uint8_t pixels[H * W * 3];
    const ArgusImage image = {pixels, W * 3, W, H, ARGUS_RGB24};
    const ArgusPart parts[] = {{ARGUS_PART_IMAGE, NULL, &image},
                               {ARGUS_PART_TEXT, "Describe this image.", NULL}};
    ArgusModelSettings ms;
    ArgusSettings s;
    ArgusModel *m = NULL;
    ArgusContext *ctx = NULL;
    ArgusRequest r;

    for (int y = 20; y < 60; y++)
        for (int x = 100; x < 140; x++)
            pixels[(y * W + x) * 3] = 255;
    ag_messages_clear();
    argus_model_default_settings(&ms);
    ms.logger = *ag_test_log();
    ms.model = dir;
    argus_default_settings(&s);
    s.logger = *ag_test_log();
    s.threads = 1;
    argus_request_default(&r);
    r.parts = parts;
    r.n_part = 2;
    r.decoding.max_tokens = MAX_ID;
    int err = argus_model_open(&m, &ms);
    if (err >= 0 && (err = argus_open(&ctx, m, &s)) >= 0)
        err = argus_describe(ctx, &r, out);
    argus_close(&ctx);
    argus_model_close(&m);
    return err;
}

static void says(const char *dir, const int *ids, size_t n)
{
    ArgusCaption c;

    CU_ASSERT_EQUAL_FATAL(ask(dir, &c), 0);
    CU_ASSERT_EQUAL_FATAL(c.n_id, (int)n);
    CU_ASSERT(!memcmp(c.ids, ids, n * sizeof(*ids)));
    argus_caption_free(&c);
}

/* M8 (a): no head in the file, tie_word_embeddings true */
static void tied_without_head(void)
{
    const char *dir = folder("models/tied-a");

    ag_gen_tiny(dir, "config.json", TEXT_UNTIED, TEXT_TIED);
    ag_gen_tiny_weights(dir, HEAD, 0);
    says(dir, tied, AG_COUNT(tied));
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
}

/* M8 (b): a head that is another matrix, and tie_word_embeddings true: the embedding wins */
static void tied_with_head(void)
{
    const char *dir = folder("models/tied-b");

    ag_gen_tiny(dir, "config.json", TEXT_UNTIED, TEXT_TIED);
    ag_gen_tiny(dir, WEIGHTS, NULL, NULL);
    says(dir, tied, AG_COUNT(tied));
    CU_ASSERT(ag_message_has("not used: " HEAD));
}

/* M8 (c): no head, tie_word_embeddings false: nothing is put in its place */
static void untied_without_head(void)
{
    const char *dir = folder("models/tied-c");
    ArgusCaption c;

    ag_gen_tiny(dir, "config.json", NULL, NULL);
    ag_gen_tiny_weights(dir, HEAD, 0);
    CU_ASSERT_EQUAL(ask(dir, &c), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has(HEAD));
}

/* M8, the other way round: the embedding is no more optional than the head */
static void without_embedding(void)
{
    const char *dir = folder("models/no-embedding");
    ArgusCaption c;

    ag_gen_tiny(dir, "config.json", TEXT_UNTIED, TEXT_TIED);
    ag_gen_tiny_weights(dir, "model.text_model.embed_tokens.weight", 0);
    CU_ASSERT_EQUAL(ask(dir, &c), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("model.text_model.embed_tokens.weight"));
}

/* M11: the same numbers as BF16 and as F32 */
static void types(void)
{
    const char *narrow = folder("models/bf16"), *wide = folder("models/f32");
    ArgusCaption a, b;

    ag_gen_tiny(narrow, "config.json", NULL, NULL);
    ag_gen_tiny_weights(narrow, NULL, 0);
    ag_gen_tiny(wide, "config.json", NULL, NULL);
    ag_gen_tiny_weights(wide, NULL, 1);
    says(narrow, untied, AG_COUNT(untied));
    says(wide, untied, AG_COUNT(untied));
    CU_ASSERT_EQUAL_FATAL(ask(narrow, &a), 0);
    CU_ASSERT_EQUAL_FATAL(ask(wide, &b), 0);
    CU_ASSERT_STRING_EQUAL(a.text, "A red square at the bottom right on a black background.");
    CU_ASSERT_STRING_EQUAL(a.text, b.text);
    for (int i = 0; i < a.n_id && i < b.n_id; i++) /* sums in another order, at most */
        CU_ASSERT(fabsf(a.logprobs[i] - b.logprobs[i]) < 1e-4f);
    argus_caption_free(&a);
    argus_caption_free(&b);
}

/* M10: no key that has a default, whole numbers written as reals, keys nobody knows, no
 * generation_config.json */
static void terse(void)
{
    const char *dir = ag_gen_dir("models/terse");

    ag_gen_tiny(dir, "preprocessor_config.json", NULL, NULL);
    ag_gen_tiny(dir, "tokenizer.json", NULL, NULL);
    ag_gen_tiny(dir, WEIGHTS, NULL, NULL);
    ag_gen_text(dir, "config.json",
                "{\"model_type\": \"idefics3\", \"image_token_id\": 806.0, \"scale_factor\": 2e0,"
                " \"perceiver_config\": {\"no_such_key\": [1, {}]}, \"no_such_key\": null,"
                " \"text_config\": {\"hidden_size\": 192.0, \"intermediate_size\": 3.84e2,"
                " \"num_attention_heads\": 6.0, \"num_key_value_heads\": 2.0,"
                " \"num_hidden_layers\": 4.0, \"rms_norm_eps\": 1e-05, \"rope_theta\": 1e5,"
                " \"max_position_embeddings\": 8192.0, \"vocab_size\": 896.0, \"no_such_key\": 7},"
                " \"vision_config\": {\"hidden_size\": 128.0, \"intermediate_size\": 512.0,"
                " \"num_attention_heads\": 4.0, \"num_hidden_layers\": 4.0, \"image_size\": 64.0,"
                " \"patch_size\": 8.0, \"no_such_key\": \"x\"}}");
    says(dir, untied, AG_COUNT(untied));
}

void ag_tests_models(void)
{
    static const AgTest tests[] = {
        {"M8 (a) tied, no head", tied_without_head},
        {"M8 (b) tied, with a head", tied_with_head},
        {"M8 (c) not tied, no head", untied_without_head},
        {"M8 no embedding", without_embedding},
        {"M11 BF16 and F32", types},
        {"M10 a terse config.json", terse},
        {NULL, NULL},
    };

    ag_suite("models", tests);
}
