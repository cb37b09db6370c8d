/*
 * Unit tests of libargus/model/tokenizer. Expected ids were made by the tokenizers
 * package 0.21.4 (0.22.2 for the 128 pairs). T1, T2 and the like are names of failures
 * that users of neighbouring tools reported.
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
#include "libargus/base/sha256.h"
#include "libargus/base/thread.h"
#include "libargus/model/tokenizer.h"
#include "tests/gen/lines.h"
#include "tests/gen/modelgen.h"

#define PUBLISHED "SmolVLM-256M-Instruct"

static int open_dir(AgTokenizer **t, const char *dir)
{
    AgSource s = ag_gen_source(dir);

    ag_messages_clear();
    int err = ag_tokenizer_open(t, &s, ag_test_log());
    CU_ASSERT((err < 0) == (*t == NULL));
    ag_source_free(&s);
    return err;
}

static AgTokenizer *open_tiny(void)
{
    AgTokenizer *t = NULL;

    CU_ASSERT_EQUAL_FATAL(open_dir(&t, ag_source_path("models/argus-tiny")), 0);
    return t;
}

/* Tokenizer of the published models, or NULL after a note that it is not here. */
static AgTokenizer *open_published(const char *what)
{
    char dir[1024];
    AgTokenizer *t = NULL;

    if (!ag_test_data()) {
        ag_skip(what, "ARGUS_TEST_DATA is not set");
        return NULL;
    }
    snprintf(dir, sizeof(dir), "%s/models/" PUBLISHED, ag_test_data());
    CU_ASSERT_EQUAL_FATAL(open_dir(&t, dir), 0);
    return t;
}

/* The ids as text, "1 2 3". */
static const char *ids_of(const AgTokenizer *t, const char *text, size_t n, int special)
{
    static AgBuf b;
    AgIds ids = {0};

    ag_buf_clear(&b);
    ag_buf_str(&b, "");
    CU_ASSERT_EQUAL(ag_tokenizer_encode(t, text, n, special, &ids), 0);
    for (int i = 0; i < ids.n; i++)
        ag_buf_printf(&b, "%s%d", i ? " " : "", ids.id[i]);
    ag_ids_free(&ids);
    return b.data;
}

static void expect(const AgTokenizer *t, const char *text, int special, const char *ids)
{
    const char *found = ids_of(t, text, strlen(text), special);

    if (strcmp(found, ids))
        printf("\n    \"%s\": expected %s, found %s", text, ids, found);
    CU_ASSERT_STRING_EQUAL(found, ids);
}

/* ---- the reference's lines */

static void add_digest(const AgTokenizer *t, const AgBuf *text, int special, AgSha256 *sha)
{
    AgIds ids = {0};
    AgBuf b = {0};

    CU_ASSERT_EQUAL(ag_tokenizer_encode(t, text->data, text->size, special, &ids), 0);
    for (int i = 0; i < ids.n; i++)
        ag_buf_printf(&b, "%s%d", i ? " " : "", ids.id[i]);
    ag_buf_char(&b, '\n');
    for (int skip = 0; skip < 2; skip++) {
        ag_tokenizer_decode(t, ids.id, ids.n, skip, &b);
        ag_buf_char(&b, '\n');
    }
    CU_ASSERT(ag_buf_ok(&b));
    ag_sha256_add(sha, b.data, b.size);
    ag_buf_free(&b);
    ag_ids_free(&ids);
}

/* Every row of the reference file that is about one model. */
static void compare_lines(const AgTokenizer *t, const char *model)
{
    char name[64], kind[16], want[32], got[65];
    int special, number, n_row = 0, n_bad = 0;
    AgBuf text = {0};
    FILE *f = fopen(ag_source_path("tests/refs/tokenizer-lines.txt"), "r");

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fscanf(f, "%63s %d %15s %d %31s", name, &special, kind, &number, want) == 5) {
        AgSha256 sha;
        int sweep = !strcmp(kind, "sweep");
        if (strcmp(name, model))
            continue;
        ag_sha256_init(&sha);
        for (int i = 0; i < (sweep ? 1 : AG_GEN_LINES_A_BLOCK); i++) {
            ag_buf_clear(&text);
            ag_buf_str(&text, "");
            if (sweep)
                ag_gen_sweep(&text, number);
            else
                ag_gen_line(&text, number * AG_GEN_LINES_A_BLOCK + i);
            add_digest(t, &text, special, &sha);
        }
        ag_sha256_hex(&sha, got);
        if (strncmp(got, want, 16) && n_bad++ < 5)
            printf("\n    %s %d %s %d differs", model, special, kind, number);
        n_row++;
    }
    fclose(f);
    ag_buf_free(&text);
    CU_ASSERT_EQUAL(n_row, 2 * AG_GEN_N_LINE / AG_GEN_LINES_A_BLOCK + AG_GEN_N_SWEEP);
    CU_ASSERT_EQUAL(n_bad, 0);
}

