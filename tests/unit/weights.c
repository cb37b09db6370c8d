/*
 * Unit tests of libargus/model/weights: whole files, and files broken in one
 * place. M1, M2 and the like are names of failures that users of neighbouring
 * tools reported.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libargus/base/mem.h"
#include "libargus/model/weights.h"
#include "tests/gen/modelgen.h"

#define FILE_NAME "model.safetensors"

static int open_dir(AgWeights **w, const char *dir)
{
    AgSource s = ag_gen_source(dir);

    ag_messages_clear();
    int err = ag_weights_open(w, &s, ag_test_log());
    CU_ASSERT((err < 0) == (*w == NULL));
    ag_source_free(&s);
    return err;
}

/* A folder with one file must be refused with these words. */
static void refuse_dir(const char *dir, int code, const char *m1, const char *m2)
{
    AgWeights *w;
    int err = open_dir(&w, dir);

    if (err != code)
        printf("\n    %d instead of %d: %s", err, code, ag_messages());
    CU_ASSERT_EQUAL(err, code);
    CU_ASSERT(ag_message_has(m1) && ag_message_has(m2));
    ag_weights_close(&w);
}

static void refuse_bytes(const void *data, size_t n, int code, const char *m1, const char *m2)
{
    const char *dir = ag_gen_dir("weights");

    ag_gen_write(dir, FILE_NAME, data, n);
    refuse_dir(dir, code, m1, m2);
    CU_ASSERT(ag_message_has("weights/" FILE_NAME));
}

static void refuse_header(int64_t length, const char *header, size_t n_data, int code,
                          const char *m1, const char *m2)
{
    const char *dir = ag_gen_dir("weights");

    ag_gen_safetensors(dir, FILE_NAME, length, header, n_data);
    refuse_dir(dir, code, m1, m2);
}

#define A "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}"

