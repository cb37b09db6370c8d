/*
 * Unit tests of libargus/model/manifest: the shipped manifests, broken ones, and files
 * compared with them.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _XOPEN_SOURCE 700
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "libargus/base/mem.h"
#include "libargus/model/manifest.h"
#include "tests/gen/modelgen.h"

#define SHA_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" /* of "abc" */
#define REV "0123456789abcdef0123456789abcdef01234567"

static char *saved;

/* From now on manifests are read from these directories only. */
static void path_begin(const char *path)
{
    const char *v = getenv("ARGUS_MANIFEST_PATH");

    saved = v ? strdup(v) : NULL;
    setenv("ARGUS_MANIFEST_PATH", path, 1);
    ag_messages_clear();
}

static void path_end(void)
{
    if (saved)
        setenv("ARGUS_MANIFEST_PATH", saved, 1);
    else
        unsetenv("ARGUS_MANIFEST_PATH");
    free(saved);
}

static const ArgusManifestFile *file_of(const ArgusManifest *m, const char *name)
{
    for (int i = 0; m && i < m->n_file; i++)
        if (!strcmp(m->files[i].name, name))
            return &m->files[i];
    return NULL;
}

static void is_file(const ArgusManifest *m, const char *name, int64_t size, const char *sha256)
{
    const ArgusManifestFile *f = file_of(m, name);

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(f->size, size);
    CU_ASSERT_STRING_EQUAL(f->sha256, sha256);
    CU_ASSERT_EQUAL(f->needed, 1);
}

/* What the publisher's pages and Git-LFS pointers say. */
static void shipped(void)
{
    static const char tokenizer[] =
        "5ece781dc8d2b2f3e2f289ca0ae50b17cfc27dd27bfe7971bb8241e0b964331a";
    ArgusManifests *list;

    path_begin(ag_source_path("models"));
    CU_ASSERT_EQUAL_FATAL(argus_manifests_open(&list, ag_test_log()), 0);
    CU_ASSERT_EQUAL_FATAL(argus_manifests_count(list), 3);
    CU_ASSERT_STRING_EQUAL(argus_manifests_get(list, 0)->name, "argus-tiny");
    CU_ASSERT_STRING_EQUAL(argus_manifests_get(list, 1)->name, "smolvlm-256m");
    CU_ASSERT_STRING_EQUAL(argus_manifests_get(list, 2)->name, "smolvlm-500m");
    CU_ASSERT(!argus_manifests_get(list, 3) && !argus_manifests_get(list, -1));
    CU_ASSERT_PTR_NULL(argus_manifests_find(list, "smolvlm"));

    const ArgusManifest *m = argus_manifests_find(list, "smolvlm-256m");
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    CU_ASSERT_STRING_EQUAL(m->licence, "Apache-2.0");
    CU_ASSERT_STRING_EQUAL(m->repo, "HuggingFaceTB/SmolVLM-256M-Instruct");
    CU_ASSERT_STRING_EQUAL(m->revision, "7e3e67edbbed1bf9888184d9df282b700a323964");
    is_file(m, "model.safetensors", 513028808,
            "74dea5904032e5ae99a2e0eef5179e6ac0f1dedc3ab0c7c2a5d4d387c843203e");
    is_file(m, "tokenizer.json", 3548256, tokenizer);
    CU_ASSERT_EQUAL(file_of(m, "vocab.json")->needed, 0);
    CU_ASSERT_PTR_NOT_NULL(file_of(m, "preprocessor_config.json"));
    CU_ASSERT_PTR_NOT_NULL(file_of(m, "generation_config.json"));

    m = argus_manifests_find(list, "smolvlm-500m");
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    CU_ASSERT_STRING_EQUAL(m->revision, "a7da5b986cb59b408707209984f360a5f4ad7e47");
    is_file(m, "model.safetensors", 1015025832,
            "d05b567eeaf534e83d375551f068ed57b5f52d37c657197f644af5ef9db091a2");
    is_file(m, "tokenizer.json", 3548256, tokenizer);
    m = argus_manifests_find(list, "argus-tiny");
    CU_ASSERT(m && !m->repo && !m->revision);
    argus_manifests_close(&list);
    CU_ASSERT_PTR_NULL(list);
    argus_manifests_close(&list);
    path_end();
}

/* Every file of dir that the manifest names must be as it says; with all, all must be there. */
static void compare(const char *name, const char *dir, int all)
{
    ArgusManifests *list;
    char path[4096];
    int n = 0;

    path_begin(ag_source_path("models"));
    CU_ASSERT_EQUAL_FATAL(argus_manifests_open(&list, ag_test_log()), 0);
    const ArgusManifest *m = argus_manifests_find(list, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    for (int i = 0; i < m->n_file; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, m->files[i].name);
        int err = argus_manifest_check(&m->files[i], path, 1, ag_test_log());
        CU_ASSERT(err == 0 || (!all && err == ARGUS_ERR(ENOENT)));
        n += err == 0;
    }
    CU_ASSERT(n > 0);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    argus_manifests_close(&list);
    path_end();
}

