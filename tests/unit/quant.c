/*
 * Unit tests of precision=q8: the cache of int8 weights, whole, damaged and
 * impossible, and that the text does not depend on where the weights are.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libargus/base/mem.h"
#include "libargus/context.h"
#include "tests/gen/modelgen.h"
#include "tests/unit/clip.h"

/* argus-tiny in a folder of its own. */
static const char *copy_model(void)
{
    static const char *const files[] = {"config.json", "tokenizer.json", "model.safetensors",
                                        "preprocessor_config.json", "generation_config.json"};
    const char *dir = ag_gen_dir("quant/model");

    for (size_t i = 0; i < AG_COUNT(files); i++)
        ag_gen_tiny(dir, files[i], NULL, NULL);
    return dir;
}

static ArgusModel *open_model(const char *dir, int precision)
{
    ArgusModelSettings s;
    ArgusModel *m = NULL;

    ag_messages_clear();
    argus_model_default_settings(&s);
    s.logger = *ag_test_log();
    s.model = dir;
    s.precision = precision;
    CU_ASSERT_EQUAL_FATAL(argus_model_open(&m, &s), 0);
    return m;
}

/* ids and log-probabilities of an answer */
typedef struct Answer {
    int n, ids[32];
    float logprobs[32];
} Answer;

static Answer answer(ArgusModel *m, int threads)
{
    ArgusImage im = clip_picture(0);
    ArgusPart part = {ARGUS_PART_IMAGE, NULL, &im};
    ArgusSettings s;
    ArgusContext *ctx = NULL;
    ArgusRequest r;
    ArgusCaption out;
    Answer a = {0};

    argus_default_settings(&s);
    s.threads = threads;
    CU_ASSERT_EQUAL_FATAL(argus_open(&ctx, m, &s), 0);
    argus_request_default(&r);
    r.parts = &part;
    r.n_part = 1;
    r.decoding.max_tokens = 32;
    CU_ASSERT_EQUAL_FATAL(argus_describe(ctx, &r, &out), 0);
    a.n = out.n_id;
    memcpy(a.ids, out.ids, (size_t)a.n * sizeof(*a.ids));
    memcpy(a.logprobs, out.logprobs, (size_t)a.n * sizeof(*a.logprobs));
    argus_caption_free(&out);
    argus_close(&ctx);
    return a;
}

static void check_model(ArgusModel *m, int mapped, const Answer *want)
{
    ArgusModelInfo info;

    argus_model_info(m, &info);
    CU_ASSERT_EQUAL(info.precision, ARGUS_PRECISION_Q8);
    CU_ASSERT_EQUAL(info.q8_mapped, mapped);
    CU_ASSERT(info.q8_bytes > 1000000 && info.q8_bytes < info.mapped_bytes);
    if (want) {
        Answer a = answer(m, 1);
        CU_ASSERT(!memcmp(&a, want, sizeof(a)));
    }
    argus_model_close(&m);
}

/* The only cache file in dir, or "". */
static const char *cache_file(const char *dir)
{
    static char path[1024];
    char pattern[1024];
    glob_t g;

    snprintf(pattern, sizeof(pattern), "%s/*", dir);
    int n = glob(pattern, 0, NULL, &g) ? 0 : (int)g.gl_pathc;
    CU_ASSERT(n <= 1);
    snprintf(path, sizeof(path), "%s", n == 1 ? g.gl_pathv[0] : "");
    globfree(&g);
    return path;
}

static long long file_size(const char *path)
{
    struct stat st;

    return stat(path, &st) ? -1 : (long long)st.st_size;
}

static void patch(const char *path, long at, const char *bytes)
{
    FILE *f = fopen(path, "r+b");

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fseek(f, at, SEEK_SET);
    fputs(bytes, f);
    fclose(f);
}