static void lines_tiny(void)
{
    AgTokenizer *t = open_tiny();

    compare_lines(t, "argus-tiny");
    ag_tokenizer_close(&t);
    CU_ASSERT_PTR_NULL(t);
    ag_tokenizer_close(&t);
}

static void lines_published(void)
{
    AgTokenizer *t = open_published("12000 lines with the published tokenizer");

    if (t)
        compare_lines(t, PUBLISHED);
    ag_tokenizer_close(&t);
}

static void pairs(void)
{
    AgTokenizer *t = open_published("128 pairs of text and ids");
    char path[1024];
    json_t *root, *v;
    size_t i;
    AgBuf text = {0};

    if (!t)
        return;
    snprintf(path, sizeof(path), "%s/oracles/tokenizer-128.json", ag_test_data());
    root = json_load_file(path, 0, NULL);
    json_t *list = json_object_get(root, "fixtures");
    CU_ASSERT_EQUAL(json_array_size(list), 128);
    json_array_foreach(list, i, v) {
        const json_t *s = json_object_get(v, "text");
        const json_t *want = json_object_get(v, "ids"), *decoded = json_object_get(v, "decoded");
        AgIds found = {0};
        size_t k, n = json_array_size(want);
        CU_ASSERT_EQUAL(ag_tokenizer_encode(t, json_string_value(s), json_string_length(s), 1, &found), 0);
        CU_ASSERT_EQUAL((size_t)found.n, n);
        for (k = 0; k < n && k < (size_t)found.n; k++)
            CU_ASSERT_EQUAL(found.id[k], json_integer_value(json_array_get(want, k)));
        ag_buf_clear(&text);
        ag_tokenizer_decode(t, found.id, found.n, 0, &text);
        CU_ASSERT_EQUAL(text.size, json_string_length(decoded));
        CU_ASSERT(!text.size || !memcmp(text.data, json_string_value(decoded), text.size));
        ag_ids_free(&found);
    }
    json_decref(root);
    ag_buf_free(&text);
    ag_tokenizer_close(&t);
}

/* ---- hand-made files */

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
    return open_dir(t, dir);
}

static json_t *model_of(json_t *root)
{
    return json_object_get(root, "model");
}

/* T1: merges as pairs and as joined strings; lists that lack something */
static void merges(void)
{
    static const char line[] = "The quick brown fox, don't 42 \xE2\x82\xAC <image> to the right";
    AgTokenizer *t = open_tiny(), *u;
    char *want = ag_strdup(ids_of(t, line, strlen(line), 1));
    json_t *root, *list = json_array(), *pair;
    size_t i;

    ag_tokenizer_close(&t);
    root = tiny_json();
    json_array_foreach(json_object_get(model_of(root), "merges"), i, pair)
        json_array_append_new(list, json_sprintf("%s %s", json_string_value(json_array_get(pair, 0)),
                                                 json_string_value(json_array_get(pair, 1))));
    json_object_set_new(model_of(root), "merges", list);
    CU_ASSERT_EQUAL_FATAL(open_json(&u, root, JSON_COMPACT | JSON_ENSURE_ASCII), 0); /* \u escapes too */
    CU_ASSERT_STRING_EQUAL(ids_of(u, line, strlen(line), 1), want);
    ag_tokenizer_close(&u);
    ag_free(want);

    root = tiny_json();
    json_object_set_new(model_of(root), "merges", json_array());
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("expected words in model.vocab and pairs in model.merges, found 768 and 0"));
    root = tiny_json();
    json_object_del(model_of(root), "merges");
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    root = tiny_json();
    json_array_remove(json_object_get(model_of(root), "merges"), 494);
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("model.merges: expected merges that make the 495 words of model.vocab, found 494 "
                             "merges that make 494 of them; none makes \u0120Read"));
    root = tiny_json();
    json_array_append_new(json_object_get(model_of(root), "merges"), json_pack("[ss]", "Read", "Read"));
    CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("model.merges[495]: expected two words of model.vocab that join to a third, found "
                             "\"Read\" and \"Read\""));
    static const char *const bad[] = {"\"ab\"", "\"a b c\"", "[\"a\"]", "[\"a\",\"b\",\"c\"]", "3", "[\"a\",3]"};
    for (i = 0; i < AG_COUNT(bad); i++) {
        root = tiny_json();
        json_array_set_new(json_object_get(model_of(root), "merges"), 7, json_loads(bad[i], JSON_DECODE_ANY, NULL));
        CU_ASSERT_EQUAL(open_json(&u, root, 0), ARGUS_ERR_FORMAT);
        CU_ASSERT(ag_message_has("expected a"));
    }
}

