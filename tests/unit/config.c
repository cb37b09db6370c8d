/*
 * Unit tests of libargus/model/config. M10, X6 and the like are names of failures
 * that users of neighbouring tools reported.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libargus/model/config.h"
#include "tests/gen/modelgen.h"

/* Loads dir with messages kept. */
static int load(AgConfig *c, const char *dir)
{
    AgSource s = ag_gen_source(dir);

    ag_messages_clear();
    int err = ag_config_load(c, &s, ag_test_log());
    ag_source_free(&s);
    return err;
}

/* argus-tiny's folder with one file edited. */
static int load_edited(AgConfig *c, const char *file, const char *from, const char *to)
{
    static const char *const files[] = {"config.json", "generation_config.json",
                                        "preprocessor_config.json"};
    const char *dir = ag_gen_dir("config");

    for (size_t i = 0; i < AG_COUNT(files); i++)
        ag_gen_tiny(dir, files[i], strcmp(file, files[i]) ? NULL : from, to);
    return load(c, dir);
}

typedef struct Edit {
    const char *from, *to;
    int err;
    const char *message;
} Edit;

static void refuse(const char *file, const Edit *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AgConfig c = {.n_layer = -7};
        int err = load_edited(&c, file, e[i].from, e[i].to);
        if (err != e[i].err)
            printf("\n    %s -> %s gives %d: %s", e[i].from, e[i].to, err, ag_messages());
        CU_ASSERT_EQUAL(err, e[i].err);
        CU_ASSERT(ag_message_has(e[i].message));
        CU_ASSERT(ag_message_has(file));
        CU_ASSERT_EQUAL(c.n_layer, -7); /* output written on success only */
    }
}

static void tiny(void)
{
    AgConfig c;

    CU_ASSERT_EQUAL(load_edited(&c, "", NULL, NULL), 0);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    CU_ASSERT(c.d_vis == 128 && c.d_vis_ff == 512 && c.n_vis_layer == 4 && c.n_vis_head == 4);
    CU_ASSERT(c.tile == 64 && c.patch == 8 && c.n_patch == 64 && c.shuffle == 2 &&
              c.n_img_tok == 16);
    CU_ASSERT(c.d_txt == 192 && c.d_ff == 384 && c.n_layer == 4 && c.n_head == 6 && c.n_kv == 2);
    CU_ASSERT(c.head_dim == 32 && c.vocab == 896 && c.n_pos == 8192 && c.rope_theta == 100000);
    CU_ASSERT(c.vis_eps == 1e-6f && c.txt_eps == 1e-5f && c.tie_embeddings == 0);
    CU_ASSERT(c.image_token_id == 806 && c.n_stop == 1 && c.stop_id[0] == 895);
    CU_ASSERT(c.longest_edge == 128 && c.do_split == 1 && c.rescale == 0.00392156862745098);
    for (int i = 0; i < 3; i++)
        CU_ASSERT(c.mean[i] == 0.5f && c.std[i] == 0.5f);
}

/* Configurations of the published models, among them the terse one that leaves
 * nearly everything to class defaults. */
