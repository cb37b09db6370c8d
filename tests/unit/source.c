/*
 * Unit tests of libargus/model/source: where a name leads, in which order, and
 * what is said when it leads nowhere.
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
#include "libargus/model/source.h"
#include "tests/gen/modelgen.h"

static const char *const variables[] = {"ARGUS_MODEL",  "ARGUS_MODEL_PATH", "XDG_DATA_HOME",
                                        "XDG_CACHE_HOME", "HF_HUB_CACHE", "HF_HOME",
                                        "HOME"};
static char *saved[AG_COUNT(variables)];
static char root[1024], old_dir[4096];

/* An environment in which nothing can be found: empty home, empty current directory. */
static void begin(const char *name)
{
    for (size_t i = 0; i < AG_COUNT(variables); i++) {
        const char *v = getenv(variables[i]);
        saved[i] = v ? strdup(v) : NULL;
        unsetenv(variables[i]);
    }
    snprintf(root, sizeof(root), "%s", ag_gen_dir(name));
    setenv("HOME", root, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(old_dir, sizeof(old_dir)));
    CU_ASSERT_EQUAL_FATAL(chdir(root), 0);
    ag_messages_clear();
}

static void end(void)
{
    for (size_t i = 0; i < AG_COUNT(variables); i++) {
        if (saved[i])
            setenv(variables[i], saved[i], 1);
        else
            unsetenv(variables[i]);
        free(saved[i]);
    }
    CU_ASSERT_EQUAL(chdir(old_dir), 0);
}

/* A model's folder below root, with or without weights. */
static void make_model(const char *below, int weights)
{
    char name[2048];

    snprintf(name, sizeof(name), "%s/%s", strrchr(root, '/') + 1, below);
    const char *dir = ag_gen_dir(name);
    ag_gen_text(dir, "config.json", "{}");
    if (weights)
        ag_gen_text(dir, "model.safetensors", "x");
}

/* Where a name leads: "" + error code, or the path below root. */
static const char *where(const char *model)
{
    static char path[2048];
    AgSource s;
    char *real = realpath(root, NULL);

    int err = ag_source_find(&s, model, ag_test_log());
    if (err < 0)
        snprintf(path, sizeof(path), "error %s", err == ARGUS_ERR_NO_MODEL ? "NO_MODEL" : "?");
    else if (real && !strncmp(s.path, real, strlen(real)))
        snprintf(path, sizeof(path), "%s", s.path + strlen(real) + (s.path[strlen(real)] == '/'));
    else
        snprintf(path, sizeof(path), "%s", s.path);
    free(real);
    if (err >= 0)
        ag_source_free(&s);
    return path;
}

#define HUB "models--HuggingFaceTB--SmolVLM-256M-Instruct"
#define SNAPSHOT HUB "/snapshots/7e3e67edbbed1bf9888184d9df282b700a323964"

/* Puts the hub's cache of the 256M model below root/hub. */
static void make_hub(const char *hub, int weights)
{
    char name[512];

    snprintf(name, sizeof(name), "%s/" SNAPSHOT, hub);
    make_model(name, weights);
    snprintf(name, sizeof(name), "%s/%s/" HUB "/refs", strrchr(root, '/') + 1, hub);
    ag_gen_text(ag_gen_dir(name), "main", "7e3e67edbbed1bf9888184d9df282b700a323964\n");
}

static void set(const char *name, const char *below)
{
    char v[2048];

    snprintf(v, sizeof(v), "%s/%s", root, below);
    setenv(name, v, 1);
}