static void cache(void)
{
    const char *model = copy_model(), *dir = ag_gen_dir("quant/cache"), *file;
    Answer want;

    setenv("ARGUS_CACHE_DIR", dir, 1);
    ArgusModel *m = open_model(model, ARGUS_PRECISION_Q8);
    want = answer(m, 1);
    CU_ASSERT(want.n > 3);
    Answer two = answer(m, 2);
    CU_ASSERT(!memcmp(&want, &two, sizeof(two)));
    check_model(m, 1, NULL);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    file = cache_file(dir);
    long long size = file_size(file);
    CU_ASSERT(size > 1000000);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");

    CU_ASSERT_EQUAL(truncate(file, size - 1), 0); /* cut */
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT(ag_message_has("bytes, found"));
    CU_ASSERT_EQUAL(file_size(cache_file(dir)), size);
    CU_ASSERT_EQUAL(truncate(file, 0), 0);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT(ag_message_has("expected int8 weights, found another file"));
    patch(file, 0, "RIFF"); /* foreign */
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT(ag_message_has("expected int8 weights, found another file"));
    patch(file, 8, "9"); /* of another version */
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT(ag_message_has("expected version 1, found 57"));
    patch(file, 4095, "x"); /* damaged */
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT(ag_message_has("shapes"));
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");

    char name[1024], part[1100]; /* what a process left that was killed while it wrote */
    snprintf(name, sizeof(name), "%s", file);
    snprintf(part, sizeof(part), "%s.part", name);
    CU_ASSERT_EQUAL(rename(name, part), 0);
    patch(part, 5000, "half of a file");
    int fd = open(part, O_RDWR); /* and one that still writes */
    CU_ASSERT_EQUAL(flock(fd, LOCK_EX), 0);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 0, &want);
    CU_ASSERT(ag_message_has("can't write"));
    CU_ASSERT_EQUAL(file_size(name), -1);
    close(fd);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, &want);
    CU_ASSERT_STRING_EQUAL(cache_file(dir), name);
    CU_ASSERT_EQUAL(file_size(name), size);
    unsetenv("ARGUS_CACHE_DIR");
}

/* Weights that changed in place: what the file has is not used. */
static void stale(void)
{
    const char *model = copy_model(), *dir = ag_gen_dir("quant/stale");
    char path[2048];

    setenv("ARGUS_CACHE_DIR", dir, 1);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, NULL);
    snprintf(path, sizeof(path), "%s/model.safetensors", model);
    struct timespec t[2] = {{1000, 0}, {1000, 0}};
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, t, 0), 0);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, NULL);
    CU_ASSERT(ag_message_has("found those of another or an earlier one; it is written anew"));
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, NULL);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    unsetenv("ARGUS_CACHE_DIR");
}

static int messages(void)
{
    int n = 0;

    for (const char *p = ag_messages(); *p; p++)
        n += *p == '\n';
    return n;
}

/* Nowhere to write: in memory, with the same text. */
static void no_cache(void)
{
    const char *model = copy_model(), *dir = ag_gen_dir("quant/no");

    setenv("ARGUS_CACHE_DIR", "", 1);
    ArgusModel *m = open_model(model, ARGUS_PRECISION_Q8);
    Answer want = answer(m, 1);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    check_model(m, 0, NULL);
    ag_gen_text(dir, "file", "");
    char below[1200];
    snprintf(below, sizeof(below), "%s/file/cache", dir);
    setenv("ARGUS_CACHE_DIR", below, 1);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 0, &want);
    CU_ASSERT(ag_message_has("can't write"));
    CU_ASSERT_EQUAL(messages(), 1);
    unsetenv("ARGUS_CACHE_DIR");
    /* linked in: there is no file whose cache it could be */
    check_model(open_model("argus-tiny", ARGUS_PRECISION_Q8), 0, NULL);
}

