/*
 * Unit tests of libargus/model/tokenizer_load and tokenizer_json: files made by hand, damaged
 * or of another kind. Expected ids were made by the tokenizers package 0.21.4.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libargus/base/mem.h"
#include "tests/gen/modelgen.h"
#include "tests/unit/tokenizer.h"

static json_t *tiny_json(void)
{
    json_t *root = json_load_file(ag_source_path("models/argus-tiny/tokenizer.json"), 0, NULL);

    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    return root;
}

/* Saves and drops root, opens what was saved. */
static int open_json(AgTokenizer **t, json_t *root, size_t flags)
{
    const char *dir = ag_gen_dir("tokenizer");
    char *text = json_dumps(root, flags);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    ag_gen_text(dir, "tokenizer.json", text);
    free(text);
    json_decref(root);
    return ag_tok_open(t, dir);
}

static json_t *model_of(json_t *root)
{
    return json_object_get(root, "model");
}

/* T1: merges as pairs and as joined strings; lists that lack something */
static void merges(void)
{
    static const char line[] = "The quick brown fox, don't 42 \xE2\x82\xAC <image> to the right";
    AgTokenizer *t = NULL, *u;

    CU_ASSERT_EQUAL_FATAL(ag_tok_open(&t, ag_source_path("models/argus-tiny")), 0);
    char *want = ag_strdup(ag_tok_ids(t, line, strlen(line), 1));
    json_t *root, *list = json_array(), *pair;
    size_t i;

    ag_tokenizer_close(&t);
    root = tiny_json();
    json_array_foreach(json_object_get(model_of(root), "merges"), i, pair)
        json_array_append_new(list,
                              json_sprintf("%s %s", json_string_value(json_array_get(pair, 0)),
                                           json_string_value(json_array_get(pair, 1))));
    json_object_set_new(model_of(root), "merges", list);
    /* with \u escapes */
    CU_ASSERT_EQUAL_FATAL(open_json(&u, root, JSON_COMPACT | JSON_ENSURE_ASCII), 0);
    CU_ASSERT_STRING_EQUAL(ag_tok_ids(u, line, strlen(line), 1), want);
    ag_tokenizer_close(&u);
    ag_free(want);

    root = tiny_json();
    json_object_set_new(model_of(root), "merges", json_array());
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("expected words in model.vocab and "
                             "pairs in model.merges, found 768 and 0"));
    root = tiny_json();
    json_object_del(model_of(root), "merges");
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    root = tiny_json();
    json_array_remove(json_object_get(model_of(root), "merges"), 494);
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("model.merges: expected merges that make "
                             "the 495 words of model.vocab, found 494 "
                             "merges that make 494 of them; none makes \u0120Read"));
    root = tiny_json();
    json_array_append_new(json_object_get(model_of(root), "merges"),
                          json_pack("[ss]", "Read", "Read"));
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("model.merges[495]: expected two words of "
                             "model.vocab that join to a third, found \"Read\" and \"Read\""));
    static const char *const bad[] = {"\"ab\"", "\"a b c\"", "[\"a\"]", "[\"a\",\"b\",\"c\"]", "3",
                                      "[\"a\",3]"};
    for (i = 0; i < AG_COUNT(bad); i++) {
        root = tiny_json();
        json_array_set_new(json_object_get(model_of(root), "merges"), 7,
                           json_loads(bad[i], JSON_DECODE_ANY, NULL));
        CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
        CU_ASSERT(ag_message_has("expected a"));
    }
}

#define DIGITS(individual)                                                                   \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":"      \
    individual "},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}]}"

/* Pre-tokenizers: each numeral, runs of numerals, no Digits stage. */
static void stages(void)
{
    static const char line[] = "a  5 2020x5 5\n5 52";
    static const char *const joined[] = {"52", "\u0120\u0120", "20", "\u01205"};
    static const char *const parts[][2] = {{"5", "2"}, {"\u0120", "\u0120"}, {"2", "0"},
                                           {"\u0120", "5"}};
    static const int id[] = {899, 898, 897, 896};
    static const struct {
        const char *pre, *ids;
    } t[] = {
        {DIGITS("true"),
         "81 898 37 237 34 32 34 32 104 37 237 37 215 37 237 37 34"},
        {DIGITS("false"),
         "81 898 37 237 897 897 104 37 237 37 215 37 237 899"},
        {"{\"type\":\"ByteLevel\",\"add_prefix_space\":false}",
         "81 237 896 237 897 897 104 37 896 215 37 237 899"},
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"ByteLevel\",\"use_regex\":true}]}",
         "81 237 896 237 897 897 104 37 896 215 37 237 899"},
    };
    AgTokenizer *u;

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        json_t *root = tiny_json(), *model = model_of(root);
        for (size_t k = AG_COUNT(joined); k-- > 0;) {
            json_object_set_new(json_object_get(model, "vocab"), joined[k], json_integer(id[k]));
            json_array_insert_new(json_object_get(model, "merges"), 0,
                                  json_pack("[ss]", parts[k][0], parts[k][1]));
        }
        json_object_set_new(root, "pre_tokenizer", json_loads(t[i].pre, 0, NULL));
        CU_ASSERT_EQUAL_FATAL(open_json(&u, root, 0), 0);
        CU_ASSERT_STRING_EQUAL(ag_tok_ids(u, line, strlen(line), 0), t[i].ids);
        ag_tokenizer_close(&u);
    }
}