static void tiny(void)
{
    compare("argus-tiny", ag_source_path("models/argus-tiny"), 1);
#if CONFIG_EMBEDDED_MODEL
    compare("argus-tiny", "(embedded)", 0);
#endif
}

static void published(void)
{
    char dir[4096];

    if (!ag_test_data()) {
        ag_skip("manifests against the published files", "ARGUS_TEST_DATA is not set");
        return;
    }
    snprintf(dir, sizeof(dir), "%s/models/SmolVLM-256M-Instruct", ag_test_data());
    compare("smolvlm-256m", dir, 0);
    snprintf(dir, sizeof(dir), "%s/models/SmolVLM-500M-Instruct", ag_test_data());
    compare("smolvlm-500m", dir, 0);
}

#define HEAD "{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":\"o/r\",\"revision\":\"" REV "\","
#define GOOD_FILE "{\"name\":\"f\",\"size\":3,\"sha256\":\"" SHA_ABC "\"}"
#define FILE_NAMED(n) HEAD "\"files\":[{\"name\":\"" n "\",\"size\":3,\"sha256\":\"" SHA_ABC "\"}]}"

static void broken(void)
{
    static const struct {
        const char *text, *message;
    } t[] = {
        {"", "line 1"},
        {"[]", "expected a JSON object"},
        {"{\"name\":\"m\",\"name\":\"m\"}", "duplicate"},
        {"{\"licence\":\"MIT\"}", "expected the name m, found none"},
        {"{\"name\":\"n\"}", "expected the name m, found n"},
        {"{\"name\":\"m\"}", "expected a licence"},
        {"{\"name\":\"m\",\"licence\":\"\\u001b[2J\"}", "expected a licence"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":7}", "ORG/NAME"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":\"o\"}", "ORG/NAME"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":\"../r\"}", "ORG/NAME"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":\"o/r/s\"}", "ORG/NAME"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":\"o/r?x\"}", "ORG/NAME"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":\"o/r\"}", "a revision of 40"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"repo\":\"o/r\",\"revision\":\"main\"}",
         "a revision of 40"},
        {"{\"name\":\"m\",\"licence\":\"MIT\",\"revision\":\"" REV "\"}", "a revision of 40"},
        {HEAD "\"files\":{}}", "1 to 256 files, found 0"},
        {HEAD "\"files\":[]}", "1 to 256 files, found 0"},
        {HEAD "\"files\":[1]}", "a plain name"},
        {FILE_NAMED("../f"), "a plain name"},
        {FILE_NAMED("/etc/f"), "a plain name"},
        {FILE_NAMED(".."), "a plain name"},
        {FILE_NAMED("a b"), "a plain name"},
        {FILE_NAMED(""), "a plain name"},
        {HEAD "\"files\":[{\"name\":\"f\",\"size\":\"3\",\"sha256\":\"" SHA_ABC "\"}]}", "a size"},
        {HEAD "\"files\":[{\"name\":\"f\",\"size\":-1,\"sha256\":\"" SHA_ABC "\"}]}", "a size"},
        {HEAD "\"files\":[{\"name\":\"f\",\"size\":1e3,\"sha256\":\"" SHA_ABC "\"}]}", "a size"},
        {HEAD "\"files\":[{\"name\":\"f\",\"size\":3}]}", "a sha256"},
        {HEAD "\"files\":[{\"name\":\"f\",\"size\":3,\"sha256\":\"BA7816\"}]}", "a sha256"},
        {HEAD "\"files\":[" GOOD_FILE "," GOOD_FILE "]}", "found f twice"},
        {HEAD "\"files\":[{\"name\":\"f\",\"size\":3,\"sha256\":\"" SHA_ABC "\",\"needed\":0}]}",
         "true or false"},
    };
    const char *dir = ag_gen_dir("manifests/broken");
    ArgusManifests *list;

    path_begin(dir);
    ag_gen_text(dir, "m.json", HEAD "\"files\":[" GOOD_FILE "],\"more\":[1]}");
    CU_ASSERT_EQUAL_FATAL(argus_manifests_open(&list, ag_test_log()), 0);
    CU_ASSERT_EQUAL(argus_manifests_count(list), 1);
    argus_manifests_close(&list);
    for (size_t i = 0; i < AG_COUNT(t); i++) {
        ag_messages_clear();
        ag_gen_text(dir, "m.json", t[i].text);
        CU_ASSERT_EQUAL(argus_manifests_open(&list, ag_test_log()), ARGUS_ERR_FORMAT);
        CU_ASSERT_PTR_NULL(list);
        CU_ASSERT(ag_message_has(t[i].message) && ag_message_has("broken/m.json"));
        argus_manifests_close(&list);
    }
    path_end();
}