/* $ARGUS_CACHE_DIR, $XDG_CACHE_HOME/argus, ~/.cache/argus; directories are made. */
static void places(void)
{
    const char *model = copy_model();
    char home[1024], cache_home[1100], dir[1200];
    const char *was = getenv("HOME"), *was_cache = getenv("XDG_CACHE_HOME");
    char *old = was ? strdup(was) : NULL, *old_cache = was_cache ? strdup(was_cache) : NULL;

    snprintf(home, sizeof(home), "%s", ag_gen_dir("quant/home"));
    snprintf(cache_home, sizeof(cache_home), "%s/elsewhere/cache", home);
    unsetenv("ARGUS_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", home, 1);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, NULL);
    snprintf(dir, sizeof(dir), "%s/.cache/argus", home);
    CU_ASSERT(file_size(cache_file(dir)) > 0);
    setenv("XDG_CACHE_HOME", cache_home, 1);
    check_model(open_model(model, ARGUS_PRECISION_Q8), 1, NULL);
    snprintf(dir, sizeof(dir), "%s/argus", cache_home);
    CU_ASSERT(file_size(cache_file(dir)) > 0);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    check_model(open_model(model, ARGUS_PRECISION_Q8), 0, NULL);
    if (old)
        setenv("HOME", old, 1);
    if (old_cache)
        setenv("XDG_CACHE_HOME", old_cache, 1);
    free(old);
    free(old_cache);
}

/* Memory runs out at each allocation of the opening: an error, or no cache. */
static void no_memory(void)
{
    const char *model = copy_model(), *dir = ag_gen_dir("quant/memory");
    ArgusModelSettings s;
    int err = 1;

    setenv("ARGUS_CACHE_DIR", dir, 1);
    argus_model_default_settings(&s);
    s.model = model;
    s.precision = ARGUS_PRECISION_Q8;
    for (long n = 0; n < 100000 && err; n += 1 + n / 10) {
        ArgusModel *m = NULL;
        ag_mem_fail_after(n);
        err = argus_model_open(&m, &s);
        ag_mem_fail_after(-1);
        CU_ASSERT(err == 0 || err == ARGUS_ERR(ENOMEM));
        CU_ASSERT_EQUAL(m != NULL, err == 0);
        argus_model_close(&m);
    }
    CU_ASSERT_EQUAL(err, 0);
    unsetenv("ARGUS_CACHE_DIR");
}

/* Precision is part of what makes a model the same one. */
static void shared(void)
{
    ArgusModel *exact = open_model("argus-tiny", ARGUS_PRECISION_EXACT);
    ArgusModel *q8 = open_model("argus-tiny", ARGUS_PRECISION_Q8);
    ArgusModel *again = open_model("argus-tiny", ARGUS_PRECISION_Q8), *none = NULL;
    ArgusModelSettings s;
    ArgusModelInfo info;

    CU_ASSERT_PTR_NOT_EQUAL(exact, q8);
    CU_ASSERT_PTR_EQUAL(q8, again);
    argus_model_info(exact, &info);
    CU_ASSERT_EQUAL(info.precision, ARGUS_PRECISION_EXACT);
    CU_ASSERT_EQUAL(info.q8_bytes, 0);
    argus_model_close(&exact);
    argus_model_close(&q8);
    argus_model_close(&again);
    ag_messages_clear();
    argus_model_default_settings(&s);
    s.logger = *ag_test_log();
    s.model = "argus-tiny";
    for (int i = -1; i <= 2; i += 3) {
        s.precision = i;
        CU_ASSERT_EQUAL(argus_model_open(&none, &s), ARGUS_ERR(EINVAL));
        CU_ASSERT_PTR_NULL(none);
    }
    CU_ASSERT(ag_message_has("precision: expected exact (0) or q8 (1), found 2"));
    CU_ASSERT_STRING_EQUAL(argus_precision_name(ARGUS_PRECISION_Q8), "q8");
    CU_ASSERT_STRING_EQUAL(argus_precision_name(ARGUS_PRECISION_EXACT), "exact");
}

void ag_tests_quant(void)
{
    static const AgTest tests[] = {
        {"cache", cache}, {"stale", stale}, {"no_cache", no_cache},
        {"places", places}, {"no_memory", no_memory}, {"shared", shared}, {NULL, NULL},
    };

    ag_suite("quant", tests);
}