/* T7: flags of added tokens, one that nobody knows among them */
static void flags(void)
{
    static const struct {
        const char *added, *text, *ids;
    } t[] = {
        {"'content':'<mask>','lstrip':true,'new_flag':1", "a \u3000\n<mask> b", "81 896 275"},
        {"'content':'<mask>','lstrip':true", " <mask>", "896"},
        {"'content':'<mask>','lstrip':true", "<image> <mask>", "806 896"},
        {"'content':'<mask>','rstrip':true", "a <mask> \u00a0\tb", "81 237 896 82"},
        {"'content':'<mask>','rstrip':true", "<mask> <image>", "896 806"},
        {"'content':'<mask>','rstrip':true", "<mask>  <mask>", "896 896"},
        {"'content':'<mask>','lstrip':true,'rstrip':true", " <mask>  <mask> ", "896 896"},
        {"'content':'redx','single_word':true",
         "redx redxy bredx redx. \u00e9redx _redx redx\u0301 redx1 (redx)",
         "896 384 104 105 275 343 104 237 896 30 237 144 119 "
         "343 104 237 79 343 104 384 104 153 240 384 104 33 237 24 896 25"},
        {"'content':'<ima','normalized':true", "<image><ima <imag", "806 896 237 896 87"},
        {"'content':'<image> x'", "<image> x<image> ", "896 806 237"},
    };

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        char text[256];
        json_t *root = tiny_json();
        AgTokenizer *u;
        snprintf(text, sizeof(text), "{'id':896,'special':true,%s}", t[i].added);
        for (char *p = text; *p; p++)
            *p = *p == '\'' ? '"' : *p;
        json_array_append_new(json_object_get(root, "added_tokens"), json_loads(text, 0, NULL));
        CU_ASSERT_EQUAL_FATAL(open_json(&u, root, 0), 0);
        ag_tok_expect(u, t[i].text, 1, t[i].ids);
        ag_tokenizer_close(&u);
    }
}

static void kinds(void)
{
    static const struct {
        const char *where, *key, *value, *message;
    } t[] = {
        {"model", "type", "\"WordPiece\"", "model.type: expected BPE, found \"WordPiece\""},
        {"model", "type", "\"Unigram\"", "model.type: expected BPE"},
        {"model", "unk_token", "\"<unk>\"", "unk_token: expected null"},
        {"model", "byte_fallback", "true", "byte_fallback: expected null"},
        {"model", "ignore_merges", "true", "ignore_merges: expected null"},
        {"model", "dropout", "0.1", "dropout: expected null"},
        {"model", "end_of_word_suffix", "\"</w>\"", "end_of_word_suffix: expected null"},
        {NULL, "normalizer", "{\"type\":\"NFC\"}",
         "normalizer: expected null, found {\"type\":\"NFC\"}"},
        {NULL, "post_processor", "{\"type\":\"TemplateProcessing\"}",
         "post_processor: expected null or ByteLevel"},
        {NULL, "decoder", "null", "decoder: expected ByteLevel, found null"},
        {NULL, "pre_tokenizer", "null",
         "pre_tokenizer: expected ByteLevel, or Digits and ByteLevel"},
        {NULL, "pre_tokenizer", "{\"type\":\"Metaspace\"}", "found {\"type\":\"Metaspace\"}"},
        {NULL, "pre_tokenizer", "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}",
         "pre_tokenizer: expected"},
        {NULL, "pre_tokenizer", "{\"type\":\"ByteLevel\",\"use_regex\":false}",
         "pre_tokenizer: expected"},
        {NULL, "pre_tokenizer", "{\"type\":\"Sequence\",\"pretokenizers\":[]}",
         "pre_tokenizer: expected"},
    };
    AgTokenizer *u;

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        json_t *root = tiny_json(), *obj = t[i].where ? json_object_get(root, t[i].where) : root;
        json_object_set_new(obj, t[i].key, json_loads(t[i].value, JSON_DECODE_ANY, NULL));
        CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_UNSUPPORTED);
        CU_ASSERT(ag_message_has(t[i].message) && ag_message_has("tokenizer/tokenizer.json"));
    }
    json_t *root = tiny_json(); /* the empty strings that GPT-2's own file has mean nothing */
    json_object_set_new(model_of(root), "continuing_subword_prefix", json_string(""));
    json_object_del(model_of(root), "type");
    CU_ASSERT_EQUAL(open_json(&u, root, 0), 0);
    ag_tokenizer_close(&u);
}