static void tiny(void)
{
    const char *dir = ag_gen_dir("tiny");
    AgWeights *w;

    ag_gen_tiny(dir, FILE_NAME, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(open_dir(&w, dir), 0);
    CU_ASSERT_EQUAL(ag_weights_bytes(w), 5109744);
    CU_ASSERT_EQUAL(ag_weights_params(w), 2548288);
    /* sha256 of bytes 8 to 8 + header length, by coreutils */
    CU_ASSERT_STRING_EQUAL(ag_weights_fingerprint(w),
                           "5e93a828960bab7f49141d8230e56fb5cc9feef9c82832c6045be46d27bfb5b0");
    const AgTensor *t = ag_weights_get(w, "model.vision_model.embeddings.patch_embedding.weight",
                                       128, 3, 8, 8);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    CU_ASSERT(t->dtype == AG_BF16 && t->n_dim == 4 && t->dim[1] == 3);
    CU_ASSERT_EQUAL((uintptr_t)t->data % 2, 0);
    CU_ASSERT(ag_weights_has(w, "lm_head.weight") && !ag_weights_has(w, "lm_head.bias"));
    ag_weights_close(&w);
    CU_ASSERT_PTR_NULL(w);
    ag_weights_close(&w);
}

static void types(void)
{
    const char *dir = ag_gen_dir("types");
    AgWeights *w;

    /* any order of names and of ranges; a scalar; an empty tensor; metadata; blanks at the end */
    ag_gen_safetensors(dir, FILE_NAME, -1, "{\"__metadata__\":{\"format\":\"pt\"},"
                       "\"z\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[4,12]},"
                       "\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                       "\"e\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[12,12]},"
                       "\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[12,18]},"
                       "\"ids\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[18,26]}}   ",
                       26);
    CU_ASSERT_EQUAL_FATAL(open_dir(&w, dir), 0);
    CU_ASSERT_EQUAL(ag_weights_params(w), 4 + 1 + 3);
    const AgTensor *z = ag_weights_get(w, "z", 2, 2, -1, -1);
    const AgTensor *b = ag_weights_get(w, "b", -1, -1, -1, -1);
    const AgTensor *h = ag_weights_get(w, "h", 3, -1, -1, -1);
    const AgTensor *e = ag_weights_get(w, "e", 0, 7, -1, -1);
    CU_ASSERT(z && z->dtype == AG_BF16 && ((const unsigned char *)z->data)[0] == 4);
    CU_ASSERT(b && b->dtype == AG_F32 && b->n_dim == 0 && ((const unsigned char *)b->data)[3] == 3);
    CU_ASSERT(h && h->dtype == AG_F16 && ((const unsigned char *)h->data)[5] == 17);
    CU_ASSERT_PTR_NOT_NULL(e);
    /* an integer tensor beside the weights is only a warning */
    CU_ASSERT_EQUAL(ag_weights_check(w, ag_test_log()), 0);
    CU_ASSERT(ag_message_has("1 tensors are not used: ids"));
    /* asked for as a weight it is refused */
    CU_ASSERT_PTR_NULL(ag_weights_get(w, "ids", 1, -1, -1, -1));
    CU_ASSERT_EQUAL(ag_weights_check(w, ag_test_log()), ARGUS_ERR_UNSUPPORTED);
    CU_ASSERT(ag_message_has("ids expected BF16, F32 or F16, found I64"));
    ag_weights_close(&w);
}

/* M1: what often lies there instead of weights */
static void not_weights(void)
{
    const char *lfs =
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 513028808\n";
    const char *page = "\n<!DOCTYPE html>\n<html><head><title>Sign in</title>";

    refuse_bytes(lfs, strlen(lfs), ARGUS_ERR_FORMAT, "found a Git LFS pointer", "git lfs pull");
    refuse_bytes(page, strlen(page), ARGUS_ERR_FORMAT, "found a web page",
                 "download the file again");
    refuse_bytes("<html>", 6, ARGUS_ERR_FORMAT, "found a web page", "");
    refuse_bytes("", 0, ARGUS_ERR_FORMAT, "found an empty file", "");
    refuse_bytes("PK\3\4 a zip archive, long enough", 31, ARGUS_ERR_FORMAT,
                 "not a safetensors file", "expected a header of 2 to 100000000 bytes");
    refuse_bytes("{}", 2, ARGUS_ERR_FORMAT, "incomplete: expected at least 8 bytes, found 2", "");
}

/* M2: the header's length is believed only after it was checked */
static void header_length(void)
{
    refuse_header(-1 & INT64_MAX, "{}", 0, ARGUS_ERR_FORMAT, "found 9223372036854775807", "");
    refuse_bytes("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10, ARGUS_ERR_FORMAT,
                 "expected a header of 2 to", "found 18446744073709551615");
    refuse_bytes("\0\0\0\0\0\0\0\x80{}", 10, ARGUS_ERR_FORMAT, "found 9223372036854775808", "");
    refuse_header(0, "{}", 0, ARGUS_ERR_FORMAT, "found 0", "");
    refuse_header(1, "{}", 0, ARGUS_ERR_FORMAT, "found 1", "");
    refuse_header(11, "{}", 0, ARGUS_ERR_FORMAT, "incomplete: expected more than 19 bytes",
                  "found 10");
    refuse_header(3, "{}", 0, ARGUS_ERR_FORMAT, "incomplete: expected more than 11 bytes",
                  "found 10");
    refuse_header(100000001, "{}", 0, ARGUS_ERR_FORMAT, "found 100000001", "");
    refuse_header(100000000, "{}", 0, ARGUS_ERR_FORMAT, "incomplete: expected more than 100000008",
                  "");
    int64_t before = ag_mem_count();
    AgWeights *w;
    AgSource s = ag_gen_source(ag_gen_dir("weights"));
    CU_ASSERT_EQUAL(ag_weights_open(&w, &s, NULL), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_mem_count() - before <= 8); /* strings and lists only */
    ag_source_free(&s);
}

static void header_text(void)
{
    refuse_header(-1, "[]", 0, ARGUS_ERR_FORMAT, "expected a header that begins with {",
                  "found byte 0x5B");
    refuse_header(-1, "{\"a\"", 0, ARGUS_ERR_FORMAT, "expected a JSON header", "");
    refuse_header(-1, "{\"a\":1}", 0, ARGUS_ERR_FORMAT, "tensor a: expected dtype, shape", "");
    refuse_header(-1, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, ARGUS_ERR_FORMAT,
                  "tensor a: expected dtype, shape and two rising data_offsets", "");
    refuse_header(-1, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4,
                  ARGUS_ERR_FORMAT, "two rising data_offsets", "");
    refuse_header(-1, "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
                  ARGUS_ERR_FORMAT, "tensor a: expected a shape", "");
    refuse_header(-1, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
                  ARGUS_ERR_FORMAT, "tensor a: expected a shape", "");
    refuse_header(-1, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                  "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
                  ARGUS_ERR_FORMAT, "expected each tensor once", "\"a\"");
}

/* M3: shape against bytes, ranges against each other */
static void ranges(void)
{
    refuse_header(-1, "{\"big\":{\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,4]}}",
                  4, ARGUS_ERR_FORMAT, "tensor big: expected 4000000 bytes for its shape",
                  "found a range of 4");
    refuse_header(-1, "{\"big\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
                  "\"data_offsets\":[0,0]}}",
                  0, ARGUS_ERR_FORMAT, "tensor big: expected a shape of sizes that fit", "");
    refuse_header(-1, "{\"big\":{\"dtype\":\"F32\",\"shape\":[0,4294967296,4294967296],"
                  "\"data_offsets\":[0,4]}}",
                  4, ARGUS_ERR_FORMAT, "tensor big: expected 0 bytes", "found a range of 4");
    refuse_header(-1, "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                  "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[2,6]}}", 6,
                  ARGUS_ERR_FORMAT, "tensor b: expected to begin at byte 4", "found 2");
    refuse_header(-1, "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                  "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[6,10]}}", 10,
                  ARGUS_ERR_FORMAT, "tensor b: expected to begin at byte 4", "found 6");
    refuse_header(-1, "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[2,6]}}", 6,
                  ARGUS_ERR_FORMAT, "tensor a: expected to begin at byte 0", "found 2");
    refuse_header(-1,
                  "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[9223372036854775800,"
                  "9223372036854775808]}}", 8, ARGUS_ERR_FORMAT, "expected a JSON header", "");
    /* 4-byte numbers at an odd place */
    refuse_header((int64_t)strlen(A), A, 24, ARGUS_ERR_UNSUPPORTED,
                  "tensor a: expected to begin at a multiple of 4 bytes, found 65", "");
}