static void published(void)
{
    static const struct {
        const char *name;
        int d_txt, d_ff, n_layer, n_head, n_kv, n_stop, stop;
    } t[] = {
        {"SmolVLM-256M-Instruct", 576, 1536, 30, 9, 3, 1, 49279},
        {"SmolVLM-500M-Instruct", 960, 2560, 32, 15, 5, 1, 2}, /* folder has config.json only */
        {"SmolVLM2-500M-Video-Instruct", 960, 2560, 32, 15, 5, 1, 49279},
    };
    char dir[1024];
    AgConfig c;

    if (!ag_test_data()) {
        ag_skip("configurations of the published models", "ARGUS_TEST_DATA is not set");
        return;
    }
    for (size_t i = 0; i < AG_COUNT(t); i++) {
        snprintf(dir, sizeof(dir), "%s/models/%s", ag_test_data(), t[i].name);
        CU_ASSERT_EQUAL(load(&c, dir), 0);
        CU_ASSERT(c.d_txt == t[i].d_txt && c.d_ff == t[i].d_ff && c.n_layer == t[i].n_layer);
        CU_ASSERT(c.n_head == t[i].n_head && c.n_kv == t[i].n_kv && c.head_dim == 64);
        CU_ASSERT(c.d_vis == 768 && c.d_vis_ff == 3072 && c.n_vis_layer == 12 &&
                  c.n_vis_head == 12);
        CU_ASSERT(c.tile == 512 && c.patch == 16 && c.n_patch == 1024 && c.shuffle == 4);
        CU_ASSERT(c.n_img_tok == 64 && c.vocab == 49280 && c.n_pos == 8192 && c.rope_theta == 1e5);
        CU_ASSERT(c.vis_eps == 1e-6f && c.txt_eps == 1e-5f && !c.tie_embeddings);
        CU_ASSERT(c.image_token_id == 49190 && c.longest_edge == 2048 && c.do_split == 1);
        CU_ASSERT(c.n_stop == t[i].n_stop && c.stop_id[0] == t[i].stop);
    }
}