/* Every place in turn, the last one first, so that each is seen to win over the next. */
static void order(void)
{
    const char *n = "smolvlm-256m";

    begin("order");
    CU_ASSERT_STRING_EQUAL(where(n), "error NO_MODEL");
    CU_ASSERT(ag_message_has("smolvlm-256m: no such model"));
    CU_ASSERT(ag_message_has("/.local/share/argus/models") &&
              ag_message_has("/.cache/huggingface/hub"));
    CU_ASSERT(ag_message_has(ARGUS_DATADIR "/argus/models"));
    make_hub(".cache/huggingface/hub", 1);
    CU_ASSERT_STRING_EQUAL(where(n), ".cache/huggingface/hub/" SNAPSHOT);
    CU_ASSERT_STRING_EQUAL(where("SmolVLM-256M-Instruct"), ".cache/huggingface/hub/" SNAPSHOT);
    CU_ASSERT_STRING_EQUAL(where("HuggingFaceTB/SmolVLM-256M-Instruct"),
                           ".cache/huggingface/hub/" SNAPSHOT);
    CU_ASSERT_STRING_EQUAL(where("other/SmolVLM-256M-Instruct"), "error NO_MODEL");
    CU_ASSERT_STRING_EQUAL(where("smolvlm-500m"), "error NO_MODEL");
    set("HF_HOME", "hf");
    CU_ASSERT_STRING_EQUAL(where(n), ".cache/huggingface/hub/" SNAPSHOT);
    make_hub("hf/hub", 1);
    CU_ASSERT_STRING_EQUAL(where(n), "hf/hub/" SNAPSHOT);
    set("HF_HUB_CACHE", "hub2");
    make_hub("hub2", 1);
    CU_ASSERT_STRING_EQUAL(where(n), "hub2/" SNAPSHOT);
    make_model(".local/share/argus/models/SmolVLM-256M-Instruct", 1);
    CU_ASSERT_STRING_EQUAL(where(n), ".local/share/argus/models/SmolVLM-256M-Instruct");
    make_model(".local/share/argus/models/smolvlm-256m", 1);
    CU_ASSERT_STRING_EQUAL(where(n), ".local/share/argus/models/smolvlm-256m");
    set("XDG_DATA_HOME", "data");
    CU_ASSERT_STRING_EQUAL(where(n), "hub2/" SNAPSHOT); /* replaces ~/.local/share */
    make_model("data/argus/models/smolvlm-256m", 1);
    CU_ASSERT_STRING_EQUAL(where(n), "data/argus/models/smolvlm-256m");
    make_model("p2/smolvlm-256m", 1);
    char list[4096];
    snprintf(list, sizeof(list), "%s/p1::%s/p2", root, root);
    setenv("ARGUS_MODEL_PATH", list, 1);
    CU_ASSERT_STRING_EQUAL(where(n), "p2/smolvlm-256m");
    make_model("p1/smolvlm-256m", 1);
    CU_ASSERT_STRING_EQUAL(where(n), "p1/smolvlm-256m");
    make_model("smolvlm-256m", 1); /* a directory of that name here */
    CU_ASSERT_STRING_EQUAL(where(n), "smolvlm-256m");
    end();
}

/* A folder without config.json is none; one without weights only if there is no better. */
static void incomplete(void)
{
    begin("incomplete");
    set("ARGUS_MODEL_PATH", "p");
    make_model("p/smolvlm-256m", 0);
    CU_ASSERT_STRING_EQUAL(where("smolvlm-256m"), "p/smolvlm-256m");
    make_hub(".cache/huggingface/hub", 1);
    CU_ASSERT_STRING_EQUAL(where("smolvlm-256m"), ".cache/huggingface/hub/" SNAPSHOT);
    ag_gen_dir("incomplete/smolvlm-256m"); /* empty, in the current directory */
    CU_ASSERT_STRING_EQUAL(where("smolvlm-256m"), ".cache/huggingface/hub/" SNAPSHOT);
    CU_ASSERT_STRING_EQUAL(where("./smolvlm-256m"), "error NO_MODEL");
    CU_ASSERT(ag_message_has("found no config.json in it"));
    ag_gen_text(root, "file", "x");
    CU_ASSERT_STRING_EQUAL(where("./file"), "error NO_MODEL");
    CU_ASSERT(ag_message_has("./file: expected a model directory or a name, found a file"));
    CU_ASSERT_STRING_EQUAL(where("/no/such/place"), "error NO_MODEL");
    CU_ASSERT(ag_message_has("/no/such/place: no such directory"));
    CU_ASSERT_STRING_EQUAL(where("../../no"), "error NO_MODEL");
    end();
}