static void ids_clash(void)
{
    static const struct {
        const char *added, *message;
    } t[] = {
        {"{\"id\":300,\"content\":\"<x>\"}",
         "expected the id that model.vocab has, found <x> with id 300"},
        {"{\"id\":897,\"content\":\"the\"}", "found the with id 897"},
        {"{\"id\":-1,\"content\":\"<x>\"}", "added_tokens[145]: expected an id from 0 to 1000000"},
        {"{\"id\":2000000000,\"content\":\"<x>\"}", "added_tokens[145]: expected an id"},
        {"{\"id\":897}", "added_tokens[145]: expected a content"},
        {"{\"content\":\"<x>\"}", "added_tokens[145]: expected an id"},
        {"7", "added_tokens[145]: expected an id"},
        {"{\"id\":897,\"content\":\"<image>\"}", "expected each token once, found <image> twice"},
    };
    AgTokenizer *u;

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        json_t *root = tiny_json();
        json_array_append_new(json_object_get(root, "added_tokens"),
                              json_loads(t[i].added, JSON_DECODE_ANY, NULL));
        CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
        CU_ASSERT(ag_message_has(t[i].message));
    }
    json_t *root = tiny_json();
    json_object_set_new(json_object_get(model_of(root), "vocab"), "Read", json_integer(300));
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("model.vocab: expected each word and id once, found Read: 300 again"));
    root = tiny_json();
    json_object_set_new(json_object_get(model_of(root), "vocab"), "Read", json_real(300.5));
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
}

/* A file cut anywhere is refused; a file with a wrong byte is refused or read, never more. */
static void broken(void)
{
    const char *dir = ag_gen_dir("broken");
    uint64_t r = 1;
    AgTokenizer *t;
    AgBlob b;

    CU_ASSERT_EQUAL_FATAL(ag_file_read(&b, ag_source_path("models/argus-tiny/tokenizer.json"),
                                       1 << 20, NULL), 0);
    for (size_t n = 0; n + 2 < b.size; n += n < 2000 ? 61 : 1499) {
        ag_gen_write(dir, "tokenizer.json", b.data, n);
        CU_ASSERT_EQUAL(ag_tok_open(&t, dir), ARGUS_ERR_FORMAT);
        CU_ASSERT(ag_message_has("broken/tokenizer.json"));
        ag_tokenizer_close(&t);
    }
    unsigned char *copy = ag_malloc(b.size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    for (int i = 0; i < 300; i++) {
        memcpy(copy, b.data, b.size);
        for (int k = 0; k < 3; k++) {
            r = r * 6364136223846793005u + 1442695040888963407u;
            copy[(r >> 33) % b.size] = (unsigned char)"\"{}[],:\\\0\x80\xff" "0a "[(r >> 20) % 14];
        }
        ag_gen_write(dir, "tokenizer.json", copy, b.size);
        int err = ag_tok_open(&t, dir);
        CU_ASSERT(err == 0 || err == ARGUS_ERR_FORMAT || err == ARGUS_ERR_UNSUPPORTED);
        if (!err)
            ag_tok_ids(t, "A red square, 5 <image>", 23, 1);
        ag_tokenizer_close(&t);
    }
    ag_free(copy);
    ag_blob_free(&b);
    CU_ASSERT_EQUAL(ag_tok_open(&t, ag_gen_dir("none")), ARGUS_ERR(ENOENT));
}

void ag_tests_tokenizer_load(void)
{
    static const AgTest tests[] = {
        {"T1 merges", merges},
        {"pre-tokenizers", stages},
        {"T7 flags of added tokens", flags},
        {"kinds that are refused", kinds},
        {"ids that clash", ids_clash},
        {"broken files", broken},
        {NULL, NULL},
    };
    ag_suite("tokenizer_load", tests);
}