/* M7: cut by one byte, by half, and a folder without weights */
static void cut(void)
{
    const char *dir = ag_gen_dir("cut");
    AgBlob b;

    refuse_header(-1, A, 23, ARGUS_ERR_FORMAT, "incomplete: expected 96 bytes, found 95", "");
    refuse_header(-1, A, 12, ARGUS_ERR_FORMAT, "incomplete: expected 96 bytes, found 84", "");
    refuse_header(-1, A, 25, ARGUS_ERR_FORMAT, "expected 96 bytes, found 97", "");
    CU_ASSERT_EQUAL_FATAL(ag_file_map(&b, ag_source_path("models/argus-tiny/" FILE_NAME), NULL), 0);
    ag_gen_write(dir, FILE_NAME, b.data, b.size - 1);
    refuse_dir(dir, ARGUS_ERR_FORMAT, "incomplete: expected 5109744 bytes, found 5109743",
               "cut/" FILE_NAME);
    ag_gen_write(dir, FILE_NAME, b.data, b.size / 2);
    refuse_dir(dir, ARGUS_ERR_FORMAT, "incomplete: expected 5109744 bytes, found 2554872", "");
    ag_gen_write(dir, FILE_NAME, b.data, 100);
    refuse_dir(dir, ARGUS_ERR_FORMAT, "incomplete: expected more than", "found 100");
    ag_blob_free(&b);
    refuse_dir(ag_gen_dir("empty"), ARGUS_ERR_NO_MODEL,
               "incomplete: expected model.safetensors or "
               "model.safetensors.index.json, found neither", "empty");
}

/* M11 and its like: types that are not read as numbers of another type */
static void dtypes(void)
{
    static const char *const other[] = {"F8_E4M3", "F8_E5M2", "F64", "F4", "bf16", "C64"};
    char header[128], message[64];

    for (size_t i = 0; i < AG_COUNT(other); i++) {
        snprintf(header, sizeof(header),
                 "{\"w\":{\"dtype\":\"%s\",\"shape\":[8],\"data_offsets\":[0,8]}}", other[i]);
        snprintf(message, sizeof(message), "found dtype %s", other[i]);
        refuse_header(-1, header, 8, ARGUS_ERR_UNSUPPORTED, "tensor w: expected BF16, F32 or F16",
                      message);
    }
}

