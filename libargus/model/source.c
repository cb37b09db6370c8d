/*
 * Where a model's files come from. Finding one by name looks at directories
 * only, in the order that source.h gives; nothing here opens a network connection.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _XOPEN_SOURCE 700
#include "libargus/model/source.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <config.h> /* the build's; with "" it would be model/config.h */
#include "libargus/base/buf.h"
#include "libargus/base/mem.h"

#define TINY "argus-tiny"
#define DEFAULT_MODEL "smolvlm-256m"
#define MAX_PATH 4096
#define MAX_TEXT_FILE (64 << 20) /* bytes: the largest tokenizer.json known has 17 MB */

/* Short names and where the Hugging Face hub has them. */
static const struct {
    const char *name, *org, *repo;
} known[] = {
    {"smolvlm-256m", "HuggingFaceTB", "SmolVLM-256M-Instruct"},
    {"smolvlm-500m", "HuggingFaceTB", "SmolVLM-500M-Instruct"},
    {"smolvlm2-256m-video", "HuggingFaceTB", "SmolVLM2-256M-Video-Instruct"},
    {"smolvlm2-500m-video", "HuggingFaceTB", "SmolVLM2-500M-Video-Instruct"},
};

#if CONFIG_EMBEDDED_MODEL
#define TINY_FILE(sym) extern const unsigned char ag_tiny_##sym[], ag_tiny_##sym##_end[];
TINY_FILE(config)
TINY_FILE(generation)
TINY_FILE(preprocessor)
TINY_FILE(tokenizer)
TINY_FILE(weights)

static const struct {
    const char *file;
    const unsigned char *data, *end;
} tiny[] = {
    {"config.json", ag_tiny_config, ag_tiny_config_end},
    {"generation_config.json", ag_tiny_generation, ag_tiny_generation_end},
    {"preprocessor_config.json", ag_tiny_preprocessor, ag_tiny_preprocessor_end},
    {"tokenizer.json", ag_tiny_tokenizer, ag_tiny_tokenizer_end},
    {"model.safetensors", ag_tiny_weights, ag_tiny_weights_end},
};
#endif

/* One search: names that a directory may have, what was found, where it was looked. */
typedef struct Search {
    const char *org, *repo; /* on the hub; NULL if the name is unknown there */
    const char *name[2];    /* directory names to try, NULL = none */
    char *found;            /* with config.json and weights */
    char *partial;          /* with config.json only: the first one */
    AgBuf places;
    int nomem;
} Search;

static const char *env(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

static int has(const char *dir, const char *file, Search *s)
{
    char *p = ag_path_join(dir, file);
    int yes = p && ag_is_file(p);

    if (!p)
        s->nomem = 1;
    ag_free(p);
    return yes;
}

/* Judges a directory: 1 if it is the one. Takes dir. */
static int try_dir(Search *s, char *dir)
{
    if (!dir) {
        s->nomem = 1;
        return 0;
    }
    if (has(dir, "config.json", s)) {
        if (has(dir, "model.safetensors", s) || has(dir, "model.safetensors.index.json", s)) {
            s->found = dir;
            return 1;
        }
        if (!s->partial) {
            s->partial = dir;
            return 0;
        }
    }
    ag_free(dir);
    return 0;
}

static void note_place(Search *s, const char *place)
{
    if (s->places.size)
        ag_buf_str(&s->places, ", ");
    ag_buf_str(&s->places, place);
}

/* A directory whose children are models. */
static int try_parent(Search *s, const char *parent)
{
    note_place(s, parent);
    for (size_t i = 0; i < AG_COUNT(s->name); i++)
        if (s->name[i] && try_dir(s, ag_path_join(parent, s->name[i])))
            return 1;
    return 0;
}

/* Revision that refs/main of a cached repository names; 0 if there is none. */
static int read_revision(const char *repo_dir, char *rev, size_t size, Search *s)
{
    char *path = ag_path_join(repo_dir, "refs/main");
    AgBlob b = {0};
    size_t n = 0;

    if (!path)
        s->nomem = 1;
    if (path && ag_is_file(path) && ag_file_read(&b, path, 4096, NULL) >= 0) {
        while (n < b.size && n + 1 < size && isxdigit(b.data[n]))
            n++;
        memcpy(rev, b.data, n);
    }
    rev[n] = 0;
    ag_blob_free(&b);
    ag_free(path);
    return n > 0;
}

/* One cache of the Hugging Face hub: models--ORG--REPO/snapshots/REV. */
static int try_hub(Search *s, const char *hub)
{
    char dir[512], rev[80];
    int hit = 0;

    note_place(s, hub);
    if (!s->repo)
        return 0;
    if (snprintf(dir, sizeof(dir), "models--%s--%s", s->org, s->repo) >= (int)sizeof(dir))
        return 0;
    char *repo_dir = ag_path_join(hub, dir);
    if (repo_dir && read_revision(repo_dir, rev, sizeof(rev), s)) {
        char *snapshots = ag_path_join(repo_dir, "snapshots");
        hit = snapshots && try_dir(s, ag_path_join(snapshots, rev));
        s->nomem |= !snapshots;
        ag_free(snapshots);
    }
    s->nomem |= !repo_dir;
    ag_free(repo_dir);
    return hit;
}

/* try(base/rest), where base comes from the environment and may be missing. */
static int try_below(Search *s, int (*try)(Search *, const char *), const char *base,
                     const char *rest)
{
    if (!base)
        return 0;
    char *p = ag_path_join(base, rest);
    int hit = p && try(s, p);

    s->nomem |= !p;
    ag_free(p);
    return hit;
}

static int try_model_path(Search *s)
{
    const char *p = env("ARGUS_MODEL_PATH");
    int hit = 0;

    while (p && *p && !hit) {
        size_t n = strcspn(p, ":");
        char *dir = n ? ag_strndup(p, n) : NULL;
        s->nomem |= n && !dir;
        hit = dir && try_parent(s, dir);
        ag_free(dir);
        p += n + (p[n] == ':');
    }
    return hit;
}

/* Where the program lies, links resolved. @return 0, or -1 if that is not known. */
static int own_place(char *exe, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", exe, size);

    if (n <= 0 || (size_t)n >= size)
        return -1;
    exe[n] = 0;
    return 0;
}

static int is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return !strncmp(path, dir, n) && path[n] == '/';
}