/* Several directories, the first of a name counts; what is no manifest is passed over. */
static void order(void)
{
    const char *a = ag_gen_dir("manifests/a"), *b = ag_gen_dir("manifests/b");
    char path[4096];
    ArgusManifests *list;

    ag_gen_dir("manifests/a/dir.json");
    ag_gen_text(a, "m.json", HEAD "\"files\":[" GOOD_FILE "]}");
    ag_gen_text(a, "README", "not JSON");
    ag_gen_text(a, ".m.json", "hidden");
    ag_gen_text(b, "m.json", "never read");
    ag_gen_text(b, "l.json", "{\"name\":\"l\",\"licence\":\"MIT\",\"files\":[" GOOD_FILE "]}");
    snprintf(path, sizeof(path), "%s:/nonexistent::%s", a, b);
    path_begin(path);
    CU_ASSERT_EQUAL_FATAL(argus_manifests_open(&list, ag_test_log()), 0);
    CU_ASSERT_EQUAL_FATAL(argus_manifests_count(list), 2);
    CU_ASSERT_STRING_EQUAL(argus_manifests_get(list, 0)->name, "l");
    CU_ASSERT_STRING_EQUAL(argus_manifests_get(list, 1)->name, "m");
    CU_ASSERT_STRING_EQUAL(argus_manifests_get(list, 1)->revision, REV);
    argus_manifests_close(&list);
    path_end();
}

static void files(void)
{
    const ArgusManifestFile abc = {"f", 3, SHA_ABC, 1};
    const char *dir = ag_gen_dir("manifests/files");
    char path[4096];

    ag_messages_clear();
    snprintf(path, sizeof(path), "%s/f", dir);
    CU_ASSERT_EQUAL(argus_manifest_check(&abc, path, 1, ag_test_log()), ARGUS_ERR(ENOENT));
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    ag_gen_text(dir, "f", "abc");
    CU_ASSERT_EQUAL(argus_manifest_check(&abc, path, 1, ag_test_log()), 0);
    ag_gen_text(dir, "f", "abd");
    CU_ASSERT_EQUAL(argus_manifest_check(&abc, path, 0, ag_test_log()), 0);
    CU_ASSERT_EQUAL(argus_manifest_check(&abc, path, 1, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("files/f: expected sha256 " SHA_ABC ", found "
                             "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"));
    ag_gen_text(dir, "f", "abcd");
    CU_ASSERT_EQUAL(argus_manifest_check(&abc, path, 0, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("files/f: expected 3 bytes, found 4"));
    CU_ASSERT_EQUAL(argus_manifest_check(&abc, dir, 1, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT_EQUAL(unlink(path) || mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(argus_manifest_check(&abc, path, 1, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("files/f: expected a regular file"));
}

/* Every allocation of the library fails once. */
static void memory(void)
{
    const char *dir = ag_gen_dir("manifests/memory");
    ArgusManifests *list = NULL;
    int err = -1, n;

    ag_gen_text(dir, "m.json", HEAD "\"files\":[" GOOD_FILE "]}");
    path_begin(dir);
    for (n = 0; err < 0 && n < 100; n++) {
        ag_mem_fail_after(n);
        err = argus_manifests_open(&list, ag_test_log());
        ag_mem_fail_after(-1);
        CU_ASSERT(err == 0 || (err == ARGUS_ERR(ENOMEM) && !list));
    }
    CU_ASSERT(err == 0 && n > 4);
    argus_manifests_close(&list);
    path_end();
}

static void find(void)
{
    char *path;

    ag_messages_clear();
    CU_ASSERT_EQUAL(argus_model_find("nosuch", &path, ag_test_log()), ARGUS_ERR_NO_MODEL);
    CU_ASSERT_PTR_NULL(path);
    CU_ASSERT(ag_message_has("nosuch"));
    CU_ASSERT_EQUAL_FATAL(argus_model_find(ag_source_path("models/argus-tiny"), &path, NULL), 0);
    CU_ASSERT_STRING_EQUAL(strrchr(path, '/'), "/argus-tiny");
    argus_free(path);
}

void ag_tests_manifest(void)
{
    static const AgTest tests[] = {
        {"shipped", shipped},
        {"argus-tiny", tiny},
        {"published files", published},
        {"broken", broken},
        {"order", order},
        {"files", files},
        {"memory", memory},
        {"find", find},
        {NULL, NULL},
    };

    ag_suite("manifest", tests);
}