/* One message for all that is missing or misshapen. */
static void lists(void)
{
    const char *dir = ag_gen_dir("lists");
    char name[32];
    AgWeights *w;

    ag_gen_safetensors(dir, FILE_NAME, -1, A, 24);
    CU_ASSERT_EQUAL_FATAL(open_dir(&w, dir), 0);
    CU_ASSERT_PTR_NULL(ag_weights_get(w, "gone", 1, -1, -1, -1));
    CU_ASSERT_PTR_NULL(ag_weights_get(w, "a", 3, 2, -1, -1));
    CU_ASSERT_PTR_NULL(ag_weights_get(w, "a", 6, -1, -1, -1));
    CU_ASSERT_PTR_NULL(ag_weights_get(w, "a", 2, 3, 1, -1));
    CU_ASSERT_EQUAL(ag_weights_check(w, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("lists/" FILE_NAME
                             ": 1 tensors missing: gone; 3 tensors of another shape or "
                             "type: a expected [3, 2], found [2, "
                             "3], a expected [6], found [2, 3], "
                             "a expected [2, 3, 1], found [2, 3]"));
    ag_weights_close(&w);
    CU_ASSERT_EQUAL_FATAL(open_dir(&w, dir), 0);
    for (int i = 0; i < 471; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        CU_ASSERT_PTR_NULL(ag_weights_get(w, name, 1, -1, -1, -1));
    }
    CU_ASSERT_EQUAL(ag_weights_check(w, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("471 tensors missing: t0, t1,") &&
              ag_message_has("t11, ...; 0 tensors of another"));
    ag_weights_close(&w);
    CU_ASSERT_EQUAL_FATAL(open_dir(&w, dir), 0);
    CU_ASSERT_PTR_NOT_NULL(ag_weights_get(w, "a", 2, 3, -1, -1));
    CU_ASSERT_EQUAL(ag_weights_check(w, ag_test_log()), 0);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    ag_weights_close(&w);
}

#define B "{\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]}}"
#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"
#define INDEX "model.safetensors.index.json"

static void shards(void)
{
    static const char *const outside[] = {"../" ONE, "/etc/passwd", "sub/" ONE, "", "..",
                                          ".hidden"};
    const char *dir = ag_gen_dir("shards");
    char index[256];
    AgWeights *w;

    ag_gen_safetensors(dir, ONE, -1, A, 24);
    ag_gen_safetensors(dir, TWO, -1, B, 4);
    ag_gen_text(dir, INDEX,
                "{\"metadata\":{\"total_size\":28},\"weight_map\":{\"b\":\"" TWO "\",\"a\":\"" ONE
                "\"}}");
    CU_ASSERT_EQUAL_FATAL(open_dir(&w, dir), 0);
    CU_ASSERT(ag_weights_get(w, "a", 2, 3, -1, -1) && ag_weights_get(w, "b", 2, -1, -1, -1));
    CU_ASSERT_EQUAL(ag_weights_check(w, ag_test_log()), 0);
    CU_ASSERT_EQUAL(ag_weights_params(w), 8);
    CU_ASSERT_EQUAL(ag_weights_bytes(w), 96 + 8 + 56 + 4);
    ag_weights_close(&w);
    for (size_t i = 0; i < AG_COUNT(outside); i++) {
        snprintf(index, sizeof(index), "{\"weight_map\":{\"a\":\"%s\"}}", outside[i]);
        ag_gen_text(dir, INDEX, index);
        refuse_dir(dir, ARGUS_ERR_FORMAT,
                   "tensor a: expected the name of a file in the same directory, found",
                   outside[i]);
    }
    ag_gen_text(dir, INDEX, "{\"weight_map\":{\"a\":\"gone.safetensors\"}}");
    refuse_dir(dir, ARGUS_ERR(ENOENT), "gone.safetensors", "can't open");
    ag_gen_text(dir, INDEX, "{\"weight_map\":{}}");
    refuse_dir(dir, ARGUS_ERR_FORMAT, "expected a weight_map with entries", INDEX);
    ag_gen_text(dir, INDEX, "{\"weight_map\":{\"a\":3}}");
    refuse_dir(dir, ARGUS_ERR_FORMAT, "found no string", "");
    ag_gen_text(dir, INDEX, "{");
    refuse_dir(dir, ARGUS_ERR_FORMAT, "expected JSON", INDEX);
    ag_gen_safetensors(dir, TWO, -1, A, 24);
    ag_gen_text(dir, INDEX, "{\"weight_map\":{\"a\":\"" ONE "\",\"c\":\"" TWO "\"}}");
    refuse_dir(dir, ARGUS_ERR_FORMAT, "expected each tensor once, found a in two files", "");
}

/* Each byte of a small file in turn replaced: refused, or every tensor lies inside. */
static void damaged(void)
{
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[24,32]}}";
    static const char with[] = "\"{}[],:09-e\\\0\x80\xff";
    const char *dir = ag_gen_dir("damaged");
    AgSource s = ag_gen_source(dir);
    int n_open = 0;
    AgBlob b;

    ag_gen_safetensors(dir, "whole", -1, header, 32);
    char path[1100];
    snprintf(path, sizeof(path), "%s/whole", dir);
    CU_ASSERT_EQUAL_FATAL(ag_file_read(&b, path, 4096, NULL), 0);
    unsigned char *p = (unsigned char *)(uintptr_t)b.data;
    for (size_t i = 0; i < b.size - 32; i++) {
        for (size_t k = 0; k < sizeof(with) - 1; k++) {
            unsigned char old = p[i];
            AgWeights *w;
            p[i] = (unsigned char)with[k];
            ag_gen_write(dir, FILE_NAME, p, b.size);
            p[i] = old;
            int err = ag_weights_open(&w, &s, NULL);
            CU_ASSERT(err == 0 || err == ARGUS_ERR_FORMAT || err == ARGUS_ERR_UNSUPPORTED);
            if (err < 0)
                continue;
            n_open++;
            const AgTensor *t = ag_weights_get(w, "b", 4, -1, -1, -1);
            if (t) /* the last 8 bytes of the file, whatever else changed */
                CU_ASSERT(((const unsigned char *)t->data)[7] == 31);
            ag_weights_close(&w);
        }
    }
    CU_ASSERT(n_open > 20); /* letters of names and blanks may change */
    ag_blob_free(&b);
    ag_source_free(&s);
}

