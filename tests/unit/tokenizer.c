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
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/base/sha256.h"
#include "libargus/base/thread.h"
#include "libargus/model/tokenizer.h"
#include "tests/gen/lines.h"
#include "tests/gen/modelgen.h"
#include "tests/unit/tokenizer.h"

#define PUBLISHED "SmolVLM-256M-Instruct"

int ag_tok_open(AgTokenizer **t, const char *dir)
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

    CU_ASSERT_EQUAL_FATAL(ag_tok_open(&t, ag_source_path("models/argus-tiny")), 0);
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
    CU_ASSERT_EQUAL_FATAL(ag_tok_open(&t, dir), 0);
    return t;
}

const char *ag_tok_ids(const AgTokenizer *t, const char *text, size_t n, int special)
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

void ag_tok_expect(const AgTokenizer *t, const char *text, int special, const char *ids)
{
    const char *found = ag_tok_ids(t, text, strlen(text), special);

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
        CU_ASSERT_EQUAL(ag_tokenizer_encode(t, json_string_value(s), json_string_length(s), 1,
                                            &found), 0);
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

/* T2: numerals stand alone, of every script, before the pattern sees the text */
static void digits(void)
{
    AgTokenizer *t = open_tiny();

    ag_tok_expect(t, "a5", 0, "81 37");
    ag_tok_expect(t, "Frame 2024 at 00:15", 0, "54 301 509 237 34 32 34 36 414 237 32 32 42 33 37");
    ag_tok_expect(t, "\n\n1.", 0, "641 33 30");
    ag_tokenizer_close(&t);
    if (!(t = open_published("T2 ids of the published tokenizer")))
        return;
    ag_tok_expect(t, "Frame 2024 at 00:15", 0, "9967 216 34 32 34 36 418 216 32 32 42 33 37");
    ag_tok_expect(t, "4\u00bd m\u00b2 \u2167 \u0663", 0,
                  "36 16738 283 19133 216 173 223 117 216 164 113");
    ag_tok_expect(t, "a   5", 0, "81 333 37");
    ag_tokenizer_close(&t);
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
    ag_tok_expect(t, "<row_1_col_2><global-img><fake_token_around_image><end_of_utterance>", 1,
           "49154 49152 49189 49279");
    ag_tok_expect(t, "x<row_1_col_2> y", 1, "104 49154 329");
    ag_tok_expect(t, "<row_1_col_9>", 1, "44 720 79 33 79 2283 79 41 46");
    CU_ASSERT_EQUAL(ag_tokenizer_size(t), 49280);
    ag_tokenizer_close(&t);
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
    ag_tok_expect(t, text, 1, "1780 314 216 49190 1535 47 49279");
    ag_tok_expect(t, text, 0, "1780 314 2067 5028 46 1535 15137 486 79 1714 79 12088 524 46");
    ag_tokenizer_close(&t);
}

/* Bytes without an entry vanish, and their neighbours meet: "a" U+0004 "b" is "ab". */
static void vanish(void)
{
    AgTokenizer *t = open_published("bytes without an entry");

    if (!t)
        return;
    ag_tok_expect(t, "ab", 0, "369");
    ag_tok_expect(t, "a", 0, "81");
    ag_tok_expect(t, "\x04", 0, "");
    int n = 0;
    for (int b = 0; b < 128; b++) {
        char c = (char)b;
        n += !*ag_tok_ids(t, &c, 1, 0);
    }
    CU_ASSERT_EQUAL(n, 6); /* 04 06 13 14 16 1D */
    ag_tokenizer_close(&t);
}

static void nothing(void)
{
    AgTokenizer *t = open_tiny();
    AgBuf b = {0};

    ag_tok_expect(t, "", 1, "");
    CU_ASSERT_STRING_EQUAL(ag_tok_ids(t, NULL, 0, 0), "");
    CU_ASSERT(strlen(ag_tok_ids(t, "a\0b", 3, 0)) > strlen("81 82")); /* 0 is a character */
    ag_tokenizer_decode(t, NULL, 0, 0, &b);
    CU_ASSERT_EQUAL(b.size, 0);
    ag_buf_free(&b);
    ag_tokenizer_close(&t);
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
        {"T2 digits", digits},
        {"T6 special tokens", specials},
        {"T8 plain text", plain},
        {"bytes without an entry", vanish},
        {"empty text", nothing},
        {"long words", long_words},
        {"threads", threads},
        {"out of memory", no_memory},
        {NULL, NULL},
    };
    ag_suite("tokenizer", tests);
}