/* M10: optional keys missing, unknown ones there, integers spelled as reals. */
static void spelling(void)
{
    static const Edit ok[] = {
        {"\"hidden_size\": 192", "\"hidden_size\": 192.0", 0, NULL},
        {"\"num_hidden_layers\": 4,\n    \"num_key_value_heads\": 2",
         "\"num_hidden_layers\": 4e0,\n    \"num_key_value_heads\": 20E-1", 0, NULL},
        {"\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": 0.00001", 0, NULL},
        {"\"rope_theta\": 100000", "\"rope_theta\": 1e5", 0, NULL},
        {"\"rope_scaling\": null,", "", 0, NULL},
        {"\"head_dim\": 32,", "", 0, NULL},
        {"\"head_dim\": 32,", "\"head_dim\": null,", 0, NULL},
        {"\"mlp_bias\": false", "\"no_such_key\": {\"a\": [1, 2, {}]}", 0, NULL},
        {"\"model_type\": \"idefics3\",\n  \"scale", "\"model_type\": \"smolvlm\",\n  \"scale", 0,
         NULL},
        {"\"num_channels\": 3,\n    \"num_hidden_layers\": 4", "\"num_hidden_layers\": 4", 0, NULL},
    };
    AgConfig base, c;

    CU_ASSERT_EQUAL_FATAL(load_edited(&base, "", NULL, NULL), 0);
    for (size_t i = 0; i < AG_COUNT(ok); i++) {
        memset(&c, 0, sizeof(c));
        CU_ASSERT_EQUAL(load_edited(&c, "config.json", ok[i].from, ok[i].to), 0);
        CU_ASSERT(c.d_txt == base.d_txt && c.n_layer == base.n_layer && c.n_kv == base.n_kv &&
                  c.head_dim == base.head_dim && c.txt_eps == base.txt_eps &&
                  c.rope_theta == base.rope_theta);
    }
}

/* A config.json that says no more than it must, and no other file. */
static void defaults(void)
{
    const char *dir = ag_gen_dir("terse");
    AgConfig c;

    ag_gen_text(dir, "config.json", "{\"model_type\": \"smolvlm\", \"image_token_id\": 7,"
                " \"text_config\": {\"hidden_size\": 64, "
                "\"num_attention_heads\": 4, \"vocab_size\": 100},"
                " \"vision_config\": {\"hidden_size\": 256, "
                "\"num_attention_heads\": 8, \"image_size\": 512, \"patch_size\": 16}}");
    CU_ASSERT_EQUAL(load(&c, dir), 0);
    CU_ASSERT(c.d_vis_ff == 3072 && c.n_vis_layer == 12 && c.vis_eps == 1e-6f && c.shuffle == 2);
    CU_ASSERT(c.d_ff == 11008 && c.n_layer == 32 && c.n_kv == 4 && c.head_dim == 16 &&
              c.n_pos == 2048);
    CU_ASSERT(c.txt_eps == 1e-6f && c.rope_theta == 10000 && !c.tie_embeddings);
    CU_ASSERT(c.longest_edge == 2048 && c.do_split == 1 && fabs(c.rescale - 1 / 255.) < 1e-12);
    CU_ASSERT(c.mean[0] == 0.5f && c.std[2] == 0.5f);
    CU_ASSERT_EQUAL(c.n_stop, 0);
}

/* X6: numbers that would divide by zero, overflow or ask for all memory. */
static void hostile(void)
{
    static const Edit t[] = {
        {"\"num_attention_heads\": 6", "\"num_attention_heads\": 0", ARGUS_ERR_FORMAT,
         "text_config.num_attention_heads: expected an integer from 1 to 256, found 0"},
        {"\"num_attention_heads\": 4", "\"num_attention_heads\": -4", ARGUS_ERR_FORMAT,
         "vision_config.num_attention_heads: expected an integer from 1 to 256, found -4"},
        {"\"num_key_value_heads\": 2", "\"num_key_value_heads\": 0", ARGUS_ERR_FORMAT,
         "num_key_value_heads: expected"},
        {"\"num_key_value_heads\": 2", "\"num_key_value_heads\": 4", ARGUS_ERR_FORMAT,
         "num_attention_heads: expected a multiple of num_key_value_heads = 4, found 6"},
        {"\"patch_size\": 8", "\"patch_size\": 0", ARGUS_ERR_FORMAT, "patch_size: expected"},
        {"\"patch_size\": 8", "\"patch_size\": 7", ARGUS_ERR_FORMAT,
         "image_size: expected a multiple of patch_size = 7, found 64"},
        {"\"image_size\": 64", "\"image_size\": 1000000000", ARGUS_ERR_FORMAT,
         "image_size: expected an integer from 1 to 4096, found 1000000000"},
        {"\"image_size\": 64", "\"image_size\": 64.5", ARGUS_ERR_FORMAT, "found 64.5"},
        {"\"num_hidden_layers\": 4,\n    \"num_key",
         "\"num_hidden_layers\": 1000000,\n    \"num_key", ARGUS_ERR_FORMAT,
         "text_config.num_hidden_layers: expected an integer from 1 to 512, found 1000000"},
        {"\"num_hidden_layers\": 4,\n    \"patch", "\"num_hidden_layers\": 1e300,\n    \"patch",
         ARGUS_ERR_FORMAT, "vision_config.num_hidden_layers: expected"},
        {"\"hidden_size\": 128", "\"hidden_size\": 126", ARGUS_ERR_FORMAT,
         "vision_config.hidden_size: expected a multiple of num_attention_heads = 4, found 126"},
        {"\"hidden_size\": 128", "\"hidden_size\": 40", ARGUS_ERR_UNSUPPORTED,
         "vision_config.head_dim: expected a multiple of 8 from 16 to 128, found 10"},
        {"\"head_dim\": 32", "\"head_dim\": 20", ARGUS_ERR_UNSUPPORTED, "from 16 to 128, found 20"},
        {"\"head_dim\": 32", "\"head_dim\": 4096", ARGUS_ERR_UNSUPPORTED,
         "from 16 to 128, found 4096"},
        {"\"head_dim\": 32", "\"head_dim\": 0", ARGUS_ERR_FORMAT, "head_dim: expected"},
        {"\"scale_factor\": 2", "\"scale_factor\": 0", ARGUS_ERR_FORMAT, "scale_factor: expected"},
        {"\"scale_factor\": 2", "\"scale_factor\": 3", ARGUS_ERR_FORMAT,
         "expected a multiple of scale_factor = 3, found 8"},
        {"\"max_position_embeddings\": 8192", "\"max_position_embeddings\": 2000000000",
         ARGUS_ERR_FORMAT, "max_position_embeddings: expected"},
        {"\"use_cache\": true,\n    \"vocab_size\": 896", "\"vocab_size\": 4294967297",
         ARGUS_ERR_FORMAT, "vocab_size: expected"},
        {"\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": -1", ARGUS_ERR_FORMAT,
         "rms_norm_eps: expected"},
        {"\"rope_theta\": 100000", "\"rope_theta\": 0", ARGUS_ERR_FORMAT, "rope_theta: expected"},
        {"\"image_token_id\": 806", "\"image_token_id\": 896", ARGUS_ERR_FORMAT,
         "image_token_id: expected an id below vocab_size = 896, found 896"},
        {"\"num_channels\": 3", "\"num_channels\": 4", ARGUS_ERR_UNSUPPORTED,
         "expected 3, found 4"},
    };
    refuse("config.json", t, AG_COUNT(t));
}

static void kinds(void)
{
    static const Edit t[] = {
        {"\"model_type\": \"idefics3\",\n  \"scale", "\"model_type\": \"llava\",\n  \"scale",
         ARGUS_ERR_UNSUPPORTED, "model_type: expected idefics3 or smolvlm, found llava"},
        {"\"model_type\": \"idefics3\",\n  \"scale", "\"scale", ARGUS_ERR_UNSUPPORTED,
         "model_type: expected idefics3 or smolvlm, found none"},
        {"\"silu\"", "\"gelu\"", ARGUS_ERR_UNSUPPORTED, "hidden_act: expected silu, found gelu"},
        {"\"gelu_pytorch_tanh\"", "\"gelu\"", ARGUS_ERR_UNSUPPORTED,
         "vision_config.hidden_act: expected gelu_pytorch_tanh, found gelu"},
        {"\"rope_scaling\": null", "\"rope_scaling\": {\"rope_type\": \"yarn\"}",
         ARGUS_ERR_UNSUPPORTED, "text_config.rope_scaling: expected null"},
        {"\"attention_bias\": false", "\"attention_bias\": true", ARGUS_ERR_UNSUPPORTED,
         "attention_bias: only false"},
        {"\"model_type\": \"llama\"", "\"model_type\": \"mistral\"", ARGUS_ERR_UNSUPPORTED,
         "text_config.model_type: expected llama"},
        {"\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": \"1e-05\"", ARGUS_ERR_FORMAT,
         "rms_norm_eps: expected a number"},
        {"\"attention_bias\": false", "\"attention_bias\": 0", ARGUS_ERR_FORMAT,
         "attention_bias: expected true or false"},
        {"\"hidden_act\": \"silu\"", "\"hidden_act\": 3", ARGUS_ERR_FORMAT,
         "found something else than a string"},
        {"\"text_config\": {", "\"text_config\": [], \"x\": {", ARGUS_ERR_FORMAT,
         "text_config: expected an object"},
        {"\"image_token_id\": 806,", "\"image_token_id\": 806", ARGUS_ERR_FORMAT,
         "expected JSON, found:"},
    };
    refuse("config.json", t, AG_COUNT(t));
}

static void processor(void)
{
    static const Edit t[] = {
        {"\"resample\": 1", "\"resample\": 3", ARGUS_ERR_UNSUPPORTED,
         "resample: expected 1, found 3"},
        {"\"longest_edge\": 64", "\"longest_edge\": 128", ARGUS_ERR_UNSUPPORTED,
         "max_image_size.longest_edge: expected 64"},
        {"\"longest_edge\": 128", "\"longest_edge\": 0", ARGUS_ERR_FORMAT,
         "size.longest_edge: expected"},
        {"\"longest_edge\": 128", "\"longest_edge\": 448", ARGUS_ERR_UNSUPPORTED,
         "size.longest_edge: expected at most 6 tiles of 64 pixels, found 448"},
        {"\"longest_edge\": 128", "\"longest_edge\": 1000000000", ARGUS_ERR_FORMAT,
         "found 1000000000"},
        {"\"rescale_factor\": 0.00392156862745098", "\"rescale_factor\": 0", ARGUS_ERR_FORMAT,
         "rescale_factor: expected"},
        {"\"do_normalize\": true", "\"do_normalize\": false", ARGUS_ERR_UNSUPPORTED,
         "do_normalize: only true"},
        {"\"image_std\": [\n    0.5,", "\"image_std\": [\n    0,", ARGUS_ERR_FORMAT,
         "image_std: expected 3 numbers"},
        {"\"image_mean\": [\n    0.5,", "\"image_mean\": [", ARGUS_ERR_FORMAT,
         "image_mean: expected 3 numbers"},
        {"\"max_image_size\": {\n    \"longest_edge\": 64\n  }", "\"max_image_size\": 64",
         ARGUS_ERR_FORMAT, "max_image_size: expected an object"},
    };
    AgConfig c;

    refuse("preprocessor_config.json", t, AG_COUNT(t));
    /* P1: the splitting policy is looked up here and nowhere else */
    CU_ASSERT_EQUAL(load_edited(&c, "preprocessor_config.json", "\"do_image_splitting\": true",
                                "\"do_image_splitting\": false"), 0);
    CU_ASSERT_EQUAL(c.do_split, 0);
    CU_ASSERT_EQUAL(load_edited(&c, "config.json", "\"image_token_id\": 806",
                                "\"do_image_splitting\": false, \"image_token_id\": 806"), 0);
    CU_ASSERT_EQUAL(c.do_split, 1);
    CU_ASSERT_EQUAL(load_edited(&c, "preprocessor_config.json",
                                "\"image_mean\": [\n    0.5,\n    0.5,\n    0.5\n  ]",
                                "\"image_mean\": 0.25"), 0);
    CU_ASSERT(c.mean[0] == 0.25f && c.mean[2] == 0.25f);
}

/* D1: generation_config.json, else the top of config.json, else its text_config. */
static void stop_ids(void)
{
    const char *top = "\"image_token_id\": 806", *dir;
    AgConfig c;

    CU_ASSERT_EQUAL(load_edited(&c, "generation_config.json", "\"eos_token_id\": 895",
                                "\"eos_token_id\": [895, 2, 895, 0]"), 0);
    CU_ASSERT(c.n_stop == 3 && c.stop_id[0] == 895 && c.stop_id[1] == 2 && c.stop_id[2] == 0);
    CU_ASSERT_EQUAL(load_edited(&c, "generation_config.json", "\"eos_token_id\": 895,", ""), 0);
    CU_ASSERT(c.n_stop == 1 && c.stop_id[0] == 2);
    dir = ag_gen_dir("stop");
    ag_gen_tiny(dir, "config.json", top, "\"eos_token_id\": [5, 6.0], \"image_token_id\": 806");
    CU_ASSERT_EQUAL(load(&c, dir), 0);
    CU_ASSERT(c.n_stop == 2 && c.stop_id[0] == 5 && c.stop_id[1] == 6);
    ag_gen_tiny(dir, "config.json", NULL, NULL);
    CU_ASSERT_EQUAL(load(&c, dir), 0);
    CU_ASSERT(c.n_stop == 1 && c.stop_id[0] == 2);
    /* <end_of_utterance> joins once, whatever the files say */
    CU_ASSERT(!ag_config_add_stop(&c, 895) && !ag_config_add_stop(&c, 895) && c.n_stop == 2);

    static const Edit bad[] = {
        {"\"eos_token_id\": 895", "\"eos_token_id\": 896", ARGUS_ERR_FORMAT,
         "eos_token_id: expected ids below vocab_size = 896, found 896"},
        {"\"eos_token_id\": 895", "\"eos_token_id\": [\"a\"]", ARGUS_ERR_FORMAT,
         "eos_token_id: expected ids"},
        {"\"eos_token_id\": 895", "\"eos_token_id\": [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]",
         ARGUS_ERR_UNSUPPORTED, "eos_token_id: expected at most 15 ids, found 16"},
        {"{", "[{", ARGUS_ERR_FORMAT, "expected JSON"},
    };
    refuse("generation_config.json", bad, AG_COUNT(bad));
    /* a full list leaves room for one */
    CU_ASSERT_EQUAL(load_edited(&c, "generation_config.json", "\"eos_token_id\": 895",
                                "\"eos_token_id\": [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14]"), 0);
    CU_ASSERT_EQUAL(ag_config_add_stop(&c, 895), 0);
    CU_ASSERT_EQUAL(ag_config_add_stop(&c, 894), ARGUS_ERR_UNSUPPORTED);
}

/* M8: text_config decides about the head; the top counts where it is silent. */
static void tied(void)
{
    static const struct {
        const char *from, *to;
        int tie;
    } t[] = {
        {"\"tie_word_embeddings\": false,\n    \"torch",
         "\"tie_word_embeddings\": true,\n    \"torch", 1},
        {"\"tie_word_embeddings\": false,\n  \"torch", "\"tie_word_embeddings\": true,\n  \"torch",
         0},
        {"\"tie_word_embeddings\": false,\n    \"torch", "\"torch", 0},
    };
    AgConfig c;

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        CU_ASSERT_EQUAL(load_edited(&c, "config.json", t[i].from, t[i].to), 0);
        CU_ASSERT_EQUAL(c.tie_embeddings, t[i].tie);
    }
    const char *dir = ag_gen_dir("tied");
    ag_gen_text(dir, "config.json", "{\"model_type\": \"idefics3\", \"image_token_id\": "
                "7, \"tie_word_embeddings\": true, \"text_config\": {\"hidden_size\": "
                "64, \"num_attention_heads\": 4}, \"vision_config\": {\"hidden_size\": 256, "
                "\"num_attention_heads\": 8, \"image_size\": 64, \"patch_size\": 16}}");
    CU_ASSERT_EQUAL(load(&c, dir), 0);
    CU_ASSERT_EQUAL(c.tie_embeddings, 1);
}