/* refs/main comes from a file: it must not lead out of the cache. */
static void revision(void)
{
    static const char *const bad[] = {"../../../x", "", "\n", "zz", "/etc"};

    begin("revision");
    make_hub(".cache/huggingface/hub", 1);
    make_model("x", 1);
    const char *refs = ag_gen_dir("revision/.cache/huggingface/hub/" HUB "/refs");
    for (size_t i = 0; i < AG_COUNT(bad); i++) {
        ag_gen_text(refs, "main", bad[i]);
        CU_ASSERT_STRING_EQUAL(where("smolvlm-256m"), "error NO_MODEL");
    }
    end();
}

static int count(const char *text)
{
    int n = 0;

    for (const char *p = ag_messages(); (p = strstr(p, text)); p++)
        n++;
    return n;
}

/* No name: $ARGUS_MODEL, else the 256M model, else argus-tiny with one warning. */
static void by_default(void)
{
    begin("default");
#if CONFIG_EMBEDDED_MODEL
    CU_ASSERT_STRING_EQUAL(where(NULL), "(embedded)");
    CU_ASSERT_EQUAL(count("drawn scenes and test patterns only"), 1);
    CU_ASSERT(ag_message_has("words about real footage mean nothing"));
    CU_ASSERT(ag_message_has("argus models --fetch smolvlm-256m"));
    ag_messages_clear();
    CU_ASSERT_STRING_EQUAL(where("argus-tiny"), "(embedded)");
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    make_model(".local/share/argus/models/smolvlm-256m", 0); /* half a download does not count */
    CU_ASSERT_STRING_EQUAL(where(""), "(embedded)");
    CU_ASSERT_EQUAL(count("drawn scenes"), 1);
#else
    ag_skip("default model", "built without the embedded model");
    CU_ASSERT_STRING_EQUAL(where(NULL), "error NO_MODEL");
#endif
    ag_messages_clear();
    make_model(".local/share/argus/models/smolvlm-256m", 1);
    CU_ASSERT_STRING_EQUAL(where(NULL), ".local/share/argus/models/smolvlm-256m");
    make_model("mine", 1);
    set("ARGUS_MODEL", "mine");
    CU_ASSERT_STRING_EQUAL(where(NULL), "mine");
    CU_ASSERT_STRING_EQUAL(where(""), "mine");
    CU_ASSERT_STRING_EQUAL(where("smolvlm-256m"), ".local/share/argus/models/smolvlm-256m");
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    setenv("ARGUS_MODEL", "gone", 1); /* a wrong name is an error, not a reason for another model */
    CU_ASSERT_STRING_EQUAL(where(NULL), "error NO_MODEL");
    CU_ASSERT(ag_message_has("gone: no such model"));
    end();
}

static void names(void)
{
    AgSource s;

    begin("names");
    make_model("some.model", 1);
    CU_ASSERT_EQUAL_FATAL(ag_source_find(&s, "./some.model/", NULL), 0);
    CU_ASSERT_STRING_EQUAL(s.name, "some.model");
    CU_ASSERT(s.path[0] == '/' && !s.embedded);
    ag_source_free(&s);
    CU_ASSERT_PTR_NULL(s.path);
    set("ARGUS_MODEL_PATH", "p");
    make_model("p/SmolVLM-500M-Instruct", 1);
    CU_ASSERT_EQUAL_FATAL(ag_source_find(&s, "smolvlm-500m", NULL), 0);
    CU_ASSERT_STRING_EQUAL(s.name, "smolvlm-500m");
    ag_source_free(&s);
    unsetenv("HOME");
    unsetenv("ARGUS_MODEL_PATH");
    CU_ASSERT_STRING_EQUAL(where("no-such-name"), "error NO_MODEL"); /* nowhere to look */
    end();
}