/* An installed program must not look there: anybody may own that path by then. */
const char *ag_source_tree(void)
{
    char exe[MAX_PATH];

    if (own_place(exe, sizeof(exe)) < 0 ||
        (!is_below(exe, ARGUS_SOURCE_DIR) && !is_below(exe, ARGUS_BUILD_DIR)))
        return NULL;
    return ARGUS_SOURCE_DIR "/models";
}

char *ag_source_prefix(void)
{
    static const char bin[] = "/bin/";
    char exe[MAX_PATH], *name;

    if (own_place(exe, sizeof(exe)) < 0 || !(name = strrchr(exe, '/')))
        return NULL;
    name[1] = 0;
    if (name + 1 - exe < (ptrdiff_t)sizeof(bin) || strcmp(name + 2 - sizeof(bin), bin))
        return NULL;
    name[2 - (ptrdiff_t)sizeof(bin)] = 0;
    return ag_path_join(exe, "share/argus/models");
}

/* The order of source.h. What is linked in needs no source tree. */
static void search(Search *s, int linked_in)
{
    const char *home = env("HOME"), *data = env("XDG_DATA_HOME"), *cache = env("XDG_CACHE_HOME");
    const char *hub = env("HF_HUB_CACHE");

    if (try_model_path(s) ||
        try_below(s, try_parent, data ? data : home,
                  data ? "argus/models" : ".local/share/argus/models") ||
        (hub && try_hub(s, hub)) || try_below(s, try_hub, env("HF_HOME"), "hub") ||
        try_below(s, try_hub, cache ? cache : home,
                  cache ? "huggingface/hub" : ".cache/huggingface/hub") ||
        try_parent(s, ARGUS_DATADIR "/argus/models"))
        return;
    if (!linked_in && ag_source_tree())
        try_parent(s, ag_source_tree());
}