/* T2: numerals stand alone, of every script, before the pattern sees the text */
static void digits(void)
{
    AgTokenizer *t = open_tiny();

    expect(t, "a5", 0, "81 37");
    expect(t, "Frame 2024 at 00:15", 0, "54 301 509 237 34 32 34 36 414 237 32 32 42 33 37");
    expect(t, "\n\n1.", 0, "641 33 30");
    ag_tokenizer_close(&t);
    if (!(t = open_published("T2 ids of the published tokenizer")))
        return;
    expect(t, "Frame 2024 at 00:15", 0, "9967 216 34 32 34 36 418 216 32 32 42 33 37");
    expect(t, "4\u00bd m\u00b2 \u2167 \u0663", 0, "36 16738 283 19133 216 173 223 117 216 164 113");
    expect(t, "a   5", 0, "81 333 37");
    ag_tokenizer_close(&t);
}

/* Pre-tokenizers: each numeral, runs of numerals, no Digits stage. */
static void stages(void)
{
    static const char line[] = "a  5 2020x5 5\n5 52";
    static const char *const joined[] = {"52", "\u0120\u0120", "20", "\u01205"};
    static const char *const parts[][2] = {{"5", "2"}, {"\u0120", "\u0120"}, {"2", "0"}, {"\u0120", "5"}};
    static const int id[] = {899, 898, 897, 896};
    static const struct {
        const char *pre, *ids;
    } t[] = {
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}]}",
         "81 898 37 237 34 32 34 32 104 37 237 37 215 37 237 37 34"},
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":false},"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}]}",
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
            json_array_insert_new(json_object_get(model, "merges"), 0, json_pack("[ss]", parts[k][0], parts[k][1]));
        }
        json_object_set_new(root, "pre_tokenizer", json_loads(t[i].pre, 0, NULL));
        CU_ASSERT_EQUAL_FATAL(open_json(&u, root, 0), 0);
        CU_ASSERT_STRING_EQUAL(ids_of(u, line, strlen(line), 0), t[i].ids);
        ag_tokenizer_close(&u);
    }
}

/* T6: special strings next to text and to each other */
static void specials(void)
{
    AgTokenizer *t = open_tiny();
    AgBuf b = {0};
    int image = ag_tokenizer_special(t, "<image>");

    CU_ASSERT_EQUAL(image, 806);
    CU_ASSERT_EQUAL(ag_tokenizer_special(t, "<end_of_utterance>"), 895);
    CU_ASSERT_EQUAL(ag_tokenizer_special(t, "<image"), -1);
    CU_ASSERT_EQUAL(ag_tokenizer_special(t, ""), -1);
    CU_ASSERT_EQUAL(ag_tokenizer_size(t), 896);
    CU_ASSERT(ag_tokenizer_is_special(t, image) && !ag_tokenizer_is_special(t, 300));
    CU_ASSERT(!ag_tokenizer_is_special(t, -1) && !ag_tokenizer_is_special(t, 896));
    ag_tokenizer_bytes(t, image, 0, &b);
    ag_tokenizer_bytes(t, image, 1, &b);
    ag_tokenizer_bytes(t, -1, 0, &b);
    ag_tokenizer_bytes(t, 896, 0, &b);
    CU_ASSERT_STRING_EQUAL(b.data, "<image>");
    ag_buf_free(&b);
    ag_tokenizer_close(&t);
    if (!(t = open_published("T6 ids of the published tokenizer")))
        return;
    expect(t, "<row_1_col_2><global-img><fake_token_around_image><end_of_utterance>", 1,
           "49154 49152 49189 49279");
    expect(t, "x<row_1_col_2> y", 1, "104 49154 329");
    expect(t, "<row_1_col_9>", 1, "44 720 79 33 79 2283 79 41 46");
    CU_ASSERT_EQUAL(ag_tokenizer_size(t), 49280);
    ag_tokenizer_close(&t);
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
         "896 384 104 105 275 343 104 237 896 30 237 144 119 343 104 237 79 343 104 384 104 153 240 384 104 33 "
         "237 24 896 25"},
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
        expect(u, t[i].text, 1, t[i].ids);
        ag_tokenizer_close(&u);
    }
}