static void files(void)
{
    const char *dir = ag_gen_dir("files");
    AgSource s = ag_gen_source(dir);
    AgBlob b;
    char name[1024];

    ag_messages_clear();
    CU_ASSERT_EQUAL(ag_source_open(&b, &s, "a.json", 1, ag_test_log()), ARGUS_ERR(ENOENT));
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    CU_ASSERT_EQUAL(ag_source_open(&b, &s, "a.json", 0, ag_test_log()), ARGUS_ERR(ENOENT));
    CU_ASSERT(ag_message_has("files/a.json"));
    ag_gen_text(dir, "a.json", "abc");
    CU_ASSERT_EQUAL_FATAL(ag_source_open(&b, &s, "a.json", 0, NULL), 0);
    CU_ASSERT(b.kind == AG_BLOB_HEAP && b.size == 3 && !memcmp(b.data, "abc", 4));
    ag_blob_free(&b);
    ag_gen_text(dir, "w.safetensors", "abc");
    CU_ASSERT_EQUAL_FATAL(ag_source_open(&b, &s, "w.safetensors", 0, NULL), 0);
    CU_ASSERT(b.kind == AG_BLOB_MAPPED && b.size == 3 && !memcmp(b.data, "abc", 3));
    ag_blob_free(&b);
    snprintf(name, sizeof(name), "%s/pipe.json", dir);
    CU_ASSERT_EQUAL(mkfifo(name, 0600), 0); /* opening it would wait for a writer */
    CU_ASSERT_EQUAL(ag_source_open(&b, &s, "pipe.json", 0, ag_test_log()), ARGUS_ERR_FORMAT);
    CU_ASSERT(ag_message_has("pipe.json: expected a regular file"));
    CU_ASSERT_STRING_EQUAL(ag_source_name(&s, "a.json", name, sizeof(name)) + strlen(dir),
                           "/a.json");
    ag_source_free(&s);
#if CONFIG_EMBEDDED_MODEL
    static const char *const all[] = {"config.json", "generation_config.json",
                                      "preprocessor_config.json", "tokenizer.json",
                                      "model.safetensors"};
    s = (AgSource){ag_strdup("argus-tiny"), ag_strdup("(embedded)"), 1};
    for (size_t i = 0; i < AG_COUNT(all); i++) {
        AgBlob f;
        snprintf(name, sizeof(name), "models/argus-tiny/%s", all[i]);
        CU_ASSERT_EQUAL_FATAL(ag_file_map(&f, ag_source_path(name), NULL), 0);
        CU_ASSERT_EQUAL_FATAL(ag_source_open(&b, &s, all[i], 0, NULL), 0);
        CU_ASSERT(b.size == f.size && !memcmp(b.data, f.data, f.size));
        ag_blob_free(&b);
        ag_blob_free(&f);
    }
    CU_ASSERT_EQUAL(ag_source_open(&b, &s, "model.safetensors.index.json", 1, NULL),
                    ARGUS_ERR(ENOENT));
    CU_ASSERT_EQUAL(ag_source_open(&b, &s, "vocab.json", 0, ag_test_log()), ARGUS_ERR(ENOENT));
    ag_source_free(&s);
#else
    ag_skip("embedded files", "built without the embedded model");
#endif
}

static void no_memory(void)
{
    AgSource s;
    int err = -1, n;

    begin("memory");
    set("ARGUS_MODEL_PATH", "p");
    make_hub(".cache/huggingface/hub", 1);
    for (n = 0; err < 0 && n < 1000; n++) {
        ag_mem_fail_after(n);
        err = ag_source_find(&s, "smolvlm-256m", NULL);
        ag_mem_fail_after(-1);
        CU_ASSERT(err >= 0 || err == ARGUS_ERR(ENOMEM));
    }
    CU_ASSERT(err == 0 && n > 5);
    if (err >= 0)
        ag_source_free(&s);
    end();
}

void ag_tests_source(void)
{
    static const AgTest tests[] = {
        {"order of places", order},
        {"incomplete folders", incomplete},
        {"revision of the hub's cache", revision},
        {"default model", by_default},
        {"names", names},
        {"files", files},
        {"out of memory", no_memory},
        {NULL, NULL},
    };
    ag_suite("source", tests);
}