static void absent(void)
{
    const char *dir = ag_gen_dir("nothing");
    AgConfig c;

    CU_ASSERT_EQUAL(load(&c, dir), ARGUS_ERR_NO_MODEL);
    CU_ASSERT(ag_message_has("nothing/config.json"));
    ag_gen_text(dir, "config.json", "");
    CU_ASSERT_EQUAL(load(&c, dir), ARGUS_ERR_FORMAT);
    ag_gen_text(dir, "config.json", "[1]");
    CU_ASSERT_EQUAL(load(&c, dir), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("expected a JSON object"));
}

/* Each byte of config.json in turn replaced: refused, or the numbers keep their ranges. */
static void damaged(void)
{
    static const char with[] = "9-\"}e.";
    const char *dir = ag_gen_dir("damaged-config");
    AgSource s = ag_gen_source(dir);
    AgBlob b;

    CU_ASSERT_EQUAL_FATAL(ag_file_read(&b, ag_source_path("models/argus-tiny/config.json"), 65536,
                                       NULL), 0);
    unsigned char *p = (unsigned char *)(uintptr_t)b.data;
    for (size_t i = 0; i < b.size; i++) {
        unsigned char old = p[i];
        AgConfig c;
        p[i] = (unsigned char)with[i % (sizeof(with) - 1)];
        ag_gen_write(dir, "config.json", p, b.size);
        p[i] = old;
        int err = ag_config_load(&c, &s, NULL);
        CU_ASSERT(err == 0 || err == ARGUS_ERR_FORMAT || err == ARGUS_ERR_UNSUPPORTED);
        if (err < 0)
            continue;
        CU_ASSERT(c.n_head > 0 && c.n_kv > 0 && c.n_head % c.n_kv == 0 && c.head_dim % 8 == 0);
        CU_ASSERT(c.d_vis % c.n_vis_head == 0 && c.tile % c.patch == 0 && c.n_patch > 0);
        CU_ASSERT(c.n_img_tok * c.shuffle * c.shuffle == c.n_patch && c.image_token_id < c.vocab);
    }
    ag_blob_free(&b);
    ag_source_free(&s);
}

void ag_tests_config(void)
{
    static const AgTest tests[] = {
        {"argus-tiny", tiny},
        {"published models", published},
        {"M10 spelling, unknown and missing keys", spelling},
        {"M10 class defaults", defaults},
        {"X6 hostile numbers", hostile},
        {"other architectures and types", kinds},
        {"P1 processor", processor},
        {"D1 stop ids", stop_ids},
        {"M8 tied head", tied},
        {"no or empty file", absent},
        {"damaged files", damaged},
        {NULL, NULL},
    };
    ag_suite("config", tests);
}