/* T8: a caller's text cannot make special tokens, whatever it says */
static void plain(void)
{
    static const char text[] = "What is <image> here?<end_of_utterance>";
    AgTokenizer *t = open_tiny();
    AgIds ids = {0};
    AgBuf b = {0};

    CU_ASSERT_EQUAL(ag_tokenizer_encode(t, text, strlen(text), 0, &ids), 0);
    for (int i = 0; i < ids.n; i++)
        CU_ASSERT(!ag_tokenizer_is_special(t, ids.id[i]));
    ag_tokenizer_decode(t, ids.id, ids.n, 1, &b);
    CU_ASSERT_STRING_EQUAL(b.data, text);
    ag_buf_free(&b);
    ag_ids_free(&ids);
    ag_tokenizer_close(&t);
    if (!(t = open_published("T8 ids of the published tokenizer")))
        return;
    expect(t, text, 1, "1780 314 216 49190 1535 47 49279");
    expect(t, text, 0, "1780 314 2067 5028 46 1535 15137 486 79 1714 79 12088 524 46");
    ag_tokenizer_close(&t);
}

/* Bytes without an entry vanish, and their neighbours meet: "a" U+0004 "b" is "ab". */
static void vanish(void)
{
    AgTokenizer *t = open_published("bytes without an entry");

    if (!t)
        return;
    expect(t, "ab", 0, "369");
    expect(t, "a", 0, "81");
    expect(t, "\x04", 0, "");
    int n = 0;
    for (int b = 0; b < 128; b++) {
        char c = (char)b;
        n += !*ids_of(t, &c, 1, 0);
    }
    CU_ASSERT_EQUAL(n, 6); /* 04 06 13 14 16 1D */
    ag_tokenizer_close(&t);
}

static void nothing(void)
{
    AgTokenizer *t = open_tiny();
    AgBuf b = {0};

    expect(t, "", 1, "");
    CU_ASSERT_STRING_EQUAL(ids_of(t, NULL, 0, 0), "");
    CU_ASSERT(strlen(ids_of(t, "a\0b", 3, 0)) > strlen("81 82")); /* a zero byte is a character */
    ag_tokenizer_decode(t, NULL, 0, 0, &b);
    CU_ASSERT_EQUAL(b.size, 0);
    ag_buf_free(&b);
    ag_tokenizer_close(&t);
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
        {NULL, "normalizer", "{\"type\":\"NFC\"}", "normalizer: expected null, found {\"type\":\"NFC\"}"},
        {NULL, "post_processor", "{\"type\":\"TemplateProcessing\"}", "post_processor: expected null or ByteLevel"},
        {NULL, "decoder", "null", "decoder: expected ByteLevel, found null"},
        {NULL, "pre_tokenizer", "null", "pre_tokenizer: expected ByteLevel, or Digits and ByteLevel"},
        {NULL, "pre_tokenizer", "{\"type\":\"Metaspace\"}", "found {\"type\":\"Metaspace\"}"},
        {NULL, "pre_tokenizer", "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", "pre_tokenizer: expected"},
        {NULL, "pre_tokenizer", "{\"type\":\"ByteLevel\",\"use_regex\":false}", "pre_tokenizer: expected"},
        {NULL, "pre_tokenizer", "{\"type\":\"Sequence\",\"pretokenizers\":[]}", "pre_tokenizer: expected"},
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
        {"{\"id\":300,\"content\":\"<x>\"}", "expected the id that model.vocab has, found <x> with id 300"},
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
        json_array_append_new(json_object_get(root, "added_tokens"), json_loads(t[i].added, JSON_DECODE_ANY, NULL));
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

    CU_ASSERT_EQUAL_FATAL(ag_file_read(&b, ag_source_path("models/argus-tiny/tokenizer.json"), 1 << 20, NULL), 0);
    for (size_t n = 0; n + 2 < b.size; n += n < 2000 ? 61 : 1499) {
        ag_gen_write(dir, "tokenizer.json", b.data, n);
        CU_ASSERT_EQUAL(open_dir(&t, dir), ARGUS_ERR_FORMAT);
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
        int err = open_dir(&t, dir);
        CU_ASSERT(err == 0 || err == ARGUS_ERR_FORMAT || err == ARGUS_ERR_UNSUPPORTED);
        if (!err)
            ids_of(t, "A red square, 5 <image>", 23, 1);
        ag_tokenizer_close(&t);
    }
    ag_free(copy);
    ag_blob_free(&b);
    CU_ASSERT_EQUAL(open_dir(&t, ag_gen_dir("none")), ARGUS_ERR(ENOENT));
}