/* Every allocation fails once: an error, no leak, no crash. */
static void no_memory(void)
{
    const char *dir = ag_gen_dir("tiny");
    AgSource s = ag_gen_source(dir);
    AgWeights *w;
    int err = -1, n;

    ag_gen_tiny(dir, FILE_NAME, NULL, NULL);
    for (n = 0; err < 0 && n < 10000; n++) {
        ag_mem_fail_after(n);
        err = ag_weights_open(&w, &s, NULL);
        if (err >= 0 && !ag_weights_get(w, "gone", 1, -1, -1, -1))
            err = ag_weights_check(w, NULL);
        ag_mem_fail_after(-1);
        CU_ASSERT(err == ARGUS_ERR(ENOMEM) || err == ARGUS_ERR_FORMAT);
        ag_weights_close(&w);
        if (err == ARGUS_ERR_FORMAT)
            break;
    }
    CU_ASSERT(n > 100);
    CU_ASSERT_EQUAL(err, ARGUS_ERR_FORMAT);
    ag_source_free(&s);
}

void ag_tests_weights(void)
{
    static const AgTest tests[] = {
        {"argus-tiny", tiny},
        {"order, types, extra tensors", types},
        {"M1 LFS pointer, web page, other files", not_weights},
        {"M2 header length", header_length},
        {"header text", header_text},
        {"M3 shapes and ranges", ranges},
        {"M7 cut and missing files", cut},
        {"M11 types", dtypes},
        {"missing and misshapen tensors", lists},
        {"shards", shards},
        {"damaged files", damaged},
        {"out of memory", no_memory},
        {NULL, NULL},
    };
    ag_suite("weights", tests);
}