/* Names under which a model may lie. org is room for the part before a slash. */
static void name_search(Search *s, const char *name, char *org, size_t size)
{
    const char *slash = strchr(name, '/');

    s->name[0] = name;
    for (size_t i = 0; i < AG_COUNT(known); i++) {
        if (!strcmp(name, known[i].name) || !strcmp(name, known[i].repo)) {
            s->org = known[i].org;
            s->repo = known[i].repo;
            s->name[1] = strcmp(name, known[i].repo) ? known[i].repo : known[i].name;
        }
    }
    if (slash && slash > name && (size_t)(slash - name) < size && slash[1] &&
        !strchr(slash + 1, '/') && name[0] != '.') { /* ORG/REPO */
        memcpy(org, name, (size_t)(slash - name));
        org[slash - name] = 0;
        s->org = org;
        s->repo = s->name[0] = slash + 1;
        for (size_t i = 0; i < AG_COUNT(known); i++)
            if (!strcmp(s->repo, known[i].repo) && !strcmp(org, known[i].org))
                s->name[1] = known[i].name;
    } else if (slash) {
        s->name[0] = NULL;
    }
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int finish(AgSource *out, const char *name, const char *dir, const ArgusLogger *log)
{
    char *path = realpath(dir, NULL), buf[128];

    if (!path) {
        int err = ARGUS_ERR(errno);
        return ag_fail(log, err, "%s: can't resolve: %s", dir,
                       argus_strerror(err, buf, sizeof(buf)));
    }
    *out = (AgSource){.path = ag_strdup(path)};
    out->name = ag_strdup(name ? name : last_part(path));
    free(path);
    if (out->path && out->name)
        return 0;
    ag_source_free(out);
    return ag_nomem(log, "the model's name");
}

#if CONFIG_EMBEDDED_MODEL
static int use_embedded(AgSource *out, const ArgusLogger *log)
{
    *out = (AgSource){ag_strdup(TINY), ag_strdup("(embedded)"), 1};
    if (out->name && out->path)
        return 0;
    ag_source_free(out);
    return ag_nomem(log, "the model's name");
}
#endif

/* must = 0: nothing found is ARGUS_ERR_NO_MODEL without a message, and a
 * directory without weights is nothing. */
static int find_name(AgSource *out, const char *name, int must, const ArgusLogger *log)
{
    char org[256];
    Search s = {0};
    int err;

    name_search(&s, name, org, sizeof(org));
    if (s.name[0])
        search(&s, CONFIG_EMBEDDED_MODEL && !strcmp(name, TINY));
    if (s.nomem)
        err = ag_nomem(log, "a path");
    else if (s.found)
        err = finish(out, name, s.found, log);
#if CONFIG_EMBEDDED_MODEL
    else if (!strcmp(name, TINY))
        err = use_embedded(out, log);
#endif
    else if (!must)
        err = ARGUS_ERR_NO_MODEL;
    else if (s.partial)
        err = finish(out, name, s.partial, log);
    else if (!s.name[0])
        err = ag_fail(log, ARGUS_ERR_NO_MODEL, "%s: no such directory", name);
    else
        err = ag_fail(log, ARGUS_ERR_NO_MODEL, "%s: no such model; expected a directory "
                      "with config.json, or a name found in one of: %s", name,
                      s.places.data ? s.places.data : "");
    ag_free(s.found);
    ag_free(s.partial);
    ag_buf_free(&s.places);
    return err;
}

static int find_explicit(AgSource *out, const char *model, const ArgusLogger *log)
{
    if (ag_is_dir(model)) {
        char *config = ag_path_join(model, "config.json");
        int there = config && ag_is_file(config), nomem = !config;

        ag_free(config);
        if (nomem)
            return ag_nomem(log, "a path");
        if (there)
            return finish(out, NULL, model, log);
        if (strchr(model, '/'))
            return ag_fail(log, ARGUS_ERR_NO_MODEL,
                           "%s: expected a model directory, found no config.json in it", model);
    } else if (ag_is_file(model)) {
        return ag_fail(log, ARGUS_ERR_NO_MODEL,
                       "%s: expected a model directory or a name, found a file", model);
    }
    return find_name(out, model, 1, log);
}

int ag_source_find(AgSource *out, const char *model, const ArgusLogger *log)
{
    *out = (AgSource){0};
    if (!model || !*model)
        model = env("ARGUS_MODEL");
    if (model)
        return find_explicit(out, model, log);
    int err = find_name(out, DEFAULT_MODEL, 0, log);
    if (err != ARGUS_ERR_NO_MODEL)
        return err;
    err = find_name(out, TINY, 0, log);
    if (err == ARGUS_ERR_NO_MODEL) /* for the message */
        return find_name(out, DEFAULT_MODEL, 1, log);
    if (err >= 0)
        ag_log(log, ARGUS_LOG_WARNING,
               "no model was named and " DEFAULT_MODEL " was not found: using " TINY
               ", which knows "
               "drawn scenes and test patterns only; its words about real footage mean nothing. "
               "For real footage run: argus models --fetch " DEFAULT_MODEL);
    return err;
}

void ag_source_free(AgSource *s)
{
    ag_free(s->name);
    ag_free(s->path);
    *s = (AgSource){0};
}

static int open_embedded(AgBlob *out, const AgSource *s, const char *file, int optional,
                         const ArgusLogger *log)
{
#if CONFIG_EMBEDDED_MODEL
    for (size_t i = 0; i < AG_COUNT(tiny); i++) {
        if (!strcmp(tiny[i].file, file)) {
            *out = (AgBlob){tiny[i].data, (size_t)(tiny[i].end - tiny[i].data), AG_BLOB_STATIC};
            return 0;
        }
    }
#endif
    *out = (AgBlob){0};
    if (optional)
        return ARGUS_ERR(ENOENT);
    return ag_fail(log, ARGUS_ERR(ENOENT), "%s/%s: no such file", s->path, file);
}

int ag_source_open(AgBlob *out, const AgSource *s, const char *file, int optional,
                   const ArgusLogger *log)
{
    const char *dot = strrchr(file, '.');
    int err;

    if (s->embedded)
        return open_embedded(out, s, file, optional, log);
    *out = (AgBlob){0};
    char *path = ag_path_join(s->path, file);
    if (!path)
        return ag_nomem(log, file);
    if (access(path, F_OK) && optional)
        err = ARGUS_ERR(ENOENT);
    else if (!access(path, F_OK) && !ag_is_file(path)) /* opening a pipe would wait */
        err = ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected a regular file, found another kind",
                      path);
    else if (dot && !strcmp(dot, ".safetensors"))
        err = ag_file_map(out, path, log);
    else
        err = ag_file_read(out, path, MAX_TEXT_FILE, log);
    ag_free(path);
    return err;
}

const char *ag_source_name(const AgSource *s, const char *file, char *buf, size_t size)
{
    snprintf(buf, size, "%s/%s", s->path, file);
    return buf;
}