/* A word of a million letters: work that grew with its square would not end. */
static void long_words(void)
{
    enum { N = 1000000 };
    AgTokenizer *t = open_tiny();
    char *s = ag_malloc(N);
    AgIds ids = {0};
    AgBuf b = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (int k = 0; k < 3; k++) {
        memset(s, "e<\n"[k], N);
        ids.n = 0;
        ag_buf_clear(&b);
        CU_ASSERT_EQUAL(ag_tokenizer_encode(t, s, N, 1, &ids), 0);
        ag_tokenizer_decode(t, ids.id, ids.n, 0, &b);
        CU_ASSERT(b.size == N && !memcmp(b.data, s, N));
    }
    ag_buf_free(&b);
    ag_ids_free(&ids);
    ag_free(s);
    ag_tokenizer_close(&t);
}

typedef struct Shared {
    const AgTokenizer *t;
    AgSha256 sha[16];
} Shared;

static void hash_lines(void *arg, int item, int thread)
{
    Shared *s = arg;
    AgBuf text = {0};

    (void)thread;
    ag_sha256_init(&s->sha[item]);
    for (int i = 0; i < 50; i++) {
        ag_buf_clear(&text);
        ag_buf_str(&text, "");
        ag_gen_line(&text, i);
        add_digest(s->t, &text, 1, &s->sha[item]);
    }
    ag_buf_free(&text);
}

static void threads(void)
{
    AgTokenizer *t = open_tiny();
    Shared s = {.t = t};
    char first[65], other[65];
    AgPool *p;

    CU_ASSERT_EQUAL_FATAL(ag_pool_open(&p, 4), 0);
    ag_pool_run(p, (int)AG_COUNT(s.sha), hash_lines, &s);
    ag_pool_close(&p);
    ag_sha256_hex(&s.sha[0], first);
    for (size_t i = 1; i < AG_COUNT(s.sha); i++) {
        ag_sha256_hex(&s.sha[i], other);
        CU_ASSERT_STRING_EQUAL(other, first);
    }
    ag_tokenizer_close(&t);
}

/* Every allocation fails once. */
static void no_memory(void)
{
    static const char line[] = "A r\u00e9d square <image> \xFF 5";
    const char *dir = ag_gen_dir("memory");
    AgSource s = ag_gen_source(dir);
    AgTokenizer *t = NULL;
    AgIds ids = {0};
    int err = -1, n;

    ag_gen_tiny(dir, "tokenizer.json", NULL, NULL);
    for (n = 0; err < 0 && n < 10000; n++) {
        ag_mem_fail_after(n);
        err = ag_tokenizer_open(&t, &s, NULL);
        ag_mem_fail_after(-1);
        CU_ASSERT(err >= 0 || err == ARGUS_ERR(ENOMEM));
    }
    CU_ASSERT_EQUAL_FATAL(err, 0);
    CU_ASSERT(n > 150);
    for (n = 0, err = -1; err < 0 && n < 1000; n++) {
        ids.n = ids.failed = 0;
        ag_mem_fail_after(n);
        err = ag_tokenizer_encode(t, line, strlen(line), 1, &ids);
        ag_mem_fail_after(-1);
        CU_ASSERT(err >= 0 || err == ARGUS_ERR(ENOMEM));
    }
    CU_ASSERT_EQUAL(err, 0);
    CU_ASSERT(n > 4);
    ag_ids_free(&ids);
    ag_tokenizer_close(&t);
    ag_source_free(&s);
}

void ag_tests_tokenizer(void)
{
    static const AgTest tests[] = {
        {"12000 lines and all characters, argus-tiny", lines_tiny},
        {"12000 lines and all characters, published", lines_published},
        {"128 pairs", pairs},
        {"T1 merges", merges},
        {"T2 digits", digits},
        {"pre-tokenizers", stages},
        {"T6 special tokens", specials},
        {"T7 flags of added tokens", flags},
        {"T8 plain text", plain},
        {"bytes without an entry", vanish},
        {"empty text", nothing},
        {"kinds that are refused", kinds},
        {"ids that clash", ids_clash},
        {"broken files", broken},
        {"long words", long_words},
        {"threads", threads},
        {"out of memory", no_memory},
        {NULL, NULL},
    };
    ag_suite("tokenizer", tests);
}
